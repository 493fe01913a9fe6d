//! Results in boxes, as Flink's SQL client draws them in batch mode.

use std::io::{self, Write};
use std::time::Duration;

use calve_engine::{ResultBody, StatementKind, StatementResult, WriteSummary};
use unicode_width::UnicodeWidthStr;

use super::Failure;

/// Rows that are looked at to find the widths of the columns before the first is printed.
const MEASURED_ROWS: usize = 1_000;
/// Longest value of a query that is printed in full; Flink's `table.display.max-column-width`.
const MAX_COLUMN_WIDTH: usize = 30;
/// What stands for the rest of a longer value.
const ELLIPSIS: &str = "...";

/// Prints results for people.
#[derive(Debug)]
pub struct TableOutput<W> {
    out: W,
}

impl<W: Write> TableOutput<W> {
    /// Prints to `out`.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Prints the result of a statement that was started at `started`.
    ///
    /// # Errors
    /// The statement fails while its rows are read, or `out` cannot be written.
    pub async fn result(&mut self, result: StatementResult, started: std::time::Instant) -> Result<(), Failure> {
        match result.body {
            ResultBody::Done => writeln!(self.out, "[INFO] Execute statement succeeded.")?,
            ResultBody::Written(summary) => writeln!(self.out, "[INFO] {}", describe(&summary))?,
            ResultBody::Rows(mut rows) => {
                let cells = if result.kind == StatementKind::Query { Cells::Query } else { Cells::Command };
                let names = rows.columns.iter().map(|field| field.name.clone()).collect();
                let mut table = Boxed::new(names, cells);
                while let Some(batch) = rows.next_text().await {
                    for row in batch? {
                        table.push(row, &mut self.out)?;
                    }
                }
                table.finish(started.elapsed(), &mut self.out)?;
            }
        }
        writeln!(self.out)?;
        self.out.flush()?;
        Ok(())
    }

    /// Gives out what was printed so far: a statement failed, and its error must not overtake it.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// How values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cells {
    /// `<NULL>`, long values cut, the time in the last line.
    Query,
    /// NULL is empty, nothing cut, no time.
    Command,
}

/// A box that grows row by row.
#[derive(Debug)]
struct Boxed {
    names: Vec<String>,
    cells: Cells,
    widths: Vec<usize>,
    /// Rows that wait until the widths are known; not used any more once the header is printed.
    waiting: Vec<Vec<Option<String>>>,
    header_printed: bool,
    count: u64,
}

impl Boxed {
    fn new(names: Vec<String>, cells: Cells) -> Self {
        let widths = names.iter().map(|name| name.width()).collect();
        Self { names, cells, widths, waiting: Vec::new(), header_printed: false, count: 0 }
    }

    fn push(&mut self, row: Vec<Option<String>>, out: &mut impl Write) -> io::Result<()> {
        self.count += 1;
        if self.header_printed {
            return self.print_row(&row, out);
        }
        for (width, value) in self.widths.iter_mut().zip(&row) {
            *width = (*width).max(shown_width(value.as_deref(), self.cells));
        }
        self.waiting.push(row);
        if self.waiting.len() >= MEASURED_ROWS { self.print_waiting(out) } else { Ok(()) }
    }

    fn finish(&mut self, elapsed: Duration, out: &mut impl Write) -> io::Result<()> {
        if !self.header_printed && self.count > 0 {
            self.print_waiting(out)?;
        }
        if self.count > 0 {
            self.print_border(out)?;
        }
        match self.count {
            0 => write!(out, "Empty set")?,
            1 => write!(out, "1 row in set")?,
            n => write!(out, "{n} rows in set")?,
        }
        match self.cells {
            Cells::Query => writeln!(out, " ({:.2} seconds)", elapsed.as_secs_f64()),
            Cells::Command => writeln!(out),
        }
    }

    fn print_waiting(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.header_printed = true;
        self.print_border(out)?;
        for (name, width) in self.names.iter().zip(&self.widths) {
            print_cell(name, *width, out)?;
        }
        writeln!(out, "|")?;
        self.print_border(out)?;
        for row in std::mem::take(&mut self.waiting) {
            self.print_row(&row, out)?;
        }
        Ok(())
    }

    fn print_border(&self, out: &mut impl Write) -> io::Result<()> {
        for width in &self.widths {
            write!(out, "+-{:-<width$}-", "")?;
        }
        writeln!(out, "+")
    }

    fn print_row(&self, row: &[Option<String>], out: &mut impl Write) -> io::Result<()> {
        for (value, width) in row.iter().zip(&self.widths) {
            print_cell(&shown(value.as_deref(), self.cells), *width, out)?;
        }
        writeln!(out, "|")
    }
}

/// Right-aligned. A value wider than the measured rows' breaks the box rather than losing its end.
fn print_cell(text: &str, width: usize, out: &mut impl Write) -> io::Result<()> {
    write!(out, "| {:pad$}{text} ", "", pad = width.saturating_sub(line_width(text)))
}

fn shown(value: Option<&str>, cells: Cells) -> std::borrow::Cow<'_, str> {
    match (value, cells) {
        (None, Cells::Query) => "<NULL>".into(),
        (None, Cells::Command) => "".into(),
        (Some(value), Cells::Command) => value.trim_end_matches('\n').into(),
        (Some(value), Cells::Query) if line_width(value) > MAX_COLUMN_WIDTH => cut(value).into(),
        (Some(value), Cells::Query) => value.into(),
    }
}

fn shown_width(value: Option<&str>, cells: Cells) -> usize {
    line_width(&shown(value, cells))
}

/// Columns on the screen: wide characters take two. Of several lines, the longest counts.
fn line_width(text: &str) -> usize {
    text.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// As much of a value as fits with the ellipsis.
fn cut(value: &str) -> String {
    let room = MAX_COLUMN_WIDTH.saturating_sub(ELLIPSIS.len());
    let mut used = 0;
    let end = value
        .char_indices()
        .find(|(_, c)| {
            used += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(1);
            used > room
        })
        .map_or(value.len(), |(offset, _)| offset);
    format!("{}{ELLIPSIS}", value.get(..end).unwrap_or(value))
}

/// One line about a write: rows, files, deletes by kind, snapshot, time.
fn describe(summary: &WriteSummary) -> String {
    let mut line = match summary.rows {
        0 => format!("no rows written to {}", summary.table),
        rows => format!("{} written to {}", count(rows, "row"), summary.table),
    };
    if summary.data_files > 0 || summary.delete_files > 0 {
        line += &format!(": {}", count(summary.data_files as u64, "data file"));
    }
    if summary.delete_files > 0 {
        let kinds = [(summary.equality_deletes, "equality delete"), (summary.position_deletes, "position delete")];
        let kinds: Vec<_> = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| count(*n, kind)).collect();
        line += &format!(", {}", count(summary.delete_files as u64, "delete file"));
        if !kinds.is_empty() {
            line += &format!(" ({})", kinds.join(", "));
        }
    }
    if summary.dropped_rows > 0 {
        line += &format!(", {} with NULL in a NOT NULL column dropped", count(summary.dropped_rows, "row"));
    }
    if let Some(id) = summary.snapshot_id {
        line += &format!(", snapshot {id}");
    }
    line + &format!(" ({:.2} seconds)", summary.elapsed.as_secs_f64())
}

fn count(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    fn draw(names: &[&str], rows: &[&[Option<&str>]], cells: Cells) -> String {
        let mut out = Vec::new();
        let mut table = Boxed::new(names.iter().map(|n| (*n).to_owned()).collect(), cells);
        for row in rows {
            table.push(row.iter().map(|v| v.map(str::to_owned)).collect(), &mut out).unwrap();
        }
        table.finish(Duration::from_millis(1_234), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_query_looks_as_in_flinks_client() {
        let long = "a long string that exceeds the maximum width of thirty characters";
        let rows: &[&[Option<&str>]] =
            &[&[Some("1"), Some(long), Some("1.50"), Some("TRUE")], &[Some("22"), Some("é中"), None, Some("FALSE")]];
        insta::assert_snapshot!(draw(&["id", "s", "d", "b"], rows, Cells::Query), @r"
        +----+--------------------------------+--------+-------+
        | id |                              s |      d |     b |
        +----+--------------------------------+--------+-------+
        |  1 | a long string that exceeds ... |   1.50 |  TRUE |
        | 22 |                            é中 | <NULL> | FALSE |
        +----+--------------------------------+--------+-------+
        2 rows in set (1.23 seconds)
        ");
        assert_eq!(draw(&["a"], &[], Cells::Query), "Empty set (1.23 seconds)\n");
    }

    #[test]
    fn a_command_shows_null_as_nothing_and_cuts_nothing() {
        let rows: &[&[Option<&str>]] =
            &[&[Some("a"), None], &[Some("a name of more than thirty characters"), Some("x")]];
        insta::assert_snapshot!(draw(&["name", "comment"], rows, Cells::Command), @r"
        +---------------------------------------+---------+
        |                                  name | comment |
        +---------------------------------------+---------+
        |                                     a |         |
        | a name of more than thirty characters |       x |
        +---------------------------------------+---------+
        2 rows in set
        ");
        assert_eq!(draw(&["a"], &[], Cells::Command), "Empty set\n");
    }

    #[test]
    fn lines_of_a_long_text_stay_lines() {
        let rows: &[&[Option<&str>]] = &[&[Some("CREATE TABLE `t` (\n  `a` INT\n)\n")]];
        insta::assert_snapshot!(draw(&["result"], rows, Cells::Command), @r"
        +--------------------+
        |             result |
        +--------------------+
        | CREATE TABLE `t` (
          `a` INT
        ) |
        +--------------------+
        1 row in set
        ");
    }

    #[test]
    fn rows_after_the_measured_ones_are_printed_in_full() {
        let mut out = Vec::new();
        let mut table = Boxed::new(vec!["n".to_owned()], Cells::Query);
        for n in 0..MEASURED_ROWS {
            table.push(vec![Some((n % 10).to_string())], &mut out).unwrap();
        }
        assert!(table.waiting.is_empty() && table.header_printed);
        table.push(vec![Some("1234567".to_owned())], &mut out).unwrap();
        table.finish(Duration::ZERO, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with("| 9 |\n| 1234567 |\n+---+\n1001 rows in set (0.00 seconds)\n"), "{text}");
    }

    #[test]
    fn values_are_cut_between_characters() {
        assert_eq!(cut(&"中".repeat(20)), format!("{}...", "中".repeat(13)));
        assert_eq!(shown(Some(&"x".repeat(30)), Cells::Query), "x".repeat(30));
    }

    #[test]
    fn a_write_is_one_line() {
        let mut summary = WriteSummary {
            table: "ice.shop.orders".to_owned(),
            rows: 3,
            data_files: 1,
            delete_files: 2,
            equality_deletes: 2,
            position_deletes: 1,
            dropped_rows: 0,
            snapshot_id: Some(42),
            elapsed: Duration::from_millis(56),
        };
        assert_eq!(
            describe(&summary),
            "3 rows written to ice.shop.orders: 1 data file, 2 delete files (2 equality deletes, 1 position delete), \
             snapshot 42 (0.06 seconds)"
        );
        summary =
            WriteSummary { rows: 0, data_files: 0, delete_files: 0, dropped_rows: 1, snapshot_id: None, ..summary };
        assert_eq!(
            describe(&summary),
            "no rows written to ice.shop.orders, 1 row with NULL in a NOT NULL column dropped (0.06 seconds)"
        );
    }
}
