//! Which delete files apply to which data files (Iceberg spec, "Scan planning").

use std::collections::HashMap;
use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::common::ScalarValue;
use iceberg::spec::{DataContentType, DataFile, DataFileFormat, ManifestEntryRef, PrimitiveLiteral, Struct};
use ordered::disjoint;

use super::context::{field_of_any_schema, plain_field};
use super::deletes::{DeleteFile, FILE_PATH, FileDeletes, KeyDeletes, PositionDeletes};
use super::literal::bound;
use crate::partition_key::partition_key;
use crate::table::Table;

/// A partition of a spec.
type PartitionKey = (i32, Struct);

/// Delete files by what they apply to.
#[derive(Debug, Default)]
pub(crate) struct DeleteIndex {
    vectors: HashMap<String, DeleteFile>,
    positions_by_path: HashMap<String, Arc<PositionDeletes>>,
    positions_by_partition: HashMap<PartitionKey, Arc<PositionDeletes>>,
    global_keys: Vec<KeyGroup>,
    keys_by_partition: HashMap<PartitionKey, Vec<KeyGroup>>,
}

/// Equality deletes with the same columns and scope, with the bounds of their keys.
#[derive(Debug)]
struct KeyGroup {
    deletes: Arc<KeyDeletes>,
    newest: i64,
    bounds: Vec<KeyBounds>,
}

/// Bounds of one key column over files; `None` if a file does not say.
#[derive(Debug)]
struct KeyBounds {
    id: i32,
    required: bool,
    data_type: arrow::datatypes::DataType,
    range: Option<(ScalarValue, ScalarValue)>,
    has_null: bool,
}

impl DeleteIndex {
    /// The index of live delete files, each with the spec id of its manifest.
    ///
    /// # Errors
    /// `invalid-table` for delete files that break the rules of Iceberg.
    pub(crate) fn new(table: &Table, entries: Vec<(ManifestEntryRef, i32)>) -> Result<Self> {
        let mut index = Self::default();
        let mut by_path: HashMap<String, Vec<DeleteFile>> = HashMap::new();
        let mut by_partition: HashMap<PartitionKey, Vec<DeleteFile>> = HashMap::new();
        let mut keys: HashMap<(Option<PartitionKey>, Vec<i32>), Vec<DeleteFile>> = HashMap::new();
        for (entry, spec_id) in entries {
            let sequence = super::plan::sequence(&entry)?;
            let delete = DeleteFile { entry, sequence };
            let file = delete.file();
            let partition = || (spec_id, partition_key(file.partition()));
            match file.content_type() {
                DataContentType::PositionDeletes if file.file_format() == DataFileFormat::Puffin => {
                    index.add_vector(delete)?;
                }
                DataContentType::PositionDeletes => match only_data_file(file) {
                    Some(path) => by_path.entry(path).or_default().push(delete),
                    None => by_partition.entry(partition()).or_default().push(delete),
                },
                DataContentType::EqualityDeletes => {
                    let spec = table.metadata().partition_spec_by_id(spec_id);
                    // deletes of an unpartitioned spec are global, whatever the spec of the data
                    let scope = (!spec.is_some_and(|s| s.is_unpartitioned())).then(partition);
                    let mut ids = file.equality_ids().unwrap_or_default();
                    ids.sort_unstable();
                    ids.dedup();
                    if ids.is_empty() {
                        let path = file.file_path();
                        return Err(Error::new(
                            "invalid-table",
                            format!("the equality delete file '{path}' names no columns"),
                        ));
                    }
                    keys.entry((scope, ids)).or_default().push(delete);
                }
                DataContentType::Data => {
                    let path = file.file_path();
                    return Err(Error::new(
                        "invalid-table",
                        format!("the data file '{path}' is listed among delete files"),
                    ));
                }
            }
        }
        index.positions_by_path =
            by_path.into_iter().map(|(k, v)| (k, Arc::new(PositionDeletes::new(v, true)))).collect();
        index.positions_by_partition =
            by_partition.into_iter().map(|(k, v)| (k, Arc::new(PositionDeletes::new(v, false)))).collect();
        for ((scope, ids), files) in keys {
            let group = KeyGroup::new(table, ids, files)?;
            match scope {
                None => index.global_keys.push(group),
                Some(partition) => index.keys_by_partition.entry(partition).or_default().push(group),
            }
        }
        Ok(index)
    }

    fn add_vector(&mut self, vector: DeleteFile) -> Result<()> {
        let path = vector.file().referenced_data_file().ok_or_else(|| {
            let path = vector.file().file_path();
            Error::new("invalid-table", format!("a deletion vector in '{path}' names no data file"))
        })?;
        if self.vectors.contains_key(&path) {
            return Err(Error::new("invalid-table", format!("the data file '{path}' has two deletion vectors"))
                .with_detail(format!("Can't index multiple DVs for {path}")));
        }
        self.vectors.insert(path, vector);
        Ok(())
    }

    /// The ids of the columns by whose bounds it is found out which deletes apply to a file.
    pub(crate) fn columns(&self) -> impl Iterator<Item = i32> {
        let groups = self.global_keys.iter().chain(self.keys_by_partition.values().flatten());
        groups.flat_map(|group| group.bounds.iter().map(|key| key.id))
    }

    /// What applies to a data file.
    pub(crate) fn for_file(&self, file: &DataFile, spec_id: i32, sequence: i64) -> FileDeletes {
        let mut deletes = FileDeletes::default();
        let partition = (spec_id, partition_key(file.partition()));
        let local = self.keys_by_partition.get(&partition).into_iter().flatten();
        for group in self.global_keys.iter().chain(local) {
            if group.newest > sequence && group.may_hit(file) {
                group.deletes.needed_by(sequence);
                deletes.keys.push(group.deletes.clone());
            }
        }
        deletes.vector = self.vectors.get(file.file_path()).filter(|v| v.sequence >= sequence).cloned();
        if deletes.vector.is_none() {
            let by_path = self.positions_by_path.get(file.file_path());
            let by_partition = self.positions_by_partition.get(&partition);
            let groups = by_path.into_iter().chain(by_partition).filter(|group| group.newest() >= sequence);
            deletes.positions = groups.cloned().collect();
        }
        deletes
    }
}

/// The data file all rows of a position delete file are about, if there is one.
pub(crate) fn only_data_file(file: &DataFile) -> Option<String> {
    file.referenced_data_file().or_else(|| {
        let bound = |bounds: &HashMap<i32, iceberg::spec::Datum>| match bounds.get(&FILE_PATH)?.literal() {
            PrimitiveLiteral::String(path) => Some(path.clone()),
            _ => None,
        };
        let (lower, upper) = (bound(file.lower_bounds())?, bound(file.upper_bounds())?);
        (lower == upper).then_some(lower)
    })
}

impl KeyGroup {
    fn new(table: &Table, ids: Vec<i32>, files: Vec<DeleteFile>) -> Result<Self> {
        let newest = files.iter().map(|f| f.sequence).max().unwrap_or(i64::MIN);
        let mut bounds = Vec::with_capacity(ids.len());
        for id in &ids {
            let field = field_of_any_schema(table, *id)?;
            let data_type = plain_field(&field)?.data_type().clone();
            let range =
                files.iter().map(|f| range(f.file(), *id, &data_type)).reduce(|a, b| ordered::union(a?, b?)).flatten();
            let has_null = files.iter().any(|f| f.file().null_value_counts().get(id) != Some(&0));
            bounds.push(KeyBounds { id: *id, required: field.required, data_type, range, has_null });
        }
        Ok(Self { deletes: Arc::new(KeyDeletes::new(ids, files)), newest, bounds })
    }

    /// Whether a row of the file may have a key of the group, by the bounds of both.
    fn may_hit(&self, file: &DataFile) -> bool {
        !self.bounds.iter().any(|key| {
            let no_common_null = key.required || !key.has_null || file.null_value_counts().get(&key.id) == Some(&0);
            no_common_null
                && match (&key.range, range(file, key.id, &key.data_type)) {
                    (Some(deleted), Some(stored)) => disjoint(deleted, &stored),
                    _ => false,
                }
        })
    }
}

/// The bounds of a column of a file, in the table's type. None for approximate numbers, where NaN is outside the bounds.
fn range(file: &DataFile, id: i32, data_type: &arrow::datatypes::DataType) -> Option<(ScalarValue, ScalarValue)> {
    if data_type.is_floating() {
        return None;
    }
    Some((bound(file.lower_bounds(), id, data_type)?, bound(file.upper_bounds(), id, data_type)?))
}

/// Ranges of values of one type.
mod ordered {
    use std::cmp::Ordering;

    use datafusion::common::ScalarValue;

    type Range = (ScalarValue, ScalarValue);

    pub(super) fn union(a: Range, b: Range) -> Option<Range> {
        let low = if a.0.partial_cmp(&b.0)? == Ordering::Greater { b.0 } else { a.0 };
        let high = if a.1.partial_cmp(&b.1)? == Ordering::Less { b.1 } else { a.1 };
        Some((low, high))
    }

    pub(super) fn disjoint(a: &Range, b: &Range) -> bool {
        a.1.partial_cmp(&b.0) == Some(Ordering::Less) || b.1.partial_cmp(&a.0) == Some(Ordering::Less)
    }
}
