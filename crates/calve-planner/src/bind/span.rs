//! Places of syntax in the script.

use calve_sql::ast;
use calve_types::{Location, Span};

/// The place of a piece of syntax; unknown if the parser did not record one.
pub(crate) fn of(node: &impl ast::Spanned) -> Span {
    let span = node.span();
    between((span.start.line, span.start.column), (span.end.line, span.end.column))
}

/// The place of an identifier.
pub(crate) fn ident(ident: &ast::Ident) -> Span {
    let span = ident.span;
    between((span.start.line, span.start.column), (span.end.line, span.end.column))
}

/// From the first identifier of a name to its last.
pub(crate) fn idents<'a>(idents: impl IntoIterator<Item = &'a ast::Ident>) -> Span {
    idents.into_iter().fold(Span::default(), |all, i| all.to(ident(i)))
}

fn between(start: (u64, u64), end: (u64, u64)) -> Span {
    if start.0 == 0 {
        return Span::default();
    }
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let location = |(line, column)| Location { line: number(line), column: number(column) };
    Span::new(location(start), location(end))
}
