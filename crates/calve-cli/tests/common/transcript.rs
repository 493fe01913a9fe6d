//! Transcripts of a real Flink: what each statement of a script gave, as text.
//!
//! ```text
//! === [n] <statement, newlines as \n>
//! --- schema: [op\t]name TYPE\tname TYPE     "op" only for queries in streaming mode
//! v1\tv2                                     one line for each row; NULL is <NULL>; \\ \t \n \r \xNN escaped
//! --- N row(s)[ ordered| unordered| changelog]
//! --- OK | --- OK (job finished)             commands | inserts
//! --- ERROR <class>: <message>
//! --- via ...                                a position "line L, column C" may be here
//! --- stdout: ...                            lines of print sinks
//! ```

use serde_json::Value;

/// How NULL is written.
const NULL: &str = "<NULL>";

/// One value; `None` is NULL.
pub type Cell = Option<String>;

/// One statement of a transcript.
#[derive(Debug, Default)]
pub struct Entry {
    /// Its text.
    pub sql: String,
    /// `ok`, `error`, or `skip` where the recording itself failed.
    pub status: &'static str,
    /// Columns: names and types.
    pub schema: Option<Vec<(String, String)>>,
    /// Whether rows begin with their change operation.
    pub has_ops: bool,
    /// Rows.
    pub rows: Vec<Vec<Cell>>,
    /// `ordered`, `unordered`, `changelog` or nothing.
    pub kind: String,
    /// Lines of print sinks.
    pub stdout: Vec<String>,
    /// The error with what was around it.
    pub error: String,
}

/// The statements of a transcript.
pub fn read(text: &str) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    let mut in_rows = false;
    for line in text.split('\n') {
        if let Some(sql) = heading(line) {
            out.push(Entry { sql: unescape(sql), status: "ok", ..Entry::default() });
            in_rows = false;
            continue;
        }
        let Some(entry) = out.last_mut() else { continue };
        if let Some(columns) = line.strip_prefix("--- schema:") {
            let columns = columns.strip_prefix(' ').unwrap_or(columns);
            let mut columns: Vec<_> = columns.split('\t').map(column).collect();
            if columns.first().is_some_and(|(name, kind)| name == "op" && kind.is_empty()) {
                columns.remove(0);
                entry.has_ops = true;
            }
            entry.schema = Some(columns);
            in_rows = true;
        } else if let Some(error) = line.strip_prefix("--- ERROR ") {
            entry.status = "error";
            entry.error = error.to_owned();
            in_rows = false;
        } else if line.starts_with("--- TIMEOUT") || line.starts_with("--- HARNESS") {
            entry.status = "skip";
            in_rows = false;
        } else if let Some(via) = line.strip_prefix("--- via ") {
            entry.error.push('\n');
            entry.error.push_str(via);
        } else if let Some(stdout) = line.strip_prefix("--- stdout: ") {
            entry.stdout.push(stdout.to_owned());
        } else if let Some(kind) = row_count(line) {
            entry.kind = kind.to_owned();
            in_rows = false;
        } else if !line.starts_with("--- ") && in_rows {
            entry.rows.push(line.split('\t').map(|v| (v != NULL).then(|| unescape(v))).collect());
        }
    }
    out
}

/// The statement of a line `=== [n] statement`.
fn heading(line: &str) -> Option<&str> {
    let (n, sql) = line.strip_prefix("=== [")?.split_once("] ")?;
    n.bytes().all(|b| b.is_ascii_digit()).then_some(sql)
}

/// What follows `--- N row(s)`.
fn row_count(line: &str) -> Option<&str> {
    let (n, kind) = line.strip_prefix("--- ")?.split_once(" row(s)")?;
    n.bytes().all(|b| b.is_ascii_digit()).then_some(kind.trim())
}

const TYPES: &[&str] = &[
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "CHAR",
    "VARCHAR",
    "STRING",
    "BINARY",
    "VARBINARY",
    "BYTES",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "INTERVAL",
    "ARRAY",
    "MAP",
    "MULTISET",
    "ROW",
    "RAW",
    "SYMBOL",
    "NULL",
    "VARIANT",
    "DESCRIPTOR",
];

/// Name and type of a column; a name may hold blanks (`table name STRING`): it ends where a type begins.
fn column(text: &str) -> (String, String) {
    for (at, _) in text.match_indices(' ') {
        let kind = &text[at + 1..];
        let word = kind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(kind.len());
        if TYPES.contains(&&kind[..word]) {
            return (text[..at].to_owned(), kind.to_owned());
        }
    }
    (text.to_owned(), String::new())
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let (decoded, len) = match tail.chars().next() {
            Some('n') => ('\n', 1),
            Some('t') => ('\t', 1),
            Some('r') => ('\r', 1),
            Some('\\') => ('\\', 1),
            Some('x') => match tail.get(1..3).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                Some(byte) => (char::from(byte), 3),
                None => ('\\', 0),
            },
            _ => ('\\', 0),
        };
        out.push(decoded);
        rest = &tail[len..];
    }
    out + rest
}

/// A statement with its white space made equal and without a final `;`.
pub fn squeeze(sql: &str) -> String {
    let words: Vec<_> = sql.split_whitespace().collect();
    words.join(" ").trim_end_matches(';').trim_end().to_owned()
}

/// Line and column of a text that names them.
pub fn position(text: &str) -> Option<(u64, u64)> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices("line ").find_map(|(at, word)| {
        let (line, rest) = number(&lower[at + word.len()..])?;
        let (column, _) = number(rest.strip_prefix(", column ")?)?;
        Some((line, column))
    })
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Columns of a statement's object.
pub fn columns(object: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let columns = object["columns"].as_array().map(Vec::as_slice).unwrap_or_default();
    columns.iter().map(|c| (text(&c["name"]), text(&c["type"]))).collect()
}

/// Rows of a statement's object.
pub fn rows(object: &Value) -> Vec<Vec<Cell>> {
    let rows = object["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |row: &Value| -> Vec<Cell> {
        row.as_array().expect("row").iter().map(|v| v.as_str().map(str::to_owned)).collect()
    };
    rows.iter().map(row).collect()
}

/// Lines of an array of texts in a statement's object.
pub fn texts(object: &Value, key: &str) -> Option<Vec<String>> {
    object[key].as_array().map(|values| values.iter().map(|v| v.as_str().unwrap_or_default().to_owned()).collect())
}
