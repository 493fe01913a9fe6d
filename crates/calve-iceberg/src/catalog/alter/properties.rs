//! Changes of a table's properties: those that are stored, and those that mean something else (Flink's `FlinkCatalog`,
//! `FlinkAlterTableUtil`; reserved ones by the Java library's `TableProperties`).

use std::collections::{BTreeMap, HashMap};

use calve_types::{Error, Result};
use iceberg::TableUpdate;
use iceberg::spec::{FormatVersion, MAIN_BRANCH, SnapshotReference, SnapshotRetention, TableProperties};

use crate::commit::{self, Picked, unknown_snapshot};
use crate::table::Table;

/// The key that makes a snapshot the current one.
const CURRENT_SNAPSHOT: &str = "current-snapshot-id";
/// The key that applies a snapshot's changes to the current one.
pub(super) const CHERRY_PICK: &str = "cherry-pick-snapshot-id";

/// Whether `ALTER TABLE .. SET` of this key applies a snapshot's changes to the current one, which may write files.
pub fn is_cherry_pick(key: &str) -> bool {
    key.eq_ignore_ascii_case(CHERRY_PICK)
}

/// Keys that do what they say and are not stored, in any case of their letters.
const ACTING: [&str; 3] = [CURRENT_SNAPSHOT, CHERRY_PICK, "location"];

/// Keys by which Flink's connector finds the table: stored, they make it unreadable.
const CONNECTOR_KEYS: [&str; 2] = ["connector", "src-catalog"];
/// The newest format version of the Iceberg specification.
const NEWEST_VERSION: u8 = 4;

/// Whether `ALTER TABLE .. SET` of this key has no effect: the metadata tells its value itself.
pub fn is_reserved(key: &str) -> bool {
    let acts = key == TableProperties::PROPERTY_FORMAT_VERSION || ACTING.iter().any(|a| key.eq_ignore_ascii_case(a));
    !acts && TableProperties::RESERVED_PROPERTIES.contains(&key)
}

/// The updates that set and remove properties of a table.
///
/// # Errors
/// `invalid-option` for a value that is wrong; `invalid-alter` for a snapshot that cannot become the current one;
/// `not-supported`.
pub(super) fn updates(base: &Table, set: &BTreeMap<String, String>, reset: &[String]) -> Result<Vec<TableUpdate>> {
    let metadata = base.metadata();
    let mut updates = vec![];
    if let Some((key, _)) = set.iter().find(|(key, _)| CONNECTOR_KEYS.contains(&key.as_str())) {
        return Err(Error::new("invalid-option", format!("option '{key}' is not allowed in an Iceberg table"))
            .with_detail(format!(
                "Source table {} contains one/all of the reserved property keys: connector, src-catalog.",
                base.ident()
            ))
            .with_hint("with it nobody could read the table any more"));
    }
    let special = |name: &str| set.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    let (current, picked) = (special(CURRENT_SNAPSHOT), special(CHERRY_PICK));
    if current.is_some() && picked.is_some() {
        return Err(Error::new(
            "invalid-option",
            format!("'{CURRENT_SNAPSHOT}' and '{CHERRY_PICK}' exclude each other"),
        )
        .with_detail("Cannot set the current snapshot ID and cherry-pick snapshot changes"));
    }
    if let Some(version) = set.get(TableProperties::PROPERTY_FORMAT_VERSION) {
        updates.extend(upgrade(metadata.format_version(), version)?);
    }
    if let Some(id) = current {
        updates.extend(roll_back(base, snapshot_id(CURRENT_SNAPSHOT, id)?)?);
    }
    if let Some(id) = picked {
        updates.extend(cherry_pick(base, snapshot_id(CHERRY_PICK, id)?)?);
    }
    if let Some(location) = special("location") {
        let location = location.trim_end_matches('/').to_owned();
        if location != metadata.location() {
            updates.push(TableUpdate::SetLocation { location });
        }
    }
    let stored = |key: &str| {
        let acts = ACTING.iter().any(|a| key.eq_ignore_ascii_case(a));
        !acts && !TableProperties::RESERVED_PROPERTIES.contains(&key)
    };
    let changed: HashMap<String, String> = set
        .iter()
        .filter(|(key, value)| stored(key) && base.property(key) != Some(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !changed.is_empty() {
        updates.push(TableUpdate::SetProperties { updates: changed });
    }
    let removals: Vec<String> =
        reset.iter().filter(|key| stored(key) && base.property(key).is_some()).cloned().collect();
    if !removals.is_empty() {
        updates.push(TableUpdate::RemoveProperties { removals });
    }
    Ok(updates)
}

fn upgrade(old: FormatVersion, value: &str) -> Result<Option<TableUpdate>> {
    let new: u8 = value.trim().parse().map_err(|_| {
        Error::new("invalid-option", format!("invalid value '{value}' of option 'format-version'"))
            .with_detail(format!("For input string: \"{value}\""))
            .with_hint("use '2' or '3'")
    })?;
    if new < old as u8 {
        return Err(Error::new("invalid-option", format!("a table's format version cannot go back to {new}"))
            .with_detail(format!("Cannot downgrade v{} table to v{new}", old as u8)));
    }
    let format_version = match new {
        1 => FormatVersion::V1,
        2 => FormatVersion::V2,
        3 => FormatVersion::V3,
        NEWEST_VERSION => return Err(Error::unsupported("format-version 4")),
        _ => {
            return Err(Error::new("invalid-option", format!("there is no format version {new}")).with_detail(
                format!("Cannot upgrade table to unsupported format version: v{new} (supported: v{NEWEST_VERSION})"),
            ));
        }
    };
    Ok((format_version != old).then_some(TableUpdate::UpgradeFormatVersion { format_version }))
}

fn snapshot_id(key: &str, value: &str) -> Result<i64> {
    value.trim().parse().map_err(|_| {
        Error::new("invalid-option", format!("invalid value '{value}' of option '{key}'"))
            .with_detail(format!("For input string: \"{value}\""))
            .with_hint("use the id of a snapshot, from the table's $snapshots")
    })
}

/// Makes a snapshot the head of main.
fn roll_back(base: &Table, snapshot_id: i64) -> Result<Option<TableUpdate>> {
    if base.metadata().snapshot_by_id(snapshot_id).is_none() {
        // what nobody knows is not missed
        if base.assumes_snapshots() {
            return Ok(None);
        }
        return Err(unknown_snapshot(snapshot_id, "Cannot roll back to unknown snapshot id"));
    }
    set_main(base, snapshot_id)
}

fn set_main(base: &Table, snapshot_id: i64) -> Result<Option<TableUpdate>> {
    let main = base.branch(MAIN_BRANCH)?;
    if main.is_some_and(|main| main.snapshot_id == snapshot_id) {
        return Ok(None);
    }
    let retention = main.map_or_else(|| SnapshotRetention::branch(None, None, None), |main| main.retention.clone());
    let reference = SnapshotReference::new(snapshot_id, retention);
    Ok(Some(TableUpdate::SetSnapshotRef { ref_name: MAIN_BRANCH.to_owned(), reference }))
}

/// The snapshot that `cherry-pick-snapshot-id` names, if its files are to be added by a new snapshot: that is a commit of
/// its own.
///
/// # Errors
/// `invalid-option` for a wrong value; as [`commit::picked`].
pub(super) fn to_append(base: &Table, set: &BTreeMap<String, String>) -> Result<Option<i64>> {
    let Some((_, id)) = set.iter().find(|(key, _)| key.eq_ignore_ascii_case(CHERRY_PICK)) else { return Ok(None) };
    let id = snapshot_id(CHERRY_PICK, id)?;
    Ok((picked(base, id)? == Some(Picked::Append)).then_some(id))
}

/// How a snapshot would come into main; `None` for one that may be there or not.
fn picked(base: &Table, id: i64) -> Result<Option<Picked>> {
    match commit::picked(base.metadata(), id) {
        Err(error) if base.assumes_snapshots() && error.code == "unknown-snapshot" => Ok(None),
        picked => picked.map(Some),
    }
}

/// Applies a snapshot's changes to the head of main: where it follows that head, it becomes the head. One whose files
/// are added by a new snapshot changes nothing here.
fn cherry_pick(base: &Table, snapshot_id: i64) -> Result<Option<TableUpdate>> {
    match picked(base, snapshot_id)? {
        Some(Picked::FastForward) => set_main(base, snapshot_id),
        Some(Picked::Append) | None => Ok(None),
    }
}
