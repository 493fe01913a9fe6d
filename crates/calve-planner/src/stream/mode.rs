//! Which kinds of changes there may be, and which of them a sink takes.

use calve_types::{Error, Result};

use super::keys::upsert_keys;
use super::{Node, NodeKind};
use crate::catalog::TableEntry;
use crate::expr::{AggregateCall, Expr, ExprKind};
use crate::rel::{Field, RelKind, Sink};

/// Kinds of changes besides additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    /// `-U` and `+U`.
    pub updates: bool,
    /// `-D`.
    pub deletes: bool,
}

impl Kinds {
    /// Rows are only added.
    pub const INSERTS: Self = Self { updates: false, deletes: false };
    /// All kinds.
    pub const ALL: Self = Self { updates: true, deletes: true };

    /// The kinds of two inputs.
    pub fn union(self, other: Self) -> Self {
        Self { updates: self.updates || other.updates, deletes: self.deletes || other.deletes }
    }

    /// The kinds that a group aggregate makes of those of its input.
    pub(super) fn aggregated(self) -> Self {
        Self { updates: true, deletes: self != Self::INSERTS }
    }

    /// Whether rows are only added.
    pub fn inserts_only(self) -> bool {
        self == Self::INSERTS
    }
}

/// Whether a table is one of Iceberg, in a catalog of its own or declared with its connector.
pub fn is_iceberg(table: &TableEntry) -> bool {
    table.options.get("connector").is_none_or(|connector| connector == "iceberg")
}

/// The formats of files whose rows are changes.
const CHANGELOG_FORMATS: [&str; 4] = ["canal-json", "debezium-json", "maxwell-json", "ogg-json"];

/// Whether a table's files hold changes.
fn is_changelog(table: &TableEntry) -> bool {
    let option = |name: &str| table.options.get(name).map(String::as_str);
    option("connector") == Some("filesystem") && option("format").is_some_and(|f| CHANGELOG_FORMATS.contains(&f))
}

/// The kinds of changes that reading a table gives.
pub(super) fn source_kinds(table: &TableEntry) -> Kinds {
    if is_changelog(table) { Kinds::ALL } else { Kinds::INSERTS }
}

/// Refuses an INSERT in streaming mode whose rows change where the sink does not take changes.
///
/// Print and blackhole tables take all changes, files only in a format of changes. An Iceberg table with a primary key takes them as the
/// rows that are left; one without a key has no way to take a row back.
///
/// # Errors
/// `sink-changes` with Flink's sentence.
pub fn check_sink(sink: &Sink, node: &Node) -> Result<()> {
    let table = &sink.table;
    let takes = match table.options.get("connector").map(String::as_str) {
        Some("filesystem") => node.kinds.inserts_only() || is_changelog(table),
        Some(_) if !is_iceberg(table) => true,
        // Flink's sink stores whatever comes: what is never taken back is right there, though Flink may think otherwise of it
        _ => !table.primary_key.is_empty() || !node.changes(),
    };
    if takes {
        return Ok(());
    }
    let from = culprit(node);
    let kinds = match from.kinds {
        Kinds { updates: true, deletes: true } => "update and delete",
        Kinds { deletes: true, .. } => "delete",
        _ => "update",
    };
    let error =
        Error::new("sink-changes", format!("table '{}' takes new rows only, and the query changes rows", table.path))
            .with_detail(format!(
                "Table sink '{}' doesn't support consuming {kinds} changes which is produced by node {}",
                table.path,
                shown(from)
            ));
    // changes that are read cannot be settled by batch mode
    let batch = (!node.reads_changes())
        .then_some("SET 'execution.runtime-mode' = 'batch' to write the rows that are left in the end");
    let key = is_iceberg(table).then_some("declare a PRIMARY KEY for the table");
    let ways: Vec<&str> = key.into_iter().chain(batch).collect();
    Err(if ways.is_empty() { error } else { error.with_hint(ways.join(", or ")) }.at(sink.span))
}

/// The option `table.exec.sink.upsert-materialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Materialize {
    /// Where the changes of a key may come out of order, as far as Flink can tell.
    #[default]
    Auto,
    /// Never.
    None,
    /// Always.
    Force,
}

/// How the changes of a query are written into a table with a primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writing {
    /// The rows that the query leaves in batch mode are the same.
    Rows,
    /// What is left of each key in the end, by its positions in the query's fields.
    Settled(Vec<usize>),
    /// Every change, one after the other.
    Ordered,
}

/// How the changes of a query are written into a table with a primary key. Changes that take back rows of the same INSERT
/// only leave the same however they are written, so they are settled first. Those that are read from a table may take back
/// rows of older commits: they are written as they come unless Flink settles them (its `SinkUpsertMaterializer`, which
/// knows nothing of older rows).
pub fn writing(sink: &Sink, node: &Node, materialize: Materialize) -> Writing {
    let Some(key) = settling_key(sink, node) else { return Writing::Rows };
    if !node.reads_changes() {
        return Writing::Settled(key);
    }
    let settled = match materialize {
        Materialize::None => false,
        Materialize::Force => true,
        Materialize::Auto => !upsert_keys(node).iter().any(|columns| columns.iter().all(|c| key.contains(c))),
    };
    if settled { Writing::Settled(key) } else { Writing::Ordered }
}

/// The key of a table, as positions of its query's fields, by which the changes of an INSERT have to be settled. `None` if
/// the rows that the query leaves in batch mode are the same: each of its groups, or first rows of a partition, has a key of
/// its own in the table, and none ever goes.
fn settling_key(sink: &Sink, node: &Node) -> Option<Vec<usize>> {
    let position = |name: &String| node.fields.iter().position(|f| &f.name == name);
    let key: Vec<usize> = sink.table.primary_key.iter().filter_map(position).collect();
    let is_key = |expr: &Expr, key: &[usize]| matches!(expr.kind, ExprKind::Column(i) if key.contains(&i));
    let (mut below, mut columns) = (node, key.clone());
    while let NodeKind::Project { input, exprs } = &below.kind {
        let plain = |i: &usize| match exprs.get(*i)?.kind {
            ExprKind::Column(column) => Some(column),
            _ => None,
        };
        columns = columns.iter().filter_map(plain).collect();
        below = input;
    }
    let alike = match &below.kind {
        NodeKind::Rows(_) => true,
        NodeKind::Aggregate { input, groups, .. } => {
            !groups.is_empty() && !input.changes() && (0..groups.len()).all(|i| columns.contains(&i))
        }
        NodeKind::TopN { input, partition, start: 1, end: 1, .. } => {
            !input.changes() && partition.iter().all(|e| is_key(e, &columns))
        }
        NodeKind::Deduplicate { keys, .. } => keys.iter().all(|e| is_key(e, &columns)),
        _ => false,
    };
    (!alike).then_some(key)
}

/// The operator that the changes come from: what is above it passes them on.
fn culprit(node: &Node) -> &Node {
    match &node.kind {
        NodeKind::Project { input, .. }
        | NodeKind::Filter { input, .. }
        | NodeKind::Timed { input, .. }
        | NodeKind::Unnest { input, .. }
        | NodeKind::Expand { input, .. } => culprit(input),
        NodeKind::UnionAll(inputs) => inputs.iter().find(|i| !i.kinds.inserts_only()).map_or(node, culprit),
        _ => node,
    }
}

/// The operator as Flink names it.
fn shown(node: &Node) -> String {
    match &node.kind {
        NodeKind::Aggregate { input, groups, calls } => {
            let names = group_names(groups, &input.fields);
            let mut select = names.clone();
            let retract = if input.kinds.inserts_only() { "" } else { "_RETRACT" };
            for (call, field) in calls.iter().zip(node.fields.iter().skip(groups.len())) {
                select.push(format!("{} AS {}", shown_call(call, retract, &input.fields), field.name));
            }
            let by = if names.is_empty() { String::new() } else { format!("groupBy=[{}], ", names.join(", ")) };
            format!("GroupAggregate({by}select=[{}])", select.join(", "))
        }
        NodeKind::Rows(_) => {
            let names: Vec<&str> = node.fields.iter().map(|f| f.name.as_str()).collect();
            format!("GroupAggregate(groupBy=[{0}], select=[{0}])", names.join(", "))
        }
        NodeKind::Scan(rel) => {
            let names: Vec<&str> = node.fields.iter().map(|f| f.name.as_str()).collect();
            let path = match &rel.kind {
                RelKind::Scan { table, .. } => {
                    let path = &table.path;
                    format!("{}, {}, {}", path.catalog, path.database, path.table)
                }
                _ => String::new(),
            };
            format!("TableSourceScan(table=[[{path}]], fields=[{}])", names.join(", "))
        }
        NodeKind::Timed { .. } => "WatermarkAssigner".to_owned(),
        NodeKind::Join { kind, .. } => format!("Join(joinType=[{kind}])"),
        NodeKind::TopN { input, partition, order, start, end, numbered } => {
            let order: Vec<String> = order
                .iter()
                .enumerate()
                .map(|(i, key)| {
                    let name = name(&key.expr, &input.fields, i);
                    format!("{name} {}", if key.descending { "DESC" } else { "ASC" })
                })
                .collect();
            let order = order.join(", ");
            if partition.is_empty() && !numbered {
                let offset = start.saturating_sub(1);
                let fetch = end.saturating_sub(offset);
                return format!(
                    "SortLimit(orderBy=[{order}], offset=[{offset}], fetch=[{fetch}], strategy=[UndefinedStrategy])"
                );
            }
            let by = group_names(partition, &input.fields).join(", ");
            format!(
                "Rank(strategy=[UndefinedStrategy], rankType=[ROW_NUMBER], rankRange=[rankStart={start}, rankEnd={end}], \
                 partitionBy=[{by}], orderBy=[{order}])"
            )
        }
        NodeKind::Deduplicate { last, .. } => {
            format!("Deduplicate(keep=[{}])", if *last { "LastRow" } else { "FirstRow" })
        }
        NodeKind::Over { .. } => "OverAggregate".to_owned(),
        NodeKind::SetAll { .. } => "GroupAggregate".to_owned(),
        NodeKind::Project { .. } | NodeKind::Filter { .. } | NodeKind::Unnest { .. } | NodeKind::Expand { .. } => {
            "Calc".to_owned()
        }
        NodeKind::UnionAll(_) => "Union(all=[true])".to_owned(),
    }
}

fn name(expr: &Expr, fields: &[Field], at: usize) -> String {
    match &expr.kind {
        ExprKind::Column(i) => fields.get(*i).map_or_else(|| format!("$f{at}"), |f| f.name.clone()),
        _ => format!("$f{at}"),
    }
}

fn group_names(groups: &[Expr], fields: &[Field]) -> Vec<String> {
    groups.iter().enumerate().map(|(i, g)| name(g, fields, i)).collect()
}

fn shown_call(call: &AggregateCall, retract: &str, fields: &[Field]) -> String {
    let args: Vec<String> = call.args.iter().enumerate().map(|(i, a)| name(a, fields, i)).collect();
    let distinct = if call.distinct { "DISTINCT " } else { "" };
    let args = if args.is_empty() { "*".to_owned() } else { args.join(", ") };
    format!("{}{retract}({distinct}{args})", call.function.name)
}
