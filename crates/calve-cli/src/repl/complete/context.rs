//! What may stand at the cursor: read off the words before it.

use super::super::lex::{Kind, Lexeme, lexemes};
use super::super::words;
use super::around::{current, statement_around};
use super::tables::{TableName, Tables, path_at};

/// What may stand at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// Nothing that could be offered.
    Nothing,
    /// One of these words.
    Words(&'static [&'static str]),
    /// The name of a catalog.
    Catalog,
    /// The name of a database, perhaps with its catalog.
    Database,
    /// The name of a table or view, perhaps with its catalog and database; and these words.
    Table(&'static [&'static str]),
    /// A column of the target of an INSERT.
    TargetColumn,
    /// A column, function or word of an expression.
    Expression,
    /// The name of an option of that place.
    OptionName(Options),
    /// The value of an option.
    OptionValue(Options, String),
}

/// Whose options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Options {
    /// SET and RESET.
    Session,
    /// The WITH clause of CREATE CATALOG.
    Catalog,
    /// The WITH clause of CREATE TABLE or what ALTER TABLE sets: the table's path, and its connector if it is named.
    Table(Vec<String>, Option<String>),
    /// The WITH clause of CREATE TEMPORARY TABLE, which is in no catalog: the connector if it is named.
    Temporary(Option<String>),
    /// A hint of a table that is read.
    Read,
    /// A hint of the target of an INSERT.
    Write,
}

/// The place of the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// What may stand there.
    pub slot: Slot,
    /// Offset where the unfinished word begins, quote included.
    pub start: usize,
    /// The unfinished word, without its quote.
    pub prefix: String,
    /// Whether the word began with a backtick.
    pub backtick: bool,
    /// The names before it, each with a dot behind: `cat.db.`.
    pub qualifier: Vec<String>,
    /// The tables of the statement.
    pub tables: Vec<TableName>,
    /// The names that WITH gives to queries.
    pub queries: Vec<String>,
    /// The target of an INSERT.
    pub target: Option<Vec<String>>,
}

/// The place `at` (a byte offset) of `text`.
pub fn context(text: &str, at: usize) -> Context {
    let before_text = text.get(..at).unwrap_or(text);
    let mut before = lexemes(before_text);
    let mut context = Context {
        slot: Slot::Nothing,
        start: before_text.len(),
        prefix: String::new(),
        backtick: false,
        qualifier: vec![],
        tables: vec![],
        queries: vec![],
        target: None,
    };
    let touched = before.last().copied().filter(|last| last.end == before_text.len());
    let mut in_string = false;
    if let Some(last) = touched {
        match (last.kind, last.closed) {
            (Kind::Word | Kind::Keyword, _) | (Kind::Quoted | Kind::String, false) => {
                before.pop();
                context.start = last.start;
                context.prefix = last.value(before_text);
                context.backtick = last.kind == Kind::Quoted;
                in_string = last.kind == Kind::String;
            }
            (Kind::Quoted | Kind::String | Kind::Number | Kind::Wrong, _) | (Kind::Comment, false) => return context,
            _ => {}
        }
    }
    let all = statement_around(text, context.start);
    let s = Statement { text: before_text, before: current(before_text, before) };
    let tables = Tables::of(text, &all);
    (context.tables, context.queries, context.target) = (tables.tables, tables.queries, tables.target);
    if in_string {
        context.slot = s.option().map_or(Slot::Nothing, |(options, key)| match key {
            None => Slot::OptionName(options),
            Some(key) => Slot::OptionValue(options, key),
        });
        return context;
    }
    let (s, qualifier) = s.without_qualifier();
    context.qualifier = qualifier;
    context.slot = s.slot();
    context
}

/// The part of a statement before the cursor.
struct Statement<'a> {
    text: &'a str,
    before: Vec<Lexeme>,
}

const EXPRESSION_OPENERS: [&str; 4] = ["EXTRACT", "TRIM", "SUBSTRING", "OVERLAY"];

impl Statement<'_> {
    fn word(&self, at: usize, word: &str) -> bool {
        self.before.get(at).is_some_and(|l| l.is_word(self.text, word))
    }

    fn symbol(&self, at: usize, symbol: char) -> bool {
        self.before.get(at).is_some_and(|l| l.is_symbol(self.text, symbol))
    }

    fn starts_with(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, word)| self.word(i, word))
    }

    fn ends_with(&self, words: &[&str]) -> bool {
        let from = self.before.len().checked_sub(words.len());
        from.is_some_and(|from| words.iter().enumerate().all(|(i, word)| self.word(from + i, word)))
    }

    /// Splits off the names with dots that stand right before the cursor.
    fn without_qualifier(mut self) -> (Self, Vec<String>) {
        let mut names = vec![];
        while let [.., name, dot] = self.before.as_slice()
            && dot.is_symbol(self.text, '.')
            && (name.is_plain() || name.kind == Kind::Quoted)
        {
            names.insert(0, name.value(self.text));
            self.before.truncate(self.before.len() - 2);
        }
        (self, names)
    }

    /// Where the innermost parenthesis that is open before `end` was opened.
    fn open_paren(&self, end: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (0..end.min(self.before.len())).rev() {
            if self.symbol(at, ')') {
                depth += 1;
            } else if self.symbol(at, '(') {
                match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Some(at),
                }
            }
        }
        None
    }

    /// For a cursor inside a string: whose option it names, or whose value it is.
    fn option(&self) -> Option<(Options, Option<String>)> {
        if self.word(0, "SET") || self.word(0, "RESET") {
            return match self.before.len() {
                1 => Some((Options::Session, None)),
                3 if self.symbol(2, '=') => Some((Options::Session, Some(self.before.get(1)?.value(self.text)))),
                _ => None,
            };
        }
        let open = self.open_paren(self.before.len())?;
        let opener = open.checked_sub(1)?;
        let options = if self.word(opener, "OPTIONS") {
            if self.is_target(opener) { Options::Write } else { Options::Read }
        } else if (self.word(opener, "WITH") && self.word(0, "CREATE"))
            || ((self.word(opener, "SET") || self.word(opener, "RESET")) && self.word(0, "ALTER"))
        {
            if self.word(1, "CATALOG") { Options::Catalog } else { self.table_options() }
        } else {
            return None;
        };
        match self.before.as_slice() {
            [.., name, equals] if equals.is_symbol(self.text, '=') && name.kind == Kind::String => {
                Some((options, Some(name.value(self.text))))
            }
            [.., last] if last.is_symbol(self.text, '(') || last.is_symbol(self.text, ',') => Some((options, None)),
            _ => None,
        }
    }

    /// Whether the hint whose OPTIONS stands at `at` belongs to the target of an INSERT.
    fn is_target(&self, at: usize) -> bool {
        self.word(0, "INSERT")
            && !self.before.iter().take(at).any(|l| l.is_word(self.text, "SELECT") || l.is_word(self.text, "VALUES"))
    }

    fn table_options(&self) -> Options {
        let table = self.before.iter().position(|l| l.is_word(self.text, "TABLE")).map_or(0, |at| at + 1);
        let name = if self.word(table, "IF") {
            let exists = self.before.iter().position(|l| l.is_word(self.text, "EXISTS"));
            exists.map_or(table, |at| at + 1)
        } else {
            table
        };
        let path = path_at(self.text, &self.before, name).map_or_else(Vec::new, |(path, _)| path);
        let connector = self.before.windows(3).find_map(|w| match w {
            [name, equals, value]
                if name.kind == Kind::String
                    && name.value(self.text) == "connector"
                    && equals.is_symbol(self.text, '=') =>
            {
                Some(value.value(self.text))
            }
            _ => None,
        });
        let temporary = self.before.iter().take(table).any(|l| l.is_word(self.text, "TEMPORARY"));
        if temporary { Options::Temporary(connector) } else { Options::Table(path, connector) }
    }

    /// For a cursor outside strings.
    fn slot(&self) -> Slot {
        let Some(last) = self.before.last() else { return Slot::Words(words::STARTS) };
        if let Some(hint) = self.before.iter().rposition(|l| l.kind == Kind::HintStart)
            && !self.before.iter().skip(hint).any(|l| l.kind == Kind::HintEnd)
        {
            return if hint + 1 == self.before.len() { Slot::Words(&["OPTIONS"]) } else { Slot::Nothing };
        }
        let all_words = self.before.iter().all(Lexeme::is_plain);
        if all_words
            && let Some((_, followers)) =
                words::FOLLOWERS.iter().find(|(words, _)| words.len() == self.before.len() && self.starts_with(words))
        {
            return Slot::Words(followers);
        }
        if let Some(slot) = self.command() {
            return slot;
        }
        if last.is_symbol(self.text, '.') || last.is_symbol(self.text, ';') {
            return Slot::Nothing;
        }
        if self.word(0, "INSERT")
            && let Some(slot) = self.insert()
        {
            return slot;
        }
        self.query()
    }

    /// In statements that are no queries; `None` if a query has begun in them.
    fn command(&self) -> Option<Slot> {
        let has_query = || self.before.iter().any(|l| l.is_word(self.text, "SELECT"));
        let first = self.before.first()?;
        let is = |word: &str| first.is_word(self.text, word);
        let count = self.before.len();
        let named = |slot: Slot| if self.name_is_next() { slot } else { Slot::Nothing };
        Some(if is("USE") {
            match count {
                1 => Slot::Database,
                2 if self.word(1, "CATALOG") => Slot::Catalog,
                _ => Slot::Nothing,
            }
        } else if is("SHOW") {
            if self.word(1, "CREATE") || self.word(1, "PARTITIONS") {
                if self.word(2, "CATALOG") { named(Slot::Catalog) } else { named(Slot::Table(&[])) }
            } else if self.ends_with(&["FROM"]) || self.ends_with(&["IN"]) {
                match () {
                    () if self.word(1, "COLUMNS") => Slot::Table(&[]),
                    () if self.word(1, "DATABASES") => Slot::Catalog,
                    () => Slot::Database,
                }
            } else {
                Slot::Words(&["LIKE", "NOT LIKE"])
            }
        } else if is("DESCRIBE") || is("DESC") {
            match count {
                1 => Slot::Table(&["CATALOG", "DATABASE", "EXTENDED"]),
                2 if self.word(1, "EXTENDED") => Slot::Table(&[]),
                2 if self.word(1, "CATALOG") => Slot::Catalog,
                2 if self.word(1, "DATABASE") => Slot::Database,
                _ => Slot::Nothing,
            }
        } else if is("DROP") || is("ALTER") || is("TRUNCATE") || is("ANALYZE") {
            self.drop_or_alter()
        } else if is("CREATE") {
            if has_query() {
                return None;
            }
            self.create()
        } else if ["SET", "RESET", "BEGIN", "END", "HELP", "QUIT", "EXIT", "CLEAR"].iter().any(|word| is(word)) {
            Slot::Nothing
        } else {
            return None;
        })
    }

    /// Whether the words so far ask for a name: DROP TABLE, ALTER TABLE IF EXISTS.
    fn name_is_next(&self) -> bool {
        self.before.last().is_some_and(|l| {
            ["TABLE", "VIEW", "CATALOG", "DATABASE", "EXISTS", "PARTITIONS"].iter().any(|w| l.is_word(self.text, w))
        })
    }

    fn drop_or_alter(&self) -> Slot {
        let kind = if self.word(1, "TEMPORARY") { 2 } else { 1 };
        if self.name_is_next() {
            return match () {
                () if self.word(kind, "CATALOG") => Slot::Catalog,
                () if self.word(kind, "DATABASE") => Slot::Database,
                () if self.before.len() == kind + 1 && (self.word(0, "DROP") || self.word(0, "ALTER")) => {
                    Slot::Table(&["IF EXISTS"])
                }
                () => Slot::Table(&[]),
            };
        }
        match () {
            () if self.ends_with(&["IF"]) => Slot::Words(&["EXISTS"]),
            () if self.word(0, "DROP") && self.word(kind, "DATABASE") => Slot::Words(&["CASCADE", "RESTRICT"]),
            () if self.word(0, "ALTER") && self.word(kind, "TABLE") => match () {
                () if self.ends_with(&["DROP"]) || self.ends_with(&["MODIFY"]) || self.ends_with(&["RENAME"]) => {
                    Slot::TargetColumn
                }
                () if self.open_paren(self.before.len()).is_some() => Slot::TargetColumn,
                () => Slot::Words(&["ADD", "DROP", "MODIFY", "RENAME", "RESET", "SET"]),
            },
            () => Slot::Nothing,
        }
    }

    fn create(&self) -> Slot {
        let table = self.before.iter().take(5).any(|l| l.is_word(self.text, "TABLE"));
        let Some(last) = self.before.last() else { return Slot::Nothing };
        if let Some(open) = self.open_paren(self.before.len()) {
            let columns = open.checked_sub(1).is_some_and(|at| {
                !self.word(at, "WITH") && self.before.get(at).is_some_and(|l| l.is_plain() || l.kind == Kind::Quoted)
            });
            let partition = open.checked_sub(1).is_some_and(|at| self.word(at, "BY"));
            return match () {
                () if partition || !table || !columns => Slot::Nothing,
                () if last.is_symbol(self.text, '(') || last.is_symbol(self.text, ',') => {
                    Slot::Words(&["CONSTRAINT", "PRIMARY KEY", "WATERMARK FOR"])
                }
                () if self.is_column_name(open) => Slot::Words(words::TYPES),
                () => Slot::Words(words::IN_DEFINITIONS),
            };
        }
        match () {
            () if self.ends_with(&["IF"]) => Slot::Words(&["NOT EXISTS"]),
            () if self.ends_with(&["NOT"]) => Slot::Words(&["EXISTS"]),
            () if self.ends_with(&["LIKE"]) => Slot::Table(&[]),
            () if self.ends_with(&["AS"]) => Slot::Words(&["SELECT", "VALUES", "WITH"]),
            () if self.ends_with(&["BY"]) || self.name_is_next() || self.ends_with(&["WITH"]) => Slot::Nothing,
            () if table => Slot::Words(words::AFTER_DEFINITIONS),
            () if self.before.iter().take(5).any(|l| l.is_word(self.text, "VIEW")) => Slot::Words(&["AS", "COMMENT"]),
            () => Slot::Words(&["COMMENT", "WITH"]),
        }
    }

    /// Whether the last piece is the name that begins a definition in the parenthesis at `open`.
    fn is_column_name(&self, open: usize) -> bool {
        let last = self.before.len().saturating_sub(1);
        let before = last.saturating_sub(1);
        (before == open || self.symbol(before, ','))
            && self
                .before
                .get(last)
                .is_some_and(|l| l.kind == Kind::Quoted || (l.is_plain() && !calve_sql::is_reserved(l.text(self.text))))
    }

    /// In the head of an INSERT; `None` once its query has begun.
    fn insert(&self) -> Option<Slot> {
        let queried = ["SELECT", "VALUES", "WITH"];
        if self.before.iter().any(|l| queried.iter().any(|word| l.is_word(self.text, word))) {
            return None;
        }
        if self.ends_with(&["INTO"]) || self.ends_with(&["OVERWRITE"]) {
            return Some(Slot::Table(&[]));
        }
        if let Some(open) = self.open_paren(self.before.len()) {
            let last = self.before.len().saturating_sub(1);
            return Some(if open == last || self.symbol(last, ',') { Slot::TargetColumn } else { Slot::Nothing });
        }
        Some(Slot::Words(&["PARTITION", "SELECT", "VALUES", "WITH"]))
    }

    fn query(&self) -> Slot {
        let end = self.before.len();
        let Some(last) = self.before.last() else { return Slot::Nothing };
        let is = |words: &[&str]| words.iter().any(|word| last.is_word(self.text, word));
        let open = self.open_paren(end);
        let opener = |word: &str| open.and_then(|at| at.checked_sub(1)).is_some_and(|at| self.word(at, word));
        match last.kind {
            Kind::Keyword if is(&["FROM"]) && EXPRESSION_OPENERS.iter().any(|word| opener(word)) => Slot::Expression,
            Kind::Keyword if is(&["FROM", "JOIN"]) => Slot::Table(&["LATERAL", "TABLE", "UNNEST"]),
            Kind::Keyword if is(&["TABLE", "INTO", "UPDATE"]) => Slot::Table(&[]),
            Kind::Keyword if is(&["AS"]) && (opener("CAST") || opener("TRY_CAST")) => Slot::Words(words::TYPES),
            Kind::Keyword if is(&["AS", "INTERVAL", "LIMIT", "OFFSET", "FETCH"]) => Slot::Nothing,
            Kind::Keyword if is(&["ORDER", "GROUP", "PARTITION"]) => Slot::Words(&["BY"]),
            Kind::Keyword if is(&["LEFT", "RIGHT", "FULL"]) => Slot::Words(&["JOIN", "OUTER JOIN"]),
            Kind::Keyword if is(&["INNER", "CROSS", "OUTER", "NATURAL"]) => Slot::Words(&["JOIN"]),
            Kind::Keyword if is(&["UNION", "EXCEPT", "INTERSECT"]) => Slot::Words(&["ALL", "SELECT", "VALUES"]),
            Kind::Keyword if is(&["IS"]) => Slot::Words(&["NULL", "NOT NULL", "TRUE", "FALSE", "DISTINCT FROM"]),
            Kind::Keyword if is(&["NULLS"]) => Slot::Words(&["FIRST", "LAST"]),
            Kind::Keyword
                if is(&[
                    "SELECT", "DISTINCT", "WHERE", "ON", "AND", "OR", "NOT", "BY", "HAVING", "WHEN", "THEN", "ELSE",
                    "CASE", "BETWEEN", "IN", "LIKE", "ALL", "SET", "ROW", "ARRAY", "MAP", "QUALIFY",
                ]) =>
            {
                Slot::Expression
            }
            Kind::Symbol if last.is_symbol(self.text, ',') => {
                if self.clause(end) == Some("FROM") {
                    Slot::Table(&["LATERAL", "TABLE", "UNNEST"])
                } else {
                    Slot::Expression
                }
            }
            Kind::Symbol if last.is_symbol(self.text, '(') => {
                let at = end.saturating_sub(2);
                if end >= 2 && (self.word(at, "FROM") || self.word(at, "JOIN")) {
                    Slot::Table(&["SELECT", "VALUES", "WITH"])
                } else if end >= 2 && self.word(at, "OVER") {
                    Slot::Words(&["ORDER BY", "PARTITION BY", "RANGE", "ROWS"])
                } else if end >= 2 && self.word(at, "AS") {
                    Slot::Words(&["SELECT", "VALUES", "WITH"])
                } else {
                    Slot::Expression
                }
            }
            Kind::Symbol if last.is_symbol(self.text, '*') => {
                let at = end.saturating_sub(2);
                let everything = end < 2 || ["SELECT", "DISTINCT", "ALL"].iter().any(|word| self.word(at, word));
                if everything || self.symbol(at, ',') || self.symbol(at, '.') || self.symbol(at, '(') {
                    Slot::Words(words::AFTER_EXPRESSIONS)
                } else {
                    Slot::Expression
                }
            }
            Kind::Symbol if last.is_symbol(self.text, ')') || last.is_symbol(self.text, ']') => {
                Slot::Words(words::AFTER_EXPRESSIONS)
            }
            Kind::Symbol => Slot::Expression,
            _ => Slot::Words(words::AFTER_EXPRESSIONS),
        }
    }

    /// The clause that a comma before `end` belongs to: `FROM`, or another one.
    fn clause(&self, end: usize) -> Option<&'static str> {
        let mut depth = 0_usize;
        for at in (0..end).rev() {
            if self.symbol(at, ')') {
                depth += 1;
            } else if self.symbol(at, '(') {
                depth = depth.checked_sub(1)?;
            } else if depth == 0 {
                let clauses = ["FROM", "SELECT", "WHERE", "BY", "HAVING", "ON", "USING", "VALUES"];
                if let Some(clause) = clauses.into_iter().find(|word| self.word(at, word)) {
                    return Some(clause);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
