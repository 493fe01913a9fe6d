//! Which tables a statement names.

use std::ops::ControlFlow;

use calve_sql::ast::{self, Visit, Visitor};
use calve_sql::{AlterView, Hints, Insert, MergeAction, Name, Query, Statement, TableHint};
use calve_types::Span;

use crate::bind::{on_deep_stack, span, temporal, window};

/// A name in the place of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The parts of the name, usually one to three.
    pub parts: Vec<String>,
    /// The options of the OPTIONS hint behind it.
    pub hints: Vec<(String, String)>,
    /// Where it stands.
    pub span: Span,
}

/// The names that stand in the places of tables, each once for each set of options; the target of an INSERT, DELETE,
/// UPDATE or MERGE first.
///
/// Some may be no tables: names of WITH queries are among them.
pub fn referenced(statement: &Statement) -> Vec<Reference> {
    let mut found = Vec::new();
    match statement {
        Statement::Query(query) => in_query(query, &mut found),
        Statement::Insert(insert) => in_insert(insert, &mut found),
        Statement::StatementSet(set) => set.inserts.iter().for_each(|insert| in_insert(insert, &mut found)),
        Statement::Delete(delete) => {
            add(&mut found, target(&delete.table, delete.hint.as_ref()));
            in_exprs(delete.condition.iter(), &delete.hints, &mut found);
        }
        Statement::Update(update) => {
            add(&mut found, target(&update.table, update.hint.as_ref()));
            let values = update.assignments.iter().map(|assignment| &assignment.value);
            in_exprs(values.chain(&update.condition), &update.hints, &mut found);
        }
        Statement::Merge(merge) => {
            add(&mut found, target(&merge.table, merge.hint.as_ref()));
            let mut collector = Collector { hints: &merge.hints, found: &mut found };
            let _ = on_deep_stack(|| merge.source.visit(&mut collector));
            in_exprs([&merge.on], &merge.hints, &mut found);
            for clause in &merge.clauses {
                let values: Vec<&ast::Expr> = match &clause.action {
                    MergeAction::Update(assignments) => assignments.iter().map(|a| &a.value).collect(),
                    MergeAction::Insert { values, .. } => values.iter().collect(),
                    MergeAction::UpdateAll | MergeAction::InsertAll | MergeAction::Delete => vec![],
                };
                in_exprs(clause.condition.iter().chain(values), &merge.hints, &mut found);
            }
        }
        Statement::CreateView(create) => in_query(&create.query, &mut found),
        Statement::AlterView { change: AlterView::As { query, .. }, .. } => in_query(query, &mut found),
        Statement::Explain { statement, .. } => found = referenced(statement),
        Statement::CreateTable(create) => {
            if let Some(query) = &create.query {
                in_query(query, &mut found);
            }
        }
        _ => {}
    }
    found
}

/// The places of tables that a statement reads as they were at a constant time.
pub fn versions(statement: &Statement) -> Vec<Span> {
    struct Versions(Vec<Span>);
    impl Visitor for Versions {
        type Break = ();

        fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<()> {
            if let ast::TableFactor::Table { name, version: Some(ast::TableVersion::ForSystemTimeAsOf(time)), .. } =
                factor
                && temporal::is_constant(time)
            {
                self.0.push(span::idents(name.0.iter().filter_map(|p| p.as_ident())));
            }
            ControlFlow::Continue(())
        }
    }
    let mut versions = Versions(vec![]);
    match statement {
        Statement::Query(query) => drop(on_deep_stack(|| query.ast.visit(&mut versions))),
        Statement::Insert(insert) => drop(on_deep_stack(|| insert.query.ast.visit(&mut versions))),
        Statement::Explain { statement, .. } => return self::versions(statement),
        _ => {}
    }
    versions.0
}

/// The names in the places of tables in a query: for that of a view, complete them with the view's own catalog and
/// database instead of the session's.
pub fn referenced_by(query: &Query) -> Vec<Reference> {
    let mut found = Vec::new();
    in_query(query, &mut found);
    found
}

fn in_insert(insert: &Insert, found: &mut Vec<Reference>) {
    add(found, target(&insert.table, insert.hint.as_ref()));
    in_query(&insert.query, found);
}

/// The table that a statement writes to.
fn target(name: &Name, hint: Option<&TableHint>) -> Reference {
    let hints = hint.map(|hint| hint.options.clone()).unwrap_or_default();
    Reference { parts: name.parts.clone(), hints, span: name.span }
}

fn in_exprs<'e>(exprs: impl IntoIterator<Item = &'e ast::Expr>, hints: &Hints, found: &mut Vec<Reference>) {
    let mut collector = Collector { hints, found };
    for expr in exprs {
        let _ = on_deep_stack(|| expr.visit(&mut collector));
    }
}

fn in_query(query: &Query, found: &mut Vec<Reference>) {
    let mut collector = Collector { hints: &query.hints, found };
    let _ = on_deep_stack(|| query.ast.visit(&mut collector));
}

fn add(found: &mut Vec<Reference>, reference: Reference) {
    if !found.iter().any(|f| f.parts == reference.parts && f.hints == reference.hints) {
        found.push(reference);
    }
}

struct Collector<'a> {
    hints: &'a Hints,
    found: &'a mut Vec<Reference>,
}

impl Collector<'_> {
    fn name(&mut self, name: &ast::ObjectName) {
        let parts: Option<Vec<String>> = name.0.iter().map(|p| p.as_ident().map(|i| i.value.clone())).collect();
        if let Some(parts) = parts {
            let hints = self.hints.options_for(name).map(|hint| hint.options.clone()).unwrap_or_default();
            let span = span::idents(name.0.iter().filter_map(|p| p.as_ident()));
            add(self.found, Reference { parts, hints, span });
        }
    }
}

impl Visitor for Collector<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<()> {
        if let ast::TableFactor::Table { name, args: None, .. } = factor {
            self.name(name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, e: &ast::Expr) -> ControlFlow<()> {
        if let Some(name) = window::table_in_argument(e) {
            self.name(&name);
        }
        ControlFlow::Continue(())
    }
}
