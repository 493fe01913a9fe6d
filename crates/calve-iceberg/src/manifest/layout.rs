//! What the header of a manifest says about its entries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use iceberg::spec::{FormatVersion, ManifestMetadata, PrimitiveType, SchemaRef};

use crate::codec::Codec;
use crate::scan::avro::{Node, RecordField, Shape, codec, entries, root};
use crate::write::avro_name;

/// Headers of a session that are kept. A table has one for every schema and partition spec.
const MOST_LAYOUTS: usize = 64;

/// The place of a partition field's value in the tuple, and its type. A field that the spec does not have has none.
type Target = (usize, PrimitiveType);

/// How to decode the entries of a manifest.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The fields of an entry, of its file and of the file's partition, in their order, with their ids.
    pub(super) entry: Vec<(i32, Arc<Node>)>,
    pub(super) file: Vec<(i32, Arc<Node>)>,
    pub(super) partition: Vec<(Option<Target>, Arc<Node>)>,
    /// How many values the partition's tuple has.
    pub(super) partition_fields: usize,
    /// The table's schema when the manifest was written: bounds are of its types.
    pub(super) schema: SchemaRef,
    pub(super) version: FormatVersion,
    pub(super) spec_id: i32,
    pub(super) codec: Codec,
}

/// Field ids of an entry (Iceberg specification, `manifest_entry` and `data_file`), with their names.
pub(super) mod id {
    pub(crate) const STATUS: i32 = 0;
    pub(crate) const SNAPSHOT_ID: i32 = 1;
    pub(crate) const DATA_FILE: i32 = 2;
    pub(crate) const SEQUENCE_NUMBER: i32 = 3;
    pub(crate) const FILE_SEQUENCE_NUMBER: i32 = 4;
    pub(crate) const CONTENT: i32 = 134;
    pub(crate) const FILE_PATH: i32 = 100;
    pub(crate) const FILE_FORMAT: i32 = 101;
    pub(crate) const PARTITION: i32 = 102;
    pub(crate) const RECORD_COUNT: i32 = 103;
    pub(crate) const FILE_SIZE_IN_BYTES: i32 = 104;
    pub(crate) const COLUMN_SIZES: i32 = 108;
    pub(crate) const VALUE_COUNTS: i32 = 109;
    pub(crate) const NULL_VALUE_COUNTS: i32 = 110;
    pub(crate) const NAN_VALUE_COUNTS: i32 = 137;
    pub(crate) const LOWER_BOUNDS: i32 = 125;
    pub(crate) const UPPER_BOUNDS: i32 = 128;
    pub(crate) const KEY_METADATA: i32 = 131;
    pub(crate) const SPLIT_OFFSETS: i32 = 132;
    pub(crate) const EQUALITY_IDS: i32 = 135;
    pub(crate) const SORT_ORDER_ID: i32 = 140;
    pub(crate) const FIRST_ROW_ID: i32 = 142;
    pub(crate) const REFERENCED_DATA_FILE: i32 = 143;
    pub(crate) const CONTENT_OFFSET: i32 = 144;
    pub(crate) const CONTENT_SIZE_IN_BYTES: i32 = 145;
}

/// No field: what is passed over.
const UNKNOWN: i32 = -1;

impl Layout {
    /// From the entries of a manifest's header.
    fn parse(header: &HashMap<&str, &[u8]>) -> Result<Self, String> {
        let owned = header.iter().map(|(key, value)| ((*key).to_owned(), value.to_vec())).collect();
        let metadata = ManifestMetadata::parse(&owned).map_err(|e| e.message().to_owned())?;
        let codec = codec(header.get("avro.codec").copied())?;
        let root = root(header.get("avro.schema").ok_or("it has no schema")?)?;
        let entry = record(&root, "an entry")?;
        let file = record(inner(entry, id::DATA_FILE, "data_file")?, "'data_file'")?;
        let spec = &metadata.partition_spec;
        let types = spec.partition_type(&metadata.schema).map_err(|e| e.message().to_owned())?;
        // a file of an unpartitioned table may do without the field
        let partition = match inner(file, id::PARTITION, "partition") {
            Ok(node) => record(node, "'partition'")?,
            Err(_) if types.fields().is_empty() => &[],
            Err(missing) => return Err(missing),
        };
        let partition = partition.iter().map(|field| {
            let of = |wanted: &iceberg::spec::NestedFieldRef| match field.id {
                Some(id) => wanted.id == id,
                None => field.name == wanted.name || field.name == avro_name(&wanted.name),
            };
            let place = types.fields().iter().position(of).and_then(|place| types.fields().get(place).zip(Some(place)));
            let target = place.map(|(wanted, place)| {
                let kind = wanted.field_type.as_primitive_type().cloned();
                kind.map(|kind| (place, kind)).ok_or_else(|| format!("partition field '{}' is nested", wanted.name))
            });
            Ok((target.transpose()?, field.node.clone()))
        });
        Ok(Self {
            entry: with_ids(entry, &ENTRY),
            file: with_ids(file, &FILE),
            partition: partition.collect::<Result<_, String>>()?,
            partition_fields: types.fields().len(),
            schema: metadata.schema.clone(),
            version: metadata.format_version,
            spec_id: spec.spec_id(),
            codec,
        })
    }
}

/// Names of fields, for writers that leave out the ids.
const ENTRY: [(&str, i32); 5] = [
    ("status", id::STATUS),
    ("snapshot_id", id::SNAPSHOT_ID),
    ("data_file", id::DATA_FILE),
    ("sequence_number", id::SEQUENCE_NUMBER),
    ("file_sequence_number", id::FILE_SEQUENCE_NUMBER),
];

const FILE: [(&str, i32); 20] = [
    ("content", id::CONTENT),
    ("file_path", id::FILE_PATH),
    ("file_format", id::FILE_FORMAT),
    ("partition", id::PARTITION),
    ("record_count", id::RECORD_COUNT),
    ("file_size_in_bytes", id::FILE_SIZE_IN_BYTES),
    ("column_sizes", id::COLUMN_SIZES),
    ("value_counts", id::VALUE_COUNTS),
    ("null_value_counts", id::NULL_VALUE_COUNTS),
    ("nan_value_counts", id::NAN_VALUE_COUNTS),
    ("lower_bounds", id::LOWER_BOUNDS),
    ("upper_bounds", id::UPPER_BOUNDS),
    ("key_metadata", id::KEY_METADATA),
    ("split_offsets", id::SPLIT_OFFSETS),
    ("equality_ids", id::EQUALITY_IDS),
    ("sort_order_id", id::SORT_ORDER_ID),
    ("first_row_id", id::FIRST_ROW_ID),
    ("referenced_data_file", id::REFERENCED_DATA_FILE),
    ("content_offset", id::CONTENT_OFFSET),
    ("content_size_in_bytes", id::CONTENT_SIZE_IN_BYTES),
];

fn with_ids(fields: &[RecordField], names: &[(&str, i32)]) -> Vec<(i32, Arc<Node>)> {
    let by_name = |name: &str| names.iter().find(|(known, _)| *known == name).map(|(_, id)| *id);
    let id = |field: &RecordField| field.id.or_else(|| by_name(&field.name)).unwrap_or(UNKNOWN);
    fields.iter().map(|field| (id(field), field.node.clone())).collect()
}

fn record<'a>(node: &'a Node, what: &str) -> Result<&'a [RecordField], String> {
    let node = node.optional().map_or(node, |(inner, _)| inner);
    match &node.shape {
        Shape::Record(fields) => Ok(fields),
        _ => Err(format!("{what} is not a record")),
    }
}

fn inner<'a>(fields: &'a [RecordField], id: i32, name: &str) -> Result<&'a Node, String> {
    let found = fields.iter().find(|field| field.id.map_or(field.name == name, |of| of == id));
    found.map(|field| field.node.as_ref()).ok_or_else(|| format!("its schema has no field '{name}'"))
}

/// The headers that a session has seen lately.
#[derive(Debug, Default)]
pub(crate) struct Layouts(Mutex<HashMap<Vec<u8>, Arc<Layout>>>);

impl Layouts {
    /// The layout of a manifest, and what is behind its header: the sync marker and the blocks.
    ///
    /// # Errors
    /// A sentence about what is wrong with the header.
    pub(crate) fn of<'a>(&self, manifest: &'a [u8]) -> Result<(Arc<Layout>, &'a [u8]), String> {
        let (entries, blocks) = entries(manifest)?;
        let mut header: Vec<(&str, &[u8])> =
            entries.into_iter().filter_map(|(key, value)| Some((std::str::from_utf8(key).ok()?, value))).collect();
        // writers put them in any order
        header.sort_unstable();
        let mut key = Vec::with_capacity(manifest.len().saturating_sub(blocks.len()) + 16 * header.len());
        for (name, value) in &header {
            for part in [name.as_bytes(), value] {
                key.extend_from_slice(&part.len().to_le_bytes());
                key.extend_from_slice(part);
            }
        }
        if let Some(found) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok((found.clone(), blocks));
        }
        let layout = Arc::new(Layout::parse(&header.into_iter().collect())?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_LAYOUTS {
            known.clear();
        }
        known.insert(key, layout.clone());
        Ok((layout, blocks))
    }
}
