//! What must not be shown: the values of options that are secrets, in a catalog's definition and in the text of statements.

use std::borrow::Cow;
use std::ops::Range;

use calve_sql::{Lexeme, LexemeKind, ScriptStatement, Statement, lexemes};
use calve_types::{Error, Result};

/// What is shown in the place of a secret.
pub(crate) const MASK: &str = "******";

/// Parts of the names of options whose values Flink hides in its configuration, and those of Iceberg's options that hold keys.
const SECRETS: [&str; 17] = [
    "password",
    "secret",
    "account.key",
    "account-key",
    "sse.key",
    "cryption-key",
    "credentials-json",
    "connection-string",
    "authorization",
    "apikey",
    "api-key",
    "auth-params",
    "service-key",
    "token",
    "basic-auth",
    "jaas.config",
    "http-headers",
];

/// Whether the value of an option is a secret.
fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    // any header may be a password; this one is none
    let of_header = key.starts_with("header.") && key != "header.x-iceberg-access-delegation";
    let of_all = matches!(key.rsplit('.').next(), Some("credential" | "credentials" | "passwd" | "pwd"));
    of_header || of_all || SECRETS.iter().any(|part| key.contains(part))
}

/// The value of an option as it may be shown.
pub(crate) fn shown(key: &str, value: &str) -> String {
    if is_secret(key) { MASK.to_owned() } else { without_secrets(value) }
}

/// A value without the secrets that a URI in it may hold: the password before its host, and its parameters.
fn without_secrets(value: &str) -> String {
    let (address, parameters) = match value.split_once('?') {
        Some((address, parameters)) => (address, Some(parameters)),
        None => (value, None),
    };
    let mut shown = address.to_owned();
    if let Some((scheme, rest)) = address.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        if let Some((user, host)) = authority.rsplit_once('@')
            && let Some((name, _)) = user.split_once(':')
        {
            let path = rest.get(authority.len()..).unwrap_or_default();
            shown = format!("{scheme}://{name}:{MASK}@{host}{path}");
        }
    }
    let parameter = |parameter: &str| match parameter.split_once('=') {
        Some((key, _)) if is_secret(key) => format!("{key}={MASK}"),
        _ => parameter.to_owned(),
    };
    if let Some(parameters) = parameters {
        let parameters: Vec<String> = parameters.split('&').map(parameter).collect();
        shown = format!("{shown}?{}", parameters.join("&"));
    }
    shown
}

/// A part of a script that is not to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// What is shown instead.
    pub shown: String,
}

/// The values of secret options in a script, in their order. The script may be wrong: what could be meant as a secret is taken
/// for one.
pub fn secrets(script: &str) -> Vec<Secret> {
    let mut found = vec![];
    let lexemes: Vec<Lexeme> = lexemes(script).into_iter().filter(|l| l.kind != LexemeKind::Comment).collect();
    let is_semicolon =
        |lexeme: &Lexeme| lexeme.kind == LexemeKind::Symbol && script.get(lexeme.range.clone()) == Some(";");
    for statement in lexemes.split(is_semicolon) {
        of_statement(script, statement, &mut found);
    }
    found
}

/// Parses a statement.
///
/// # Errors
/// As [`calve_sql::parse`], without the word that was found where that may be a secret.
pub(crate) fn parse(statement: &ScriptStatement) -> Result<Statement> {
    const FOUND: &str = ", found ";
    calve_sql::parse(statement).map_err(|error| {
        let Some((expected, found)) = error.message.split_once(FOUND) else { return error };
        let found = found.trim_matches('\'');
        let holds = |secret: Secret| statement.text.get(secret.range).is_some_and(|text| text.contains(found));
        match !found.is_empty() && secrets(&statement.text).into_iter().any(holds) {
            true => Error { message: expected.to_owned(), ..error },
            false => error,
        }
    })
}

/// A script without the values of its secret options.
pub fn masked(script: &str) -> Cow<'_, str> {
    let secrets = secrets(script);
    if secrets.is_empty() {
        return script.into();
    }
    let (mut text, mut at) = (String::with_capacity(script.len()), 0);
    for Secret { range, shown } in secrets {
        text += script.get(at..range.start).unwrap_or_default();
        text += &shown;
        at = range.end;
    }
    text += script.get(at..).unwrap_or_default();
    text.into()
}

fn of_statement(script: &str, lexemes: &[Lexeme], found: &mut Vec<Secret>) {
    let text = |lexeme: &Lexeme| script.get(lexeme.range.clone()).unwrap_or_default();
    let word = |lexeme: &Lexeme, words: &[&str]| words.iter().any(|word| text(lexeme).eq_ignore_ascii_case(word));
    // elsewhere what looks like an option that is not quoted is a comparison
    let defines = lexemes.first().is_some_and(|first| word(first, &["CREATE", "ALTER", "SET"]));
    for (at, lexeme) in lexemes.iter().enumerate() {
        if lexeme.kind == LexemeKind::Hint {
            let inner = lexeme.range.start + 3;
            let hint = script.get(inner..lexeme.range.end).unwrap_or_default();
            let moved = |s: Secret| Secret { range: s.range.start + inner..s.range.end + inner, ..s };
            found.extend(secrets(hint).into_iter().map(moved));
        }
        let opens = lexeme.kind == LexemeKind::Symbol && matches!(text(lexeme), "(" | ",");
        // WITH may lack its bracket
        if !opens && !word(lexeme, &["SET", "WITH"]) {
            continue;
        }
        let rest = lexemes.get(at + 1..).unwrap_or_default();
        let is_end = |l: &Lexeme| l.kind == LexemeKind::Symbol && matches!(text(l), "(" | "," | ")");
        let mut options = rest.split(is_end).next().unwrap_or_default();
        // several where a comma is missing
        while !options.is_empty() {
            let begins = |pair: &[Lexeme]| match pair {
                [key, equals] => key.kind == LexemeKind::String && text(equals) == "=",
                _ => false,
            };
            let next = options.windows(2).skip(1).position(begins);
            let (option, more) = options.split_at(next.map_or(options.len(), |before| before + 1));
            found.extend(of_option(script, option, defines));
            options = more;
        }
    }
}

/// The secret in what stands between two commas, or brackets.
fn of_option(script: &str, option: &[Lexeme], defines: bool) -> Option<Secret> {
    let text = |lexemes: &[Lexeme]| {
        let (first, last) = (lexemes.first()?, lexemes.last()?);
        script.get(first.range.start..last.range.end)
    };
    let first = option.first()?;
    let equals = option.iter().position(|l| l.kind == LexemeKind::Symbol && script.get(l.range.clone()) == Some("="));
    let (key, value) = match equals {
        Some(equals) => (option.get(..equals)?, option.get(equals + 1..)?),
        // without its equals sign, or with a quote of the key that is not closed
        None if matches!(first.kind, LexemeKind::String | LexemeKind::Error) => (option.get(..1)?, option.get(1..)?),
        None => return None,
    };
    let is_text = key.len() == 1 && first.kind == LexemeKind::String;
    if !defines && !is_text {
        return None;
    }
    let (from, to) = (value.first()?.range.start, value.last()?.range.end);
    if is_secret(text(key)?.trim_matches(['\'', '"', '`'])) {
        return Some(Secret { range: from..to, shown: format!("'{MASK}'") });
    }
    // between its quotes
    let inner = text(value)?.strip_prefix('\'')?.strip_suffix('\'')?;
    let shown = without_secrets(inner);
    (shown != inner).then_some(Secret { range: from + 1..to - 1, shown })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn secrets_of_uris_are_hidden() {
        for (value, shown) in [
            (
                "jdbc:postgresql://h:1/db?user=ann&password=x&sslmode=require",
                "jdbc:postgresql://h:1/db?user=ann&password=******&sslmode=require",
            ),
            ("jdbc:postgresql://ann:p@ss@h:1/db", "jdbc:postgresql://ann:******@h:1/db"),
            ("https://h/v1?token=x", "https://h/v1?token=******"),
            ("/tmp/w?x", "/tmp/w?x"),
            ("s3://bucket/a@b:c", "s3://bucket/a@b:c"),
        ] {
            assert_eq!(without_secrets(value), shown);
        }
    }

    #[test]
    fn a_syntax_error_quotes_no_secret() {
        let error = |text: &str| parse(&calve_sql::split(text)[0]).unwrap_err().message;
        for text in [
            "CREATE CATALOG c WITH ('token' = hush)",
            "CREATE CATALOG c WITH ('token' = a.hush)",
            "CREATE CATALOG c WITH ('token' = 'a' hush)",
            "CREATE CATALOG c WITH ('token' 'hush')",
            "CREATE CATALOG c WITH ('token' = \"hush\")",
            "CREATE CATALOG c WITH ('token' = 'a'hush')",
            "CREATE CATALOG c WITH ('token' = `hush`)",
            "CREATE CATALOG c WITH 'token' = hush",
            "CREATE CATALOG c WITH (token = hush)",
            "CREATE TABLE t (a INT) WITH ('password' = hush)",
            "ALTER CATALOG c SET ('token' = hush)",
            "ALTER TABLE t SET ('token' = 'a' hush)",
            "SELECT * FROM t /*+ OPTIONS('token' = hush) */",
            "SELECT * FROM t /*+ OPTIONS('token' = 'a' hush) */",
            "SET 'token' = 'a' hush hush",
        ] {
            let Err(error) = parse(&calve_sql::split(text)[0]) else { continue };
            assert!(!error.to_string().contains("hush"), "{error}");
        }
        // what is none is named
        assert_eq!(error("CREATE CATALOG c WITH ('uri' 'x')").split(',').next(), Some("expected '='"));
        assert_eq!(
            error("CREATE CATALOG c WITH ('token' = 'a'; SELECT"),
            "expected ')', found the end of the statement"
        );
    }

    #[test]
    fn statements_are_shown_without_secrets() {
        for (statement, shown) in [
            (
                "CREATE CATALOG c WITH ('type'='iceberg', 's3.secret-access-key' = 'hush', 'warehouse'='/w');",
                "CREATE CATALOG c WITH ('type'='iceberg', 's3.secret-access-key' = '******', 'warehouse'='/w');",
            ),
            (
                "create catalog c with (\n  'credential'='id:hush' -- it's mine\n, 'uri'='https://ann:hush@h/v1?token=hush')",
                "create catalog c with (\n  'credential'='******' -- it's mine\n, 'uri'='https://ann:******@h/v1?token=******')",
            ),
            ("ALTER CATALOG c SET ('token'='hush''hush')", "ALTER CATALOG c SET ('token'='******')"),
            ("SET 'x.password' = 'hush'; SELECT 1", "SET 'x.password' = '******'; SELECT 1"),
            (
                "SELECT * FROM t /*+ OPTIONS('password'='hush', 'a'='b') */",
                "SELECT * FROM t /*+ OPTIONS('password'='******', 'a'='b') */",
            ),
            // what is wrong
            (
                "CREATE CATALOG c WITH ('password' 'hush', 'a'='b')",
                "CREATE CATALOG c WITH ('password' '******', 'a'='b')",
            ),
            (
                "CREATE CATALOG c WITH ('a'='b' 'password'='hush' 'token'='hush')",
                "CREATE CATALOG c WITH ('a'='b' 'password'='******' 'token'='******')",
            ),
            ("CREATE CATALOG c WITH 'password' = hush", "CREATE CATALOG c WITH 'password' = '******'"),
            ("CREATE CATALOG c WITH (\"password\"=\"hush\")", "CREATE CATALOG c WITH (\"password\"='******')"),
            ("CREATE CATALOG c WITH (jdbc.password = hush hush)", "CREATE CATALOG c WITH (jdbc.password = '******')"),
            ("CREATE CATALOG c WITH ('token' = 'hush);\nSELECT 1", "CREATE CATALOG c WITH ('token' = '******'"),
            ("CREATE CATALOG c WITH ('token = 'hush', 'a'='b')", "CREATE CATALOG c WITH ('token = ''******'"),
            ("CREATE CATALOG c WITH ('token'=", "CREATE CATALOG c WITH ('token'="),
        ] {
            assert_eq!(masked(statement), shown);
        }
        for harmless in [
            "WITH token AS (SELECT 1) SELECT * FROM token",
            "CREATE VIEW v AS WITH x AS (SELECT 1) SELECT token FROM x WHERE token = 'a'",
            "SELECT token FROM t WHERE (token = 'a') AND f('token', 'b') IN ('password', 'c')",
            "INSERT INTO t (token) VALUES ('secret', 1), ('password', 2)",
            "CREATE TABLE t (token STRING COMMENT 'x', k INT) WITH ('connector'='print')",
            "",
            "((,=,)",
        ] {
            assert_eq!(masked(harmless), harmless);
        }
    }
}
