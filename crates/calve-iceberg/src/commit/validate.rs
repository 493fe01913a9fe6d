//! Whether others, since a change of rows was computed, did what it would have had to know (the validations of the Java
//! library's `MergingSnapshotProducer` that row-level commands ask for).

use std::collections::{HashMap, HashSet};

use calve_types::Result;
use iceberg::spec::{
    DataContentType, DataFile, ManifestContentType, ManifestEntryRef, ManifestStatus, NestedFieldRef,
    Operation as Kind, Schema, Snapshot, SnapshotRef, Struct, StructType, TableMetadata, Type,
};

use super::manifests::{promoted_partition, spec};
use super::removal::{conflict, referenced};
use super::{ConflictFilter, FileId, Isolation, NewFile};
use crate::table::{Table, partition_type};

/// A change of rows that was computed on a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    /// That snapshot.
    pub(crate) read: Option<i64>,
    pub(crate) isolation: Isolation,
    /// Rules out data files that others added.
    pub(crate) condition: Option<&'a dyn ConflictFilter>,
    /// Files that are taken away.
    pub(crate) removed: &'a [FileId],
    /// Data files that are added.
    pub(crate) data: &'a [NewFile],
    /// Delete files that are added.
    pub(crate) deletes: &'a [NewFile],
}

/// Refuses a change whose ground has moved since `change.read`; `head` is what it would follow now.
///
/// # Errors
/// `commit-conflict`; `io`, `invalid-table`.
pub(crate) async fn validate(base: &Table, head: Option<&SnapshotRef>, change: Ground<'_>) -> Result<()> {
    if head.map(|head| head.snapshot_id()) == change.read {
        return Ok(());
    }
    let since = history(base, head, change.read)?;
    if change.isolation == Isolation::Serializable {
        for snapshot in since.iter().filter(|s| matches!(operation(s), Kind::Append | Kind::Overwrite)) {
            no_new_data(base, snapshot, change.condition).await?;
        }
    }
    let touched = touched(base, head, change).await?;
    for snapshot in since.iter().filter(|s| matches!(operation(s), Kind::Overwrite | Kind::Delete)) {
        no_new_deletes(base, snapshot, &touched).await?;
    }
    Ok(())
}

/// Refuses rows that were written for a table that was replaced meanwhile (REPLACE TABLE): `head` is what they would follow
/// now. A branch that was set back still has what its snapshots have in common with those before.
///
/// # Errors
/// `commit-conflict`; `not-a-branch`, `invalid-table`.
pub(super) fn check_not_replaced(
    base: &Table,
    head: Option<&SnapshotRef>,
    prepared: &Table,
    branch: &str,
) -> Result<()> {
    let was = prepared.branch_head(branch)?;
    if was.is_none() || was.map(|was| was.snapshot_id()) == head.map(|head| head.snapshot_id()) {
        return Ok(());
    }
    let before: HashSet<i64> = ancestors(prepared.metadata(), was).map(|snapshot| snapshot.snapshot_id()).collect();
    let mut oldest = None;
    for snapshot in ancestors(base.metadata(), head) {
        if before.contains(&snapshot.snapshot_id()) {
            return Ok(());
        }
        oldest = Some(snapshot);
    }
    if oldest.is_some_and(|oldest| oldest.parent_snapshot_id().is_some()) {
        return Ok(()); // what came before has expired
    }
    Err(conflict(base, "the table was replaced")
        .with_detail("The rows were written for the table that was there before."))
}

/// A snapshot and those before it, as far as they are there.
fn ancestors<'a>(metadata: &'a TableMetadata, head: Option<&'a SnapshotRef>) -> impl Iterator<Item = &'a SnapshotRef> {
    let parent = |at: &&'a SnapshotRef| at.parent_snapshot_id().and_then(|parent| metadata.snapshot_by_id(parent));
    // a chain of parents is not longer than there are snapshots, even in broken metadata
    std::iter::successors(head, parent).take(metadata.snapshots().len().saturating_add(1))
}

/// Refuses rows that were written for another schema and lack what is required by now, as after a REPLACE TABLE: whoever
/// reads them would find no value.
///
/// # Errors
/// `commit-conflict`.
pub(super) fn check_required(base: &Table, written_for: &Schema) -> Result<()> {
    let current = base.metadata().current_schema();
    if current.schema_id() == written_for.schema_id() && current.as_struct() == written_for.as_struct() {
        return Ok(());
    }
    let Some(column) = lacking(current.as_struct(), written_for.as_struct()) else { return Ok(()) };
    Err(conflict(base, &format!("column '{}' is NOT NULL by now", column.name)).with_detail(
        "The rows were written for an earlier schema of the table, in which it could be NULL or was not there.",
    ))
}

/// A required field without a default that is not required in `written`.
fn lacking<'a>(current: &'a StructType, written: &StructType) -> Option<&'a NestedFieldRef> {
    current.fields().iter().find_map(|field| match written.field_by_id(field.id) {
        Some(was) if field.required && !was.required => Some(field),
        Some(was) => match (field.field_type.as_ref(), was.field_type.as_ref()) {
            (Type::Struct(now), Type::Struct(was)) => lacking(now, was),
            _ => None,
        },
        None => (field.required && field.initial_default.is_none()).then_some(field),
    })
}

fn operation(snapshot: &Snapshot) -> &Kind {
    &snapshot.summary().operation
}

/// The snapshots from `head` back to `read`, without that one.
fn history<'a>(base: &'a Table, head: Option<&'a SnapshotRef>, read: Option<i64>) -> Result<Vec<&'a SnapshotRef>> {
    let metadata: &TableMetadata = base.metadata();
    let mut since = Vec::new();
    let mut at = head;
    // a chain of parents is not longer than there are snapshots, even in broken metadata
    for _ in 0..=metadata.snapshots().len() {
        let Some(snapshot) = at.filter(|snapshot| Some(snapshot.snapshot_id()) != read) else { break };
        since.push(snapshot);
        let parent = snapshot.parent_snapshot_id();
        at = parent.and_then(|parent| metadata.snapshot_by_id(parent));
        if at.is_none() && parent.is_some() {
            break; // it was expired
        }
    }
    let arrived = match at {
        Some(snapshot) => Some(snapshot.snapshot_id()) == read,
        None => read.is_none() && since.last().is_none_or(|oldest| oldest.parent_snapshot_id().is_none()),
    };
    if arrived {
        return Ok(since);
    }
    let start = read.map_or_else(|| "null".to_owned(), |id| id.to_string());
    let last = since.last().map_or_else(|| "null".to_owned(), |snapshot| snapshot.snapshot_id().to_string());
    Err(conflict(base, "the branch was set to another snapshot, or its history has expired").with_detail(format!(
        "Cannot determine history between starting snapshot {start} and the last known ancestor {last}"
    )))
}

/// The files of that content that a snapshot added, with the ids of their specs.
async fn added(
    base: &Table,
    snapshot: &Snapshot,
    content: ManifestContentType,
) -> Result<Vec<(i32, ManifestEntryRef)>> {
    let id = snapshot.snapshot_id();
    let mut added = Vec::new();
    for manifest in base.manifests(snapshot).await?.iter() {
        // what it added is in the manifests that it wrote itself
        if manifest.content != content || manifest.added_snapshot_id != id || !manifest.has_added_files() {
            continue;
        }
        let entries = base.entries(manifest).await?;
        let new = entries.iter().filter(|e| e.status() == ManifestStatus::Added);
        let new = new.filter(|e| e.snapshot_id().is_none_or(|of| of == id));
        added.extend(new.map(|entry| (manifest.partition_spec_id, entry.clone())));
    }
    Ok(added)
}

/// Refuses data files that a snapshot added, unless the condition rules them out.
async fn no_new_data(base: &Table, snapshot: &Snapshot, condition: Option<&dyn ConflictFilter>) -> Result<()> {
    let added = added(base, snapshot, ManifestContentType::Data).await?;
    let files: Vec<_> = added.iter().map(|(spec_id, entry)| (entry.data_file(), *spec_id)).collect();
    let matching = match condition {
        Some(condition) => condition.may_match(base, &files),
        None => vec![true; files.len()],
    };
    if let Some(((file, _), _)) = files.iter().zip(matching).find(|(_, matches)| *matches) {
        let condition = condition.map_or_else(|| "true".to_owned(), ToString::to_string);
        return Err(conflict(base, "rows were added that the statement did not see").with_detail(format!(
            "Found conflicting files that can contain records matching {condition}: [{}]",
            file.file_path()
        )));
    }
    Ok(())
}

/// Data files that a change removes, or deletes rows of.
#[derive(Default)]
struct Touched {
    paths: HashSet<String>,
    /// The partitions of those that are live.
    partitions: HashMap<i32, HashSet<Struct>>,
}

impl Touched {
    fn add_partition(&mut self, metadata: &TableMetadata, spec_id: i32, file: &DataFile) -> Result<()> {
        self.partitions.entry(spec_id).or_default().insert(partition(metadata, spec_id, file)?);
        Ok(())
    }

    /// Whether a delete file may delete rows of the touched data files. All of these are older.
    fn is_hit_by(&self, metadata: &TableMetadata, spec_id: i32, file: &DataFile) -> Result<bool> {
        if let Some(path) = referenced(file) {
            return Ok(self.paths.contains(&path));
        }
        let global = file.content_type() == DataContentType::EqualityDeletes
            && metadata.partition_spec_by_id(spec_id).is_none_or(|spec| spec.is_unpartitioned());
        if global {
            return Ok(true);
        }
        let Some(partitions) = self.partitions.get(&spec_id) else { return Ok(false) };
        Ok(partitions.contains(&partition(metadata, spec_id, file)?))
    }
}

/// The partition of a file in the types that its columns have now.
fn partition(metadata: &TableMetadata, spec_id: i32, file: &DataFile) -> Result<Struct> {
    let (_, types) = partition_type(metadata, spec(metadata, spec_id)?)?;
    Ok(promoted_partition(file, &types))
}

/// What a change touches of the data files that are live.
///
/// # Errors
/// `commit-conflict` for data files to delete rows of that are not live any more.
async fn touched(base: &Table, head: Option<&SnapshotRef>, change: Ground<'_>) -> Result<Touched> {
    let own: HashSet<&str> = change.data.iter().map(|new| new.file.file_path()).collect();
    let about = change.deletes.iter().filter_map(|new| referenced(&new.file));
    let mut missing: HashSet<String> = about.filter(|path| !own.contains(path.as_str())).collect();
    let mut touched = Touched { paths: missing.clone(), partitions: HashMap::new() };
    let removed = change.removed.iter().filter(|id| id.content_offset.is_none());
    touched.paths.extend(removed.map(|FileId { path, .. }| path.clone()));
    // deletes that name no data file reach all of their partition
    for delete in change.deletes {
        if referenced(&delete.file).is_none() {
            touched.add_partition(base.metadata(), delete.spec_id, &delete.file)?;
        }
    }
    let manifests = match head {
        Some(head) => base.manifests(head).await?,
        None => Default::default(),
    };
    let live = manifests.iter().filter(|m| m.has_added_files() || m.has_existing_files());
    for manifest in live.filter(|m| m.content == ManifestContentType::Data) {
        for entry in base.entries(manifest).await?.iter().filter(|entry| entry.is_alive()) {
            if touched.paths.contains(entry.file_path()) {
                touched.add_partition(base.metadata(), manifest.partition_spec_id, entry.data_file())?;
                missing.remove(entry.file_path());
            }
        }
    }
    let mut missing: Vec<String> = missing.into_iter().collect();
    if missing.is_empty() {
        return Ok(touched);
    }
    missing.sort_unstable();
    missing.truncate(3); // enough to see which
    Err(conflict(base, "files with rows to delete are not live any more")
        .with_detail(format!("Cannot commit, missing data files: [{}]", missing.join(", "))))
}

/// Refuses delete files that a snapshot added, if they may delete rows of the touched data files.
async fn no_new_deletes(base: &Table, snapshot: &Snapshot, touched: &Touched) -> Result<()> {
    if touched.paths.is_empty() && touched.partitions.is_empty() {
        return Ok(());
    }
    for (spec_id, entry) in added(base, snapshot, ManifestContentType::Deletes).await? {
        if touched.is_hit_by(base.metadata(), spec_id, entry.data_file())? {
            let path = entry.file_path();
            return Err(conflict(base, "rows of files that the statement changes were deleted in the meantime")
                .with_detail(format!("Cannot commit, found new delete for replaced data file: {path}")));
        }
    }
    Ok(())
}
