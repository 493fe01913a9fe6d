//! Hints: `/*+ OPTIONS('k'='v') */` behind a table's name, others behind SELECT.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{Bound, ControlFlow};

use calve_types::{Error, Location, Result, Span};
use sqlparser::ast::{self, Visit, Visitor};
use sqlparser::tokenizer::{self, Token, TokenWithSpan, Tokenizer};

use crate::dialect::FlinkDialect;
use crate::parser::depth::on_deep_stack;
use crate::tokens::location_of;

/// The options a hint gives to the table before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableHint {
    /// Keys and values in order.
    pub options: Vec<(String, String)>,
    /// The hint with its comment marks.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hint {
    name: String,
    table: TableHint,
    /// The names in a hint of joins.
    tables: Vec<String>,
}

/// The hints of a statement, each at the place behind the token it follows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hints(BTreeMap<Location, Vec<Hint>>);

/// Hints of Flink's optimizer; they never change rows.
const OPTIMIZER: [&str; 7] =
    ["BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "LOOKUP", "STATE_TTL", "MULTI_JOIN"];

/// Those of them that name tables of the SELECT's joins.
const JOINS: [&str; 4] = ["BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP"];

impl Hints {
    /// Reads one comment: hints separated by commas or blanks.
    pub(crate) fn add(&mut self, behind: Location, text: &str, span: Span) -> Result<()> {
        let wrong = |what: String| Error::new("syntax-error", what).at(span);
        let tokens = Tokenizer::new(&FlinkDialect, text)
            .tokenize_with_location()
            .map_err(|e| wrong(format!("hint cannot be read: {}", e.message.to_lowercase())))?;
        let mut tokens =
            tokens.into_iter().filter(|t| !matches!(t.token, Token::Whitespace(_) | Token::EOF)).peekable();
        while let Some(token) = tokens.next() {
            let name = match token.token {
                Token::Word(w) => w.value.to_ascii_uppercase(),
                Token::Comma => continue,
                other => return Err(wrong(format!("expected the name of a hint, found '{other}'"))),
            };
            let mut arguments = vec![];
            if tokens.next_if(|t| t.token == Token::LParen).is_some() {
                loop {
                    match tokens.next() {
                        Some(TokenWithSpan { token: Token::RParen, .. }) => break,
                        Some(token) => arguments.push(token),
                        None => return Err(wrong(format!("hint '{name}' has no closing parenthesis"))),
                    }
                }
            }
            let mut hint = Hint { name, table: TableHint { options: vec![], span }, tables: vec![] };
            match hint.name.as_str() {
                "OPTIONS" => hint.table.options = options(&arguments, span)?,
                name if JOINS.contains(&name) => hint.tables = names(&arguments),
                name if OPTIMIZER.contains(&name) => {}
                name => return Err(wrong(format!("unknown hint '{name}'"))),
            }
            self.0.entry(behind).or_default().push(hint);
        }
        Ok(())
    }

    /// All OPTIONS hints, in order.
    pub fn tables(&self) -> impl Iterator<Item = &TableHint> {
        self.0.values().flatten().filter(|hint| hint.name == "OPTIONS").map(|hint| &hint.table)
    }

    /// The OPTIONS hint behind a table's name.
    pub fn options_for(&self, name: &ast::ObjectName) -> Option<&TableHint> {
        let end = location_of(name.0.last()?.as_ident()?.span.end);
        self.options_at(end)
    }

    /// The OPTIONS hint behind a place.
    pub(crate) fn options_at(&self, end: Location) -> Option<&TableHint> {
        self.0.get(&end)?.iter().find(|h| h.name == "OPTIONS").map(|h| &h.table)
    }

    /// Removes and gives the OPTIONS hint behind a place.
    pub(crate) fn take_options_at(&mut self, end: Location) -> Option<TableHint> {
        let found = self.options_at(end).cloned()?;
        self.0.remove(&end);
        Some(found)
    }

    /// Removes and gives the hints behind `start` up to `end`.
    pub(crate) fn take_between(&mut self, start: Location, end: Location) -> Self {
        let keys: Vec<Location> =
            self.0.range((Bound::Excluded(start), Bound::Included(end))).map(|(place, _)| *place).collect();
        Self(keys.into_iter().filter_map(|place| self.0.remove_entry(&place)).collect())
    }

    /// The place behind the last hint.
    pub(crate) fn end(&self) -> Option<Location> {
        self.0.values().flatten().map(|hint| hint.table.span.end).max()
    }

    /// Checks that every hint stands behind a table's name or SELECT.
    pub(crate) fn check_places<'a, T: Visit + 'a>(&self, trees: impl IntoIterator<Item = &'a T>) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut places = Places { tables: HashSet::new(), selects: HashMap::new() };
        for tree in trees {
            let _ = on_deep_stack(|| tree.visit(&mut places));
        }
        for (behind, hints) in &self.0 {
            for hint in hints {
                let fits = match hint.name.as_str() {
                    "OPTIONS" => places.tables.contains(behind),
                    _ => places.selects.contains_key(behind),
                };
                if !fits {
                    return Err(Error::new(
                        "syntax-error",
                        format!("hint '{}' stands where no hint can stand", hint.name),
                    )
                    .with_hint("an OPTIONS hint stands directly behind a table's name, other hints behind SELECT")
                    .at(hint.table.span));
                }
                let joined = places.selects.get(behind).filter(|joined| !joined.is_empty());
                if let Some(name) = joined.and_then(|joined| hint.tables.iter().find(|name| !joined.contains(*name))) {
                    return Err(Error::new("invalid-hint", format!("hint '{}' names no table '{name}'", hint.name))
                        .with_detail(format!(
                            "The options of following hints cannot match the name of input tables or views: \n`{name}` in `{}`",
                            hint.name
                        ))
                        .at(hint.table.span));
                }
            }
        }
        Ok(())
    }
}

struct Places {
    tables: HashSet<Location>,
    /// The names by which each SELECT knows what it joins.
    selects: HashMap<Location, HashSet<String>>,
}

/// The aliases and the names of what a FROM joins; empty if it has others.
fn joined(from: &[ast::TableWithJoins]) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut open: Vec<&ast::TableWithJoins> = from.iter().collect();
    while let Some(next) = open.pop() {
        for factor in std::iter::once(&next.relation).chain(next.joins.iter().map(|join| &join.relation)) {
            match factor {
                ast::TableFactor::Table { name, alias, .. } => {
                    found.extend(alias.iter().map(|alias| alias.name.value.clone()));
                    let parts = name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.clone());
                    let parts: Vec<String> = parts.collect();
                    found.extend((0..parts.len()).filter_map(|i| parts.get(i..)).map(|parts| parts.join(".")));
                }
                ast::TableFactor::NestedJoin { table_with_joins, alias } => {
                    found.extend(alias.iter().map(|alias| alias.name.value.clone()));
                    open.push(table_with_joins);
                }
                ast::TableFactor::Derived { alias, .. }
                | ast::TableFactor::UNNEST { alias, .. }
                | ast::TableFactor::Function { alias, .. }
                | ast::TableFactor::TableFunction { alias, .. } => {
                    found.extend(alias.iter().map(|alias| alias.name.value.clone()));
                }
                // another kind of name, which this does not know
                _ => return HashSet::new(),
            }
        }
    }
    found
}

impl Visitor for Places {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<()> {
        if let ast::TableFactor::Table { name, .. } = factor
            && let Some(ident) = name.0.last().and_then(|p| p.as_ident())
        {
            self.tables.insert(location_of(ident.span.end));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
        let mut bodies = vec![query.body.as_ref()];
        while let Some(body) = bodies.pop() {
            match body {
                ast::SetExpr::Select(select) => {
                    let is_join = select.from.len() > 1 || select.from.iter().any(|from| !from.joins.is_empty());
                    let names = if is_join { joined(&select.from) } else { HashSet::new() };
                    self.selects.insert(location_of(select.select_token.0.span.end), names);
                }
                ast::SetExpr::SetOperation { left, right, .. } => bodies.extend([left.as_ref(), right.as_ref()]),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

/// The names in a hint of joins: words and dots between commas.
fn names(tokens: &[TokenWithSpan]) -> Vec<String> {
    let text = |token: &Token| match token {
        Token::Word(word) => word.value.clone(),
        Token::SingleQuotedString(text) => text.clone(),
        other => other.to_string(),
    };
    let entries = tokens.split(|t| t.token == Token::Comma).filter(|entry| !entry.is_empty());
    entries.map(|entry| entry.iter().map(|t| text(&t.token)).collect()).collect()
}

/// The entries of an OPTIONS hint that stands at `span`.
fn options(tokens: &[TokenWithSpan], span: Span) -> Result<Vec<(String, String)>> {
    let entries = tokens.split(|t| t.token == Token::Comma).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| match entry {
            [key, equals, value] if equals.token == Token::Eq => match (&key.token, &value.token) {
                (Token::SingleQuotedString(k), Token::SingleQuotedString(v)) => Ok((k.clone(), v.clone())),
                (Token::SingleQuotedString(_), _) => Err(no_entry(value, span)),
                _ => Err(no_entry(key, span)),
            },
            [first, ..] => Err(no_entry(first, span)),
            [] => Err(Error::internal("an entry without tokens")),
        })
        .collect()
}

/// The error for what is no entry, at a token of the hint's text.
fn no_entry(token: &TokenWithSpan, hint: Span) -> Error {
    // the text begins behind `/*+`
    let shift = |at: tokenizer::Location| {
        let at = location_of(at);
        match at.line {
            1 => Location {
                line: hint.start.line,
                column: hint.start.column.saturating_add(at.column).saturating_add(2),
            },
            line => Location { line: hint.start.line.saturating_add(line) - 1, ..at },
        }
    };
    let place = Span::new(shift(token.span.start), shift(token.span.end));
    Error::new("syntax-error", "an OPTIONS hint holds entries 'key' = 'value'").at(place)
}
