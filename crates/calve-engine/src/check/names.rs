//! The names and places in a statement.

use calve_planner::tables::{Reference, referenced};
use calve_sql::{LexemeKind, Name, Query, ScriptStatement, Statement, TableHint, lexemes};
use calve_types::{Location, Span};

use crate::result::Warning;

/// Where a statement stands, without the comments before it.
pub(super) fn place(statement: &ScriptStatement) -> Span {
    let begin = Location { line: statement.line, column: statement.column };
    let text = statement.text.as_str();
    let lexemes = lexemes(text);
    let mut code = lexemes.iter().filter(|lexeme| lexeme.kind != LexemeKind::Comment);
    let Some(first) = code.next() else { return Span::new(begin, begin) };
    let last = code.next_back().unwrap_or(first);
    let behind = |place: Location, text: Option<&str>| text.unwrap_or_default().chars().fold(place, advance);
    let start = behind(begin, text.get(..first.range.start));
    let end = behind(start, text.get(first.range.start..last.range.end));
    Span::new(start, end)
}

/// The place behind a character.
pub(super) fn advance(place: Location, c: char) -> Location {
    match c {
        '\n' => Location { line: place.line.saturating_add(1), column: 1 },
        _ => Location { line: place.line, column: place.column.saturating_add(1) },
    }
}

/// The tables and views that a statement names, those that it defines or changes included.
pub(super) fn of(statement: &Statement) -> Vec<Reference> {
    let mut named = referenced(statement);
    let own = |name: &Name| Reference { parts: name.parts.clone(), hints: vec![], span: name.span };
    named.extend(target(statement).map(own));
    if let Statement::CreateTable(create) = statement {
        named.extend(create.like.as_ref().map(|like| own(&like.table)));
    }
    named
}

/// The table or view that a statement other than an INSERT is about.
pub(super) fn target(statement: &Statement) -> Option<&Name> {
    Some(match statement {
        Statement::CreateTable(create) => &create.name,
        Statement::AlterTable(alter) => &alter.name,
        Statement::CreateView(create) => &create.name,
        Statement::DropTable { name, .. }
        | Statement::DropView { name, .. }
        | Statement::AlterView { name, .. }
        | Statement::DescribeTable { name, .. }
        | Statement::ShowCreate { name, .. }
        | Statement::ShowPartitions { table: name, .. }
        | Statement::TruncateTable { table: name } => name,
        Statement::Explain { statement, .. } => return target(statement),
        _ => return None,
    })
}

/// The table that a statement writes rows to.
pub(super) fn written(statement: &Statement) -> Option<&Name> {
    match statement {
        Statement::Insert(insert) => Some(&insert.table),
        Statement::Delete(delete) => Some(&delete.table),
        Statement::Update(update) => Some(&update.table),
        Statement::Merge(merge) => Some(&merge.table),
        Statement::CreateTable(create) if create.query.is_some() => Some(&create.name),
        _ => None,
    }
}

/// The databases that a statement uses, by its names of databases and of tables.
pub(super) fn databases(statement: &Statement) -> Vec<Vec<String>> {
    let of_table = |name: &Name| name.parts.split_last().map(|(_, database)| database.to_vec());
    match statement {
        Statement::UseDatabase { name }
        | Statement::DropDatabase { name, .. }
        | Statement::AlterDatabase { name, .. }
        | Statement::DescribeDatabase { name, .. } => vec![name.parts.clone()],
        _ => target(statement).and_then(of_table).into_iter().collect(),
    }
}

/// The queries of a statement.
pub(super) fn queries(statement: &Statement) -> Vec<&Query> {
    match statement {
        Statement::Query(query) => vec![query],
        Statement::Insert(insert) => vec![&insert.query],
        Statement::StatementSet(set) => set.inserts.iter().map(|insert| &insert.query).collect(),
        Statement::CreateTable(create) => create.query.iter().collect(),
        Statement::CreateView(create) => vec![&create.query],
        Statement::AlterView { change: calve_sql::AlterView::As { query, .. }, .. } => vec![query],
        Statement::Explain { statement, .. } => queries(statement),
        _ => vec![],
    }
}

/// A warning about a reference with a hint is about the hint.
pub(super) fn in_hint(mut warning: Warning, statement: &Statement, named: &[Reference]) -> Warning {
    let with_hint = |reference: &&Reference| Some(reference.span) == warning.span && !reference.hints.is_empty();
    if let Some(reference) = named.iter().find(with_hint) {
        warning.span = Some(hint_place(statement, reference));
    }
    warning
}

/// Where the hint of a reference stands; the reference itself if that is not known.
pub(super) fn hint_place(statement: &Statement, reference: &Reference) -> Span {
    let is_it = |hint: &&TableHint| hint.options == reference.hints && hint.span.start >= reference.span.end;
    let of_target = match statement {
        Statement::Delete(delete) => delete.hint.as_ref(),
        Statement::Update(update) => update.hint.as_ref(),
        Statement::Merge(merge) => merge.hint.as_ref(),
        _ => super::insert_of(statement).and_then(|insert| insert.hint.as_ref()),
    };
    let mut hints = of_target.into_iter().chain(queries(statement).into_iter().flat_map(|query| query.hints.tables()));
    hints.find(is_it).map_or(reference.span, |hint| hint.span)
}
