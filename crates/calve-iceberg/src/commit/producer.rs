//! One operation and what has been written for it, from the first try to the verdict.

use std::collections::HashSet;

use calve_types::{Error, Result};
use iceberg::spec::{
    FormatVersion, MAIN_BRANCH, ManifestContentType, ManifestListWriter, Snapshot, SnapshotReference,
    SnapshotRetention, Summary, TableMetadata,
};
use iceberg::{TableRequirement, TableUpdate};
use uuid::Uuid;

use super::manifests::{Line, ManifestMaker, discard};
use super::summary::summary;
use super::{Append, Committed, CompleteDeletes, NewFile, Operation, Origin, RowDelta, pick};
use crate::error::Context;
use crate::table::Table;

/// What a try asks of the catalog.
pub(crate) struct Proposal {
    pub(crate) requirements: Vec<TableRequirement>,
    pub(crate) updates: Vec<TableUpdate>,
}

/// Makes proposals for one operation. The snapshot id is the same on every try, and manifests of added files are
/// written once.
pub(crate) struct Producer<'a> {
    pub(crate) snapshot_id: i64,
    branch: &'a str,
    origin: Origin<'a>,
    data: Vec<NewFile>,
    deletes: Vec<NewFile>,
    omitted: Option<std::sync::Arc<dyn CompleteDeletes>>,
    /// Delete files written here, for `omitted`.
    completed: Vec<String>,
    maker: ManifestMaker,
    added: Option<Added>,
    /// Files of the current try only: its manifest list and merged manifests.
    current: Vec<String>,
    /// Whether the outcome of some try is not known.
    in_doubt: bool,
}

/// Manifests of the added files.
struct Added {
    version: FormatVersion,
    data: Vec<Line>,
    deletes: Vec<Line>,
}

impl<'a> Producer<'a> {
    pub(crate) fn new(table: &Table, branch: &'a str, operation: Operation, origin: Origin<'a>) -> Self {
        let snapshot_id = new_snapshot_id(table.metadata());
        let (data, deletes, omitted) = match operation {
            Operation::Append(Append { data }) => (data, Vec::new(), None),
            Operation::RowDelta(RowDelta { data, deletes, omitted }) => (data, deletes, omitted),
        };
        Self {
            snapshot_id,
            branch,
            origin,
            data,
            deletes,
            omitted,
            completed: Vec::new(),
            maker: ManifestMaker::new(snapshot_id),
            added: None,
            current: Vec::new(),
            in_doubt: false,
        }
    }

    /// Applies the operation to `base`.
    ///
    /// # Errors
    /// `not-a-branch` for a tag, `invalid-table`, `io`.
    pub(crate) async fn propose(&mut self, base: &Table) -> Result<Proposal> {
        let metadata = base.metadata();
        let reference = base.branch(self.branch)?;
        if let Origin::Picked { snapshot_id, wap_id } = self.origin {
            pick::check_new(metadata, snapshot_id, wap_id)?;
        }
        if metadata.format_version() == FormatVersion::V1 && self.branch != MAIN_BRANCH {
            return Err(Error::unsupported("branches of a table of format version 1")
                .with_hint("upgrade it: ALTER TABLE ... SET ('format-version' = '2')"));
        }
        let parent = base.branch_head(self.branch)?;
        let parent_id = parent.map(|p| p.snapshot_id());
        self.complete_deletes(base, parent_id).await?;
        self.write_added(base).await?;

        let mut lines = self.added.as_ref().map(|a| (a.data.clone(), a.deletes.clone())).unwrap_or_default();
        if let Some(parent) = parent {
            for manifest in base.manifests(parent).await?.iter() {
                if !manifest.has_added_files() && !manifest.has_existing_files() {
                    continue;
                }
                let line = Line::carried(manifest.clone());
                match manifest.content {
                    ManifestContentType::Data => lines.0.push(line),
                    ManifestContentType::Deletes => lines.1.push(line),
                }
            }
        }
        let (data, written) = self.maker.merge(base, lines.0).await?;
        self.current.extend(written);
        let (deletes, written) = self.maker.merge(base, lines.1).await?;
        self.current.extend(written);

        let list = self.maker.list_location(base);
        self.current.push(list.clone());
        let next_row_id = self.write_list(base, &list, parent_id, data.into_iter().chain(deletes)).await?;
        let summary = summary(&self.data, &self.deletes, parent.map(|p| p.summary()), self.origin);
        let snapshot = self.snapshot(metadata, parent_id, list, summary, next_row_id);
        Ok(Proposal {
            requirements: vec![
                TableRequirement::UuidMatch { uuid: metadata.uuid() },
                TableRequirement::RefSnapshotIdMatch {
                    r#ref: self.branch.to_owned(),
                    snapshot_id: reference.map(|r| r.snapshot_id),
                },
            ],
            updates: vec![
                TableUpdate::AddSnapshot { snapshot },
                TableUpdate::SetSnapshotRef {
                    ref_name: self.branch.to_owned(),
                    reference: SnapshotReference::new(
                        self.snapshot_id,
                        reference.map_or_else(|| SnapshotRetention::branch(None, None, None), |r| r.retention.clone()),
                    ),
                },
            ],
        })
    }

    /// Writes the deletes that were left out, once, if the branch is not where the writer left it.
    async fn complete_deletes(&mut self, base: &Table, head: Option<i64>) -> Result<()> {
        let Some(omitted) = self.omitted.take_if(|omitted| omitted.prepared_on() != head) else { return Ok(()) };
        let files = omitted.complete(base).await?;
        self.completed = files.iter().map(|f| f.file.file_path().to_owned()).collect();
        self.deletes.extend(files);
        // Manifests written for an earlier try lack these files.
        self.forget_added(base).await;
        Ok(())
    }

    async fn write_added(&mut self, base: &Table) -> Result<()> {
        let version = base.metadata().format_version();
        if self.added.as_ref().is_some_and(|added| added.version == version) {
            return Ok(());
        }
        self.forget_added(base).await;
        let data = self.maker.add(base, ManifestContentType::Data, &self.data).await?;
        self.added = Some(Added { version, data, deletes: Vec::new() });
        let deletes = self.maker.add(base, ManifestContentType::Deletes, &self.deletes).await?;
        if let Some(added) = &mut self.added {
            added.deletes = deletes;
        }
        Ok(())
    }

    async fn forget_added(&mut self, base: &Table) {
        let Some(added) = self.added.take() else { return };
        if !self.in_doubt {
            let lines = added.data.iter().chain(&added.deletes);
            discard(base, lines.map(|line| line.manifest.manifest_path.as_str())).await;
        }
    }

    async fn write_list(
        &self,
        base: &Table,
        location: &str,
        parent_id: Option<i64>,
        lines: impl Iterator<Item = Line>,
    ) -> Result<Option<u64>> {
        let what = || format!("write the manifest list '{location}'");
        let metadata = base.metadata();
        let sequence = metadata.next_sequence_number();
        let file = base.io().file_io().new_output(location).context(what)?.writer().await.context(what)?;
        let mut list = match metadata.format_version() {
            FormatVersion::V1 => ManifestListWriter::v1(file, self.snapshot_id, parent_id),
            FormatVersion::V2 => ManifestListWriter::v2(file, self.snapshot_id, parent_id, sequence),
            FormatVersion::V3 => {
                ManifestListWriter::v3(file, self.snapshot_id, parent_id, sequence, Some(metadata.next_row_id()))
            }
        };
        list.add_manifests(lines.map(|line| line.manifest)).context(what)?;
        let next_row_id = list.next_row_id();
        list.close().await.context(what)?;
        Ok(next_row_id)
    }

    fn snapshot(
        &self,
        metadata: &TableMetadata,
        parent_id: Option<i64>,
        list: String,
        summary: Summary,
        next_row_id: Option<u64>,
    ) -> Snapshot {
        // Clocks of several machines differ; history must not run backwards.
        let now = chrono::Utc::now().timestamp_millis().max(metadata.last_updated_ms());
        let builder = Snapshot::builder()
            .with_snapshot_id(self.snapshot_id)
            .with_parent_snapshot_id(parent_id)
            .with_sequence_number(metadata.next_sequence_number())
            .with_timestamp_ms(now)
            .with_manifest_list(list)
            .with_schema_id(metadata.current_schema_id())
            .with_summary(summary);
        match next_row_id {
            Some(next) => {
                let first = metadata.next_row_id();
                builder.with_row_range(first, next.saturating_sub(first)).build()
            }
            None => builder.build(),
        }
    }

    /// The try is not in: its own files go.
    pub(crate) async fn rejected(&mut self, base: &Table) {
        discard(base, std::mem::take(&mut self.current).iter().map(String::as_str)).await;
    }

    /// Nobody knows whether the try is in: its files stay, and so do those it shares with other tries.
    pub(crate) fn in_doubt(&mut self) {
        self.in_doubt = true;
        self.current.clear();
    }

    /// No try is in and none will follow: everything written here goes.
    pub(crate) async fn abandon(self, base: &Table) {
        discard(base, self.maker.locations().iter().chain(&self.completed).map(String::as_str)).await;
    }

    /// The commit is in, as `table` shows: files of other tries, and manifests that were merged into others, go.
    pub(crate) async fn committed(self, table: Table) -> Committed {
        if let Some(snapshot) = table.metadata().snapshot_by_id(self.snapshot_id)
            && let Ok(manifests) = table.manifests(snapshot).await
        {
            let mut used: HashSet<&str> = manifests.iter().map(|m| m.manifest_path.as_str()).collect();
            used.insert(snapshot.manifest_list());
            discard(&table, self.maker.locations().iter().map(String::as_str).filter(|l| !used.contains(l))).await;
        }
        Committed { table, snapshot_id: self.snapshot_id }
    }
}

fn new_snapshot_id(metadata: &TableMetadata) -> i64 {
    loop {
        let (high, low) = Uuid::new_v4().as_u64_pair();
        let id = ((high ^ low) & (i64::MAX as u64)) as i64;
        if id != 0 && metadata.snapshot_by_id(id).is_none() {
            return id;
        }
    }
}
