//! Cherry-picking: the changes of a snapshot that is not part of main are made again on main's head (Java's
//! `CherryPickOperation`).

use calve_types::{Error, Result};
use iceberg::spec::{MAIN_BRANCH, ManifestContentType, ManifestStatus, Operation as Kind, Snapshot, TableMetadata};

use super::summary::{PUBLISHED_WAP, SOURCE_SNAPSHOT};
use super::{Append, NewFile, Operation, Origin, TableOps, commit_as};
use crate::table::{Table, rebuild};

/// The property of a staged snapshot that names its write.
const STAGED_WAP: &str = "wap.id";

/// How a snapshot comes into main.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picked {
    /// It follows main's head and becomes the head itself.
    FastForward,
    /// Its files are added by a new snapshot.
    Append,
}

/// How a snapshot would come into main.
///
/// # Errors
/// `unknown-snapshot`; `invalid-alter` for one that is part of main; `not-supported` for one that replaced rows and does
/// not follow main's head.
pub(crate) fn picked(metadata: &TableMetadata, snapshot_id: i64) -> Result<Picked> {
    let Some(snapshot) = metadata.snapshot_by_id(snapshot_id) else {
        return Err(unknown_snapshot(snapshot_id, "Cannot cherry-pick unknown snapshot ID"));
    };
    let head = metadata.current_snapshot().map(|head| head.snapshot_id());
    if head != Some(snapshot_id) && snapshot.parent_snapshot_id() == head {
        return Ok(Picked::FastForward);
    }
    check_new(metadata, snapshot_id, wap_id(snapshot))?;
    match snapshot.summary().operation {
        Kind::Append => Ok(Picked::Append),
        _ => Err(Error::unsupported(format!("cherry-picking snapshot {snapshot_id}, which replaced or deleted rows"))
            .with_detail(format!(
                "Cannot cherry-pick snapshot {snapshot_id}: not append, dynamic overwrite, or fast-forward"
            ))
            .with_hint("make its parent the current snapshot first: SET ('current-snapshot-id' = '..')")),
    }
}

/// The error for a snapshot that there is not; the Java library's sentence, without the id, is the detail.
pub(crate) fn unknown_snapshot(id: i64, sentence: &str) -> Error {
    Error::new("unknown-snapshot", format!("the table has no snapshot {id}"))
        .with_detail(format!("{sentence}: {id}"))
        .with_hint("the table's $snapshots lists them")
}

fn wap_id(snapshot: &Snapshot) -> Option<&str> {
    snapshot.summary().additional_properties.get(STAGED_WAP).map(String::as_str)
}

/// Refuses a snapshot whose changes are part of main.
///
/// # Errors
/// `invalid-alter`, with the Java library's sentence as detail.
pub(super) fn check_new(metadata: &TableMetadata, snapshot_id: i64, wap_id: Option<&str>) -> Result<()> {
    let refused = |message: String, detail: String| Err(Error::new("invalid-alter", message).with_detail(detail));
    let mut at = metadata.current_snapshot();
    // a chain of parents is not longer than there are snapshots, even in broken metadata
    for _ in 0..=metadata.snapshots().len() {
        let Some(ancestor) = at else { return Ok(()) };
        let id = ancestor.snapshot_id();
        let property = |key: &str| ancestor.summary().additional_properties.get(key).map(String::as_str);
        if id == snapshot_id {
            return refused(
                format!("snapshot {snapshot_id} is part of the table already"),
                format!("Cannot cherrypick snapshot {snapshot_id}: already an ancestor"),
            );
        }
        if property(SOURCE_SNAPSHOT).is_some_and(|source| source == snapshot_id.to_string()) {
            return refused(
                format!("snapshot {snapshot_id} is part of the table already, as {id}"),
                format!("Cannot cherrypick snapshot {snapshot_id}: already picked to create ancestor {id}"),
            );
        }
        if let Some(wap_id) = wap_id.filter(|wap| [STAGED_WAP, PUBLISHED_WAP].iter().any(|k| property(k) == Some(wap)))
        {
            return refused(
                format!("the staged write '{wap_id}' is part of the table already"),
                format!("Duplicate request to cherry pick wap id that was published already: {wap_id}"),
            );
        }
        at = ancestor.parent_snapshot_id().and_then(|parent| metadata.snapshot_by_id(parent));
    }
    Ok(())
}

/// Adds the files of an append that is not part of main to it, as a new snapshot.
///
/// # Errors
/// As [`picked`] and [`super::commit`].
pub(crate) async fn cherry_pick(ops: &dyn TableOps, table: &Table, snapshot_id: i64) -> Result<Table> {
    let metadata = table.metadata();
    picked(metadata, snapshot_id)?;
    let Some(snapshot) = metadata.snapshot_by_id(snapshot_id) else {
        return Err(Error::internal("a snapshot vanished"));
    };
    let mut data = vec![];
    for manifest in table.manifests(snapshot).await?.iter() {
        if manifest.content != ManifestContentType::Data || manifest.added_snapshot_id != snapshot_id {
            continue;
        }
        let spec_id = manifest.partition_spec_id;
        for entry in table.entries(manifest).await?.iter() {
            if entry.status() != ManifestStatus::Added || entry.snapshot_id().is_some_and(|id| id != snapshot_id) {
                continue;
            }
            // its rows get ids of their own
            let file = rebuild(entry.data_file(), spec_id).first_row_id(None).build();
            let file = file.map_err(|e| Error::internal(format!("cannot copy the entry of a file: {e}")))?;
            data.push(NewFile { spec_id, file });
        }
    }
    let origin = Origin::Picked { snapshot_id, wap_id: wap_id(snapshot) };
    Ok(commit_as(ops, table, MAIN_BRANCH, Operation::Append(Append { data }), origin).await?.table)
}
