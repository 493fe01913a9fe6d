//! Errors and warnings as a person reads them: the message, the line of the script, a caret under the place.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str};
use calve_engine::{Finding, Secret, Severity, secrets};
use calve_types::{Error, Location, Span};

use crate::codes;
use crate::invocation::Script;

/// Prints a line to standard error. Nobody may be reading it any more, which is no reason to stop.
pub fn say(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether to use colours: on a terminal, unless `NO_COLOR` is set and not empty (<https://no-color.org>).
pub fn colours_on(terminal: bool) -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    terminal && !no_color && !dumb
}

/// What is drawn.
struct Report<'a> {
    level: Level<'a>,
    code: &'a str,
    message: &'a str,
    detail: Option<&'a str>,
    hint: Option<&'a str>,
    span: Option<Span>,
}

/// Draws errors and warnings.
#[derive(Debug)]
pub struct Diagnostics {
    renderer: Renderer,
    /// Whether to say where an error is explained: to a person, once.
    explain: Cell<bool>,
    /// The script that was last drawn from, and what of it is not to be shown.
    secrets: RefCell<(String, Vec<Secret>)>,
}

impl Diagnostics {
    /// For standard error, as [`colours_on`] says.
    pub fn for_stderr() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { explain: Cell::new(is_terminal), ..Self::new(colours_on(is_terminal)) }
    }

    /// With or without colours.
    pub fn new(colours: bool) -> Self {
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        Self { renderer, explain: Cell::new(false), secrets: RefCell::default() }
    }

    /// Prints an error of a statement that begins at `line` (1-based) of the script.
    pub fn print_error(&self, error: &Error, script: &Script, line: u32) {
        say(self.error(error, script, line));
        if codes::page(error.code).is_some() && self.explain.replace(false) {
            say(format_args!("More about this error: calve explain {}", error.code));
        }
    }

    /// Prints a warning.
    pub fn print_warning(&self, code: &str, message: &str) {
        say(self.warning(code, message));
    }

    fn error(&self, error: &Error, script: &Script, line: u32) -> String {
        let report = Report {
            level: Level::ERROR,
            code: error.code,
            message: &error.message,
            detail: error.detail.as_deref(),
            hint: error.hint.as_deref(),
            span: error.span,
        };
        self.report(&report, script, line)
    }

    /// A problem that `calve check` found.
    pub fn finding(&self, finding: &Finding, script: &Script) -> String {
        let report = Report {
            level: match finding.severity {
                Severity::Error => Level::ERROR,
                Severity::Warning => Level::WARNING,
                Severity::Note => Level::NOTE,
            },
            code: finding.code,
            message: &finding.message,
            detail: finding.detail.as_deref(),
            hint: finding.hint.as_deref(),
            span: Some(finding.span),
        };
        self.report(&report, script, 1)
    }

    fn report(&self, report: &Report<'_>, script: &Script, line: u32) -> String {
        let excerpt = report.span.and_then(|span| self.excerpt(&script.text, span));
        let title = report.level.clone().primary_title(report.message).id(report.code);
        let mut group = Group::with_title(title);
        group = match &excerpt {
            Some(Excerpt { line, text, range }) => group.element(
                Snippet::source(text.as_str())
                    .line_start(*line)
                    .path(&script.name)
                    .fold(false)
                    .annotation(AnnotationKind::Primary.span(range.clone())),
            ),
            None => group.element(Origin::path(&script.name).line(line.max(1) as usize)),
        };
        if let Some(detail) = report.detail {
            group = group.element(Level::NOTE.message(untrusted(detail)));
        }
        if let Some(hint) = report.hint {
            group = group.element(Level::HELP.message(untrusted(hint)));
        }
        self.renderer.render(&[group])
    }

    /// See [`excerpt`]; without secrets.
    fn excerpt(&self, text: &str, span: Span) -> Option<Excerpt> {
        let mut known = self.secrets.borrow_mut();
        if known.0 != text {
            *known = (text.to_owned(), secrets(text));
        }
        excerpt(text, span, &known.1)
    }

    fn warning(&self, code: &str, message: &str) -> String {
        self.renderer.render(&[Group::with_title(Level::WARNING.primary_title(message).id(code))])
    }
}

/// Text from scripts and servers, without what would steer a terminal; lines stay lines.
fn untrusted(text: &str) -> String {
    text.trim_end().lines().map(normalize_untrusted_str).collect::<Vec<_>>().join("\n")
}

/// The line of the script that an error points at.
struct Excerpt {
    line: usize,
    text: String,
    range: Range<usize>,
}

/// The line where the span begins, and the part of that line which the span covers. A span of several lines is cut at the
/// end of the first one: where something begins says more than a box around half the statement. What is secret in the text is
/// not in it. `None` if the text has no such line.
fn excerpt(text: &str, span: Span, secrets: &[Secret]) -> Option<Excerpt> {
    let line = usize::try_from(span.start.line).ok().filter(|line| *line > 0)?;
    let mut begin = 0;
    let mut lines = text.split('\n');
    for passed in lines.by_ref().take(line - 1) {
        begin += passed.len() + 1;
    }
    let text = lines.next()?;
    let text = text.strip_suffix('\r').unwrap_or(text);
    let start = byte_offset(text, span.start);
    let end = if span.end.line == span.start.line { byte_offset(text, span.end) } else { text.trim_end().len() };
    let mut excerpt = Excerpt { line, text: text.to_owned(), range: start..end.max(start) };
    // from the end, so that the places before it stay
    for secret in secrets.iter().rev() {
        let from = secret.range.start.saturating_sub(begin);
        let to = secret.range.end.saturating_sub(begin).min(text.len());
        if secret.range.start < begin + text.len() && from < to {
            excerpt.hide(from..to, &secret.shown);
        }
    }
    Some(excerpt)
}

impl Excerpt {
    /// Shows something else in the place of a part of the line.
    fn hide(&mut self, part: Range<usize>, shown: &str) {
        let (from, to) = (part.start, part.end);
        let moved = |at: usize, within: usize| match at {
            at if at <= from => at,
            at if at >= to => at - to + from + shown.len(),
            _ => within,
        };
        self.range = moved(self.range.start, from)..moved(self.range.end, from + shown.len());
        self.text.replace_range(part, shown);
    }
}

/// Where a column (in characters, from 1) begins in its line; the line's end if the line is shorter.
fn byte_offset(line: &str, at: Location) -> usize {
    let column = usize::try_from(at.column).unwrap_or(usize::MAX).saturating_sub(1);
    line.char_indices().nth(column).map_or(line.len(), |(offset, _)| offset)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    fn script(text: &str) -> Script {
        Script { name: "orders.sql".to_owned(), text: text.to_owned() }
    }

    fn span(line: u32, start: u32, end_line: u32, end: u32) -> Span {
        Span::new(Location { line, column: start }, Location { line: end_line, column: end })
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        let error = Error::new("unknown-column", "unknown column 'nmae'")
            .with_detail("Column 'nmae' not found in any table")
            .with_hint("did you mean 'name'?")
            .at(span(2, 8, 2, 12));
        insta::assert_snapshot!(Diagnostics::new(false).error(&error, &script("SET 'a'='b';\nSELECT nmae\nFROM t"), 2), @r"
        error[unknown-column]: unknown column 'nmae'
         --> orders.sql:2:8
          |
        2 | SELECT nmae
          |        ^^^^
          |
          = note: Column 'nmae' not found in any table
          = help: did you mean 'name'?
        ");
    }

    #[test]
    fn wide_characters_and_tabs_keep_the_caret_in_place() {
        let error = Error::new("unknown-column", "unknown column 'x'").at(span(1, 14, 1, 15));
        insta::assert_snapshot!(Diagnostics::new(false).error(&error, &script("\tSELECT '日本'\tx"), 1), @r"
        error[unknown-column]: unknown column 'x'
         --> orders.sql:1:14
          |
        1 |     SELECT '日本'    x
          |                      ^
        ");
    }

    #[test]
    fn secrets_are_not_drawn() {
        let text = "CREATE CATALOG c WITH ('s3.secret-access-key'='hush', 'uri' 'x');\n\
                    CREATE CATALOG d WITH ('credential'='é:hush'";
        let (first, second) = ("WITH ('s3.secret-access-key'='******', 'uri' 'x');", "WITH ('credential'='******'");
        for (span, line, column, length) in [
            (span(1, 55, 1, 60), first, 57, 5),
            (span(1, 47, 1, 53), first, 47, 8),
            (span(2, 24, 2, 36), second, 24, 12),
            (span(2, 39, 2, 40), second, 37, 8),
        ] {
            let error = Error::new("code", "message").at(span);
            let shown = Diagnostics::new(false).error(&error, &script(text), 1);
            assert!(!shown.contains("hush"), "{shown}");
            let drawn = format!("{line}\n  |{}{}", " ".repeat(column), "^".repeat(length));
            assert!(shown.contains(&drawn), "{shown}\n{drawn}");
        }
    }

    #[test]
    fn without_a_place_the_statement_is_named() {
        let error = Error::new("io", "no space left on device");
        insta::assert_snapshot!(Diagnostics::new(false).error(&error, &script("a\nb"), 2), @r"
        error[io]: no space left on device
        --> orders.sql:2
        ");
    }

    #[test]
    fn no_place_is_too_far_away() {
        let texts = ["", "\n", "x", "SELECT é\r\n", "日本\n\n", "\t\t\t"];
        for text in texts {
            for line in [0, 1, 2, 3, u32::MAX] {
                for column in [0, 1, 2, 9, u32::MAX] {
                    for (end_line, end) in [(line, 0), (line, column), (line, column.saturating_add(3)), (u32::MAX, 1)]
                    {
                        let error = Error {
                            span: Some(span(line, column, end_line, end)),
                            ..Error::new("code", "message").with_detail("two\nlines\u{1b}[31m\n")
                        };
                        let drawn = Diagnostics::new(true).error(&error, &script(text), 1);
                        assert!(drawn.contains("message"));
                    }
                }
            }
        }
    }

    #[test]
    fn warnings_are_one_line() {
        assert_eq!(
            Diagnostics::new(false).warning("not-portable", "not portable to Flink: days(ts)"),
            "warning[not-portable]: not portable to Flink: days(ts)"
        );
    }
}
