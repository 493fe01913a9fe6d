//! One operation and what has been written for it, from the first try to the verdict.

use std::collections::HashSet;
use std::sync::Arc;

use calve_types::{Error, Result};
use iceberg::spec::{
    DataContentType, DataFileFormat, FormatVersion, MAIN_BRANCH, ManifestContentType, ManifestFile, ManifestListWriter,
    Operation as Kind, Snapshot, SnapshotRef, SnapshotReference, SnapshotRetention, Summary, TableMetadata,
};
use iceberg::{TableRequirement, TableUpdate};
use uuid::Uuid;

use super::manifests::{Line, ManifestMaker, discard};
use super::removal::{Removal, conflict};
use super::summary::Counts;
use super::validate::{Ground, check_not_replaced, check_required, validate};
use super::{
    Append, Committed, CompleteDeletes, Completed, ConflictFilter, FileId, Isolation, NewFile, Operation, Origin,
    Overwrite, ReplacePartitions, RowDelta, pick,
};
use crate::error::Context;
use crate::table::Table;

/// What a try asks of the catalog.
pub(crate) struct Proposal {
    pub(crate) requirements: Vec<TableRequirement>,
    pub(crate) updates: Vec<TableUpdate>,
}

/// Makes proposals for one operation. The snapshot id is the same on every try, and manifests of added files are
/// written once; what is taken away is looked up again on each new base.
pub(crate) struct Producer<'a> {
    pub(crate) snapshot_id: i64,
    branch: &'a str,
    origin: Origin<'a>,
    shape: Shape,
    /// The version the operation was prepared on.
    prepared: Table,
    data: Vec<NewFile>,
    deletes: Vec<NewFile>,
    removed: Vec<FileId>,
    omitted: Option<Omitted>,
    /// Delete files written here, for `omitted`.
    completed: Vec<String>,
    /// Delete files that others came instead of.
    spare: Vec<String>,
    maker: ManifestMaker,
    added: Option<Added>,
    /// Files of the current try only: its manifest list, manifests that were written again or merged.
    current: Vec<String>,
    /// The manifest list of the last try, and its manifests.
    proposed: HashSet<String>,
    /// Whether the outcome of some try is not known.
    in_doubt: bool,
}

/// The kinds of operations.
#[derive(Clone, Debug)]
enum Shape {
    /// Adds files, and may replace delete files.
    Delta,
    /// Replaces the partitions of the added files.
    Replace,
    /// Replaces files that were read in a snapshot.
    Overwrite { read: Option<i64>, isolation: Isolation, condition: Option<Arc<dyn ConflictFilter>> },
}

/// Deletes that depend on what is live, and the head of the branch that those at hand are right for.
struct Omitted {
    deletes: Arc<dyn CompleteDeletes>,
    right_for: Option<i64>,
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
        let mut producer = Self {
            snapshot_id,
            branch,
            origin,
            shape: Shape::Delta,
            prepared: table.clone(),
            data: Vec::new(),
            deletes: Vec::new(),
            removed: Vec::new(),
            omitted: None,
            completed: Vec::new(),
            spare: Vec::new(),
            maker: ManifestMaker::new(snapshot_id),
            added: None,
            current: Vec::new(),
            proposed: HashSet::new(),
            in_doubt: false,
        };
        match operation {
            Operation::Append(Append { data }) => producer.data = data,
            Operation::RowDelta(RowDelta { data, deletes, removed, omitted }) => {
                (producer.data, producer.deletes, producer.removed) = (data, deletes, removed);
                producer.omitted = omitted.map(|deletes| Omitted { right_for: deletes.prepared_on(), deletes });
            }
            Operation::ReplacePartitions(ReplacePartitions { data }) => {
                (producer.data, producer.shape) = (data, Shape::Replace);
            }
            Operation::Overwrite(Overwrite { read, isolation, condition, removed, data, deletes }) => {
                (producer.data, producer.deletes, producer.removed) = (data, deletes, removed);
                producer.shape = Shape::Overwrite { read, isolation, condition };
            }
        }
        producer
    }

    /// Applies the operation to `base`.
    ///
    /// # Errors
    /// `not-a-branch` for a tag; `commit-conflict` if others changed what the operation is about; `invalid-table`, `io`.
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
        self.validate(base, parent).await?;
        self.complete_deletes(base, parent_id).await?;
        let removal = self.removal(metadata)?;
        self.write_added(base).await?;

        let mut counts = Counts::new(base)?;
        counts.add(&self.data)?;
        counts.add(&self.deletes)?;
        let before = self.maker.locations().len();
        let rest = removal.apply(&mut self.maker, base, parent.map(AsRef::as_ref), &mut counts).await;
        self.current.extend(self.maker.locations().iter().skip(before).cloned());
        let rest = rest?;
        let in_parent = rest.data.len() + rest.deletes.len();
        let mut lines = self.added.as_ref().map(|a| (a.data.clone(), a.deletes.clone())).unwrap_or_default();
        lines.0.extend(rest.data);
        lines.1.extend(rest.deletes);
        let (data, written) = self.maker.merge(base, lines.0).await?;
        self.current.extend(written);
        let (deletes, written) = self.maker.merge(base, lines.1).await?;
        self.current.extend(written);
        let lines: Vec<Line> = data.into_iter().chain(deletes).collect();
        let created = lines.iter().filter(|line| line.manifest.added_snapshot_id == self.snapshot_id).count();
        let kept = lines.len() - created;
        counts.manifests(created, kept, in_parent.saturating_sub(kept));

        let list = self.maker.list_location(base);
        self.current.push(list.clone());
        self.proposed = lines.iter().map(|line| line.manifest.manifest_path.clone()).chain([list.clone()]).collect();
        let next_row_id = self.write_list(base, &list, parent_id, lines.into_iter()).await?;
        let replaces = matches!(self.shape, Shape::Replace);
        let summary = counts.summary(self.kind(&counts), replaces, parent.map(|p| p.summary()), self.origin);
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

    /// Whether the ground of the operation is still there.
    async fn validate(&self, base: &Table, head: Option<&SnapshotRef>) -> Result<()> {
        if !self.data.is_empty() {
            check_not_replaced(base, head, &self.prepared, self.branch)?;
            check_required(base, self.prepared.metadata().current_schema())?;
        }
        let Shape::Overwrite { read, isolation, condition } = &self.shape else { return Ok(()) };
        let (read, isolation, condition) = (*read, *isolation, condition.as_deref());
        let (removed, data, deletes) = (&self.removed, &self.data, &self.deletes);
        validate(base, head, Ground { read, isolation, condition, removed, data, deletes }).await
    }

    /// What the operation takes away.
    fn removal(&self, metadata: &TableMetadata) -> Result<Removal> {
        match self.shape {
            Shape::Replace if self.data.is_empty() => {
                // nobody could say which partitions are meant
                Err(Error::internal("partitions to replace without new files"))
            }
            Shape::Replace => Removal::of_partitions(metadata, &self.data),
            Shape::Delta => Removal::of_files(&self.removed, false, &self.data, &self.deletes),
            Shape::Overwrite { .. } => {
                let data_files = self.removed.iter().any(|id| id.content_offset.is_none());
                Removal::of_files(&self.removed, data_files, &self.data, &self.deletes)
            }
        }
    }

    /// The operation a snapshot is said to be, as the Java library's `operation()`: an append of files is one without
    /// deletes, and whatever adds no data is a delete.
    fn kind(&self, counts: &Counts<'_>) -> Kind {
        match (&self.shape, self.data.is_empty(), self.deletes.is_empty()) {
            (Shape::Replace, ..) => Kind::Overwrite,
            (Shape::Delta, _, true) => Kind::Append,
            (Shape::Delta | Shape::Overwrite { .. }, true, _) => Kind::Delete,
            (Shape::Overwrite { .. }, false, true) if !counts.removes_data() => Kind::Append,
            (Shape::Delta | Shape::Overwrite { .. }, false, _) => Kind::Overwrite,
        }
    }

    /// Has deletes written that fit the head of the branch, if those at hand do not.
    async fn complete_deletes(&mut self, base: &Table, head: Option<i64>) -> Result<()> {
        let Some(omitted) = self.omitted.as_mut().filter(|omitted| omitted.right_for != head) else { return Ok(()) };
        let Completed { deletes, removed, instead } = omitted.deletes.complete(base).await?;
        self.completed.extend(deletes.iter().map(|new| new.file.file_path().to_owned()));
        if instead {
            omitted.right_for = head;
            self.spare.extend(self.deletes.drain(..).map(|new| new.file.file_path().to_owned()));
            self.removed.clear();
        } else {
            self.omitted = None;
        }
        self.deletes.extend(deletes);
        self.removed.extend(removed);
        // Manifests written for an earlier try have other files.
        self.forget_added(base).await;
        Ok(())
    }

    async fn write_added(&mut self, base: &Table) -> Result<()> {
        let version = base.metadata().format_version();
        if self.added.as_ref().is_some_and(|added| added.version == version) {
            return Ok(());
        }
        self.forget_added(base).await;
        self.check_deletes(base)?;
        let data = self.maker.add(base, ManifestContentType::Data, &self.data).await?;
        self.added = Some(Added { version, data, deletes: Vec::new() });
        let deletes = self.maker.add(base, ManifestContentType::Deletes, &self.deletes).await?;
        if let Some(added) = &mut self.added {
            added.deletes = deletes;
        }
        Ok(())
    }

    /// Deletes by position are files in format version 2 and deletion vectors in 3; the table may have been upgraded
    /// since they were written (`MergingSnapshotProducer.validateNewDeleteFile`).
    fn check_deletes(&self, base: &Table) -> Result<()> {
        let vectors = base.metadata().format_version() == FormatVersion::V3;
        let wrong = |new: &&NewFile| {
            let is_vector = new.file.file_format() == DataFileFormat::Puffin;
            new.file.content_type() == DataContentType::PositionDeletes && is_vector != vectors
        };
        let Some(wrong) = self.deletes.iter().find(wrong) else { return Ok(()) };
        let (path, version) = (wrong.file.file_path(), base.metadata().format_version() as u8);
        let must = if vectors { "Must use DVs" } else { "Must not use DVs" };
        Err(conflict(base, "its format version has changed")
            .with_detail(format!("{must} for position deletes in V{version}: {path}")))
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

    /// It turned out that no try of unknown outcome is in.
    pub(crate) fn settled(&mut self) {
        self.in_doubt = false;
    }

    /// No try is in and none will follow: everything written here goes.
    pub(crate) async fn abandon(self, base: &Table) {
        discard(base, self.maker.locations().iter().chain(&self.completed).map(String::as_str)).await;
    }

    /// The commit is in, as `table` shows: files of other tries, manifests that were merged into others, and delete files
    /// that others came instead of go.
    pub(crate) async fn committed(self, table: Table) -> Committed {
        let known = if self.in_doubt { None } else { Some(self.proposed.clone()) };
        let known = match known {
            // of the last try, which is the one that is in
            Some(known) if self.spare.is_empty() => Some((known, HashSet::new())),
            _ => self.used(&table).await,
        };
        if let Some((used, deletes)) = known {
            discard(&table, self.maker.locations().iter().filter(|l| !used.contains(*l)).map(String::as_str)).await;
            discard(&table, self.spare.iter().filter(|l| !deletes.contains(*l)).map(String::as_str)).await;
        }
        Committed { table, snapshot_id: self.snapshot_id, earlier: false }
    }

    /// The manifest list and the manifests of the snapshot, and its delete files where some of them may be spare: which try is
    /// in decides which of them are used. `None` if nobody can tell.
    async fn used(&self, table: &Table) -> Option<(HashSet<String>, HashSet<String>)> {
        let snapshot = table.metadata().snapshot_by_id(self.snapshot_id)?;
        let manifests = table.manifests(snapshot).await.ok()?;
        let mut used: HashSet<String> = manifests.iter().map(|m| m.manifest_path.clone()).collect();
        used.insert(snapshot.manifest_list().to_owned());
        let deletes = match self.spare.is_empty() {
            true => HashSet::new(),
            false => self.delete_files(table, &manifests).await.ok()?,
        };
        Some((used, deletes))
    }

    /// The delete files that the snapshot added.
    async fn delete_files(&self, table: &Table, manifests: &[ManifestFile]) -> Result<HashSet<String>> {
        let mut files = HashSet::new();
        for manifest in manifests {
            if manifest.content == ManifestContentType::Deletes && manifest.added_snapshot_id == self.snapshot_id {
                let entries = table.entries(manifest).await?;
                files.extend(entries.iter().filter(|e| e.is_alive()).map(|e| e.file_path().to_owned()));
            }
        }
        Ok(files)
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
