//! Queries inside expressions.

use calve_sql::ast;
use calve_types::{Error, LogicalType, Result, rules};

use super::scope::Scope;
use super::{Binder, coerce, expr, query};
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

    /// `x [NOT] IN (SELECT ..)`
    pub(super) fn in_subquery(
        &self,
        x: &ast::Expr,
        subquery: &ast::Query,
        negated: bool,
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        if matches!(x, ast::Expr::Tuple(_)) {
            return Err(Error::unsupported("several columns IN a subquery").at(expr::span_of(x)));
        }
        let x = self.value(x, scope)?;
        let place = x.span.to(expr::query_span(subquery));
        let rel = self.query(subquery, scope.inner())?.rel;
        let column = one_column(&rel, "the query of IN").map_err(|e| e.at(place))?.clone();
        let types = [x.data_type.clone(), column.data_type.clone()];
        let common = rules::common_type(&types).ok_or_else(|| {
            Error::new(
                "type-mismatch",
                format!("{} cannot be IN values of {}", x.data_type.logical, column.data_type.logical),
            )
            .with_detail(format!(
                "Values passed to IN operator must have compatible types: <{}> IN (<{}>)",
                rules::sql_name(&x.data_type.logical),
                rules::sql_name(&column.data_type.logical)
            ))
            .at(place)
        })?;
        let nullable = x.data_type.nullable || column.data_type.nullable;
        let x = coerce::to(x, &common);
        let rel = query::converted(rel, &[Field { name: column.name, data_type: common }]);
        let kind = SubqueryKind::In { expr: Box::new(x), negated };
        Ok(Expr {
            kind: ExprKind::Subquery { kind, query: Box::new(rel) },
            data_type: LogicalType::Boolean.with_nullable(nullable),
            span: place,
        })
    }
}

fn one_column<'a>(rel: &'a Rel, what: &str) -> Result<&'a Field> {
    match rel.fields.as_slice() {
        [column] => Ok(column),
        columns => Err(Error::new("type-mismatch", format!("{what} must have one column, not {}", columns.len()))),
    }
}
