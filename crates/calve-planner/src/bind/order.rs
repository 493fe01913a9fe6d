//! ORDER BY, and which values have an order.

use calve_sql::ast;
use calve_types::{Error, LogicalType, Result, Span};

use super::names::Suffix;
use super::query::{Bound, Slice};
use super::scope::Scope;
use super::{Binder, span, walk};
use crate::expr::{Expr, ExprKind, SortKey};
use crate::rel::{Field, Rel, RelKind};

/// The keys of a query's ORDER BY; none without one.
///
/// # Errors
/// `not-supported` for ALL and INTERPOLATE.
pub(super) fn order_by(query: &ast::Query) -> Result<&[ast::OrderByExpr]> {
    let Some(order) = &query.order_by else { return Ok(&[]) };
    match (&order.kind, &order.interpolate) {
        (ast::OrderByKind::Expressions(keys), None) => Ok(keys),
        (ast::OrderByKind::All(_), _) => Err(Error::unsupported("ORDER BY ALL")),
        _ => Err(Error::unsupported("INTERPOLATE")),
    }
}

impl Binder<'_> {
    /// The value of a key of ORDER BY over what `sorted` projects from, and which of its columns it is if it is written
    /// as a position or a name of the select list.
    ///
    /// # Errors
    /// `invalid-order-by` for a position that does not exist, and those of expressions.
    pub(super) fn sort_key(
        &self,
        key: &ast::OrderByExpr,
        sorted: &Sorted,
        scope: &Scope<'_>,
    ) -> Result<(Expr, Option<usize>)> {
        if key.with_fill.is_some() {
            return Err(Error::unsupported("WITH FILL"));
        }
        if let ast::Expr::Value(value) = &key.expr
            && let ast::Value::Number(digits, _) = &value.value
        {
            let position = digits.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).filter(|p| *p < sorted.visible);
            return position.and_then(|p| Some((sorted.exprs.get(p)?.clone(), Some(p)))).ok_or_else(|| {
                Error::new("invalid-order-by", format!("ORDER BY {digits}: the query has {} columns", sorted.visible))
                    .with_detail("Ordinal out of range")
                    .at(span::of(value))
            });
        }
        let bound = self.value(&key.expr, scope)?;
        let column = match &key.expr {
            ast::Expr::Identifier(name) => scope.selected_position(name),
            _ => None,
        };
        Ok((bound, column))
    }
}

/// A select list on its way through ORDER BY: columns that only the order needs stand after the visible ones.
pub(super) struct Sorted {
    /// All columns, over the input.
    pub exprs: Vec<Expr>,
    /// How many of them the query gives.
    pub visible: usize,
    keys: Vec<SortKey>,
}

impl Sorted {
    /// A select list without order.
    pub fn new(exprs: Vec<Expr>) -> Self {
        Self { visible: exprs.len(), exprs, keys: Vec::new() }
    }

    /// Whether an expression has one value for each row of the visible columns: it is one of them, or made of them.
    pub fn determines(&self, expr: &Expr) -> bool {
        if self.exprs.iter().take(self.visible).any(|e| walk::same(e, expr)) {
            return true;
        }
        let parts = walk::children(expr);
        let is_leaf = matches!(
            expr.kind,
            ExprKind::Column(_) | ExprKind::Outer { .. } | ExprKind::Over(_) | ExprKind::Subquery { .. }
        );
        !is_leaf && super::nested(|| parts.into_iter().all(|part| self.determines(part)))
    }

    /// Adds a key: the given column, one that is the same expression, or a new hidden one.
    pub fn push(&mut self, key: &ast::OrderByExpr, bound: Expr, column: Option<usize>) {
        let (data_type, place) = (bound.data_type.clone(), bound.span);
        let column = column.or_else(|| self.exprs.iter().position(|e| walk::same(e, &bound)));
        let index = column.unwrap_or_else(|| {
            self.exprs.push(bound);
            self.exprs.len() - 1
        });
        let descending = key.options.asc == Some(false);
        self.keys.push(SortKey {
            expr: Expr { kind: ExprKind::Column(index), data_type, span: place },
            descending,
            nulls_first: key.options.nulls_first.unwrap_or(!descending),
        });
    }

    /// The sorted and cut relation; `rel` gives the visible columns. Hidden columns come from the projection on top of it.
    pub fn finish(self, rel: Rel, slice: Slice) -> Bound {
        if self.exprs.len() == self.visible {
            return slice.apply(sort(rel, self.keys)).into();
        }
        let visible = rel.fields.clone();
        self.project(rel, visible, slice)
    }

    /// Projects from `input`, sorts, cuts, and drops what only the order needed. `fields` are the visible columns.
    pub fn project(self, input: Rel, fields: Vec<Field>, slice: Slice) -> Bound {
        let all = self.all_fields(&fields);
        let kind = RelKind::Project { input: Box::new(input), exprs: self.exprs.clone() };
        self.over_all(Rel { kind, fields: all }, fields, slice)
    }

    /// Sorts and cuts `rel`, which gives all columns, and drops what only the order needed. `fields` are the visible ones.
    pub fn over_all(self, rel: Rel, fields: Vec<Field>, slice: Slice) -> Bound {
        let hides = rel.fields.len() > fields.len();
        let rel = slice.apply(sort(rel, self.keys));
        if hides { Bound { rel: first_columns(rel, fields), suffix: Suffix::Position } } else { rel.into() }
    }

    /// The columns of a projection to all expressions; `fields` are the visible ones.
    pub fn all_fields(&self, fields: &[Field]) -> Vec<Field> {
        let mut all = fields.to_vec();
        for (i, hidden) in self.exprs.iter().enumerate().skip(fields.len()) {
            all.push(Field { name: format!("EXPR${i}"), data_type: hidden.data_type.clone() });
        }
        all
    }

    /// Refuses keys whose type has no order.
    ///
    /// # Errors
    /// `invalid-key` for MAP and MULTISET.
    pub fn check_keys(&self) -> Result<()> {
        self.keys.iter().try_for_each(|key| orderable(&key.expr))
    }
}

/// The first columns of a relation.
fn first_columns(rel: Rel, fields: Vec<Field>) -> Rel {
    let exprs = fields
        .iter()
        .enumerate()
        .map(|(i, f)| Expr { kind: ExprKind::Column(i), data_type: f.data_type.clone(), span: Span::default() })
        .collect();
    Rel { kind: RelKind::Project { input: Box::new(rel), exprs }, fields }
}

fn sort(rel: Rel, keys: Vec<SortKey>) -> Rel {
    if keys.is_empty() {
        return rel;
    }
    let fields = rel.fields.clone();
    Rel { kind: RelKind::Sort { input: Box::new(rel), keys }, fields }
}

/// Refuses values that cannot be keys of ORDER BY, GROUP BY and DISTINCT.
///
/// # Errors
/// `invalid-key` for MAP and MULTISET.
pub(super) fn orderable(key: &Expr) -> Result<()> {
    fn has_order(logical: &LogicalType) -> bool {
        match logical {
            LogicalType::Map(..) | LogicalType::Multiset(_) | LogicalType::Variant | LogicalType::Raw { .. } => false,
            LogicalType::Array(e) => has_order(&e.logical),
            LogicalType::Row(fields) => fields.iter().all(|f| has_order(&f.data_type.logical)),
            _ => true,
        }
    }
    if has_order(&key.data_type.logical) {
        return Ok(());
    }
    Err(Error::new("invalid-key", format!("values of type {} have no order", key.data_type.logical))
        .with_detail(format!(
            "Type({}) is not an orderable data type, it is not supported as a ORDER_BY/GROUP_BY/JOIN_EQUAL field.",
            key.data_type
        ))
        .at(key.span))
}
