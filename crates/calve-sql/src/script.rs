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

impl ScriptStatement {
    /// The part of the text that stands at a place of the script; empty outside of it. Takes linear time.
    pub(crate) fn slice(&self, span: Span) -> &str {
        let mut at = Location { line: self.line, column: self.column };
        let (mut from, mut to) = (None, self.text.len());
        for (byte, c) in self.text.char_indices() {
            if at == span.start {
                from = Some(byte);
            }
            if at == span.end {
                to = byte;
                break;
            }
            at = match c {
                '\n' => Location { line: at.line + 1, column: 1 },
                _ => Location { column: at.column + 1, ..at },
            };
        }
        from.and_then(|from| self.text.get(from..to)).unwrap_or("")
    }
}

/// Text that may be parsed in vain in search of quotes that do not end, for each byte of a script, and at least that much.
const EFFORT: (usize, usize) = (8, 1 << 20);

/// Cuts a script at every `;` outside quotes and comments.
///
/// `EXECUTE STATEMENT SET BEGIN ...; END` is one statement, and so is everything else with `STATEMENT SET BEGIN`. An unterminated quote or comment ends at the next `;` that
/// ends a line, so that only one statement is lost, and so does a quote that goes over such a `;` up to a quote further down,
/// where the statement makes no sense. Statements without content are left out.
pub fn split(text: &str) -> Vec<ScriptStatement> {
    let mut splitter = Splitter::new(text);
    let mut statements = vec![];
    let mut effort = text.len().saturating_mul(EFFORT.0).max(EFFORT.1);
    while !splitter.rest.is_empty() {
        let before = splitter.clone();
        let Some(statement) = splitter.statement() else { continue };
        let crossed = splitter.crossed.take().filter(|_| statement.text.len() <= effort);
        if let Some(crossed) = crossed {
            effort -= statement.text.len();
            if statement.error.is_some() || fails_from(&statement, crossed.place) {
                splitter = before;
                statements.push(splitter.cut(crossed));
                continue;
            }
        }
        statements.push(statement);
    }
    statements
}

/// Whether a statement is no valid syntax from a place on.
fn fails_from(statement: &ScriptStatement, place: Location) -> bool {
    matches!(crate::parser::parse(statement), Err(error) if error.code == "syntax-error"
        && error.span.is_some_and(|span| span.start >= place))
}

/// Whether text that a person types is ready to run: its last statement has its `;`.
pub fn is_complete(text: &str) -> bool {
    let mut splitter = Splitter::new(text);
    let mut complete = true;
    while !splitter.rest.is_empty() {
        let statement = splitter.statement();
        complete = statement.is_none_or(|s| splitter.ended && s.error.is_none());
    }
    complete
}

/// A quote that goes over a `;` at the end of a line.
#[derive(Clone, Copy)]
struct Crossed {
    /// What it is.
    what: &'static str,
    /// Where it begins.
    place: Location,
    /// From the beginning of the statement to the `;`, in bytes.
    length: usize,
}

#[derive(Clone)]
struct Splitter<'a> {
    rest: &'a str,
    place: Location,
    /// Whether a `*/` may still come: looking for it again and again would take quadratic time.
    comments_end: bool,
    /// Whether the last statement had its `;`.
    ended: bool,
    /// The first quote of the last statement that goes over a `;` at the end of a line.
    crossed: Option<Crossed>,
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

const COMMENT: &str = "comment";

/// The first piece of `text` and its length in bytes; an error names what does not end.
fn piece(text: &str, comments_end: bool) -> Result<(Piece, usize), &'static str> {
    let Some(first) = text.chars().next() else { return Ok((Piece::Other, 0)) };
    let run = |keep: fn(char) -> bool| text.find(|c| !keep(c)).unwrap_or(text.len());
    Ok(match first {
        ';' => (Piece::Semicolon, 1),
        '\'' => (Piece::Other, quoted(text, '\'').ok_or(STRING)?),
        '`' => (Piece::Other, quoted(text, '`').ok_or(IDENTIFIER)?),
        '-' if text.starts_with("--") => (Piece::Comment, text.find('\n').unwrap_or(text.len())),
        '/' if text.starts_with("/*") => {
            let end = text.get(2..).filter(|_| comments_end).and_then(|t| t.find("*/")).ok_or(COMMENT)?;
            let kind = if text.starts_with("/*+") { Piece::Other } else { Piece::Comment };
            (kind, end + 4)
        }
        c if c.is_whitespace() => (Piece::Space, run(char::is_whitespace)),
        c if c.is_alphanumeric() || c == '_' => (Piece::Word, run(|c| c.is_alphanumeric() || c == '_')),
        c => (Piece::Other, c.len_utf8()),
    })
}

const STRING: &str = "string";
const IDENTIFIER: &str = "quoted identifier";

/// What a piece is, if it stands in quotes.
fn quote(piece: &str) -> Option<&'static str> {
    match piece.chars().next() {
        Some('\'') => Some(STRING),
        Some('`') => Some(IDENTIFIER),
        _ => None,
    }
}

/// Where the first `;` stands that ends a line, in bytes.
fn line_end(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|t| t.find(';')).map(|at| at + from) {
        let behind = text.get(at + 1..).unwrap_or("");
        let line = behind.split('\n').next().unwrap_or("");
        if line.trim().is_empty() {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// The error of a quote or comment without an end.
fn unterminated(what: &str, place: Location) -> Error {
    let end = Location { line: place.line, column: place.column + 1 };
    Error::new("syntax-error", format!("{what} is not terminated")).at(Span::new(place, end))
}

/// What the words so far say of the `;` to come.
#[derive(Default)]
struct Words {
    /// The last two, if nothing stood between them.
    last: [String; 2],
    /// Whether the statement is a set that has begun: its `;` stand between its statements.
    set: bool,
    /// CASE expressions that are open in the set.
    cases: usize,
    /// Whether the last word is the END of the set.
    ended: bool,
}

impl Words {
    fn word(&mut self, word: &str) {
        let word = word.to_ascii_uppercase();
        self.ended = false;
        match word.as_str() {
            "BEGIN" if self.last == ["STATEMENT", "SET"] => self.set = true,
            "CASE" => self.cases += 1,
            "END" if self.cases > 0 => self.cases -= 1,
            "END" => self.ended = true,
            _ => {}
        }
        let [_, last] = std::mem::take(&mut self.last);
        self.last = [last, word];
    }

    fn other(&mut self) {
        self.last = Default::default();
        self.ended = false;
    }
}

impl<'a> Splitter<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, place: Location { line: 1, column: 1 }, comments_end: true, ended: false, crossed: None }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.place = advance(self.place, taken);
        self.rest = rest;
        taken
    }

    /// The next statement, up to the `;` in a quote that does not end there.
    fn cut(&mut self, crossed: Crossed) -> ScriptStatement {
        let spaces = self.rest.len() - self.rest.trim_start().len();
        self.take(spaces);
        let begin = self.place;
        let text = self.take(crossed.length).trim_end().to_owned();
        self.take(1);
        let error = Some(unterminated(crossed.what, crossed.place));
        ScriptStatement { text, line: begin.line, column: begin.column, error }
    }

    /// The next statement; `None` if only space and comments were left or stood before a `;`.
    fn statement(&mut self) -> Option<ScriptStatement> {
        self.ended = false;
        self.crossed = None;
        let spaces = self.rest.len() - self.rest.trim_start().len();
        self.take(spaces);
        let (whole, begin) = (self.rest, self.place);
        let mut words = Words::default();
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
            match piece(self.rest, self.comments_end) {
                Err(what) => {
                    if what == COMMENT {
                        (self.comments_end, self.crossed) = (false, None);
                    }
                    let start = self.place;
                    let length = line_end(self.rest);
                    self.take(length.map_or(self.rest.len(), |length| length + 1));
                    return statement(length.map_or(whole.len(), |n| done + n), Some(unterminated(what, start)));
                }
                Ok((Piece::Semicolon, length)) => {
                    self.take(length);
                    if words.set && !words.ended {
                        words.other();
                        words.cases = 0;
                        continue;
                    }
                    self.ended = true;
                    return if content { statement(done, None) } else { None };
                }
                Ok((kind, length)) => {
                    let place = self.place;
                    let taken = self.take(length);
                    if self.crossed.is_none()
                        && let Some(what) = quote(taken)
                        && let Some(at) = line_end(taken)
                    {
                        self.crossed = Some(Crossed { what, place, length: done + at });
                    }
                    match kind {
                        Piece::Word => {
                            content = true;
                            words.word(taken);
                        }
                        Piece::Other => {
                            content = true;
                            words.other();
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}
