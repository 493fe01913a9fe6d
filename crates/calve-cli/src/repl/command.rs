//! The commands of the shell itself.

use super::lex::{Kind, Lexeme, lexemes};

/// A command that is no statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// QUIT, EXIT.
    Quit,
    /// HELP.
    Help,
    /// CLEAR.
    Clear,
}

impl Command {
    /// The command that a text is, with or without its `;`.
    pub fn of(text: &str) -> Option<Self> {
        let mut pieces = lexemes(text).into_iter().filter(|piece| piece.kind != Kind::Comment);
        let word = pieces.next().filter(Lexeme::is_plain)?;
        if !pieces.all(|piece| piece.is_symbol(text, ';')) {
            return None;
        }
        match word.text(text).to_ascii_uppercase().as_str() {
            "QUIT" | "EXIT" => Some(Self::Quit),
            "HELP" => Some(Self::Help),
            "CLEAR" => Some(Self::Clear),
            _ => None,
        }
    }
}

/// What HELP prints.
pub const HELP: &str = "\
The following commands are available:

HELP                 Prints the available commands.
QUIT/EXIT            Quits the shell, as Ctrl-D does.
CLEAR                Clears the terminal.
SET                  Sets an option of the session: \"SET '<key>' = '<value>';\".
                     \"SET;\" lists the options that are set.
RESET                Resets an option: \"RESET '<key>';\". \"RESET;\" resets them all.
CREATE CATALOG       Makes a catalog known:
                     \"CREATE CATALOG <name> WITH ('type' = 'iceberg', ...);\".
USE                  Changes the current database, USE CATALOG the current catalog.
SHOW                 Lists CATALOGS, DATABASES, TABLES, VIEWS or FUNCTIONS.
                     \"SHOW CREATE TABLE <name>;\" prints a table's definition.
DESCRIBE             Describes the columns of a table.
INSERT INTO          Inserts the result of a query into a table.
INSERT OVERWRITE     Inserts it and replaces existing data.
SELECT               Runs a query.
EXPLAIN              Describes how a query or an INSERT would run.
BEGIN STATEMENT SET  Begins a statement set: its INSERTs run together at \"END;\".
END                  Ends a statement set, and runs it.

Keys: Tab completes names and words. Ctrl-R searches the history. Ctrl-C clears
the input, or cancels the running statement. Alt-Enter begins a new line.

Hint: a statement may have several lines; it runs at the \";\" that ends it.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_any_case_and_with_or_without_semicolon() {
        for (text, command) in [
            ("quit", Some(Command::Quit)),
            (" Exit ;", Some(Command::Quit)),
            ("HELP;;", Some(Command::Help)),
            ("-- what?\nhelp;", Some(Command::Help)),
            ("clear", Some(Command::Clear)),
            ("help me", None),
            ("`quit`", None),
            ("", None),
            (";", None),
        ] {
            assert_eq!(Command::of(text), command, "{text}");
        }
    }
}
