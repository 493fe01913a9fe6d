//! Which scans of a job's queries become one.
//!
//! Two scans are of one table if they have one provider, which the runner makes once for each table and set of options.
//! Not shared are a scan with a LIMIT, which is part of the source as in Flink, and a scan whose provider applies one of
//! its filters itself, so that nothing above it does. For the rule of one shared scan for each query see
//! [`super::shared_scan`].

use std::collections::BTreeSet;
use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr_rewriter::unnormalize_cols;
use datafusion::logical_expr::utils::{conjunction, disjunction};
use datafusion::logical_expr::{Expr, LogicalPlan, TableProviderFilterPushDown, TableScan};
use datafusion::physical_plan::ExecutionPlan;

use super::shared_scan::Tee;
use crate::error::from_datafusion;
use crate::progress::{Progress, Taker};
use crate::query::Named;

/// A query of a job, optimised.
pub(crate) struct Optimised {
    pub plan: LogicalPlan,
    /// What it runs in.
    pub state: SessionState,
}

/// A table that several queries of a job read together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shared {
    /// Its full name.
    pub table: String,
    /// Positions of the queries, ascending; two at least.
    pub queries: Vec<usize>,
}

/// Replaces scans of one table in several queries by one shared scan. `tables` has the names of the providers.
///
/// # Errors
/// What the providers say.
pub(crate) async fn share(queries: &mut [Optimised], tables: &[Named], progress: &Progress) -> Result<Vec<Shared>> {
    let mut shared = vec![];
    for group in groups(queries, tables).await? {
        let scan = group.scan(queries).await?;
        let readers: Vec<String> = group.members.iter().map(|member| (member.query + 1).to_string()).collect();
        let name = format!("SharedScan(table=[{}], read once for the INSERTs {})", group.table, readers.join(", "));
        progress.reads(&scan, Some(Taker { name, written: None }));
        let context = group.state(queries)?.task_ctx();
        let tee = Tee::new(group.table.clone(), group.projection(), scan, context, group.members.len());
        for (number, member) in group.members.iter().enumerate() {
            let consumer = tee.consumer(number, group.provider.schema())?;
            let query = queries.get_mut(member.query).ok_or_else(no_query)?;
            replace(&mut query.plan, &group.provider, consumer)?;
        }
        shared.push(Shared { table: group.table, queries: group.members.iter().map(|m| m.query).collect() });
    }
    Ok(shared)
}

fn no_query() -> Error {
    Error::internal("no such query")
}

/// Scans of one provider in several queries.
struct Group {
    table: String,
    provider: Arc<dyn TableProvider>,
    members: Vec<Member>,
}

/// The scan of a group in one query.
struct Member {
    query: usize,
    projection: Option<Vec<usize>>,
    filters: Vec<Expr>,
}

impl Group {
    /// The columns that any member reads; `None` is all.
    fn projection(&self) -> Option<Vec<usize>> {
        let mut all = BTreeSet::new();
        for member in &self.members {
            all.extend(member.projection.as_ref()?.iter().copied());
        }
        Some(all.into_iter().collect())
    }

    /// What the scan runs in: that of the member with the fewest partitions. A sink with a primary key has one, and needs
    /// its rows in order.
    fn state<'q>(&self, queries: &'q [Optimised]) -> Result<&'q SessionState> {
        let states = self.members.iter().filter_map(|m| queries.get(m.query)).map(|q| &q.state);
        states.min_by_key(|state| state.config().target_partitions()).ok_or_else(no_query)
    }

    /// The real scan. A row that no member wants may be left out.
    async fn scan(&self, queries: &[Optimised]) -> Result<Arc<dyn ExecutionPlan>> {
        let filters: Option<Vec<Expr>> = self.members.iter().map(|m| conjunction(m.filters.iter().cloned())).collect();
        let filters: Vec<Expr> = match filters.and_then(disjunction) {
            Some(any) => {
                let support = self.provider.supports_filters_pushdown(&[&any]).map_err(from_datafusion)?;
                let useful = support.iter().all(|s| *s != TableProviderFilterPushDown::Unsupported);
                if useful { vec![any] } else { vec![] }
            }
            None => vec![],
        };
        let state = self.state(queries)?;
        self.provider.scan(state, self.projection().as_ref(), &filters, None).await.map_err(from_datafusion)
    }

    /// What sharing spares, in bytes or, if the provider does not know them, in rows; what is not known counts most.
    async fn saving(&self, queries: &[Optimised]) -> Result<usize> {
        let statistics = self.scan(queries).await?.partition_statistics(None).map_err(from_datafusion)?;
        let size = match (statistics.total_byte_size, statistics.num_rows) {
            (Precision::Exact(n) | Precision::Inexact(n), _) => n,
            (_, Precision::Exact(n) | Precision::Inexact(n)) => n,
            _ => usize::MAX,
        };
        Ok(size.saturating_mul(self.members.len() - 1))
    }
}

/// The groups to share, so that no query is in two of them: those first that spare most.
async fn groups(queries: &[Optimised], tables: &[Named]) -> Result<Vec<Group>> {
    let mut all = candidates(queries, tables)?;
    all.retain(|group| group.members.len() > 1);
    let mut seen = BTreeSet::new();
    let contested = all.iter().flat_map(|group| &group.members).any(|member| !seen.insert(member.query));
    if contested {
        let mut ranked = Vec::with_capacity(all.len());
        for group in all {
            ranked.push((group.saving(queries).await?, group));
        }
        // stable: of equals, the one that is named first
        ranked.sort_by_key(|(saving, _)| std::cmp::Reverse(*saving));
        all = ranked.into_iter().map(|(_, group)| group).collect();
    }
    let mut taken = BTreeSet::new();
    let mut chosen = vec![];
    for mut group in all {
        group.members.retain(|member| !taken.contains(&member.query));
        if group.members.len() > 1 {
            taken.extend(group.members.iter().map(|member| member.query));
            chosen.push(group);
        }
    }
    Ok(chosen)
}

/// Every table with the first scan of it in each query.
fn candidates(queries: &[Optimised], tables: &[Named]) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = vec![];
    for (query, optimised) in queries.iter().enumerate() {
        let visited = optimised.plan.apply_with_subqueries(|node| {
            let LogicalPlan::TableScan(scan) = node else { return Ok(TreeNodeRecursion::Continue) };
            let Some((provider, filters)) = sharable(scan)? else { return Ok(TreeNodeRecursion::Continue) };
            let member = Member { query, projection: scan.projection.clone(), filters };
            match groups.iter_mut().find(|group| Arc::ptr_eq(&group.provider, &provider)) {
                Some(group) if group.members.iter().any(|m| m.query == query) => {}
                Some(group) => group.members.push(member),
                None => {
                    let name = tables.iter().find(|(table, _)| Arc::ptr_eq(table, &provider));
                    let table = name.map_or_else(|| scan.table_name.to_string(), |(_, name)| name.clone());
                    groups.push(Group { table, provider, members: vec![member] });
                }
            }
            Ok(TreeNodeRecursion::Continue)
        });
        visited.map_err(from_datafusion)?;
    }
    Ok(groups)
}

/// A scan's provider and filters.
type Scanned = (Arc<dyn TableProvider>, Vec<Expr>);

/// What is scanned, if the scan may be shared.
fn sharable(scan: &TableScan) -> datafusion::common::Result<Option<Scanned>> {
    if scan.fetch.is_some() {
        return Ok(None);
    }
    let Ok(provider) = source_as_provider(&scan.source) else { return Ok(None) };
    let filters = unnormalize_cols(scan.filters.iter().cloned());
    let support = provider.supports_filters_pushdown(&filters.iter().collect::<Vec<_>>())?;
    let exact = support.contains(&TableProviderFilterPushDown::Exact);
    Ok((!exact).then_some((provider, filters)))
}

/// Puts a consumer in the place of the first sharable scan of the provider.
fn replace(plan: &mut LogicalPlan, provider: &Arc<dyn TableProvider>, consumer: Arc<dyn TableProvider>) -> Result<()> {
    let mut consumer = Some(consumer);
    let replaced = std::mem::take(plan).transform_down_with_subqueries(|node| {
        let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
        let is_it = sharable(&scan)?.is_some_and(|(found, _)| Arc::ptr_eq(&found, provider));
        match consumer.take_if(|_| is_it) {
            Some(consumer) => {
                scan.source = provider_as_source(consumer);
                Ok(Transformed::new(LogicalPlan::TableScan(scan), true, TreeNodeRecursion::Continue))
            }
            None => Ok(Transformed::no(LogicalPlan::TableScan(scan))),
        }
    });
    *plan = replaced.map_err(from_datafusion)?.data;
    match consumer {
        None => Ok(()),
        Some(_) => Err(Error::internal("a shared scan is not in its plan")),
    }
}
