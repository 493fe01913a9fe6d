//! Manifests of a new snapshot: written for added files, merged where there are too many small ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};
use iceberg::spec::{
    DataFile, FormatVersion, Literal, ManifestContentType, ManifestEntryRef, ManifestFile, ManifestStatus,
    ManifestWriter, ManifestWriterBuilder, NestedFieldRef, PartitionSpec, Struct, StructType, TableMetadata, Type,
};
use uuid::Uuid;

use super::NewFile;
use crate::error::Context;
use crate::manifest;
use crate::schema::promoted;
use crate::table::{Table, partition_type, rebuild};

/// A manifest holds at most so many added files: about the eight megabytes the Java library aims at.
const FILES_PER_MANIFEST: usize = 10_000;

/// A manifest for a snapshot's list; `added` holds the files of one that this snapshot adds, which have no sequence
/// number yet.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) manifest: ManifestFile,
    added: Option<Arc<Vec<DataFile>>>,
}

impl Line {
    /// A manifest of an older snapshot.
    pub(crate) fn carried(manifest: ManifestFile) -> Self {
        Self { manifest, added: None }
    }
}

/// Writes manifests of one snapshot and knows which it wrote.
#[derive(Debug)]
pub(crate) struct ManifestMaker {
    snapshot_id: i64,
    uuid: Uuid,
    manifests: usize,
    lists: usize,
    locations: Vec<String>,
}

impl ManifestMaker {
    pub(crate) fn new(snapshot_id: i64) -> Self {
        Self { snapshot_id, uuid: Uuid::now_v7(), manifests: 0, lists: 0, locations: Vec::new() }
    }

    /// Every location handed out: of manifests and of lists, written or not.
    pub(crate) fn locations(&self) -> &[String] {
        &self.locations
    }

    /// A new location for a manifest list.
    pub(crate) fn list_location(&mut self, table: &Table) -> String {
        self.lists += 1;
        let location =
            format!("{}/snap-{}-{}-{}.avro", metadata_folder(table), self.snapshot_id, self.lists, self.uuid);
        self.locations.push(location.clone());
        location
    }

    /// Writes added files, grouped by partition spec: each group with its own spec.
    ///
    /// # Errors
    /// `invalid-table` for a spec or a partition the table does not know; `io`.
    pub(crate) async fn add(
        &mut self,
        table: &Table,
        content: ManifestContentType,
        files: &[NewFile],
    ) -> Result<Vec<Line>> {
        let mut by_spec: BTreeMap<i32, Vec<&DataFile>> = BTreeMap::new();
        for NewFile { spec_id, file } in files {
            by_spec.entry(*spec_id).or_default().push(file);
        }
        let mut lines = Vec::new();
        for (spec_id, files) in by_spec {
            for chunk in files.chunks(FILES_PER_MANIFEST) {
                let (mut writer, spec, types) = self.writer(table, content, spec_id)?;
                for file in chunk {
                    check_partition(spec, file)?;
                    // a column may have been promoted since the file was written
                    writer
                        .add_file(with_promoted_partition(file, spec, &types)?, -1)
                        .context(|| format!("add the file '{}'", file.file_path()))?;
                }
                let manifest = finish(writer, table).await?;
                lines.push(Line { manifest, added: Some(Arc::new(chunk.iter().copied().cloned().collect())) });
            }
        }
        Ok(lines)
    }

    /// Merges small manifests of the same content and spec into larger ones, as the Java library does
    /// (`ManifestMergeManager`, `commit.manifest-merge.enabled`, `commit.manifest.target-size-bytes`,
    /// `commit.manifest.min-count-to-merge`). New manifests come first in `lines`. Returns the lines and the locations of
    /// the manifests it wrote.
    ///
    /// # Errors
    /// `io`, `invalid-table`.
    pub(crate) async fn merge(&mut self, table: &Table, lines: Vec<Line>) -> Result<(Vec<Line>, Vec<String>)> {
        let limits = MergeLimits::of(table)?;
        let mut written = Vec::new();
        if !limits.enabled || lines.len() < 2 {
            return Ok((lines, written));
        }
        let first = lines.first().map(|line| line.manifest.manifest_path.clone());
        let mut groups: BTreeMap<i32, Vec<Line>> = BTreeMap::new();
        for line in lines {
            groups.entry(line.manifest.partition_spec_id).or_default().push(line);
        }
        let mut merged = Vec::new();
        // The newest spec first, so that new manifests stay in front.
        for (_, group) in groups.into_iter().rev() {
            for bin in pack_from_the_end(group, limits.target_size) {
                // The group that grows with each commit waits until it is worth it.
                let grows = bin.iter().any(|line| Some(&line.manifest.manifest_path) == first.as_ref());
                if bin.len() < 2 || (grows && bin.len() < limits.min_count) {
                    merged.extend(bin);
                } else {
                    let line = self.merge_bin(table, &bin).await?;
                    written.push(line.manifest.manifest_path.clone());
                    merged.push(line);
                }
            }
        }
        Ok((merged, written))
    }

    /// The live entries of a manifest in a new one: those that are `removed`, in the order of `entries`, as deleted by
    /// this snapshot, the others as they are. All keep their sequence numbers and their row ids.
    ///
    /// # Errors
    /// `io`, `invalid-table`.
    pub(crate) async fn rewrite(
        &mut self,
        table: &Table,
        manifest: &ManifestFile,
        entries: &[ManifestEntryRef],
        removed: &[bool],
    ) -> Result<Line> {
        let (mut writer, spec, types) = self.writer(table, manifest.content, manifest.partition_spec_id)?;
        for (entry, removed) in entries.iter().zip(removed).filter(|(entry, _)| entry.is_alive()) {
            keep(&mut writer, manifest, entry, *removed, spec, &types)?;
        }
        let manifest = finish(writer, table).await?;
        Ok(Line { manifest, added: None })
    }

    /// One manifest with the live entries of several. Entries of older snapshots keep their snapshot id, their sequence
    /// numbers and their row ids; what older snapshots deleted is dropped.
    async fn merge_bin(&mut self, table: &Table, bin: &[Line]) -> Result<Line> {
        let Some(first) = bin.first().map(|line| &line.manifest) else {
            return Err(Error::internal("an empty group of manifests"));
        };
        let (mut writer, spec, types) = self.writer(table, first.content, first.partition_spec_id)?;
        let mut added = Vec::new();
        for line in bin {
            if let Some(files) = &line.added {
                for file in files.iter() {
                    writer.add_file(with_promoted_partition(file, spec, &types)?, -1).context(|| "merge manifests")?;
                }
                added.extend(files.iter().cloned());
                continue;
            }
            for entry in table.entries(&line.manifest).await?.iter() {
                let deleted = entry.status() == ManifestStatus::Deleted;
                if deleted && entry.snapshot_id() != Some(self.snapshot_id) {
                    continue;
                }
                keep(&mut writer, &line.manifest, entry, deleted, spec, &types)?;
            }
        }
        let manifest = finish(writer, table).await?;
        Ok(Line { manifest, added: (!added.is_empty()).then(|| Arc::new(added)) })
    }

    /// A writer of a manifest of files with that spec; the spec, and the types that the values of its partitions have now.
    fn writer<'t>(
        &mut self,
        table: &'t Table,
        content: ManifestContentType,
        spec_id: i32,
    ) -> Result<(ManifestWriter, &'t PartitionSpec, StructType)> {
        let metadata = table.metadata();
        let spec = spec(metadata, spec_id)?;
        let (schema, types) = partition_type(metadata, spec)?;
        let location = format!("{}/{}-m{}.avro", metadata_folder(table), self.uuid, self.manifests);
        self.manifests += 1;
        self.locations.push(location.clone());
        let output =
            table.io().file_io().new_output(&location).context(|| format!("write the manifest '{location}'"))?;
        let named = manifest::writable(spec)?.into_owned();
        let builder = ManifestWriterBuilder::new(output, Some(self.snapshot_id), schema, named);
        let writer = match (metadata.format_version(), content) {
            (FormatVersion::V1, ManifestContentType::Data) => builder.build_v1(),
            (FormatVersion::V1, ManifestContentType::Deletes) => return Err(deletes_need_v2(table)),
            (FormatVersion::V2, ManifestContentType::Data) => builder.build_v2_data(),
            (FormatVersion::V2, ManifestContentType::Deletes) => builder.build_v2_deletes(),
            (FormatVersion::V3, ManifestContentType::Data) => builder.build_v3_data(),
            (FormatVersion::V3, ManifestContentType::Deletes) => builder.build_v3_deletes(),
        };
        Ok((writer, spec, types))
    }
}

/// Writes what a manifest holds to its file.
async fn finish(writer: ManifestWriter, table: &Table) -> Result<ManifestFile> {
    writer.write_manifest_file().await.context(|| format!("write a manifest of table '{}'", table.ident()))
}

/// Writes the entry of a manifest again, as it is or as deleted by the writer's snapshot.
fn keep(
    writer: &mut ManifestWriter,
    manifest: &ManifestFile,
    entry: &ManifestEntryRef,
    deleted: bool,
    spec: &PartitionSpec,
    types: &StructType,
) -> Result<()> {
    let path = &manifest.manifest_path;
    let (Some(snapshot_id), Some(sequence)) = (entry.snapshot_id(), entry.sequence_number()) else {
        return Err(Error::new("invalid-table", format!("the manifest '{path}' lacks sequence numbers")));
    };
    let file = with_promoted_partition(entry.data_file(), spec, types)?;
    let file_sequence = entry.file_sequence_number;
    let written = match deleted {
        true => writer.add_delete_file(file, sequence, file_sequence),
        false => writer.add_existing_file(file, snapshot_id, sequence, file_sequence),
    };
    written.context(|| format!("write the entries of the manifest '{path}' again"))
}

fn deletes_need_v2(table: &Table) -> Error {
    Error::new("invalid-table", format!("table '{}' has format version 1 and cannot hold deletes", table.ident()))
        .with_detail("Deletes are supported in V2 and above")
        .with_hint("upgrade it: ALTER TABLE ... SET ('format-version' = '2')")
}

/// Deletes files as far as it goes: what stays is garbage that nothing refers to.
pub(crate) async fn discard(table: &Table, locations: impl Iterator<Item = &str>) {
    for location in locations {
        table.io().delete_or_leave(location).await;
    }
}

/// Where manifests and their lists are written (`write.metadata.path`).
fn metadata_folder(table: &Table) -> String {
    match table.property("write.metadata.path") {
        Some(path) => path.trim_end_matches('/').to_owned(),
        None => format!("{}/metadata", table.metadata().location().trim_end_matches('/')),
    }
}

pub(super) fn spec(metadata: &TableMetadata, spec_id: i32) -> Result<&PartitionSpec> {
    let spec = metadata.partition_spec_by_id(spec_id);
    spec.map(AsRef::as_ref)
        .ok_or_else(|| Error::new("invalid-table", format!("the table has no partition spec {spec_id}")))
}

/// The manifest writer takes a fitting partition for granted.
fn check_partition(spec: &PartitionSpec, file: &DataFile) -> Result<()> {
    let values = file.partition().fields();
    let fits = values.len() == spec.fields().len()
        && values.iter().flatten().all(|value| matches!(value, Literal::Primitive(_)));
    if fits {
        return Ok(());
    }
    Err(Error::internal(format!("the partition of file '{}' does not fit spec {}", file.file_path(), spec.spec_id())))
}

/// The partition of a file in the types that its columns have now.
pub(super) fn promoted_partition(file: &DataFile, types: &StructType) -> Struct {
    let wide = |(value, field): (&Option<Literal>, &NestedFieldRef)| match (value, field.field_type.as_ref()) {
        (Some(value), Type::Primitive(to)) => Some(promoted(value.clone(), to)),
        _ => value.clone(),
    };
    file.partition().fields().iter().zip(types.fields()).map(wide).collect()
}

/// The file with the values of its partition in the types that their columns have now.
fn with_promoted_partition(file: &DataFile, spec: &PartitionSpec, types: &StructType) -> Result<DataFile> {
    let partition = promoted_partition(file, types);
    if partition.fields() == file.partition().fields() {
        return Ok(file.clone());
    }
    let built = rebuild(file, spec.spec_id()).partition(partition).build();
    built.map_err(|e| Error::internal(format!("cannot copy the entry of file '{}': {e}", file.file_path())))
}

pub(super) struct MergeLimits {
    enabled: bool,
    target_size: u64,
    min_count: usize,
}

impl MergeLimits {
    pub(super) fn of(table: &Table) -> Result<Self> {
        let number = |key: &str, default: u64| match table.property(key) {
            None => Ok(default),
            Some(value) => value.trim().parse::<u64>().map_err(|_| {
                Error::new("invalid-option", format!("invalid value '{value}' of table property '{key}'"))
                    .with_hint(format!("ALTER TABLE .. SET ('{key}' = '{default}'), or RESET ('{key}')"))
            }),
        };
        let min_count = number("commit.manifest.min-count-to-merge", 100)?;
        Ok(Self {
            enabled: table.property("commit.manifest-merge.enabled").is_none_or(|v| v.eq_ignore_ascii_case("true")),
            target_size: number("commit.manifest.target-size-bytes", 8 * 1024 * 1024)?,
            min_count: usize::try_from(min_count).unwrap_or(usize::MAX),
        })
    }
}

/// Consecutive lines in groups of at most `target` bytes. Filling starts at the end, so that the first group is the one
/// with room.
fn pack_from_the_end(lines: Vec<Line>, target: u64) -> Vec<Vec<Line>> {
    let mut bins: Vec<Vec<Line>> = Vec::new();
    let mut size = 0_u64;
    for line in lines.into_iter().rev() {
        let length = u64::try_from(line.manifest.manifest_length).unwrap_or(0);
        size = size.saturating_add(length);
        match bins.last_mut() {
            Some(bin) if size <= target => bin.push(line),
            _ => {
                size = length;
                bins.push(vec![line]);
            }
        }
    }
    bins.iter_mut().for_each(|bin| bin.reverse());
    bins.reverse();
    bins
}
