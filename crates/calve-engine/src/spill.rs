//! Queries of more data than memory.
//!
//! Sorts and aggregates spill to temporary files by themselves. A hash join cannot: it holds one side in memory. So a hash
//! join becomes a sort-merge join, which spills, if that side is known to be large, or if the query has run out of memory
//! before its first row; it is then started once more ([`Joins::Spilling`]).
//!
//! What does not spill: joins without an equality, joins by floating-point or nested keys, NOT IN, and window functions over
//! a partition that is larger than memory.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Schema};
use calve_planner::lower;
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt, stream};

use crate::error::{OUT_OF_MEMORY, external, from_datafusion};
use crate::yielding;

/// How equal keys are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joins {
    /// By a hash table, unless it is known to be too large.
    Hash,
    /// By sorting both sides.
    Spilling,
}

/// A session state for a query under the runtime's memory limit.
pub(crate) fn session_state(partitions: usize, runtime: Arc<RuntimeEnv>, joins: Joins) -> SessionState {
    let limit = runtime.memory_pool.memory_limit();
    let state = yielding::session_state(lower::session_state(partitions, runtime));
    let MemoryLimit::Finite(limit) = limit else { return state };
    let build = match joins {
        Joins::Hash => limit / 4,
        Joins::Spilling => 0,
    };
    let mut rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> = vec![];
    for rule in state.physical_optimizers() {
        // joins must not be rebuilt after the rules that follow it
        if rule.name() == "EnsureCooperative" {
            rules.push(Arc::new(SpillingSorts { kept: limit / partitions.max(1).saturating_mul(8) }));
        }
        rules.push(rule.clone());
        // the rules after it sort and distribute the inputs
        if rule.name() == "join_selection" {
            rules.push(Arc::new(SpillingJoins { build }));
        }
    }
    let mut config = state.config().clone();
    // What every sort keeps for its merge; the default of 10 MB for each leaves nothing of a small limit.
    let reserved = limit / partitions.max(1).saturating_mul(16);
    let execution = &mut config.options_mut().execution;
    execution.sort_spill_reservation_bytes = execution.sort_spill_reservation_bytes.min(reserved);
    SessionStateBuilder::new_from_existing(state).with_config(config).with_physical_optimizer_rules(rules).build()
}

/// Replaces hash joins by sort-merge joins.
#[derive(Debug)]
struct SpillingJoins {
    /// The bytes of the held side that are not too many.
    build: usize,
}

impl PhysicalOptimizerRule for SpillingJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| match node.as_any().downcast_ref::<HashJoinExec>() {
            Some(join) if spills(join) && self.is_too_large(join) => {
                let sorted = SortMergeJoinExec::try_new(
                    join.left().clone(),
                    join.right().clone(),
                    join.on().to_vec(),
                    join.filter().cloned(),
                    *join.join_type(),
                    vec![SortOptions::default(); join.on().len()],
                    join.null_equality(),
                )?;
                Ok(Transformed::yes(Arc::new(sorted) as Arc<dyn ExecutionPlan>))
            }
            _ => Ok(Transformed::no(node)),
        })
        .map(|t| t.data)
    }

    fn name(&self) -> &str {
        "spilling_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

impl SpillingJoins {
    /// Whether the held side is known to be too large. What is not known is not.
    fn is_too_large(&self, join: &HashJoinExec) -> bool {
        if self.build == 0 {
            return true;
        }
        let Ok(statistics) = join.left().partition_statistics(None) else { return false };
        let known = |n: &Precision<usize>| n.get_value().copied();
        let width = row_width(&join.left().schema());
        let rows = known(&statistics.num_rows).map(|rows| rows.saturating_mul(width));
        // bytes of files are compressed: rows say more
        rows.or(known(&statistics.total_byte_size)).is_some_and(|bytes| bytes > self.build)
    }
}

/// Makes a sort with a large LIMIT sort everything: a sort that keeps only the first rows holds them in memory.
#[derive(Debug)]
struct SpillingSorts {
    /// The bytes of first rows that are not too many.
    kept: usize,
}

impl PhysicalOptimizerRule for SpillingSorts {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let Some(sort) = node.as_any().downcast_ref::<SortExec>() else { return Ok(Transformed::no(node)) };
            let Some(rows) = sort.fetch().filter(|n| n.saturating_mul(row_width(&sort.schema())) > self.kept) else {
                return Ok(Transformed::no(node));
            };
            let all = SortExec::new(sort.expr().clone(), sort.input().clone())
                .with_preserve_partitioning(sort.preserve_partitioning());
            Ok(Transformed::yes(Arc::new(LocalLimitExec::new(Arc::new(all), rows)) as Arc<dyn ExecutionPlan>))
        })
        .map(|t| t.data)
    }

    fn name(&self) -> &str {
        "spilling_sorts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A guess at the bytes of a row in memory.
fn row_width(schema: &Schema) -> usize {
    schema.fields().iter().map(|field| field.data_type().primitive_width().unwrap_or(32)).sum::<usize>().max(1)
}

/// Whether a sort-merge join gives the same rows.
fn spills(join: &HashJoinExec) -> bool {
    let schema = join.left().schema();
    let sortable = |data_type: &DataType| {
        matches!(
            data_type,
            DataType::Boolean
                | DataType::Int8
                | DataType::Int16
                | DataType::Int32
                | DataType::Int64
                | DataType::Utf8
                | DataType::Binary
                | DataType::FixedSizeBinary(_)
                | DataType::Decimal128(..)
                | DataType::Date32
                | DataType::Timestamp(_, None)
        )
    };
    !join.null_aware
        && !join.contains_projection()
        && !join.on().is_empty()
        && join.on().iter().all(|(left, _)| left.data_type(&schema).is_ok_and(|t| sortable(&t)))
}

/// Whether [`Joins::Spilling`] would make another plan.
pub(crate) fn has_hash_joins(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut found = false;
    let visited = plan.apply(|node| {
        found |= node.as_any().is::<HashJoinExec>();
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    visited.is_ok() && found
}

/// The rows of `first`; if it runs out of memory before its first row, those of what `again` starts.
pub(crate) fn or_again(
    mut first: SendableRecordBatchStream,
    again: impl Future<Output = calve_types::Result<SendableRecordBatchStream>> + Send + 'static,
) -> SendableRecordBatchStream {
    let schema = first.schema();
    let rows = stream::once(async move {
        let head = match first.next().await {
            Some(Err(error)) => {
                let error = from_datafusion(error);
                if error.code != OUT_OF_MEMORY {
                    return Err(external(error));
                }
                drop(first);
                return Ok(again.await.map_err(external)?.boxed());
            }
            head => head,
        };
        Ok::<_, DataFusionError>(stream::iter(head).chain(first).boxed())
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows.try_flatten()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use arrow::util::pretty::pretty_format_batches;
    use calve_planner::{Rel, bind};
    use calve_sql::Statement;
    use datafusion::physical_plan::displayable;

    use super::*;
    use crate::query::Query;
    use crate::session::{Session, SessionConfig};

    async fn run(session: &mut Session, script: &str) {
        for statement in calve_sql::split(script) {
            session.execute(&statement).await.unwrap();
        }
    }

    /// The query's rows as a table, and the joins of its plan.
    async fn rows(session: &Session, query: &str, joins: Joins) -> (String, usize) {
        let statement = calve_sql::parse(&calve_sql::split(query)[0]).unwrap();
        let Statement::Query(query) = &statement else { panic!("not a query") };
        let resolved = session.resolve(&statement).await.unwrap();
        let rel: Rel = bind::query(query, &resolved).unwrap();
        let runner = session.runner().unwrap();
        let planned = runner.plan_all(&[Query::of_rows(&rel, 2)], joins).await.unwrap();
        let plan = displayable(planned.queries[0].plan.as_ref()).indent(false).to_string();
        let batches: Vec<_> = runner.start(&planned.queries[0]).unwrap().try_collect().await.unwrap();
        (pretty_format_batches(&batches).unwrap().to_string(), plan.matches("SortMergeJoin").count())
    }

    /// With and without a further condition, with NULL keys, with several rows for a key on both sides.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn joins_that_spill_give_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let options = vec![("execution.runtime-mode".to_owned(), "batch".to_owned())];
        let config = SessionConfig { options, memory_limit: Some(256 << 20), ..SessionConfig::default() };
        let mut session = Session::new(config).unwrap();
        let script = format!(
            "CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}');
             USE CATALOG ice; CREATE DATABASE db; USE db;
             CREATE TABLE d (x INT);
             INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15);
             CREATE TABLE l (k INT, g STRING, v INT); CREATE TABLE r (k INT, g STRING, v INT);
             INSERT INTO l SELECT NULLIF(MOD(id, 16000), 17), CAST(MOD(id, 3) AS STRING), id FROM (
                SELECT a.x * 4096 + b.x * 256 + c.x * 16 + e.x AS id FROM d a, d b, d c, d e);
             INSERT INTO r SELECT NULLIF(MOD(id * 7, 24000), 17), CAST(MOD(id, 5) AS STRING), MOD(id, 1000) FROM (
                SELECT a.x * 4096 + b.x * 256 + c.x * 16 + e.x AS id FROM d a, d b, d c, d e)",
            folder.path().display()
        );
        run(&mut session, &script).await;
        let sums = "COUNT(*), COUNT(l.v), COUNT(r.v), SUM(CAST(l.v AS BIGINT)), SUM(CAST(r.v AS BIGINT)), COUNT(l.k)";
        let mut queries = vec![];
        for kind in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
            for on in ["l.k = r.k", "l.k = r.k AND l.g = r.g", "l.k = r.k AND l.v > r.v * 100"] {
                queries.push(format!("SELECT {sums} FROM l {kind} r ON {on}"));
            }
        }
        let sum = "SELECT COUNT(*), SUM(CAST(v AS BIGINT)) FROM l WHERE";
        for condition in ["r.k = l.k", "r.k = l.k AND r.v < l.v", "r.k = l.k AND r.g = l.g AND r.v < 500"] {
            queries.push(format!("{sum} EXISTS (SELECT 1 FROM r WHERE {condition})"));
            queries.push(format!("{sum} NOT EXISTS (SELECT 1 FROM r WHERE {condition})"));
        }
        queries.push(format!("{sum} k IN (SELECT k FROM r WHERE v < 500)"));
        queries.push(format!("{sum} v < 100 OR k IN (SELECT k FROM r WHERE v < 500)"));
        // two NULLs are one value here
        queries.push("SELECT COUNT(*), COUNT(k) FROM (SELECT k, g FROM l INTERSECT SELECT k, g FROM r)".to_owned());
        queries.push("SELECT COUNT(*), COUNT(k) FROM (SELECT k, g FROM l EXCEPT SELECT k, g FROM r)".to_owned());
        for query in queries {
            let (by_hash, none) = rows(&session, &query, Joins::Hash).await;
            let (by_sort, some) = rows(&session, &query, Joins::Spilling).await;
            assert!(none == 0 && some > 0, "{query}");
            assert_eq!(by_sort, by_hash, "{query}");
        }
    }
}
