//! Cuts a script into statements.

use calve_types::{Error, Location, Span};

/// A statement of a script, not parsed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStatement {
    /// The slice of the script, with the comments before the statement, without the final `;`.
    pub text: String,
    /// The script's line where the slice begins, from 1.
    pub line: u32,
    /// The column where the slice begins, from 1, in characters.
    pub column: u32,
    /// A quote or comment that does not end; the statement has no other meaning then.
    pub error: Option<Error>,
}

/// Cuts a script at every `;` outside quotes and comments.
///
/// `EXECUTE STATEMENT SET BEGIN ...; END` is one statement. An unterminated quote or comment ends at the next `;` that
/// ends a line, so that only one statement is lost. Statements without content are left out.
pub fn split(text: &str) -> Vec<ScriptStatement> {
    let mut splitter = Splitter { rest: text, place: Location { line: 1, column: 1 } };
    let mut statements = vec![];
    while !splitter.rest.is_empty() {
        statements.extend(splitter.statement());
    }
    statements
}

/// Whether text that a person types is ready to run: its last statement has its `;`.
pub fn is_complete(text: &str) -> bool {
    let mut splitter = Splitter { rest: text, place: Location { line: 1, column: 1 } };
    let mut complete = true;
    while !splitter.rest.is_empty() {
        let before = splitter.rest;
        let statement = splitter.statement();
        let read = &before[..before.len() - splitter.rest.len()];
        complete = statement.is_none() || (read.ends_with(';') && statement.is_some_and(|s| s.error.is_none()));
    }
    complete
}

struct Splitter<'a> {
    rest: &'a str,
    place: Location,
}

/// What a piece of text is.
enum Piece {
    Space,
    Comment,
    Semicolon,
    Word,
    Other,
}

fn advance(place: Location, text: &str) -> Location {
    text.chars().fold(place, |place, c| match c {
        '\n' => Location { line: place.line.saturating_add(1), column: 1 },
        _ => Location { line: place.line, column: place.column.saturating_add(1) },
    })
}

/// Length of a quoted piece that starts with `quote`; a doubled quote does not end it.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            match chars.peek() {
                Some((_, next)) if *next == quote => drop(chars.next()),
                _ => return Some(at + quote.len_utf8()),
            }
        }
    }
    None
}

/// The first piece of `text` and its length in bytes; an error names what does not end.
fn piece(text: &str) -> Result<(Piece, usize), &'static str> {
    let Some(first) = text.chars().next() else { return Ok((Piece::Other, 0)) };
    let run = |keep: fn(char) -> bool| text.find(|c| !keep(c)).unwrap_or(text.len());
    Ok(match first {
        ';' => (Piece::Semicolon, 1),
        '\'' => (Piece::Other, quoted(text, '\'').ok_or("string")?),
        '`' => (Piece::Other, quoted(text, '`').ok_or("quoted identifier")?),
        '-' if text.starts_with("--") => (Piece::Comment, text.find('\n').unwrap_or(text.len())),
        '/' if text.starts_with("/*") => {
            let end = text.get(2..).and_then(|t| t.find("*/")).ok_or("comment")?;
            let kind = if text.starts_with("/*+") { Piece::Other } else { Piece::Comment };
            (kind, end + 4)
        }
        c if c.is_whitespace() => (Piece::Space, run(char::is_whitespace)),
        c if c.is_alphanumeric() || c == '_' => (Piece::Word, run(|c| c.is_alphanumeric() || c == '_')),
        c => (Piece::Other, c.len_utf8()),
    })
}

/// Where text with an unterminated quote ends: behind the next `;` that ends a line.
fn recovery(text: &str) -> (usize, usize) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|t| t.find(';')).map(|at| at + from) {
        let behind = text.get(at + 1..).unwrap_or("");
        let line = behind.split('\n').next().unwrap_or("");
        if line.trim().is_empty() {
            return (at, at + 1);
        }
        from = at + 1;
    }
    (text.len(), text.len())
}

impl<'a> Splitter<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.place = advance(self.place, taken);
        self.rest = rest;
        taken
    }

    /// The next statement; `None` if only space and comments were left or stood before a `;`.
    fn statement(&mut self) -> Option<ScriptStatement> {
        let spaces = self.rest.len() - self.rest.trim_start().len();
        self.take(spaces);
        let (whole, begin) = (self.rest, self.place);
        let mut words: Vec<String> = vec![];
        let mut last_word = String::new();
        let mut content = false;
        let statement = |length: usize, error| {
            let text = whole.get(..length).unwrap_or(whole).trim_end().to_owned();
            Some(ScriptStatement { text, line: begin.line, column: begin.column, error })
        };
        loop {
            if self.rest.is_empty() {
                return if content { statement(whole.len(), None) } else { None };
            }
            let done = whole.len() - self.rest.len();
            match piece(self.rest) {
                Err(what) => {
                    let start = self.place;
                    let (length, with_semicolon) = recovery(self.rest);
                    self.take(with_semicolon);
                    let end = Location { line: start.line, column: start.column + 1 };
                    let error =
                        Error::new("syntax-error", format!("{what} is not terminated")).at(Span::new(start, end));
                    return statement(done + length, Some(error));
                }
                Ok((Piece::Semicolon, length)) => {
                    self.take(length);
                    let set = words.iter().take(3).map(String::as_str).eq(["EXECUTE", "STATEMENT", "SET"]);
                    if set && last_word != "END" {
                        last_word.clear();
                        continue;
                    }
                    return if content { statement(done, None) } else { None };
                }
                Ok((kind, length)) => {
                    let taken = self.take(length);
                    match kind {
                        Piece::Word => {
                            content = true;
                            last_word = taken.to_ascii_uppercase();
                            if words.len() < 3 {
                                words.push(last_word.clone());
                            }
                        }
                        Piece::Other => {
                            content = true;
                            last_word.clear();
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}
