//! GROUP BY and aggregate functions.

use calve_sql::ast;
use calve_types::{Error, Result};

use super::order::orderable;
use super::scope::{Namespace, Scope};
use super::{Binder, nested, walk};
use crate::expr::{AggregateCall, Expr, ExprKind};
use crate::rel::{Field, Rel, RelKind};

/// A grouping on its way: expressions over its input and its calls become expressions over its output.
pub(super) struct Grouping<'a> {
    input: Rel,
    names: &'a Namespace,
    groups: Vec<Expr>,
    calls: Vec<AggregateCall>,
    has_positions: bool,
}

impl Binder<'_> {
    /// The keys of GROUP BY; `None` without one.
    pub(super) fn group_keys(&self, group_by: &ast::GroupByExpr, scope: &Scope<'_>) -> Result<Option<Vec<Expr>>> {
        let (keys, modifiers) = match group_by {
            ast::GroupByExpr::All(_) => return Err(Error::unsupported("GROUP BY ALL")),
            ast::GroupByExpr::Expressions(keys, modifiers) => (keys, modifiers),
        };
        if !modifiers.is_empty() {
            return Err(Error::unsupported("GROUP BY .. WITH"));
        }
        if keys.is_empty() {
            return Ok(None);
        }
        let mut groups: Vec<Expr> = Vec::new();
        for key in keys {
            match key {
                ast::Expr::GroupingSets(_) => return Err(Error::unsupported("GROUPING SETS")),
                ast::Expr::Cube(_) => return Err(Error::unsupported("CUBE")),
                ast::Expr::Rollup(_) => return Err(Error::unsupported("ROLLUP")),
                // `()` is the one group of all rows, `(a, b)` the two keys.
                ast::Expr::Tuple(keys) => {
                    for key in keys {
                        self.group_key(key, scope, &mut groups)?;
                    }
                }
                key => self.group_key(key, scope, &mut groups)?,
            }
        }
        Ok(Some(groups))
    }

    fn group_key(&self, key: &ast::Expr, scope: &Scope<'_>, groups: &mut Vec<Expr>) -> Result<()> {
        let bound = self.value(key, scope)?;
        orderable(&bound)?;
        if !groups.iter().any(|g| walk::same(g, &bound)) {
            groups.push(bound);
        }
        Ok(())
    }
}

impl<'a> Grouping<'a> {
    /// A grouping of `input`, whose columns are called `names`.
    pub fn new(input: Rel, names: &'a Namespace, groups: Vec<Expr>, calls: Vec<AggregateCall>) -> Result<Self> {
        let has_positions = groups.iter().any(|g| matches!(&g.kind, ExprKind::Literal(calve_types::Value::Int(_))));
        Ok(Self { input, names, groups, calls, has_positions })
    }

    /// An expression over the input's columns and, after them, the calls, as one over the grouping's output.
    ///
    /// # Errors
    /// `not-grouped` for a column that is no key.
    pub fn over(&self, mut expr: Expr) -> Result<Expr> {
        self.rewrite(&mut expr)?;
        Ok(expr)
    }

    fn rewrite(&self, expr: &mut Expr) -> Result<()> {
        nested(|| {
            if let Some(position) = self.groups.iter().position(|g| walk::same(g, expr)) {
                expr.kind = ExprKind::Column(position);
                return Ok(());
            }
            match &mut expr.kind {
                ExprKind::Column(index) => {
                    let call = index.checked_sub(self.names.fields.len());
                    let call = call.ok_or_else(|| self.not_grouped(*index).at(expr.span))?;
                    *index = self.groups.len() + call;
                    Ok(())
                }
                ExprKind::Subquery { query, .. } => {
                    walk::outer_columns_mut(query, &mut |depth, outer| {
                        if depth == 1 { self.rewrite_outer(outer) } else { Ok(()) }
                    })?;
                    walk::children_mut(expr, &mut |child| self.rewrite(child))
                }
                _ => walk::children_mut(expr, &mut |child| self.rewrite(child)),
            }
        })
    }

    /// A column of this level as a subquery sees it.
    fn rewrite_outer(&self, outer: &mut Expr) -> Result<()> {
        let ExprKind::Outer { index, .. } = &mut outer.kind else { return Ok(()) };
        let key = self.groups.iter().position(|g| matches!(g.kind, ExprKind::Column(i) if i == *index));
        *index = key.ok_or_else(|| self.not_grouped(*index).at(outer.span))?;
        Ok(())
    }

    fn not_grouped(&self, index: usize) -> Error {
        let name = self.names.fields.get(index).map(|f| f.name.as_str()).unwrap_or_default();
        let error = Error::new("not-grouped", format!("column '{name}' is neither grouped nor aggregated"))
            .with_detail(format!("Expression '{name}' is not being grouped"));
        if self.has_positions {
            return error.with_hint("GROUP BY takes expressions, not positions of the select list");
        }
        error
    }

    /// The grouping itself.
    pub fn aggregate(self) -> Rel {
        let groups = self.groups.iter().enumerate().map(|(i, group)| {
            let name = match group.kind {
                ExprKind::Column(index) => self.names.fields.get(index).map(|f| f.name.clone()),
                _ => None,
            };
            Field { name: name.unwrap_or_else(|| format!("EXPR${i}")), data_type: group.data_type.clone() }
        });
        let calls = self.calls.iter().enumerate().map(|(i, call)| Field {
            name: format!("EXPR${}", self.groups.len() + i),
            data_type: call.data_type.clone(),
        });
        let fields = groups.chain(calls).collect();
        let kind = RelKind::Aggregate { input: Box::new(self.input), groups: self.groups, calls: self.calls };
        Rel { kind, fields }
    }
}
