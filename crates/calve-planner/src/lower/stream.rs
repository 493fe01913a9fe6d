//! Streaming operators: nodes whose rows come with the kinds of their changes.
//!
//! What has no state (projections, filters, UNNEST) is a DataFusion plan that carries the column of changes along; what
//! has is an operator of calve-stream over a projection of exactly the columns it needs, the relation's first and the
//! changes last.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_stream::aggregate::{Argument, Call, GroupAggregate};
use calve_stream::dedup::Deduplicate;
use calve_stream::join::{Input, Join};
use calve_stream::over::RangeOver;
use calve_stream::sets::SetAll;
use calve_stream::settle::Settle;
use calve_stream::top::TopN;
use calve_stream::union::UnionAll;
use calve_stream::{OP, Operator};
use calve_types::{DataType, Error, LogicalType, Result};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, TableReference};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::expr::NullTreatment;
use datafusion::logical_expr::{Expr as DfExpr, ExprSchemable, LogicalPlan, Projection, lit};
use datafusion::physical_expr::create_physical_expr;

use super::expr::{Scope, Subqueries, references};
use super::plans::filter_plan;
use super::unnest::Unnest;
use super::{LowerContext, Lowered, Lowering, Names, failed, shape, unique_names, zip};
use crate::bind::late;
use crate::expr::{AggregateCall, Expr, SortKey};
use crate::rel::{Field, RelKind};
use crate::stream::{Node, NodeKind, On};

/// The plan of a changelog: the node's columns with the fields' names, made unique, and behind them the kinds of changes
/// as [`calve_stream::Op`] numbers them. It must run in one partition.
///
/// # Errors
/// As [`super::plan`].
pub fn changelog(node: &Node, context: &LowerContext) -> Result<LogicalPlan> {
    let mut lowering = Lowering { context, qualifiers: Names::default(), names: Names::default() };
    let Changing { rows, op } = lowering.changing(node)?;
    let names = unique_names(node.fields.iter().map(|f| f.name.as_str()));
    let mut exprs = zip(&rows.columns, &node.fields)?
        .zip(names)
        .map(|((column, field), name)| Ok(shape::typed(DfExpr::Column(column.clone()), &rows.plan, field)?.alias(name)))
        .collect::<Result<Vec<_>>>()?;
    exprs.push(op_or_insert(op.as_ref()).alias(OP));
    Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rows.plan)).map_err(failed)?))
}

/// The plan of what is left of a changelog at the end of the input for each key of a table, as [`changelog`]: the last row
/// of each key (`+I`), and the keys of which none is left (`-D`).
///
/// # Errors
/// As [`changelog`].
pub fn settled(node: &Node, key: &[usize], context: &LowerContext) -> Result<LogicalPlan> {
    let plan = changelog(node, context)?;
    let schema = nullable(plan.schema().as_arrow(), true);
    let operator = Settle { schema, keys: key.to_vec() };
    let plan =
        calve_stream::node::plan(Arc::new(operator), vec![plan], TableReference::bare("settled")).map_err(failed)?;
    let names = unique_names(node.fields.iter().map(|f| f.name.as_str())).into_iter().chain([OP.to_owned()]);
    let columns = references(&plan.schema().columns()).into_iter().zip(names).map(|(column, name)| column.alias(name));
    Ok(LogicalPlan::Projection(Projection::try_new(columns.collect(), Arc::new(plan)).map_err(failed)?))
}

/// Rows and, if they change, the column of changes; it is no column of the relation.
struct Changing {
    rows: Lowered,
    op: Option<Column>,
}

fn op_or_insert(op: Option<&Column>) -> DfExpr {
    op.map_or_else(|| lit(0_i8), |op| DfExpr::Column(op.clone()))
}

/// The column of changes as a field of a relation.
fn op_field() -> Field {
    Field { name: OP.to_owned(), data_type: LogicalType::TinyInt.not_null() }
}

/// What an operator reads: a plan of exactly the relation's columns, then others, then the changes.
struct Operand {
    plan: LogicalPlan,
    schema: SchemaRef,
    width: usize,
    op: Option<usize>,
}

impl Lowering<'_> {
    fn changing(&mut self, node: &Node) -> Result<Changing> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.changing_kind(node))
    }

    fn changing_kind(&mut self, node: &Node) -> Result<Changing> {
        match &node.kind {
            NodeKind::Rows(rel) => {
                let in_time = late::without_late_rows(rel)?;
                Ok(Changing { rows: self.relation(in_time.as_ref().unwrap_or(rel), 0, None)?, op: None })
            }
            NodeKind::Scan(rel) => {
                let RelKind::Scan { table, span } = &rel.kind else { return Err(Error::internal("no scan")) };
                // the source gives the changes behind its columns
                let mut fields = rel.fields.clone();
                fields.push(op_field());
                let mut rows = self.scan(table, &fields, *span)?;
                let op = rows.columns.pop();
                Ok(Changing { rows, op })
            }
            NodeKind::Timed { input, time } => {
                let Changing { rows, op } = self.changing(input)?;
                Ok(Changing { rows: self.with_times(rows, *time, &node.fields)?, op })
            }
            NodeKind::Project { input, exprs } => {
                let Changing { rows, op } = self.changing(input)?;
                let scope = Scope::new(&rows, 0, Subqueries::new());
                let exprs = self.exprs(exprs, &scope)?;
                self.carried("p", rows, op, exprs, &node.fields)
            }
            NodeKind::Filter { input, predicate } => {
                let Changing { rows, op } = self.changing(input)?;
                let scope = Scope::new(&rows, 0, Subqueries::new());
                let predicate = self.expr(predicate, &scope)?;
                Ok(Changing { rows: Lowered { plan: filter_plan(rows.plan, Some(predicate))?, ..rows }, op })
            }
            NodeKind::Unnest { input, collection, outer, ordinality } => {
                let inside = self.changing(input)?;
                let unnest = Unnest { collection, outer: *outer, ordinality: *ordinality };
                self.inserted(inside, input, &node.fields, |lowering, rows, fields| {
                    lowering.unnest(rows, &unnest, fields, 0, None)
                })
            }
            NodeKind::Expand { input, keys, sets } => {
                let inside = self.changing(input)?;
                self.inserted(inside, input, &node.fields, |lowering, rows, fields| {
                    lowering.expand(rows, keys, sets, fields, 0, None)
                })
            }
            NodeKind::Aggregate { input, groups, calls } => self.group_aggregate(input, groups, calls, &node.fields),
            NodeKind::Join { .. } => self.stream_join(node),
            NodeKind::TopN { input, partition, order, start, end, numbered } => {
                let adds_only = !node.changes();
                let (operand, extra) =
                    self.operand(input, partition.iter().chain(order.iter().map(|key| &key.expr)))?;
                let (partition, order_columns) = extra.split_at(partition.len().min(extra.len()));
                let operator = TopN {
                    input: operand.schema.clone(),
                    width: operand.width,
                    op: operand.op,
                    partition: partition.to_vec(),
                    order: order_columns.iter().copied().zip(order.iter().map(sort_options)).collect(),
                    start: *start,
                    end: *end,
                    numbered: *numbered,
                    adds_only,
                };
                self.operator("top", Arc::new(operator), vec![operand.plan], &node.fields, !adds_only)
            }
            NodeKind::Deduplicate { input, keys, time, last } => {
                let (operand, keys) = self.operand(input, keys.iter())?;
                let operator =
                    Deduplicate { input: operand.schema.clone(), width: operand.width, keys, time: *time, last: *last };
                let changes = !operator.adds_only();
                self.operator("dedup", Arc::new(operator), vec![operand.plan], &node.fields, changes)
            }
            NodeKind::Over { input, calls } => self.range_over(input, calls, &node.fields),
            NodeKind::UnionAll(inputs) => {
                let changes = node.changes();
                let mut plans = vec![];
                let mut schema = None;
                for input in inputs {
                    let Changing { rows, op } = self.changing(input)?;
                    let mut exprs = vec![];
                    for (column, field) in zip(&rows.columns, &node.fields)? {
                        let column = shape::typed(DfExpr::Column(column.clone()), &rows.plan, field)?;
                        exprs.push((column, field.name.clone()));
                    }
                    if changes {
                        exprs.push((op_or_insert(op.as_ref()), OP.to_owned()));
                    }
                    let (plan, _) = self.project("u", rows.plan, exprs)?;
                    schema.get_or_insert_with(|| nullable(plan.schema().as_arrow(), changes));
                    plans.push(plan);
                }
                let schema = schema.ok_or_else(|| Error::internal("a union of nothing"))?;
                self.operator("u", Arc::new(UnionAll { schema }), plans, &node.fields, changes)
            }
            NodeKind::SetAll { left, right, except } => {
                let (l, _) = self.operand(left, std::iter::empty())?;
                let (r, _) = self.operand(right, std::iter::empty())?;
                let operator = SetAll {
                    inputs: [l.schema.clone(), r.schema.clone()],
                    width: l.width,
                    ops: [l.op, r.op],
                    except: *except,
                };
                self.operator("set", Arc::new(operator), vec![l.plan, r.plan], &node.fields, true)
            }
        }
    }

    /// A projection that carries the changes along.
    fn carried(
        &mut self,
        base: &str,
        rows: Lowered,
        op: Option<Column>,
        mut exprs: Vec<DfExpr>,
        fields: &[Field],
    ) -> Result<Changing> {
        let mut fields = fields.to_vec();
        let changes = op.is_some();
        if let Some(op) = op {
            exprs.push(DfExpr::Column(op));
            fields.push(op_field());
        }
        let mut rows = self.project_fields(base, rows, exprs, &fields)?;
        let op = if changes { rows.columns.pop() } else { None };
        Ok(Changing { rows, op })
    }

    /// A relation that adds columns behind those of its input: the changes stand between the two meanwhile.
    fn inserted(
        &mut self,
        inside: Changing,
        input: &Node,
        fields: &[Field],
        make: impl FnOnce(&mut Self, Lowered, &[Field]) -> Result<Lowered>,
    ) -> Result<Changing> {
        let Changing { mut rows, op } = inside;
        let Some(op) = op else { return Ok(Changing { rows: make(self, rows, fields)?, op: None }) };
        let width = input.fields.len();
        let mut with_op = fields.to_vec();
        with_op.insert(width.min(fields.len()), op_field());
        rows.columns.push(op);
        let mut made = make(self, rows, &with_op)?;
        if made.columns.len() <= width {
            return Err(Error::internal("the changes are lost"));
        }
        let op = made.columns.remove(width);
        Ok(Changing { rows: made, op: Some(op) })
    }

    /// The input of an operator with values of expressions behind its columns, and where those stand.
    fn operand<'e>(&mut self, input: &Node, exprs: impl Iterator<Item = &'e Expr>) -> Result<(Operand, Vec<usize>)> {
        let Changing { rows, op } = self.changing(input)?;
        let scope = Scope::new(&rows, 0, Subqueries::new());
        let exprs = exprs.map(|e| self.expr(e, &scope)).collect::<Result<Vec<_>>>()?;
        self.operand_of(rows, op, &input.fields, exprs)
    }

    fn operand_of(
        &mut self,
        rows: Lowered,
        op: Option<Column>,
        fields: &[Field],
        exprs: Vec<DfExpr>,
    ) -> Result<(Operand, Vec<usize>)> {
        let mut all = vec![];
        for (column, field) in zip(&rows.columns, fields)? {
            let column = shape::typed(DfExpr::Column(column.clone()), &rows.plan, field)?;
            all.push((column, field.name.clone()));
        }
        let width = all.len();
        let mut positions = vec![];
        for expr in exprs {
            let known = if expr.is_volatile() { None } else { all.iter().position(|(e, _)| e == &expr) };
            positions.push(known.unwrap_or(all.len()));
            if known.is_none() {
                all.push((expr, "e".to_owned()));
            }
        }
        let at = all.len();
        let changes = op.is_some();
        if let Some(op) = op {
            all.push((DfExpr::Column(op), OP.to_owned()));
        }
        let (plan, _) = self.project("in", rows.plan, all)?;
        let schema = Arc::new(plan.schema().as_arrow().clone());
        Ok((Operand { plan, schema, width, op: changes.then_some(at) }, positions))
    }

    /// An operator's rows, with exactly the fields' types.
    fn operator(
        &mut self,
        base: &str,
        operator: Arc<dyn Operator>,
        inputs: Vec<LogicalPlan>,
        fields: &[Field],
        changes: bool,
    ) -> Result<Changing> {
        let qualifier = self.qualifier(base);
        let plan = calve_stream::node::plan(operator, inputs, qualifier).map_err(failed)?;
        let mut columns = plan.schema().columns();
        let op = if changes { columns.pop() } else { None };
        let exprs = references(&columns);
        self.carried(base, Lowered { plan, columns, outer: BTreeMap::new() }, op, exprs, fields)
    }

    fn group_aggregate(
        &mut self,
        input: &Node,
        groups: &[Expr],
        calls: &[AggregateCall],
        fields: &[Field],
    ) -> Result<Changing> {
        let Changing { rows, op } = self.changing(input)?;
        let scope = Scope::new(&rows, 0, Subqueries::new());
        let mut exprs = self.exprs(groups, &scope)?;
        let mut values = vec![];
        let mut found: Vec<DfExpr> = vec![];
        for call in calls {
            let args = self.exprs(&call.args, &scope)?;
            let types: Vec<DataType> = call.args.iter().map(|arg| arg.data_type.clone()).collect();
            let filter = call.filter.as_ref().map(|f| Ok(self.expr(f, &scope)?.is_true())).transpose()?;
            let eval = &self.context.eval;
            let lowered = call
                .function
                .call(args, &types, &call.data_type, call.distinct, filter, vec![], eval)
                .map_err(|e| e.at(call.span))?;
            values.push(placed(lowered, &mut found)?);
        }
        // Arguments become columns behind the groups.
        let mut ready = vec![];
        for call in &found {
            ready.push(Pending::new(call, &rows.plan, &mut exprs)?);
        }
        let (operand, positions) = self.operand_of(rows, op, &input.fields, exprs)?;
        let keys: Vec<usize> = positions.iter().take(groups.len()).copied().collect();
        let calls = ready.into_iter().map(|p| p.call(&positions)).collect::<Result<Vec<_>>>()?;
        let schema = GroupAggregate::schema(&operand.schema, operand.op, &keys, &calls).map_err(failed)?;
        let changes = schema.fields().len() > keys.len() + calls.len();
        let width = keys.len();
        let operator = GroupAggregate {
            input: operand.schema.clone(),
            op: operand.op,
            shown: shown(&keys, &calls),
            keys,
            calls,
            schema,
        };
        let qualifier = self.qualifier("agg");
        let plan = calve_stream::node::plan(Arc::new(operator), vec![operand.plan], qualifier).map_err(failed)?;
        let mut columns = plan.schema().columns();
        let op = if changes { columns.pop() } else { None };
        let mut exprs = references(columns.get(..width).unwrap_or_default());
        for value in values {
            exprs.push(resolved(value, columns.get(width..).unwrap_or_default())?);
        }
        self.carried("agg", Lowered { plan, columns: vec![], outer: BTreeMap::new() }, op, exprs, fields)
    }

    fn range_over(&mut self, input: &Node, calls: &[crate::expr::OverCall], fields: &[Field]) -> Result<Changing> {
        let first = calls.first().ok_or_else(|| Error::internal("windows without a call"))?;
        let key = first.order.first().ok_or_else(|| Error::internal("a window without an order"))?;
        let Changing { rows, op } = self.changing(input)?;
        let scope = Scope::new(&rows, 0, Subqueries::new());
        let mut exprs = self.exprs(&first.partition, &scope)?;
        exprs.push(self.expr(&key.expr, &scope)?);
        let (mut values, mut found) = (vec![], vec![]);
        for call in calls {
            let crate::expr::OverFunction::Aggregate(function) = call.function else {
                return Err(Error::internal("a window function that is no aggregate"));
            };
            let args = self.exprs(&call.args, &scope)?;
            let types: Vec<DataType> = call.args.iter().map(|arg| arg.data_type.clone()).collect();
            let eval = &self.context.eval;
            let lowered = function
                .call(args, &types, &call.data_type, call.distinct, None, vec![], eval)
                .map_err(|e| e.at(call.span))?;
            values.push(placed(lowered, &mut found)?);
        }
        let mut ready = vec![];
        for call in &found {
            ready.push(Pending::new(call, &rows.plan, &mut exprs)?);
        }
        let (operand, positions) = self.operand_of(rows, op, &input.fields, exprs)?;
        let missing = || Error::internal("a window's column is missing");
        let order = *positions.get(first.partition.len()).ok_or_else(missing)?;
        let operator = RangeOver {
            input: operand.schema.clone(),
            width: operand.width,
            op: operand.op,
            partition: positions.iter().take(first.partition.len()).copied().collect(),
            order: (order, sort_options(key)),
            calls: ready.into_iter().map(|p| p.call(&positions)).collect::<Result<Vec<_>>>()?,
        };
        let width = operand.width;
        let qualifier = self.qualifier("over");
        let plan = calve_stream::node::plan(Arc::new(operator), vec![operand.plan], qualifier).map_err(failed)?;
        let mut columns = plan.schema().columns();
        let op = columns.pop();
        let mut exprs = references(columns.get(..width).unwrap_or_default());
        for value in values {
            exprs.push(resolved(value, columns.get(width..).unwrap_or_default())?);
        }
        self.carried("over", Lowered { plan, columns: vec![], outer: BTreeMap::new() }, op, exprs, fields)
    }

    fn stream_join(&mut self, node: &Node) -> Result<Changing> {
        let NodeKind::Join { left, right, kind, on, condition } = &node.kind else {
            return Err(Error::internal("no join"));
        };
        let (l, left_keys) = self.operand(left, on.iter().map(|on: &On| &on.left))?;
        let (r, right_keys) = self.operand(right, on.iter().map(|on: &On| &on.right))?;
        let condition = match condition {
            None => None,
            Some(condition) => {
                let mut scope = Scope {
                    columns: references(l.plan.schema().columns().get(..l.width).unwrap_or_default()),
                    outer: BTreeMap::new(),
                    level: 0,
                    subqueries: Subqueries::new(),
                };
                scope.columns.extend(references(r.plan.schema().columns().get(..r.width).unwrap_or_default()));
                let expr = self.expr(condition, &scope)?;
                let mut fields = vec![];
                for (side, width) in [(&l, l.width), (&r, r.width)] {
                    let schema = side.plan.schema();
                    fields.extend(schema.iter().take(width).map(|(q, f)| (q.cloned(), f.clone())));
                }
                let schema = DFSchema::new_with_metadata(fields, Default::default()).map_err(failed)?;
                Some(create_physical_expr(&expr, &schema, &ExecutionProps::new()).map_err(failed)?)
            }
        };
        let input = |operand: &Operand, keys| Input {
            schema: operand.schema.clone(),
            width: operand.width,
            op: operand.op,
            keys,
        };
        let operator = Join {
            kind: *kind,
            inputs: [input(&l, left_keys), input(&r, right_keys)],
            null_safe: on.iter().map(|on| on.null_safe).collect(),
            condition,
        };
        let changes = !operator.adds_only();
        self.operator("j", Arc::new(operator), vec![l.plan, r.plan], &node.fields, changes)
    }
}

/// A call whose arguments are expressions that are not columns yet: positions among them, or literals.
pub(super) struct Pending {
    call: Call,
    args: Vec<Option<usize>>,
    filter: Option<usize>,
}

impl Pending {
    pub(super) fn new(call: &DfExpr, plan: &LogicalPlan, exprs: &mut Vec<DfExpr>) -> Result<Self> {
        let DfExpr::AggregateFunction(call) = call else { return Err(Error::internal("no aggregate")) };
        let mut fields = vec![];
        let mut args = vec![];
        let mut arguments = vec![];
        for arg in &call.params.args {
            let (_, field) = arg.to_field(plan.schema().as_ref()).map_err(failed)?;
            fields.push(field);
            match arg {
                DfExpr::Literal(value, _) => {
                    args.push(None);
                    arguments.push(Argument::Literal(value.clone()));
                }
                other => {
                    exprs.push(other.clone());
                    args.push(Some(exprs.len() - 1));
                    arguments.push(Argument::Column(0));
                }
            }
        }
        let filter = call.params.filter.as_ref().map(|filter| {
            exprs.push(filter.as_ref().clone());
            exprs.len() - 1
        });
        let returns = call.func.return_field(&fields).map_err(failed)?.data_type().clone();
        let call = Call {
            function: call.func.clone(),
            args: arguments,
            distinct: call.params.distinct,
            filter: None,
            ignore_nulls: call.params.null_treatment == Some(NullTreatment::IgnoreNulls),
            returns,
        };
        Ok(Self { call, args, filter })
    }

    /// The call, knowing where each expression is a column.
    pub(super) fn call(self, positions: &[usize]) -> Result<Call> {
        let position =
            |i: usize| positions.get(i).copied().ok_or_else(|| Error::internal("an aggregate's column is missing"));
        let args = self.call.args.into_iter().zip(self.args).map(|(argument, at)| match at {
            Some(i) => position(i).map(Argument::Column),
            None => Ok(argument),
        });
        let args = args.collect::<Result<_>>()?;
        Ok(Call { args, filter: self.filter.map(position).transpose()?, ..self.call })
    }
}

const PLACE: &str = "aggregate of a stream";

/// An expression in which aggregates are numbered columns.
pub(super) fn placed(expr: DfExpr, found: &mut Vec<DfExpr>) -> Result<DfExpr> {
    expr.transform_down(|e| match e {
        DfExpr::AggregateFunction(_) => {
            let at = super::aggregate::position_of(found, e);
            let column = Column::new(Some(PLACE), at.to_string());
            Ok(Transformed::new(DfExpr::Column(column), true, TreeNodeRecursion::Jump))
        }
        e => Ok(Transformed::no(e)),
    })
    .map(|t| t.data)
    .map_err(failed)
}

/// The expression over the columns that the aggregates are.
pub(super) fn resolved(expr: DfExpr, columns: &[Column]) -> Result<DfExpr> {
    expr.transform(|e| match &e {
        DfExpr::Column(c) if c.relation.as_ref().is_some_and(|r| r.table() == PLACE) => {
            let column = c.name.parse::<usize>().ok().and_then(|i| columns.get(i)).cloned();
            Ok(column.map_or_else(|| Transformed::no(e.clone()), |c| Transformed::yes(DfExpr::Column(c))))
        }
        _ => Ok(Transformed::no(e)),
    })
    .map(|t| t.data)
    .map_err(failed)
}

pub(super) fn sort_options(key: &SortKey) -> SortOptions {
    SortOptions { descending: key.descending, nulls_first: key.nulls_first }
}

/// The schema with columns that may be NULL, but for the changes, which are the last one.
fn nullable(schema: &Schema, changes: bool) -> SchemaRef {
    let last = schema.fields().len().saturating_sub(1);
    let fields = schema.fields().iter().enumerate();
    let fields = fields.map(|(i, f)| f.as_ref().clone().with_nullable(!(changes && i == last)));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn shown(keys: &[usize], calls: &[Call]) -> String {
    let mut parts: Vec<String> = keys.iter().map(|k| format!("${k}")).collect();
    let by = if parts.is_empty() { String::new() } else { format!("groupBy=[{}], ", parts.join(", ")) };
    for call in calls {
        let args: Vec<String> = call.args.iter().map(ToString::to_string).collect();
        let distinct = if call.distinct { "DISTINCT " } else { "" };
        parts.push(format!("{}({distinct}{})", call.function.name().to_uppercase(), args.join(", ")));
    }
    format!("{by}select=[{}]", parts.join(", "))
}
