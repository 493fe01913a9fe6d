//! What each statement of a script gave, as text: the content of `.out` files.
//!
//! ```text
//! === [n] <statement without the comments before it, newlines as \n>
//! --- WARNING <code>: <message>
//! --- schema: [op\t]name TYPE\tname TYPE     "op" only for queries in streaming mode
//! v1\tv2                                     one line for each row; NULL is <NULL>; \\ \t \n \r \xNN escaped
//! --- N row(s)[ ordered| unordered]
//! --- OK | --- OK (job finished)             commands | inserts
//! --- ERROR <code>: <message>
//! --- via line L, column C                   counted from the statement's first line
//! --- detail: ... | --- hint: ...
//! --- stdout: ...                            lines of print tables
//! ```
//!
//! Rows of a query without ORDER BY come in any order: they are sorted here, and marked `unordered`. So are the lines of
//! print tables, which several tasks may write.

use calve_sql::Statement;
use serde_json::Value;

use super::mask::Masks;
use crate::kind;

/// How NULL is written.
const NULL: &str = "<NULL>";

/// Writes the transcript of a run from the objects of `--output jsonl`.
pub fn write(objects: &[Value], masks: &Masks) -> String {
    let mut out = String::new();
    for object in objects {
        Entry { object, masks }.write(&mut out);
    }
    out
}

/// One statement.
struct Entry<'a> {
    object: &'a Value,
    masks: &'a Masks,
}

impl Entry<'_> {
    fn write(&self, out: &mut String) {
        let object = self.object;
        let sql = self.sql().trim_end().replace("\r\n", "\n");
        *out += &format!("=== [{}] {}\n", object["n"], escape(&self.masks.paths(&sql)));
        for warning in list(&object["warnings"]) {
            *out += &format!("--- WARNING {}: {}\n", self.text(&warning["code"]), self.text(&warning["message"]));
        }
        if object["status"] == "error" {
            self.error(&object["error"], out);
        } else if object["columns"].is_array() {
            self.rows(out);
        } else if object["kind"] == "insert" && object["job_id"].is_string() {
            *out += "--- OK (job finished)\n";
        } else {
            *out += "--- OK\n";
        }
        let mut printed: Vec<String> = list(&object["stdout"]).iter().map(|line| self.text(line)).collect();
        printed.sort();
        for line in printed {
            *out += &format!("--- stdout: {line}\n");
        }
    }

    /// The statement from its first word on.
    fn sql(&self) -> &str {
        let text = self.object["sql"].as_str().unwrap_or_default().trim_start();
        match kind::without_comments(text) {
            // a comment that does not end is all there is
            "" => text,
            sql => sql,
        }
    }

    fn error(&self, error: &Value, out: &mut String) {
        *out += &format!("--- ERROR {}: {}\n", self.text(&error["code"]), self.text(&error["message"]));
        if let (Some(line), Some(column)) = (error["line"].as_u64(), error["column"].as_u64()) {
            // counted from the statement: what is before it may come and go
            let text = self.object["sql"].as_str().unwrap_or_default();
            let comments = text.strip_suffix(self.sql()).unwrap_or_default().matches('\n').count() as u64;
            let first = self.object["line"].as_u64().unwrap_or(1).saturating_add(comments);
            let line = line.saturating_add(1).saturating_sub(first);
            *out += &format!("--- via line {line}, column {column}\n");
        }
        for key in ["detail", "hint"] {
            if error[key].is_string() {
                *out += &format!("--- {key}: {}\n", self.text(&error[key]));
            }
        }
    }

    fn rows(&self, out: &mut String) {
        let object = self.object;
        let ops = object["ops"].as_array();
        let names: Vec<&str> =
            list(&object["columns"]).iter().map(|c| c["name"].as_str().unwrap_or_default()).collect();
        let types = list(&object["columns"]).iter().map(|c| c["type"].as_str().unwrap_or_default());
        let columns: Vec<_> = names.iter().zip(types).map(|(name, kind)| escape(&format!("{name} {kind}"))).collect();
        let op = if ops.is_some() { "op\t" } else { "" };
        *out += &format!("--- schema: {op}{}\n", columns.join("\t"));
        // the script asks for ids that nobody can foresee
        let uuids = object["sql"].as_str().unwrap_or_default().to_ascii_uppercase().contains("UUID()");
        let mut lines: Vec<String> = list(&object["rows"])
            .iter()
            .enumerate()
            .map(|(n, row)| {
                let op = ops.and_then(|ops| ops.get(n)?.as_str()).map(|op| format!("{op}\t")).unwrap_or_default();
                let cells = list(row).iter().zip(&names).map(|(value, name)| match value.as_str() {
                    Some(value) => escape(&self.masks.cell(name, value, uuids)),
                    None => NULL.to_owned(),
                });
                op + &cells.collect::<Vec<_>>().join("\t")
            })
            .collect();
        let order = self.order();
        if order == Order::Unordered {
            lines.sort();
        }
        for line in &lines {
            *out += line;
            out.push('\n');
        }
        *out += &format!("--- {} row(s){}\n", lines.len(), order.word());
    }

    fn order(&self) -> Order {
        if self.object["kind"] != "query" {
            return Order::AsGiven;
        }
        let sql = self.object["sql"].as_str().unwrap_or_default();
        let changes = list(&self.object["ops"]).iter().any(|op| op != "+I");
        match calve_sql::split(sql).first().map(calve_sql::parse) {
            _ if changes => Order::Changelog,
            Some(Ok(Statement::Query(query))) if query.ast.order_by.is_some() => Order::Ordered,
            _ => Order::Unordered,
        }
    }

    fn text(&self, value: &Value) -> String {
        escape(&self.masks.text(value.as_str().unwrap_or_default()))
    }
}

/// What is known about the order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// SHOW and its like.
    AsGiven,
    /// ORDER BY.
    Ordered,
    /// A query without ORDER BY.
    Unordered,
    /// Changes of rows, which mean something in their order only.
    Changelog,
}

impl Order {
    fn word(self) -> &'static str {
        match self {
            Self::AsGiven => "",
            Self::Ordered => " ordered",
            Self::Unordered => " unordered",
            Self::Changelog => " changelog",
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn transcript(objects: &[Value]) -> String {
        write(objects, &Masks::default())
    }

    #[test]
    fn statements_errors_and_printed_lines() {
        let objects = [
            json!({"n":1,"sql":"SELECT\r\n 1 ","line":1,"kind":"query","columns":[{"name":"a","type":"INT"}],
                "rows":[["2"],[null],["1\t\\"]],"ops":["+I","+I","+I"],"status":"ok"}),
            json!({"n":2,"sql":"SELECT a FROM t ORDER BY a","line":3,"kind":"query",
                "columns":[{"name":"a","type":"INT"}],"rows":[["2"],["1"]],"status":"ok"}),
            json!({"n":3,"sql":"INSERT INTO p","line":4,"kind":"insert","job_id":"0123","stdout":["b","a"],
                "warnings":[{"code":"w","message":"careful"}],"status":"ok"}),
            json!({"n":4,"sql":"SELEC","line":5,"kind":"command","status":"error",
                "error":{"code":"syntax-error","message":"no","detail":"two\nlines","hint":null,"line":6,"column":2}}),
        ];
        insta::assert_snapshot!(transcript(&objects), @r"
        === [1] SELECT\n 1
        --- schema: op	a INT
        +I	1\t\\
        +I	2
        +I	<NULL>
        --- 3 row(s) unordered
        === [2] SELECT a FROM t ORDER BY a
        --- schema: a INT
        2
        1
        --- 2 row(s) ordered
        === [3] INSERT INTO p
        --- WARNING w: careful
        --- OK (job finished)
        --- stdout: a
        --- stdout: b
        === [4] SELEC
        --- ERROR syntax-error: no
        --- via line 2, column 2
        --- detail: two\nlines
        ");
    }

    #[test]
    fn comments_before_a_statement_change_nothing() {
        let write = |sql: &str, line: u64, at: u64| {
            let error = json!({"code":"c","message":"m","detail":null,"hint":null,"line":at,"column":1});
            transcript(&[json!({"n":1,"sql":sql,"line":line,"kind":"query","status":"error","error":error})])
        };
        let plain = write("SELECT 1,\n-- two\n2", 7, 9);
        assert_eq!(plain, "=== [1] SELECT 1,\\n-- two\\n2\n--- ERROR c: m\n--- via line 3, column 1\n");
        assert_eq!(write("-- why\r\n\n/* and\nhow */\nSELECT 1,\n-- two\n2", 2, 8), plain);
        // a hint is no comment, and what does not end has nothing else
        assert!(write("/*+ x */ SELECT 1", 1, 1).starts_with("=== [1] /*+ x */ SELECT 1\n"));
        assert!(write("/* open", 1, 1).starts_with("=== [1] /* open\n"));
    }

    #[test]
    fn only_the_outermost_order_by_counts() {
        let query = |sql: &str| {
            let object = json!({"n":1,"sql":sql,"kind":"query","columns":[],"rows":[],"status":"ok"});
            transcript(&[object]).trim_end().ends_with(" ordered")
        };
        assert!(query("SELECT * FROM t ORDER BY a LIMIT 3"));
        assert!(query("WITH x AS (SELECT 1 AS a) SELECT a FROM x ORDER BY a"));
        assert!(!query("SELECT * FROM (SELECT * FROM t ORDER BY a LIMIT 3)"));
        assert!(!query("SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM t"));
        assert!(!query("SELECT 'ORDER BY'"));
    }
}
