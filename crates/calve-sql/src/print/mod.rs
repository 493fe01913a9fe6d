//! Syntax back to Flink SQL, spelled as SHOW CREATE of Flink 2.1 does.
//!
//! What is printed parses to the same meaning, here and in Flink; it is not what was written: parentheses that change
//! nothing are gone, `CASE a WHEN 1` is `CASE WHEN a = 1`, LIMIT is FETCH NEXT.

mod call;
mod functions;
mod matching;
mod operator;
mod query;
mod term;
#[cfg(test)]
mod tests;
mod types;

use sqlparser::ast;

use crate::hints::Hints;
use crate::parser::depth::on_deep_stack;
use crate::statement::Query;

/// An identifier in backticks.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string literal.
pub fn string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// An expression as SHOW CREATE TABLE prints that of a computed column or a watermark.
pub fn expr(expr: &ast::Expr) -> String {
    on_deep_stack(|| {
        let mut printer = Printer::new(Style::Column, None);
        printer.expr(expr);
        printer.out
    })
}

/// A query as SHOW CREATE VIEW prints that of a view, but for names of columns and tables, which stand as they were
/// written. OPTIONS hints are kept; hints for the optimizer, which change no rows, are not.
pub fn query(query: &Query) -> String {
    on_deep_stack(|| {
        let mut printer = Printer::new(Style::View, Some(&query.hints));
        printer.query(&query.ast);
        printer.out
    })
}

/// Flink spells some things in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// In expressions of a table's columns, whose calls have been resolved.
    Column,
    /// In queries of views.
    View,
}

/// Text under construction.
struct Printer<'a> {
    out: String,
    style: Style,
    hints: Option<&'a Hints>,
    /// Whether every operation stands in parentheses: tests tell by it how a tree is built.
    enclose: bool,
}

impl<'a> Printer<'a> {
    fn new(style: Style, hints: Option<&'a Hints>) -> Self {
        Self { out: String::new(), style, hints, enclose: false }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, name: &ast::Ident) {
        self.text(&identifier(&name.value));
    }

    fn list<T>(&mut self, items: &[T], separator: &str, mut print: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.text(separator);
            }
            print(self, item);
        }
    }

    fn object_name(&mut self, name: &ast::ObjectName) {
        self.list(&name.0, ".", |p, part| match part.as_ident() {
            Some(ident) => p.name(ident),
            None => p.text(&part.to_string()),
        });
    }

    fn exprs(&mut self, exprs: &[ast::Expr]) {
        self.list(exprs, ", ", |p, expr| p.expr(expr));
    }

    /// An expression that stands alone: its operators need no parentheses.
    fn expr(&mut self, expr: &ast::Expr) {
        self.operand(expr, 0, 0);
    }
}
