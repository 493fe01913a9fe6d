//! The tables that a statement names, finished or not.

use super::super::lex::{Kind, Lexeme};

/// A table of the statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// Its name, one to three parts.
    pub path: Vec<String>,
    /// What the statement calls it.
    pub alias: Option<String>,
}

/// The name of one to three parts that begins at a piece, and the place behind it.
pub fn path_at(text: &str, pieces: &[Lexeme], at: usize) -> Option<(Vec<String>, usize)> {
    let name = |at: usize| {
        pieces
            .get(at)
            .filter(|l| l.kind == Kind::Quoted && l.closed || (l.is_plain() && !calve_sql::is_reserved(l.text(text))))
    };
    let mut path = vec![name(at)?.value(text)];
    let mut next = at + 1;
    while path.len() < 3
        && pieces.get(next).is_some_and(|l| l.is_symbol(text, '.'))
        && let Some(part) = name(next + 1)
    {
        path.push(part.value(text));
        next += 2;
    }
    Some((path, next))
}

/// What the pieces of a statement name.
#[derive(Debug, Default)]
pub struct Tables {
    /// Tables that are read.
    pub tables: Vec<TableName>,
    /// The names that WITH gives to queries.
    pub queries: Vec<String>,
    /// The table that an INSERT or ALTER TABLE changes.
    pub target: Option<Vec<String>>,
}

impl Tables {
    /// Reads them off the pieces of a statement.
    pub fn of(text: &str, pieces: &[Lexeme]) -> Self {
        let mut found = Self::default();
        // whether a comma at this depth stands between tables, one flag for each open parenthesis
        let mut from = vec![false];
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            let is = |word: &str| piece.is_word(text, word);
            let next = at + 1;
            if piece.is_symbol(text, '(') {
                from.push(false);
            } else if piece.is_symbol(text, ')') {
                from.pop();
            } else if is("INTO")
                || is("OVERWRITE")
                || is("UPDATE")
                || (is("TABLE") && pieces.first().is_some_and(|l| l.is_word(text, "ALTER")))
            {
                if let Some((path, _)) = path_at(text, pieces, next) {
                    found.target.get_or_insert(path);
                }
            } else if is("FROM") || is("JOIN") || (piece.is_symbol(text, ',') && from.last() == Some(&true)) {
                if let Some(from) = from.last_mut() {
                    *from = true;
                }
                at = found.table(text, pieces, next);
                continue;
            } else if is("WHERE")
                || is("GROUP")
                || is("ORDER")
                || is("HAVING")
                || is("SELECT")
                || is("UNION")
                || is("LIMIT")
            {
                if let Some(from) = from.last_mut() {
                    *from = false;
                }
            } else if (piece.is_plain() || piece.kind == Kind::Quoted)
                && pieces.get(next).is_some_and(|l| l.is_word(text, "AS"))
                && pieces.get(next + 1).is_some_and(|l| l.is_symbol(text, '('))
                && pieces.iter().any(|l| l.is_word(text, "WITH"))
            {
                found.queries.push(piece.value(text));
            }
            at += 1;
        }
        found
    }

    /// Takes the table at a piece; the place behind it.
    fn table(&mut self, text: &str, pieces: &[Lexeme], at: usize) -> usize {
        let Some((path, mut next)) = path_at(text, pieces, at) else { return at };
        // FROM f(...) is a function, and a hint stands before the alias
        if pieces.get(next).is_some_and(|l| l.is_symbol(text, '(')) {
            return next;
        }
        if pieces.get(next).is_some_and(|l| l.kind == Kind::HintStart) {
            let end = pieces.iter().skip(next).position(|l| l.kind == Kind::HintEnd);
            next = end.map_or(pieces.len(), |end| next + end + 1);
        }
        if pieces.get(next).is_some_and(|l| l.is_word(text, "AS")) {
            next += 1;
        }
        let alias = path_at(text, pieces, next).and_then(|(names, _)| names.into_iter().next());
        if alias.is_some() {
            next += 1;
        }
        if !self.tables.iter().any(|known| known.path == path && known.alias == alias) {
            self.tables.push(TableName { path, alias });
        }
        next
    }
}
