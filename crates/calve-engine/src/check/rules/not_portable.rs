//! `not-portable`: what calve runs and Flink does not, told once for each statement. Where a statement says what it does
//! beyond Flink while it runs, the session warns; the rest is here.

use std::ops::ControlFlow;

use calve_sql::ast::{self, Visit, Visitor};
use calve_sql::{Property, Statement};
use calve_types::{Location, Span};

use super::{Finding, Seen};
use crate::check::{Severity, names};

/// The code of all of them.
pub(in crate::check) const CODE: &str = "not-portable";

/// As much stack as a query may need that the parser lets pass, in bytes; only what is used costs memory.
const STACK: usize = 64 << 20;

fn finding(what: &str, place: Span) -> Finding {
    Finding::new(Severity::Note, CODE, format!("not portable to Flink: {what}"), place)
}

/// Tells of a statement that begins on the line where the last one ended: Flink's client wants a `;` at the end of a line.
pub(in crate::check) fn on_one_line(last_line: Option<u32>, place: Span) -> Option<Finding> {
    let is_behind = last_line == Some(place.start.line);
    is_behind.then(|| finding("two statements on one line", place).with_hint("begin a new line behind ';'"))
}

/// Tells of the first thing in a statement that Flink does not run, and that the session does not warn of.
pub(super) fn check(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    found.extend(match seen.statement {
        Statement::CreateCatalog(create) => catalog_type(&create.properties),
        statement => metadata_table(statement),
    });
}

/// Catalogs that Flink's connector finds only by their Java class.
fn catalog_type(properties: &[Property]) -> Option<Finding> {
    let class = |kind: &str| match kind {
        "jdbc" => Some("org.apache.iceberg.jdbc.JdbcCatalog"),
        "glue" => Some("org.apache.iceberg.aws.glue.GlueCatalog"),
        "nessie" => Some("org.apache.iceberg.nessie.NessieCatalog"),
        "s3tables" => Some("software.amazon.s3tables.iceberg.S3TablesCatalog"),
        _ => None,
    };
    let property = properties.iter().rfind(|property| property.key == "catalog-type")?;
    let kind = property.value.to_ascii_lowercase();
    let class = class(&kind)?;
    Some(
        finding(&format!("'catalog-type' = '{kind}'"), property.span)
            .with_detail(format!("Unknown catalog-type: {kind} (Must be 'hive', 'hadoop' or 'rest')"))
            .with_hint(format!("use 'catalog-impl' = '{class}' instead")),
    )
}

/// A metadata table whose name Flink's parser takes only in backticks.
fn metadata_table(statement: &Statement) -> Option<Finding> {
    let mut tables = Tables { first: None };
    for query in names::queries(statement) {
        let _ = stacker::maybe_grow(STACK / 2, STACK, || query.ast.visit(&mut tables));
    }
    tables.first
}

struct Tables {
    first: Option<Finding>,
}

impl Visitor for Tables {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<()> {
        let ast::TableFactor::Table { name, .. } = factor else { return ControlFlow::Continue(()) };
        let idents: Vec<&ast::Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        match idents.as_slice() {
            [_, .., last] if last.quote_style.is_none() && last.value.contains('$') => {
                let place = place_of(idents.iter().copied());
                let hint = format!("write `{}` in backticks", last.value);
                let what = "a metadata table behind a qualifier, without backticks";
                self.first.get_or_insert(finding(what, place).with_hint(hint));
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

fn place_of<'a>(idents: impl Iterator<Item = &'a ast::Ident>) -> Span {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let place = |ident: &ast::Ident| {
        let (start, end) = (ident.span.start, ident.span.end);
        let at = |line, column| Location { line: number(line), column: number(column) };
        Span::new(at(start.line, start.column), at(end.line, end.column))
    };
    idents.map(place).fold(Span::default(), Span::to)
}
