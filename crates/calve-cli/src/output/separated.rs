//! Comma- and tab-separated values, with a header line for each result.
//!
//! CSV is that of RFC 4180 with `\n` at the end of lines: a value with a comma, a quote or a line end stands in quotes, NULL
//! is nothing, and the empty string is `""`. TSV has no quotes: a tab is `\t`, a line end `\n` or `\r`, a backslash `\\`;
//! NULL and the empty string both are nothing.
//!
//! A query whose rows change (in streaming mode) has one column more, the first one: `op`, what happens to the row. A query
//! that only adds rows has none.

use std::io::{self, Write};

use calve_engine::Rows;

use super::Failure;

/// What stands between values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// CSV.
    Comma,
    /// TSV.
    Tab,
}

/// Prints results for spreadsheets and the like.
#[derive(Debug)]
pub struct SeparatedOutput<W> {
    separator: Separator,
    out: W,
}

impl<W: Write> SeparatedOutput<W> {
    /// Prints to `out`.
    pub fn new(separator: Separator, out: W) -> Self {
        Self { separator, out }
    }

    /// Prints a result.
    ///
    /// # Errors
    /// The statement fails while its rows are read, or `out` cannot be written.
    pub async fn rows(&mut self, mut rows: Rows) -> Result<(), Failure> {
        // a statement that fails before its first row leaves no header
        let mut batch = rows.next_text().await.transpose()?;
        let op = rows.is_changelog().then(|| Some("op".to_owned()));
        let names: Vec<_> = op.into_iter().chain(rows.columns.iter().map(|field| Some(field.name.clone()))).collect();
        self.line(&names)?;
        while let Some(lines) = batch {
            for row in super::with_ops(lines, rows.ops()) {
                self.line(&row)?;
            }
            batch = rows.next_text().await.transpose()?;
        }
        Ok(self.out.flush()?)
    }

    /// Gives out what was printed so far.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn line(&mut self, values: &[Option<String>]) -> io::Result<()> {
        for (n, value) in values.iter().enumerate() {
            match self.separator {
                Separator::Comma => {
                    if n > 0 {
                        self.out.write_all(b",")?;
                    }
                    comma_value(value.as_deref(), &mut self.out)?;
                }
                Separator::Tab => {
                    if n > 0 {
                        self.out.write_all(b"\t")?;
                    }
                    tab_value(value.as_deref().unwrap_or_default(), &mut self.out)?;
                }
            }
        }
        self.out.write_all(b"\n")
    }
}

fn comma_value(value: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    let Some(value) = value else { return Ok(()) };
    if !value.is_empty() && !value.contains(['"', ',', '\n', '\r']) {
        return out.write_all(value.as_bytes());
    }
    out.write_all(b"\"")?;
    for (n, part) in value.split('"').enumerate() {
        if n > 0 {
            out.write_all(b"\"\"")?;
        }
        out.write_all(part.as_bytes())?;
    }
    out.write_all(b"\"")
}

fn tab_value(mut value: &str, out: &mut impl Write) -> io::Result<()> {
    while let Some(at) = value.find(['\t', '\n', '\r', '\\']) {
        let (plain, rest) = value.split_at(at);
        out.write_all(plain.as_bytes())?;
        let mut chars = rest.chars();
        out.write_all(match chars.next() {
            Some('\t') => b"\\t",
            Some('\n') => b"\\n",
            Some('\r') => b"\\r",
            _ => b"\\\\",
        })?;
        value = chars.as_str();
    }
    out.write_all(value.as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    fn lines(separator: Separator, rows: &[&[Option<&str>]]) -> String {
        let mut output = SeparatedOutput::new(separator, Vec::new());
        for row in rows {
            let row: Vec<_> = row.iter().map(|value| value.map(str::to_owned)).collect();
            output.line(&row).unwrap();
        }
        String::from_utf8(output.out).unwrap()
    }

    const ROWS: &[&[Option<&str>]] = &[
        &[Some("plain"), None, Some("")],
        &[Some("a,b"), Some("say \"no\""), Some("two\nlines\r")],
        &[Some("tab\there"), Some("back\\slash"), Some("é, 日本")],
    ];

    #[test]
    fn commas_quotes_and_line_ends_stand_in_quotes() {
        assert_eq!(
            lines(Separator::Comma, ROWS),
            "plain,,\"\"\n\"a,b\",\"say \"\"no\"\"\",\"two\nlines\r\"\ntab\there,back\\slash,\"é, 日本\"\n"
        );
    }

    #[test]
    fn tabs_and_line_ends_are_escaped() {
        assert_eq!(
            lines(Separator::Tab, ROWS),
            "plain\t\t\na,b\tsay \"no\"\ttwo\\nlines\\r\ntab\\there\tback\\\\slash\té, 日本\n"
        );
    }
}
