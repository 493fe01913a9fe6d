//! What a snapshot takes away from its parent: files by name, whole partitions or everything, and with them the delete
//! files that have nothing left to delete (`ManifestFilterManager` of the Java library).

use std::collections::{HashMap, HashSet};

use calve_types::{Error, Result};
use iceberg::spec::{
    DataContentType, DataFile, DataFileFormat, Datum, FieldSummary, Literal, ManifestContentType, ManifestEntryRef,
    ManifestFile, PrimitiveLiteral, Snapshot, Struct, StructType, TableMetadata, Type,
};

use super::manifests::{Line, ManifestMaker, promoted_partition, spec};
use super::summary::Counts;
use super::{FileId, NewFile};
use crate::partition_key::partition_key;
use crate::scan::only_data_file;
use crate::table::{Table, partition_type};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    everything: bool,
    /// Partitions by the id of their spec, and by [`partition_key`].
    partitions: HashMap<i32, HashMap<Struct, Struct>>,
    files: HashSet<FileId>,
    /// Whether there may be data files among `files`.
    data_files: bool,
    /// Data files that get deletion vectors, and the partition specs of these.
    vectors: HashSet<String>,
    vector_specs: HashSet<i32>,
}

/// What is left of the parent's manifests: one for each that holds something live.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Manifests of data files.
    pub(crate) data: Vec<Line>,
    /// Manifests of delete files.
    pub(crate) deletes: Vec<Line>,
}

impl Removal {
    /// The partitions of `data`; everything if that is not partitioned.
    ///
    /// # Errors
    /// `invalid-table` for a spec that the table does not have.
    pub(crate) fn of_partitions(metadata: &TableMetadata, data: &[NewFile]) -> Result<Self> {
        let mut removal = Self::default();
        let mut types: HashMap<i32, StructType> = HashMap::new();
        for NewFile { spec_id, file } in data {
            let types = match types.entry(*spec_id) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(new) => {
                    let spec = spec(metadata, *spec_id)?;
                    removal.everything |= spec.is_unpartitioned();
                    new.insert(partition_type(metadata, spec)?.1)
                }
            };
            let partition = promoted_partition(file, types);
            removal.partitions.entry(*spec_id).or_default().insert(partition_key(&partition), partition);
        }
        Ok(removal)
    }

    /// The files of that name, which must be live. `deletes` are added: a data file has one deletion vector at most.
    /// `data_files`: whether there may be data files among `removed`.
    ///
    /// # Errors
    /// `internal` for deletes in a file that is removed.
    pub(crate) fn of_files(
        removed: &[FileId],
        data_files: bool,
        data: &[NewFile],
        deletes: &[NewFile],
    ) -> Result<Self> {
        let files: HashSet<FileId> = removed.iter().cloned().collect();
        let own: HashSet<&str> = data.iter().map(|new| new.file.file_path()).collect();
        let mut removal = Self { data_files: data_files && !files.is_empty(), files, ..Self::default() };
        for NewFile { spec_id, file } in deletes {
            let Some(path) = referenced(file) else { continue };
            if own.contains(path.as_str()) {
                continue;
            }
            let about = FileId { path, content_offset: None };
            if removal.files.contains(&about) {
                return Err(Error::internal(format!("deletes in the data file '{}', which is removed", about.path)));
            }
            if file.file_format() == DataFileFormat::Puffin {
                removal.vectors.insert(about.path);
                removal.vector_specs.insert(*spec_id);
            }
        }
        Ok(removal)
    }

    /// The manifests of `parent` without what is taken away. Manifests that hold something of it are written again,
    /// with its entries marked as deleted; the others stay as they are.
    ///
    /// # Errors
    /// `commit-conflict` for files that are not live any more; `io`, `invalid-table`.
    pub(crate) async fn apply(
        &self,
        maker: &mut ManifestMaker,
        base: &Table,
        parent: Option<&Snapshot>,
        counts: &mut Counts<'_>,
    ) -> Result<Rest> {
        let mut rest = Rest::default();
        let mut found: HashSet<FileId> = HashSet::new();
        // data files that were removed by name, and their specs
        let mut gone: HashSet<String> = HashSet::new();
        let mut gone_specs: HashSet<i32> = HashSet::new();
        let manifests = match parent {
            Some(parent) => base.manifests(parent).await?,
            None => Default::default(),
        };
        let live = || manifests.iter().filter(|m| m.has_added_files() || m.has_existing_files());
        for manifest in live().filter(|m| m.content == ManifestContentType::Data) {
            let spec_id = manifest.partition_spec_id;
            let partitions = self.partitions_in(base.metadata(), manifest)?;
            if !self.everything && !self.data_files && partitions.is_none() {
                rest.data.push(Line::carried(manifest.clone()));
                continue;
            }
            let takes = |entry: &ManifestEntryRef| -> Result<bool> {
                let file = entry.data_file();
                if self.everything || partitions.as_ref().is_some_and(|partitions| partitions.contain(file)) {
                    return Ok(true);
                }
                let id = FileId::of(file);
                if !self.files.contains(&id) {
                    return Ok(false);
                }
                gone.insert(id.path.clone());
                gone_specs.insert(spec_id);
                found.insert(id);
                Ok(true)
            };
            rest.data.push(filter(maker, base, manifest, takes, counts).await?);
        }

        // deletes older than all data have nothing to delete
        let oldest = rest.data.iter().map(|line| line.manifest.min_sequence_number).filter(|sequence| *sequence >= 0);
        let oldest = oldest.fold(base.metadata().last_sequence_number(), i64::min);
        for manifest in live().filter(|m| m.content == ManifestContentType::Deletes) {
            let spec_id = manifest.partition_spec_id;
            let partitions = self.partitions_in(base.metadata(), manifest)?;
            let concerned = self.everything
                || partitions.is_some()
                || found.len() < self.files.len()
                || gone_specs.contains(&spec_id)
                || self.vector_specs.contains(&spec_id)
                || manifest.min_sequence_number < oldest;
            if !concerned {
                rest.deletes.push(Line::carried(manifest.clone()));
                continue;
            }
            let takes = |entry: &ManifestEntryRef| -> Result<bool> {
                let file = entry.data_file();
                if self.everything || partitions.as_ref().is_some_and(|partitions| partitions.contain(file)) {
                    return Ok(true);
                }
                let id = FileId::of(file);
                if self.files.contains(&id) {
                    found.insert(id);
                    return Ok(true);
                }
                if entry.sequence_number().is_some_and(|sequence| sequence > 0 && sequence < oldest) {
                    return Ok(true);
                }
                let Some(about) = referenced(file) else { return Ok(false) };
                if gone.contains(&about) {
                    return Ok(true);
                }
                if file.file_format() == DataFileFormat::Puffin && self.vectors.contains(&about) {
                    return Err(conflict(base, "rows of a file were deleted in the meantime")
                        .with_detail(format!("Found concurrently added DV for {about}: {}", file.file_path())));
                }
                Ok(false)
            };
            rest.deletes.push(filter(maker, base, manifest, takes, counts).await?);
        }
        let mut missing: Vec<&str> = self.files.difference(&found).map(|id| id.path.as_str()).collect();
        if missing.is_empty() {
            return Ok(rest);
        }
        missing.sort_unstable();
        missing.truncate(3); // enough to see which
        Err(conflict(base, "files to replace are not live any more")
            .with_detail(format!("Missing required files to delete: {}", missing.join(","))))
    }

    /// The partitions to take away that a manifest may have.
    fn partitions_in(&self, metadata: &TableMetadata, manifest: &ManifestFile) -> Result<Option<Partitions<'_>>> {
        let Some(values) = self.partitions.get(&manifest.partition_spec_id) else { return Ok(None) };
        let spec = spec(metadata, manifest.partition_spec_id)?;
        let (_, types) = partition_type(metadata, spec)?;
        let partitions = Partitions { values, types };
        Ok(Some(partitions).filter(|partitions| partitions.may_be_in(manifest)))
    }
}

/// Partitions of one spec.
struct Partitions<'a> {
    values: &'a HashMap<Struct, Struct>,
    types: StructType,
}

/// Beyond so many partitions a manifest is read rather than compared with each.
const COMPARED: usize = 1_000;

impl Partitions<'_> {
    /// Whether the summary of a manifest leaves room for one of them.
    fn may_be_in(&self, manifest: &ManifestFile) -> bool {
        let fields = self.types.fields();
        let known = manifest.partitions.as_ref().filter(|summaries| summaries.len() == fields.len());
        let Some(summaries) = known.filter(|_| self.values.len() <= COMPARED) else { return true };
        self.values.values().any(|values| {
            let mut fields = values.fields().iter().zip(fields).zip(summaries);
            fields.all(|((value, field), summary)| match value {
                None => summary.contains_null,
                Some(value) => in_bounds(value, &field.field_type, summary),
            })
        })
    }

    fn contain(&self, file: &DataFile) -> bool {
        self.values.contains_key(&partition_key(file.partition()))
    }
}

/// Whether a partition value may be between the bounds of a manifest. Only values that everybody orders alike can be
/// ruled out.
fn in_bounds(value: &Literal, of: &Type, summary: &FieldSummary) -> bool {
    let (Literal::Primitive(value), Type::Primitive(of)) = (value, of) else { return true };
    let bound = |bytes: &[u8]| Datum::try_from_bytes(bytes, of.clone()).ok().map(|datum| datum.literal().clone());
    let (Some(low), Some(high)) = (&summary.lower_bound, &summary.upper_bound) else { return true };
    let (Some(low), Some(high)) = (bound(low), bound(high)) else { return true };
    match (&low, value, &high) {
        (PrimitiveLiteral::Int(low), PrimitiveLiteral::Int(value), PrimitiveLiteral::Int(high)) => {
            (low..=high).contains(&value)
        }
        (PrimitiveLiteral::Long(low), PrimitiveLiteral::Long(value), PrimitiveLiteral::Long(high)) => {
            (low..=high).contains(&value)
        }
        (PrimitiveLiteral::String(low), PrimitiveLiteral::String(value), PrimitiveLiteral::String(high))
            if low.is_ascii() && value.is_ascii() && high.is_ascii() =>
        {
            (low..=high).contains(&value)
        }
        _ => true,
    }
}

/// The manifest, or another one if it has live entries that are taken away.
async fn filter(
    maker: &mut ManifestMaker,
    base: &Table,
    manifest: &ManifestFile,
    mut takes: impl FnMut(&ManifestEntryRef) -> Result<bool>,
    counts: &mut Counts<'_>,
) -> Result<Line> {
    let entries = base.entries(manifest).await?;
    let mut removed = vec![false; entries.len()];
    let mut any = false;
    for (removed, entry) in removed.iter_mut().zip(entries.iter()) {
        if entry.is_alive() && takes(entry)? {
            counts.remove(manifest.partition_spec_id, entry.data_file())?;
            *removed = true;
            any = true;
        }
    }
    match any {
        true => maker.rewrite(base, manifest, &entries, &removed).await,
        false => Ok(Line::carried(manifest.clone())),
    }
}

/// The only data file whose rows a delete file deletes by position.
pub(super) fn referenced(file: &DataFile) -> Option<String> {
    match file.content_type() {
        DataContentType::PositionDeletes => only_data_file(file),
        _ => None,
    }
}

/// The error of a change that others have overtaken.
pub(super) fn conflict(table: &Table, why: &str) -> Error {
    Error::new("commit-conflict", format!("cannot commit to table '{}': {why}", table.ident()))
        .with_hint("run the statement again: it then reads what the others wrote")
}
