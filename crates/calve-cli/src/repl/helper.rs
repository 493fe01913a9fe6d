//! What the line editor asks while somebody types.

use std::borrow::Cow;
use std::cell::Cell;

use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Result};

use super::command::Command;
use super::complete::{Completion, Step};
use super::highlight;
use super::lex::{Kind, Lexeme, lexemes};

/// Completion, colours, hints, and whether the input is complete.
#[derive(Debug)]
pub struct Assistant {
    completion: Completion,
    /// Whether the text is drawn for the last time, without a cursor.
    last: Cell<bool>,
}

impl Assistant {
    /// Helps with that completion.
    pub fn new(completion: Completion) -> Self {
        Self { completion, last: Cell::new(false) }
    }
}

impl Helper for Assistant {}

impl Completer for Assistant {
    type Candidate = String;

    /// At most one candidate; several are listed by [`super::tab`].
    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        Ok(match self.completion.step(line, pos) {
            Step::Replace(start, text) => (start, vec![text]),
            Step::Nothing | Step::List(_) => (pos, vec![]),
        })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, pos: usize) -> Cow<'l, str> {
        Cow::Owned(highlight::paint(line, Some(pos).filter(|_| !self.last.get())))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(highlight::faint(hint))
    }

    fn highlight_char(&self, line: &str, _: usize, kind: CmdKind) -> bool {
        self.last.set(kind == CmdKind::ForcedRefresh);
        !line.is_empty()
    }
}

/// A remark behind the text; nothing that could be taken over.
#[derive(Debug, PartialEq, Eq)]
pub struct Remark(String);

impl Hint for Remark {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for Assistant {
    type Hint = Remark;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<Remark> {
        if pos == line.len() { unclosed(line) } else { None }
    }
}

/// Says why a text of several lines does not run: a quote or comment in it has no end.
fn unclosed(text: &str) -> Option<Remark> {
    let (what, last) = open(text)?;
    if !last.text(text).contains('\n') {
        return None;
    }
    let line = text.get(..last.start)?.matches('\n').count() + 1;
    Some(Remark(format!("  (the {what} that begins in line {line} is not closed)")))
}

/// What the end of a text stands in: a quote or comment without an end.
fn open(text: &str) -> Option<(&'static str, Lexeme)> {
    let last = lexemes(text).pop().filter(|last| !last.closed)?;
    let what = match last.kind {
        Kind::String => "string",
        Kind::Quoted => "quoted name",
        Kind::Comment if last.text(text).starts_with("/*") => "comment",
        _ => return None,
    };
    Some((what, last))
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let text = context.input();
        Ok(if is_ready(text) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Whether the Enter key runs the text. The commands of the shell need no `;`.
///
/// A script recovers behind a quote without an end. Here its end may come with the next line: run now, the statement
/// would fail, and that line would open a quote that swallows what follows.
fn is_ready(text: &str) -> bool {
    Command::of(text).is_some() || calve_sql::is_complete(text) && open(text).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_runs_what_is_complete() {
        for (text, ready) in [
            ("", true),
            ("  ", true),
            ("SELECT 1", false),
            ("SELECT 1;", true),
            ("SELECT 1; SELECT", false),
            ("SELECT ';", false),
            ("SELECT 'a;\nb;", false),
            ("SELECT 'a;\nb;\nc' AS x;", true),
            ("SELECT 'a;\nSELECT 2;\n", false),
            ("/* a;\nSELECT 2;", false),
            ("/* a;\n*/ SELECT 2;", true),
            // closed, if senseless
            ("SELECT 'a;\nb' FROM FROM t;", true),
            ("SELECT 1; -- it's", true),
            ("-- why", true),
            ("help", true),
            ("quit", true),
            ("QUIT;", true),
            ("help me", false),
            ("EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1);", false),
            ("EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); END;", true),
        ] {
            assert_eq!(is_ready(text), ready, "{text}");
        }
    }

    #[test]
    fn an_open_quote_is_pointed_at() {
        assert_eq!(unclosed("SELECT 'a"), None);
        assert_eq!(unclosed("SELECT 'a';\n"), None);
        assert_eq!(
            unclosed("SELECT\n'a;\n"),
            Some(Remark("  (the string that begins in line 2 is not closed)".to_owned()))
        );
        assert_eq!(unclosed("/* a;\n"), Some(Remark("  (the comment that begins in line 1 is not closed)".to_owned())));
    }
}
