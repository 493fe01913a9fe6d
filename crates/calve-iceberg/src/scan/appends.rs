//! What appends added between two snapshots (the Java library's `BaseIncrementalAppendScan`).

use std::collections::HashSet;

use calve_types::{Error, Result};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use iceberg::spec::{ManifestContentType, ManifestFile, ManifestStatus, Operation, SnapshotRef, TableMetadata};

use super::delete_index::DeleteIndex;
use super::plan::{CONCURRENT_MANIFESTS, FileTask, MEASURED_FILES, live_entries, needed_metrics, tasks};
use super::prune::{Pruner, kept};
use crate::table::Table;

/// The snapshots with operation `append` behind `from` up to `to`, newest first; without `from` as far back as the table
/// remembers. Snapshots of other operations in between are passed over, as in the Java library.
///
/// # Errors
/// `invalid-option` if `from` is not the parent of `to` or of an ancestor of it; `from` itself may have expired.
pub(crate) fn appends(metadata: &TableMetadata, from: Option<i64>, to: &SnapshotRef) -> Result<Vec<SnapshotRef>> {
    let mut appends = Vec::new();
    let mut next = Some(to.clone());
    // parents that go round in circles end here
    for _ in metadata.snapshots() {
        let Some(snapshot) = next else { break };
        let parent = snapshot.parent_snapshot_id();
        if snapshot.summary().operation == Operation::Append {
            appends.push(snapshot);
        }
        if from.is_some() && parent == from {
            return Ok(appends);
        }
        next = parent.and_then(|id| metadata.snapshot_by_id(id)).cloned();
    }
    match from {
        None => Ok(appends),
        Some(from) if from == to.snapshot_id() => Err(Error::new(
            "invalid-option",
            format!("the start and the end of the changes are the same snapshot {from}"),
        )
        .with_detail(format!("Starting snapshot (exclusive) {from} is not a parent ancestor of end snapshot {from}"))
        .with_hint("the changes begin behind the start: choose an older snapshot or tag as the start")),
        Some(from) => Err(Error::new(
            "invalid-option",
            format!("snapshot {from} is not an ancestor of snapshot {}", to.snapshot_id()),
        )
        .with_detail(format!(
            "Starting snapshot (exclusive) {from} is not a parent ancestor of end snapshot {}",
            to.snapshot_id()
        ))
        .with_hint("the metadata table '$snapshots' lists the snapshots of a table with their parents")),
    }
}

/// The data files that `snapshots` added and that may have rows the pruner's filter accepts. Deletes do not apply.
///
/// # Errors
/// As [`super::plan::plan`].
pub(crate) async fn plan_appends(
    table: &Table,
    snapshots: &[SnapshotRef],
    pruner: Option<&Pruner>,
) -> Result<Vec<FileTask>> {
    let ids: HashSet<i64> = snapshots.iter().map(|s| s.snapshot_id()).collect();
    // a snapshot's files are in the manifests that it wrote itself
    let loads: Vec<BoxFuture<'_, Result<Vec<ManifestFile>>>> = snapshots
        .iter()
        .map(|snapshot| {
            async move {
                let own = |m: &&ManifestFile| {
                    m.content == ManifestContentType::Data && m.added_snapshot_id == snapshot.snapshot_id()
                };
                Ok(table.manifests(snapshot).await?.iter().filter(own).cloned().collect())
            }
            .boxed()
        })
        .collect();
    let manifests: Vec<Vec<ManifestFile>> = stream::iter(loads).buffered(CONCURRENT_MANIFESTS).try_collect().await?;
    let manifests: Vec<&ManifestFile> = manifests.iter().flatten().collect();
    let keep = pruner.map(|p| p.manifests(&manifests));
    let manifests = kept(manifests, keep);
    let metrics = needed_metrics(&manifests, pruner.into_iter().flat_map(Pruner::columns), MEASURED_FILES);
    let mut data = live_entries(table, &manifests, metrics).await?;
    data.retain(|(entry, _)| {
        entry.status() == ManifestStatus::Added && entry.snapshot_id().is_some_and(|id| ids.contains(&id))
    });
    let keep = pruner.map(|p| p.files(&data.iter().map(|(e, spec)| (e.data_file(), *spec)).collect::<Vec<_>>()));
    tasks(kept(data, keep), &DeleteIndex::default())
}
