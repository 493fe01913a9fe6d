//! GROUP BY and aggregate functions.

use calve_types::{Error, LogicalType, Result, Span};

use super::grouping::Groups;
use super::scope::Namespace;
use super::{nested, walk};
use crate::expr::{AggregateCall, Expr, ExprKind};
use crate::rel::{Field, Rel, RelKind};

/// A grouping on its way: expressions over its input and its calls become expressions over its output.
pub(super) struct Grouping<'a> {
    input: Rel,
    names: &'a Namespace,
    groups: Groups,
    calls: Vec<AggregateCall>,
    has_positions: bool,
}

impl<'a> Grouping<'a> {
    /// A grouping of `input`, whose columns are called `names`.
    pub fn new(input: Rel, names: &'a Namespace, groups: Groups, calls: Vec<AggregateCall>) -> Result<Self> {
        let has_positions =
            groups.keys.iter().any(|g| matches!(&g.kind, ExprKind::Literal(calve_types::Value::Int(_))));
        Ok(Self { input, names, groups, calls, has_positions })
    }

    /// An expression over the input's columns and, after them, the number of the grouping set, where there are several,
    /// and the calls, as one over the grouping's output.
    ///
    /// # Errors
    /// `not-grouped` for a column that is no key.
    pub fn over(&self, mut expr: Expr) -> Result<Expr> {
        self.rewrite(&mut expr)?;
        Ok(expr)
    }

    fn rewrite(&self, expr: &mut Expr) -> Result<()> {
        nested(|| {
            if let Some(position) = self.groups.position(expr) {
                expr.kind = ExprKind::Column(position);
                return Ok(());
            }
            match &mut expr.kind {
                ExprKind::Column(index) => {
                    let behind = index.checked_sub(self.names.fields.len());
                    let behind = behind.ok_or_else(|| self.not_grouped(*index).at(expr.span))?;
                    *index = self.groups.keys.len() + behind;
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
        let key = self.groups.keys.iter().position(|g| matches!(g.kind, ExprKind::Column(i) if i == *index));
        let key = key.ok_or_else(|| self.not_grouped(*index).at(outer.span))?;
        *index = key;
        outer.data_type.nullable |= self.groups.may_lack(key);
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
        let several = self.groups.several();
        if several && self.groups.keys.is_empty() {
            return self.repeated();
        }
        let fields = self.groups.keys.iter().enumerate().map(|(i, key)| {
            let name = match key.kind {
                ExprKind::Column(index) => self.names.fields.get(index).map(|f| f.name.clone()),
                _ => None,
            };
            let data_type = key.data_type.with_nullable(key.data_type.nullable || self.groups.may_lack(i));
            Field { name: name.unwrap_or_else(|| format!("EXPR${i}")), data_type }
        });
        let mut fields: Vec<Field> = fields.collect();
        let (input, groups) = if several {
            fields.push(Field { name: "$e".to_owned(), data_type: LogicalType::BigInt.not_null() });
            expanded(self.input, self.groups, &fields)
        } else {
            (self.input, self.groups.keys)
        };
        let before = fields.len();
        fields.extend(
            self.calls
                .iter()
                .enumerate()
                .map(|(i, call)| Field { name: format!("EXPR${}", before + i), data_type: call.data_type.clone() }),
        );
        let kind = RelKind::Aggregate { input: Box::new(input), groups, calls: self.calls };
        Rel { kind, fields }
    }
}

impl Grouping<'_> {
    /// `GROUPING SETS ((), ())`: the one group of all rows, which has a row without rows as well, several times.
    fn repeated(self) -> Rel {
        let calls = self
            .calls
            .iter()
            .enumerate()
            .map(|(i, call)| Field { name: format!("EXPR${i}"), data_type: call.data_type.clone() });
        let fields: Vec<Field> = calls.collect();
        let kind = RelKind::Aggregate { input: Box::new(self.input), groups: vec![], calls: self.calls };
        let once = Rel { kind, fields: fields.clone() };
        let width = fields.len();
        let number = Field { name: "$e".to_owned(), data_type: LogicalType::BigInt.not_null() };
        let kind = RelKind::Expand { input: Box::new(once), keys: vec![], sets: self.groups.sets };
        let expanded = Rel { kind, fields: fields.iter().cloned().chain([number.clone()]).collect() };
        // The set's number stands before the calls, as it does where there are keys.
        let fields: Vec<Field> = std::iter::once(number).chain(fields).collect();
        let order = std::iter::once(width).chain(0..width);
        let exprs = order.zip(&fields).map(|(i, field)| Expr {
            kind: ExprKind::Column(i),
            data_type: field.data_type.clone(),
            span: Span::default(),
        });
        let kind = RelKind::Project { exprs: exprs.collect(), input: Box::new(expanded) };
        Rel { kind, fields }
    }
}

/// The rows for each grouping set, and what they are grouped by: the keys and the set's number.
fn expanded(input: Rel, groups: Groups, columns: &[Field]) -> (Rel, Vec<Expr>) {
    let width = input.fields.len();
    let mut fields = input.fields.clone();
    fields.extend(columns.iter().cloned());
    let keys = columns.iter().enumerate().map(|(i, field)| Expr {
        kind: ExprKind::Column(width + i),
        data_type: field.data_type.clone(),
        span: Span::default(),
    });
    let keys = keys.collect();
    let kind = RelKind::Expand { input: Box::new(input), keys: groups.keys, sets: groups.sets };
    (Rel { kind, fields }, keys)
}
