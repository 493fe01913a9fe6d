//! Queries inside expressions.

use calve_sql::ast;
use calve_types::{Error, LogicalType, Result, Span, rules};

use super::scope::Scope;
use super::{Binder, call, coerce, expr, query};
use crate::expr::{Expr, ExprKind, SubqueryKind};
use crate::rel::{Field, Rel};

impl Binder<'_> {
    /// `(SELECT ..)` as a value.
    pub(super) fn scalar_subquery(&self, subquery: &ast::Query, scope: &Scope<'_>) -> Result<Expr> {
        let place = expr::query_span(subquery);
        let rel = self.query(subquery, scope.inner())?.rel;
        let data_type =
            one_column(&rel, "a query used as a value").map_err(|e| e.at(place))?.data_type.with_nullable(true);
        let kind = ExprKind::Subquery { kind: SubqueryKind::Scalar, query: Box::new(rel) };
        Ok(Expr { kind, data_type, span: place })
    }

    /// `[NOT] EXISTS (..)`
    pub(super) fn exists(&self, subquery: &ast::Query, negated: bool, scope: &Scope<'_>) -> Result<Expr> {
        let rel = self.query(subquery, scope.inner())?.rel;
        let kind = ExprKind::Subquery { kind: SubqueryKind::Exists { negated }, query: Box::new(rel) };
        Ok(Expr { kind, data_type: LogicalType::Boolean.not_null(), span: expr::query_span(subquery) })
    }

    /// `x [NOT] IN (SELECT ..)` and `(x, y) [NOT] IN (SELECT ..)`
    pub(super) fn in_subquery(
        &self,
        x: &ast::Expr,
        subquery: &ast::Query,
        negated: bool,
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        let written: Vec<&ast::Expr> = match x {
            ast::Expr::Tuple(values) => values.iter().collect(),
            ast::Expr::Function(call) => expr::row_arguments(call).unwrap_or_else(|| vec![x]),
            x => vec![x],
        };
        let values = written.iter().map(|e| self.value(e, scope)).collect::<Result<Vec<_>>>()?;
        let row = values.iter().fold(Span::default(), |all, e| all.to(e.span));
        let row = if written.len() > 1 { self.with_word(self.with_word(row, &["("]), &["ROW"]) } else { row };
        let place = row.to(expr::query_span(subquery));
        let rel = self.query(subquery, scope.inner())?.rel;
        if rel.fields.len() != values.len() {
            return Err(Error::new(
                "type-mismatch",
                format!("the query of IN must have {}, not {}", columns(values.len()), rel.fields.len()),
            )
            .with_detail("Values passed to IN operator must have compatible types")
            .at(place));
        }
        let mut nullable = false;
        let mut fields = Vec::with_capacity(values.len());
        let mut converted = Vec::with_capacity(values.len());
        for (value, column) in values.into_iter().zip(&rel.fields) {
            let common = rules::common_type(&[value.data_type.clone(), column.data_type.clone()]);
            let data_type = common.ok_or_else(|| mismatch(&value, column).at(place))?;
            nullable |= value.data_type.nullable || column.data_type.nullable;
            converted.push(coerce::to(value, &data_type));
            fields.push(Field { name: column.name.clone(), data_type });
        }
        let rel = query::converted(rel, &fields);
        let value = match <[Expr; 1]>::try_from(converted) {
            Ok([value]) => value,
            Err(values) => call::function("ROW", values, row)?,
        };
        Ok(Expr {
            kind: ExprKind::Subquery {
                kind: SubqueryKind::In { expr: Box::new(value), negated },
                query: Box::new(rel),
            },
            data_type: LogicalType::Boolean.with_nullable(nullable),
            span: place,
        })
    }
}

fn mismatch(value: &Expr, column: &Field) -> Error {
    Error::new(
        "type-mismatch",
        format!("{} cannot be IN values of {}", value.data_type.logical, column.data_type.logical),
    )
    .with_detail(format!(
        "Values passed to IN operator must have compatible types: <{}> IN (<{}>)",
        rules::sql_name(&value.data_type.logical),
        rules::sql_name(&column.data_type.logical)
    ))
}

fn columns(count: usize) -> String {
    if count == 1 { "one column".to_owned() } else { format!("{count} columns") }
}

fn one_column<'a>(rel: &'a Rel, what: &str) -> Result<&'a Field> {
    match rel.fields.as_slice() {
        [column] => Ok(column),
        columns => Err(Error::new("type-mismatch", format!("{what} must have one column, not {}", columns.len()))),
    }
}
