//! From the relational algebra to DataFusion's logical plan.
//!
//! Types already agree, so DataFusion has nothing to coerce: every column has exactly the Arrow type of its Flink type,
//! which is checked wherever a column is made. Columns are found by position, never by name; every relation that makes
//! columns gets a qualifier of its own, so that names may repeat as they may in Flink.
//!
//! * `relation`: one function for each kind of relation.
//! * `window`, `temporal`, `watermark` and `matching`: what is done in time, mostly by operators of calve-stream.
//! * `stream`: the changelog of a query whose rows change, as [`crate::stream`] planned it.
//! * Expressions become native DataFusion expressions or kernels of calve-functions.
//! * Subqueries become joins here, in `subquery`, because DataFusion's own rewrites take a second row of a scalar
//!   subquery for another row of the result and do not know NOT IN with NULLs inside of expressions.

mod aggregate;
mod correlate;
mod expand;
mod expr;
mod fetch;
mod filter;
mod float_keys;
mod forget;
mod free;
mod guards;
mod matching;
mod null_safe;
mod outermost;
mod over;
mod plans;
mod relation;
mod session;
mod set_op;
mod shape;
mod single_row;
mod statistics;
mod stream;
mod subquery;
mod temporal;
mod unnest;
mod watermark;
mod window;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use calve_functions::EvalContext;
use calve_types::{Error, Result, arrow as mapping};
use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::common::{Column, DataFusionError, TableReference};
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, Projection, TableSource};

use crate::bind::late;
use crate::catalog::TableEntry;
use crate::rel::{Field, Rel};

pub use crate::bind::late::depends_on_order;
pub(crate) use free::parts;
pub use session::session_state;
pub use stream::{changelog, settled};
pub(crate) use temporal::constant_micros;

/// What lowering needs to know of the statement.
pub struct LowerContext<'a> {
    /// The session's part of function calls.
    pub eval: EvalContext,
    /// The source that scans a table. Its columns are the table's physical ones, in order, and behind them the changes if its
    /// rows change; two scans of one entry give the same rows.
    pub source: &'a dyn Fn(&TableEntry) -> Result<Arc<dyn TableSource>>,
}

/// The DataFusion plan of a query. Its columns have the fields' names, made unique, and exactly the Arrow types of
/// the fields' Flink types.
///
/// # Errors
/// What `source` says; `not-supported` for correlated subqueries that cannot be taken apart and for types without
/// values; `internal` if the algebra contradicts itself.
pub fn plan(rel: &Rel, context: &LowerContext) -> Result<LogicalPlan> {
    let in_time = late::without_late_rows(rel)?;
    let rel = in_time.as_ref().unwrap_or(rel);
    let mut lowering = Lowering { context, qualifiers: Names::default(), names: Names::default() };
    let lowered = lowering.relation(rel, 0, None)?;
    let names = unique_names(rel.fields.iter().map(|f| f.name.as_str()));
    let exprs = zip(&lowered.columns, &rel.fields)?
        .zip(names)
        .map(|((column, field), name)| {
            Ok(shape::typed(DfExpr::Column(column.clone()), &lowered.plan, field)?.alias(name))
        })
        .collect::<Result<Vec<_>>>()?;
    let plan = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(lowered.plan)).map_err(failed)?);
    for (arrow, field) in plan.schema().fields().iter().zip(&rel.fields) {
        let expected = mapping::to_arrow(&field.data_type.logical)?;
        if arrow.data_type() != &expected {
            return Err(mistyped(&field.name, arrow.data_type(), &expected));
        }
    }
    Ok(plan)
}

/// A field of an enclosing query: the absolute query level (0 is the outermost query) and the position in that
/// level's input.
type Outer = (usize, usize);

/// A lowered relation.
#[derive(Debug, Clone)]
struct Lowered {
    plan: LogicalPlan,
    /// The relation's columns, by position. The plan may have more.
    columns: Vec<Column>,
    /// For a relation that depends on enclosing queries: the values of their fields that each row is for.
    /// Without entries the rows are the same for all.
    outer: BTreeMap<Outer, Column>,
}

impl Lowered {
    fn depends(&self) -> bool {
        !self.outer.is_empty()
    }
}

/// Lowers one query.
struct Lowering<'a> {
    context: &'a LowerContext<'a>,
    qualifiers: Names,
    names: Names,
}

/// Names that are given once.
#[derive(Debug, Default)]
struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    /// The name, with a number if it was given before.
    fn unique(&mut self, base: &str) -> String {
        if self.taken.insert(base.to_owned()) {
            return base.to_owned();
        }
        let base = match base.rsplit_once('_') {
            Some((stem, n)) if self.taken.contains(stem) && n.parse::<usize>().is_ok() => stem,
            _ => base,
        };
        let n = self.next.entry(base.to_owned()).or_insert(1);
        loop {
            *n += 1;
            let name = format!("{base}_{n}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

impl Lowering<'_> {
    /// A qualifier that no other relation has, readable in EXPLAIN.
    fn qualifier(&mut self, base: &str) -> TableReference {
        TableReference::bare(self.qualifiers.unique(base))
    }

    /// A projection whose columns have a qualifier of their own. Their names are unique in the whole plan as well:
    /// DataFusion drops qualifiers where it joins by keys that it computes.
    fn project(
        &mut self,
        base: &str,
        plan: LogicalPlan,
        exprs: Vec<(DfExpr, String)>,
    ) -> Result<(LogicalPlan, Vec<Column>)> {
        let qualifier = self.qualifier(base);
        let mut columns = Vec::with_capacity(exprs.len());
        let mut aliased = Vec::with_capacity(exprs.len());
        for (expr, name) in exprs {
            let name = self.names.unique(&name);
            columns.push(Column::new(Some(qualifier.clone()), &name));
            aliased.push(expr.alias_qualified(Some(qualifier.clone()), name));
        }
        let projection = Projection::try_new(aliased, Arc::new(plan)).map_err(failed)?;
        Ok((LogicalPlan::Projection(projection), columns))
    }

    /// A projection to some expressions of a relation's fields, keeping what the rows are for.
    fn project_fields(&mut self, base: &str, input: Lowered, exprs: Vec<DfExpr>, fields: &[Field]) -> Result<Lowered> {
        let mut all = Vec::with_capacity(exprs.len() + input.outer.len());
        for (expr, field) in zip(&exprs, fields)? {
            all.push((shape::typed(expr.clone(), &input.plan, field)?, field.name.clone()));
        }
        let keys: Vec<Outer> = input.outer.keys().copied().collect();
        all.extend(input.outer.into_values().map(|c| (DfExpr::Column(c), "outer".to_owned())));
        let (plan, mut columns) = self.project(base, input.plan, all)?;
        let outer = columns.split_off(exprs.len());
        Ok(Lowered { plan, columns, outer: keys.into_iter().zip(outer).collect() })
    }
}

/// Pairs two lists that the algebra says are equally long.
fn zip<'a, A, B>(a: &'a [A], b: &'a [B]) -> Result<impl Iterator<Item = (&'a A, &'a B)>> {
    if a.len() != b.len() {
        return Err(Error::internal(format!("{} columns where {} are declared", a.len(), b.len())));
    }
    Ok(a.iter().zip(b))
}

/// The names, with a number after each that came before.
fn unique_names<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let given: HashSet<&str> = names.clone().collect();
    let mut next: HashMap<&str, usize> = HashMap::new();
    names
        .map(|name| {
            if taken.insert(name.to_owned()) {
                return name.to_owned();
            }
            let n = next.entry(name).or_insert(0);
            loop {
                let candidate = format!("{name}{n}");
                *n += 1;
                if !given.contains(candidate.as_str()) && taken.insert(candidate.clone()) {
                    return candidate;
                }
            }
        })
        .collect()
}

/// The calve error inside of DataFusion's; without one, DataFusion refused a plan that the algebra allows.
fn failed(error: DataFusionError) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<Error>() {
            return error.clone();
        }
        cause = error.source();
    }
    Error::internal(error.strip_backtrace())
}

fn mistyped(name: &str, actual: &ArrowType, expected: &ArrowType) -> Error {
    Error::internal(format!("column '{name}' has values of {actual} instead of {expected}"))
}
