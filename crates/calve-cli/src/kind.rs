//! The kind of a statement that failed.

use calve_engine::StatementKind;

/// What a statement set out to be, by its first word: a failed one has no result to say it, and a misspelt one no syntax tree.
pub fn of_text(text: &str) -> StatementKind {
    let body = without_comments(text);
    let word: String = body.chars().take_while(char::is_ascii_alphabetic).collect();
    match word.to_ascii_uppercase().as_str() {
        "SELECT" | "VALUES" | "WITH" => StatementKind::Query,
        "" if body.starts_with('(') => StatementKind::Query,
        // END closes a statement set, and runs it
        "INSERT" | "EXECUTE" | "END" => StatementKind::Insert,
        _ => StatementKind::Command,
    }
}

/// Whether a statement is QUIT or EXIT: nothing behind it is run.
pub fn ends_script(text: &str) -> bool {
    let text = without_comments(text).trim_end();
    ["QUIT", "EXIT"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The text from its first word on.
pub fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        // a hint is no comment
        if rest.starts_with("/*+") {
            return rest;
        }
        let behind = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map(|(_, behind)| behind)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map(|(_, behind)| behind)
        } else {
            return rest;
        };
        rest = behind.unwrap_or_default().trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_says_the_kind() {
        for (text, kind) in [
            ("SELECT 1", StatementKind::Query),
            (" -- why\n/* and */ select 1", StatementKind::Query),
            ("(SELECT 1) UNION (SELECT 2)", StatementKind::Query),
            ("WITH a AS (SELECT 1) SELECT * FROM a", StatementKind::Query),
            ("INSERT INTO t VALUES (1)", StatementKind::Insert),
            ("EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); END", StatementKind::Insert),
            ("CREATE TABLE t (a INT)", StatementKind::Command),
            ("SELEC 1", StatementKind::Command),
            ("/*+ hint */ SELECT 1", StatementKind::Command),
            ("/* unterminated", StatementKind::Command),
            ("", StatementKind::Command),
        ] {
            assert_eq!(of_text(text), kind, "{text}");
        }
    }
}
