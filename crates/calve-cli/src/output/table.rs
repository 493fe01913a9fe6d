//! Results in boxes, as Flink's SQL client draws them in its tableau mode.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use calve_engine::{Op, ResultBody, Rows, StatementKind, StatementResult};

use super::width::{self, cut};
use super::{Display, Failure};

/// Rows that are looked at to find the widths of the columns before the first is printed.
const MEASURED_ROWS: usize = 1_000;

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
    pub async fn result(
        &mut self,
        result: StatementResult,
        display: &Display,
        started: Instant,
    ) -> Result<(), Failure> {
        match result.body {
            ResultBody::Done => writeln!(self.out, "[INFO] Execute statement succeeded.")?,
            ResultBody::Written(writes) => {
                for write in &writes {
                    writeln!(self.out, "[INFO] {write}")?;
                }
            }
            ResultBody::Rows(rows) => self.rows(rows, result.kind, display, started).await?,
        }
        writeln!(self.out)?;
        self.out.flush()?;
        Ok(())
    }

    async fn rows(
        &mut self,
        mut rows: Rows,
        kind: StatementKind,
        display: &Display,
        started: Instant,
    ) -> Result<(), Failure> {
        let max_width = display.max_column_width;
        let cells = match (kind, display.streaming) {
            (StatementKind::Query, true) => Cells::Changes { max_width },
            (StatementKind::Query, false) => Cells::Query { max_width, time_cost: display.time_cost },
            _ => Cells::Command,
        };
        let names = rows.columns.iter().map(|field| field.name.clone()).collect();
        let mut table = Boxed::new(names, cells);
        if let Cells::Changes { .. } = cells {
            table.set_widths(rows.columns.iter().map(|f| width::of_type(&f.data_type.logical)).collect());
        }
        while let Some(batch) = rows.next_text().await {
            let batch = batch?;
            let mut ops = rows.ops().iter();
            for row in batch {
                table.op = ops.next().copied().unwrap_or(Op::Insert);
                table.push(row, &mut self.out)?;
            }
            if table.header_printed {
                self.out.flush()?;
            }
        }
        Ok(table.finish(started.elapsed(), &mut self.out)?)
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
    /// A query in streaming mode: each row begins with its change, widths come from the types.
    Changes { max_width: usize },
    /// A query in batch mode: `<NULL>`, long values and headers cut, the time in the last line.
    Query { max_width: usize, time_cost: bool },
    /// NULL is empty, nothing cut, no time.
    Command,
}

/// A box that grows row by row.
#[derive(Debug)]
struct Boxed {
    names: Vec<String>,
    cells: Cells,
    widths: Vec<usize>,
    /// Columns on the screen of the longest value that is shown in full; `None` is no limit.
    limits: Vec<Option<usize>>,
    /// Whether the widths are known before the rows.
    fixed: bool,
    /// Rows that wait until the widths are known; not used any more once the header is printed.
    waiting: Vec<Vec<Option<String>>>,
    header_printed: bool,
    count: u64,
    /// What happens to the row that is printed next.
    op: Op,
}

impl Boxed {
    fn new(mut names: Vec<String>, cells: Cells) -> Self {
        if let Cells::Query { max_width, .. } = cells {
            for name in names.iter_mut().filter(|name| width::of_text(name) > max_width) {
                *name = cut(name, max_width);
            }
        }
        let widths = names.iter().map(|name| width::of_text(name)).collect();
        let limit = match cells {
            Cells::Changes { max_width } | Cells::Query { max_width, .. } => Some(max_width),
            Cells::Command => None,
        };
        let limits = vec![limit; names.len()];
        Self {
            names,
            cells,
            widths,
            limits,
            fixed: false,
            waiting: Vec::new(),
            header_printed: false,
            count: 0,
            op: Op::Insert,
        }
    }

    /// Fixes the widths before the first row: those of types, or the longest for a type that has none.
    fn set_widths(&mut self, types: Vec<Option<usize>>) {
        self.fixed = true;
        for ((width, limit), of_type) in self.widths.iter_mut().zip(&mut self.limits).zip(types) {
            let least = of_type.or(*limit).unwrap_or(width::DEFAULT_MAX);
            *width = (*width).max(least).max("<NULL>".len());
            // a value of a type with a longest that is longer all the same breaks the box rather than losing its end
            *limit = if of_type.is_some() { None } else { Some(*width) };
        }
    }

    fn push(&mut self, row: Vec<Option<String>>, out: &mut impl Write) -> io::Result<()> {
        self.count += 1;
        if self.fixed && !self.header_printed {
            self.print_header(out)?;
        }
        if self.header_printed {
            return self.print_row(&row, out);
        }
        for ((width, limit), value) in self.widths.iter_mut().zip(&self.limits).zip(&row) {
            *width = (*width).max(width::of_text(&shown(value.as_deref(), self.cells, *limit)));
        }
        self.waiting.push(row);
        if self.waiting.len() >= MEASURED_ROWS { self.print_waiting(out) } else { Ok(()) }
    }

    fn finish(&mut self, elapsed: Duration, out: &mut impl Write) -> io::Result<()> {
        if !self.header_printed && (self.count > 0 || self.fixed) {
            self.print_waiting(out)?;
        }
        if self.count > 0 {
            self.print_border(out)?;
        }
        let seconds = elapsed.as_secs_f64();
        if let Cells::Changes { .. } = self.cells {
            let rows = if self.count > 1 { "rows" } else { "row" };
            return writeln!(out, "Received a total of {} {rows} ({seconds:.2} seconds)", self.count);
        }
        match self.count {
            0 => write!(out, "Empty set")?,
            1 => write!(out, "1 row in set")?,
            n => write!(out, "{n} rows in set")?,
        }
        match self.cells {
            Cells::Query { time_cost: true, .. } => writeln!(out, " ({seconds:.2} seconds)"),
            _ => writeln!(out),
        }
    }

    fn print_waiting(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.print_header(out)?;
        for row in std::mem::take(&mut self.waiting) {
            self.print_row(&row, out)?;
        }
        Ok(())
    }

    fn print_header(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.header_printed = true;
        self.print_border(out)?;
        if let Cells::Changes { .. } = self.cells {
            write!(out, "| op ")?;
        }
        for (name, width) in self.names.iter().zip(&self.widths) {
            print_cell(name, *width, out)?;
        }
        writeln!(out, "|")?;
        self.print_border(out)
    }

    fn print_border(&self, out: &mut impl Write) -> io::Result<()> {
        if let Cells::Changes { .. } = self.cells {
            write!(out, "+----")?;
        }
        for width in &self.widths {
            write!(out, "+-{:-<width$}-", "")?;
        }
        writeln!(out, "+")
    }

    fn print_row(&self, row: &[Option<String>], out: &mut impl Write) -> io::Result<()> {
        if let Cells::Changes { .. } = self.cells {
            write!(out, "| {} ", self.op)?;
        }
        for ((value, width), limit) in row.iter().zip(&self.widths).zip(&self.limits) {
            print_cell(&shown(value.as_deref(), self.cells, *limit), *width, out)?;
        }
        writeln!(out, "|")
    }
}

/// Right-aligned. A value wider than the measured rows' breaks the box rather than losing its end.
fn print_cell(text: &str, width: usize, out: &mut impl Write) -> io::Result<()> {
    write!(out, "| {:pad$}{text} ", "", pad = width.saturating_sub(width::of_text(text)))
}

fn shown(value: Option<&str>, cells: Cells, limit: Option<usize>) -> Cow<'_, str> {
    match (value, cells) {
        (None, Cells::Command) => return "".into(),
        (Some(value), Cells::Command) => return value.trim_end_matches('\n').into(),
        _ => {}
    }
    let value = value.unwrap_or("<NULL>");
    match limit {
        Some(limit) if width::of_text(value) > limit => cut(value, limit).into(),
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    const QUERY: Cells = Cells::Query { max_width: 30, time_cost: true };

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
        insta::assert_snapshot!(draw(&["id", "s", "d", "b"], rows, QUERY), @r"
        +----+--------------------------------+--------+-------+
        | id |                              s |      d |     b |
        +----+--------------------------------+--------+-------+
        |  1 | a long string that exceeds ... |   1.50 |  TRUE |
        | 22 |                            é中 | <NULL> | FALSE |
        +----+--------------------------------+--------+-------+
        2 rows in set (1.23 seconds)
        ");
        assert_eq!(draw(&["a"], &[], QUERY), "Empty set (1.23 seconds)\n");
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

    /// As Flink 2.1's client draws it with `table.display.max-column-width` = 10, then 4.
    #[test]
    fn headers_and_numbers_of_a_query_are_cut_too() {
        let query = |max_width| Cells::Query { max_width, time_cost: false };
        let rows: &[&[Option<&str>]] =
            &[&[Some("abcdefghijklmnop"), Some("1234567890123456"), Some("1"), Some("日本語日本語日本語")]];
        insta::assert_snapshot!(draw(&["s", "n", "a_long_column_name", "日本語日本"], rows, query(10)), @r"
        +------------+------------+------------+------------+
        |          s |          n | a_long_... | 日本語日本 |
        +------------+------------+------------+------------+
        | abcdefg... | 1234567... |          1 |  日本語... |
        +------------+------------+------------+------------+
        1 row in set
        ");
        let rows: &[&[Option<&str>]] = &[&[Some("abcdefghijklmnop"), None, Some("abc"), Some("a")]];
        insta::assert_snapshot!(draw(&["s", "n", "t", "abcde"], rows, query(4)), @r"
        +------+------+-----+------+
        |    s |    n |   t | a... |
        +------+------+-----+------+
        | a... | <... | abc |    a |
        +------+------+-----+------+
        1 row in set
        ");
    }

    /// As Flink 2.1's client draws it with `table.display.max-column-width` = 20, then 4.
    #[test]
    fn values_in_streaming_mode_are_cut_at_their_columns_width() {
        let draw = |names: &[&str], types: &[Option<usize>], row: &[Option<&str>], max_width: usize| {
            let mut out = Vec::new();
            let mut table = Boxed::new(names.iter().map(|n| (*n).to_owned()).collect(), Cells::Changes { max_width });
            table.set_widths(types.to_vec());
            table.push(row.iter().map(|v| v.map(str::to_owned)).collect(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let long = Some("abcdefghijklmnopqrstuvwxyzabcdefghij");
        let drawn = draw(&["s", "a_name_of_more_than_twenty"], &[None, None], &[long, long], 20);
        assert!(drawn.contains("| op |                    s | a_name_of_more_than_twenty |\n"), "{drawn}");
        assert!(drawn.contains("| +I | abcdefghijklmnopq... | abcdefghijklmnopqrstuvw... |\n"), "{drawn}");
        let row = [Some("abcdefghijklmnop"), Some("a"), None, Some("1")];
        let drawn = draw(&["s", "abcdefgh", "n", "i"], &[None, None, None, Some(11)], &row, 4);
        assert!(drawn.contains("| +I | abc... |        a | <NULL> |           1 |\n"), "{drawn}");
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
        let mut table = Boxed::new(vec!["n".to_owned()], QUERY);
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
    fn a_query_in_streaming_mode_looks_as_in_flinks_client() {
        let draw = |rows: &[[Option<&str>; 3]], max_width: usize| {
            let mut out = Vec::new();
            let names = ["a", "b", "c"].map(str::to_owned).to_vec();
            let mut table = Boxed::new(names, Cells::Changes { max_width });
            table.set_widths(vec![Some(11), None, Some(4)]);
            for row in rows {
                table.push(row.iter().map(|v| v.map(str::to_owned)).collect(), &mut out).unwrap();
            }
            table.finish(Duration::from_millis(1_234), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        insta::assert_snapshot!(draw(&[[Some("1"), Some("x"), None], [Some("22"), Some("y"), Some("-12")]], 30), @r"
        +----+-------------+--------------------------------+--------+
        | op |           a |                              b |      c |
        +----+-------------+--------------------------------+--------+
        | +I |           1 |                              x | <NULL> |
        | +I |          22 |                              y |    -12 |
        +----+-------------+--------------------------------+--------+
        Received a total of 2 rows (1.23 seconds)
        ");
        insta::assert_snapshot!(draw(&[], 30), @r"
        +----+-------------+--------------------------------+--------+
        | op |           a |                              b |      c |
        +----+-------------+--------------------------------+--------+
        Received a total of 0 row (1.23 seconds)
        ");
        insta::assert_snapshot!(draw(&[[Some("123456789012"), Some("abcdefghijk"), Some("1")]], 10), @r"
        +----+-------------+------------+--------+
        | op |           a |          b |      c |
        +----+-------------+------------+--------+
        | +I | 123456789012 | abcdefg... |      1 |
        +----+-------------+------------+--------+
        Received a total of 1 row (1.23 seconds)
        ");
    }
}
