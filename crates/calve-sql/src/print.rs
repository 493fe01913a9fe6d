//! Identifiers and strings as Flink SQL spells them.

/// An identifier in backticks.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string literal.
pub fn string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
