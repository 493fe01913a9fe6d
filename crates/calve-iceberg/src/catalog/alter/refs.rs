//! Changes of a table's branches and tags, by the rules and with the words of the Java library's
//! `UpdateSnapshotReferencesOperation` and of Spark's statements.

use calve_types::{Error, Result};
use iceberg::TableUpdate;
use iceberg::spec::{MAIN_BRANCH, SnapshotReference, SnapshotRetention};

use crate::commit::unknown_snapshot;
use crate::table::Table;

/// One change of a table's branches and tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefChange {
    /// A branch or tag is made, or another one of its name is replaced.
    Put(NewRef),
    /// A branch or tag goes; its snapshots stay.
    Drop {
        /// Its name.
        name: String,
        /// Whether it is a tag.
        is_tag: bool,
        /// Nothing happens if there is none.
        if_exists: bool,
    },
}

/// A branch or tag that a statement makes or replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRef {
    /// Its name.
    pub name: String,
    /// Whether it is a tag.
    pub is_tag: bool,
    /// Whether it may be new.
    pub create: bool,
    /// Whether it may be there.
    pub replace: bool,
    /// Nothing happens if there is one.
    pub if_not_exists: bool,
    /// Its snapshot; the current one without.
    pub snapshot: Option<i64>,
    /// How long it is kept, in milliseconds.
    pub max_age_ms: Option<i64>,
    /// How many snapshots of a branch are kept at least.
    pub min_snapshots: Option<i32>,
    /// How long the snapshots of a branch are kept, in milliseconds.
    pub max_snapshot_age_ms: Option<i64>,
}

/// The updates that make the changes.
///
/// # Errors
/// `invalid-alter`, `unknown-ref`, `unknown-snapshot`, with the Java library's sentences as detail.
pub(super) fn updates(base: &Table, changes: &[RefChange]) -> Result<Vec<TableUpdate>> {
    let mut updates = vec![];
    for change in changes {
        updates.extend(match change {
            RefChange::Put(new) => put(base, new)?,
            RefChange::Drop { name, is_tag, if_exists } => drop(base, name, *is_tag, *if_exists)?,
        });
    }
    Ok(updates)
}

fn put(base: &Table, new: &NewRef) -> Result<Option<TableUpdate>> {
    let NewRef { name, is_tag, .. } = new;
    let word = word(*is_tag);
    let old = base.refs()?.get(name);
    // REPLACE of what is not there makes it only with CREATE
    let creates = new.create && (!new.replace || old.is_none());
    match old {
        Some(_) if creates && new.if_not_exists => return Ok(None),
        Some(_) if creates => {
            return Err(Error::new("invalid-alter", format!("there is a branch or tag '{name}' already"))
                .with_detail(format!("Ref {name} already exists"))
                .with_hint(format!("use CREATE OR REPLACE {word}, or CREATE {word} IF NOT EXISTS")));
        }
        // what nobody knows is not missed
        None if !creates && base.assumes_snapshots() => return Ok(None),
        None if !creates => return Err(missing(base, name, *is_tag)),
        Some(old) => check_kind(old, name, *is_tag)?,
        None => {}
    }
    let metadata = base.metadata();
    let Some(snapshot) = new.snapshot.or(metadata.current_snapshot_id()) else {
        if base.assumes_snapshots() {
            return Ok(None);
        }
        let hint = match is_tag {
            true => "INSERT rows first".to_owned(),
            false => format!("INSERT INTO .. /*+ OPTIONS('branch'='{name}') */ makes the branch"),
        };
        return Err(Error::new("invalid-alter", format!("the table has no snapshot that '{name}' could stand for"))
            .with_detail(format!(
                "Cannot complete create or replace {} operation on {}, main has no snapshot",
                word.to_lowercase(),
                base.ident()
            ))
            .with_hint(hint));
    };
    if metadata.snapshot_by_id(snapshot).is_none() {
        if base.assumes_snapshots() {
            return Ok(None);
        }
        return Err(unknown_snapshot(snapshot, &format!("Cannot set {name} to unknown snapshot")));
    }
    let kept = old.map(|old| &old.retention);
    let retention = match (is_tag, kept) {
        (true, kept) => SnapshotRetention::Tag {
            max_ref_age_ms: new.max_age_ms.or(match kept {
                Some(SnapshotRetention::Tag { max_ref_age_ms }) => *max_ref_age_ms,
                _ => None,
            }),
        },
        (false, Some(SnapshotRetention::Branch { min_snapshots_to_keep, max_snapshot_age_ms, max_ref_age_ms })) => {
            SnapshotRetention::Branch {
                min_snapshots_to_keep: new.min_snapshots.or(*min_snapshots_to_keep),
                max_snapshot_age_ms: new.max_snapshot_age_ms.or(*max_snapshot_age_ms),
                max_ref_age_ms: new.max_age_ms.or(*max_ref_age_ms),
            }
        }
        (false, _) => SnapshotRetention::Branch {
            min_snapshots_to_keep: new.min_snapshots,
            max_snapshot_age_ms: new.max_snapshot_age_ms,
            max_ref_age_ms: new.max_age_ms,
        },
    };
    let reference = SnapshotReference::new(snapshot, retention);
    // committing what is there already would only make another version
    Ok((old != Some(&reference)).then(|| TableUpdate::SetSnapshotRef { ref_name: name.clone(), reference }))
}

fn drop(base: &Table, name: &str, is_tag: bool, if_exists: bool) -> Result<Option<TableUpdate>> {
    match base.refs()?.get(name) {
        _ if name == MAIN_BRANCH && !is_tag => {
            Err(Error::new("invalid-alter", format!("branch '{MAIN_BRANCH}' cannot be dropped"))
                .with_detail("Cannot remove main branch"))
        }
        None if if_exists || base.assumes_snapshots() => Ok(None),
        None => Err(missing(base, name, is_tag)),
        Some(old) => {
            check_kind(old, name, is_tag)?;
            Ok(Some(TableUpdate::RemoveSnapshotRef { ref_name: name.to_owned() }))
        }
    }
}

fn word(is_tag: bool) -> &'static str {
    if is_tag { "TAG" } else { "BRANCH" }
}

fn check_kind(old: &SnapshotReference, name: &str, is_tag: bool) -> Result<()> {
    if old.is_branch() != is_tag {
        return Ok(());
    }
    let (is, wanted) = if is_tag { ("branch", "tag") } else { ("tag", "branch") };
    Err(Error::new("invalid-alter", format!("'{name}' is a {is}"))
        .with_detail(format!("Ref {name} is a {is} not a {wanted}"))
        .with_hint(format!("use {}", word(!is_tag))))
}

fn missing(base: &Table, name: &str, is_tag: bool) -> Error {
    let (title, word) = if is_tag { ("Tag", "tag") } else { ("Branch", "branch") };
    let error = Error::new("unknown-ref", format!("there is no {word} '{name}'"))
        .with_detail(format!("{title} does not exist: {name}"));
    let known: Vec<&str> = base.refs().map(|refs| refs.keys().map(String::as_str).collect()).unwrap_or_default();
    error.did_you_mean(name, known)
}
