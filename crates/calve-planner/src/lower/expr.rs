//! Expressions.

use std::collections::{BTreeMap, HashMap};

use calve_functions::{self as functions, CastKind};
use calve_types::{DataType, Error, Result};
use datafusion::common::Column;
use datafusion::logical_expr::Expr as DfExpr;

use super::{Lowered, Lowering, Outer};
use crate::expr::{Expr, ExprKind};

/// What an expression's references stand for.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// The fields of the input.
    pub columns: Vec<DfExpr>,
    /// The fields of enclosing queries.
    pub outer: BTreeMap<Outer, DfExpr>,
    /// The query level of the expression.
    pub level: usize,
    /// The values of subqueries that were joined to the input.
    pub subqueries: Subqueries,
}

/// The values of subqueries, by the address of their expression: the algebra is not moved while it is lowered.
pub(super) type Subqueries = HashMap<*const Expr, DfExpr>;

impl Scope {
    /// The scope of expressions over a relation.
    pub fn new(input: &Lowered, level: usize, subqueries: Subqueries) -> Self {
        Self { columns: references(&input.columns), outer: outer_references(&input.outer), level, subqueries }
    }
}

pub(super) fn references(columns: &[Column]) -> Vec<DfExpr> {
    columns.iter().cloned().map(DfExpr::Column).collect()
}

pub(super) fn outer_references(outer: &BTreeMap<Outer, Column>) -> BTreeMap<Outer, DfExpr> {
    outer.iter().map(|(key, column)| (*key, DfExpr::Column(column.clone()))).collect()
}

impl Lowering<'_> {
    /// An expression. All of its subqueries are in the scope.
    pub(super) fn expr(&self, expr: &Expr, scope: &Scope) -> Result<DfExpr> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expr_kind(expr, scope)).map_err(|e| e.at(expr.span))
    }

    pub(super) fn exprs(&self, exprs: &[Expr], scope: &Scope) -> Result<Vec<DfExpr>> {
        exprs.iter().map(|expr| self.expr(expr, scope)).collect()
    }

    fn expr_kind(&self, expr: &Expr, scope: &Scope) -> Result<DfExpr> {
        let eval = &self.context.eval;
        match &expr.kind {
            ExprKind::Literal(value) => functions::literal(value, &expr.data_type),
            ExprKind::Column(index) => scope
                .columns
                .get(*index)
                .cloned()
                .ok_or_else(|| Error::internal(format!("no field ${index} among {}", scope.columns.len()))),
            ExprKind::Outer { depth, index } => scope
                .level
                .checked_sub(*depth)
                .and_then(|level| scope.outer.get(&(level, *index)).cloned())
                .ok_or_else(|| Error::internal(format!("no field ${index} {depth} levels up"))),
            ExprKind::Call { function, args } => {
                let types: Vec<DataType> = args.iter().map(|arg| arg.data_type.clone()).collect();
                function.call(self.exprs(args, scope)?, &types, &expr.data_type, eval)
            }
            ExprKind::Cast { expr: value, safe } => {
                let lowered = self.expr(value, scope)?;
                if *safe {
                    functions::try_cast(lowered, &value.data_type, &expr.data_type, eval)
                } else {
                    functions::cast(lowered, &value.data_type, &expr.data_type, CastKind::Cast, eval)
                }
            }
            ExprKind::Case { branches, otherwise } => {
                let branches = branches
                    .iter()
                    .map(|(when, then)| Ok((self.expr(when, scope)?, self.expr(then, scope)?)))
                    .collect::<Result<_>>()?;
                let otherwise = otherwise.as_deref().map(|expr| self.expr(expr, scope)).transpose()?;
                Ok(functions::case(branches, otherwise))
            }
            ExprKind::Field { expr: row, index } => {
                functions::field(self.expr(row, scope)?, &row.data_type, *index, eval)
            }
            ExprKind::Over(_) => Err(Error::internal("a function over a window outside of its relation")),
            ExprKind::Subquery { .. } => scope
                .subqueries
                .get(&std::ptr::from_ref(expr))
                .cloned()
                .ok_or_else(|| Error::internal("a subquery was not joined")),
        }
    }
}
