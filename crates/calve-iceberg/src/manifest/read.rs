//! The entries of a manifest.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use iceberg::metadata_columns::get_metadata_field;
use iceberg::spec::{
    DataContentType, DataFileBuilder, Datum, FormatVersion, Literal, ManifestContentType, ManifestEntry,
    ManifestEntryRef, ManifestFile, ManifestStatus, PrimitiveLiteral, PrimitiveType, Struct,
};
use uuid::Uuid;

use super::layout::{Layout, id};
use crate::scan::avro::{Cursor, Damage, Node, Shape, next_block_of, present, skip};

/// Decodes the entries of a manifest, deleted ones included, from the blocks behind its header. What they leave out they
/// have from the manifest's line in the manifest list (Iceberg specification, "Sequence Number Inheritance" and "First Row
/// ID Inheritance"). Of `columns` only, if that is given, null and NaN counts and bounds are kept, and of no other metrics.
///
/// # Errors
/// A sentence about what is wrong with the manifest.
pub(crate) fn read(
    layout: &Layout,
    blocks: &[u8],
    manifest: &ManifestFile,
    columns: Option<&HashSet<i32>>,
) -> Result<Vec<ManifestEntryRef>, Damage> {
    let first = manifest.first_row_id.map(|first| i64::try_from(first).map_err(|_| "a first row id is too large"));
    let mut reading = Reading { layout, manifest, columns, next_row_id: first.transpose()? };
    let mut input = Cursor(blocks);
    let sync = input.array::<16>()?;
    let mut entries = Vec::new();
    while let Some(block) = next_block_of(&mut input, layout.codec, &sync)? {
        let mut rows = Cursor(&block.bytes);
        for _ in 0..block.rows {
            entries.push(Arc::new(reading.entry(&mut rows)?));
        }
        if !rows.0.is_empty() {
            return Err("a block has more bytes than entries".to_owned());
        }
    }
    Ok(entries)
}

struct Reading<'a> {
    layout: &'a Layout,
    manifest: &'a ManifestFile,
    columns: Option<&'a HashSet<i32>>,
    /// What the next data file without row ids begins with, in tables that have row ids.
    next_row_id: Option<i64>,
}

impl Reading<'_> {
    fn entry(&mut self, input: &mut Cursor<'_>) -> Result<ManifestEntry, Damage> {
        let (mut status, mut snapshot_id, mut sequence_number, mut file_sequence_number) = (None, None, None, None);
        let mut file = None;
        let layout = self.layout;
        for (field, node) in &layout.entry {
            let Some(node) = present(node, input)? else { continue };
            match *field {
                id::STATUS => status = Some(int(node, input)?),
                id::SNAPSHOT_ID => snapshot_id = Some(long(node, input)?),
                id::SEQUENCE_NUMBER => sequence_number = Some(long(node, input)?),
                id::FILE_SEQUENCE_NUMBER => file_sequence_number = Some(long(node, input)?),
                id::DATA_FILE => file = Some(self.file(input)?),
                _ => skip(node, input)?,
            }
        }
        let status = match status.ok_or("an entry has no status")? {
            0 => ManifestStatus::Existing,
            1 => ManifestStatus::Added,
            2 => ManifestStatus::Deleted,
            other => return Err(format!("an entry has the unknown status {other}")),
        };
        let manifest = self.manifest;
        if layout.version == FormatVersion::V1 {
            if manifest.sequence_number > 0 || manifest.content == ManifestContentType::Deletes {
                return Err("its header says format version 1, its manifest list a later one".to_owned());
            }
            (sequence_number, file_sequence_number) = (Some(0), Some(0));
        } else if status == ManifestStatus::Added || manifest.sequence_number == 0 {
            // manifests of version 1 have the number 0
            sequence_number = sequence_number.or(Some(manifest.sequence_number));
            file_sequence_number = file_sequence_number.or(Some(manifest.sequence_number));
        }
        let mut file = file.ok_or("an entry has no file")?;
        if status != ManifestStatus::Deleted {
            self.give_row_ids(&mut file)?;
        }
        let data_file = file.builder.build().map_err(|e| format!("an entry is not complete: {e}"))?;
        Ok(ManifestEntry {
            status,
            snapshot_id: snapshot_id.or(Some(manifest.added_snapshot_id)),
            sequence_number,
            file_sequence_number,
            data_file,
        })
    }

    /// Live data files without row ids have the next ones, in order.
    fn give_row_ids(&mut self, file: &mut File) -> Result<(), Damage> {
        let Some(first) = self.next_row_id else { return Ok(()) };
        if file.content == DataContentType::Data && !file.has_row_ids {
            file.builder.first_row_id(Some(first));
            let after = i64::try_from(file.rows).ok().and_then(|rows| first.checked_add(rows));
            self.next_row_id = Some(after.ok_or("row ids overflow")?);
        }
        Ok(())
    }

    fn file(&self, input: &mut Cursor<'_>) -> Result<File, Damage> {
        let mut builder = DataFileBuilder::default();
        let (mut content, mut rows, mut has_row_ids) = (DataContentType::Data, 0, false);
        builder.partition_spec_id(self.layout.spec_id).partition(Struct::empty());
        for (field, node) in &self.layout.file {
            let Some(node) = present(node, input)? else { continue };
            match *field {
                id::CONTENT => content = DataContentType::try_from(int(node, input)?).map_err(said)?,
                id::FILE_PATH => _ = builder.file_path(text(node, input)?),
                id::FILE_FORMAT => _ = builder.file_format(text(node, input)?.parse().map_err(said)?),
                id::PARTITION => _ = builder.partition(self.partition(input)?),
                id::RECORD_COUNT => {
                    rows = count(node, input)?;
                    builder.record_count(rows);
                }
                id::FILE_SIZE_IN_BYTES => _ = builder.file_size_in_bytes(count(node, input)?),
                id::COLUMN_SIZES if self.columns.is_none() => _ = builder.column_sizes(self.counts(node, input)?),
                id::VALUE_COUNTS if self.columns.is_none() => _ = builder.value_counts(self.counts(node, input)?),
                id::NULL_VALUE_COUNTS => _ = builder.null_value_counts(self.counts(node, input)?),
                id::NAN_VALUE_COUNTS => _ = builder.nan_value_counts(self.counts(node, input)?),
                id::LOWER_BOUNDS => _ = builder.lower_bounds(self.bounds(node, input)?),
                id::UPPER_BOUNDS => _ = builder.upper_bounds(self.bounds(node, input)?),
                id::KEY_METADATA => _ = builder.key_metadata(Some(bytes(node, input)?.to_vec())),
                id::SPLIT_OFFSETS => _ = builder.split_offsets(Some(list(node, input, long)?)),
                id::EQUALITY_IDS => _ = builder.equality_ids(Some(list(node, input, int)?)),
                id::SORT_ORDER_ID => _ = builder.sort_order_id(int(node, input)?),
                id::FIRST_ROW_ID => {
                    has_row_ids = true;
                    builder.first_row_id(Some(long(node, input)?));
                }
                id::REFERENCED_DATA_FILE => _ = builder.referenced_data_file(Some(text(node, input)?)),
                id::CONTENT_OFFSET => _ = builder.content_offset(Some(long(node, input)?)),
                id::CONTENT_SIZE_IN_BYTES => _ = builder.content_size_in_bytes(Some(long(node, input)?)),
                _ => skip(node, input)?,
            }
        }
        builder.content(content);
        Ok(File { builder, content, rows, has_row_ids })
    }

    fn partition(&self, input: &mut Cursor<'_>) -> Result<Struct, Damage> {
        let mut values = vec![None; self.layout.partition_fields];
        for (target, node) in &self.layout.partition {
            let Some(node) = present(node, input)? else { continue };
            match target {
                None => skip(node, input)?,
                Some((place, kind)) => {
                    let value = literal(kind, node, input)?;
                    if let Some(slot) = values.get_mut(*place) {
                        *slot = Some(value);
                    }
                }
            }
        }
        Ok(Struct::from_iter(values))
    }

    fn counts(&self, node: &Node, input: &mut Cursor<'_>) -> Result<HashMap<i32, u64>, Damage> {
        let mut counts = HashMap::new();
        self.by_column(node, input, |column, node, input| {
            // writers that do not know say -1
            if let Ok(count) = u64::try_from(long(node, input)?) {
                counts.insert(column, count);
            }
            Ok(())
        })?;
        Ok(counts)
    }

    /// A bound of a column that the schema does not have any more is passed over.
    fn bounds(&self, node: &Node, input: &mut Cursor<'_>) -> Result<HashMap<i32, Datum>, Damage> {
        let mut bounds = HashMap::new();
        self.by_column(node, input, |column, node, input| {
            let bytes = bytes(node, input)?;
            let field = self.layout.schema.field_by_id(column).or_else(|| get_metadata_field(column).ok());
            if let Some(kind) = field.and_then(|field| field.field_type.as_primitive_type()) {
                bounds.insert(column, Datum::try_from_bytes(bytes, kind.clone()).map_err(said)?);
            }
            Ok(())
        })?;
        Ok(bounds)
    }

    /// Reads a map by column, for the wanted columns: an array of records of a key and a value.
    fn by_column(
        &self,
        node: &Node,
        input: &mut Cursor<'_>,
        mut read: impl FnMut(i32, &Node, &mut Cursor<'_>) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let Shape::Array(item) = &node.shape else { return Err(mismatch(node, "a map")) };
        let (key, value) = item.pair().ok_or_else(|| mismatch(node, "a map"))?;
        input.items(item.least, |input| {
            let column = int(&key.node, input)?;
            match present(&value.node, input)? {
                Some(node) if self.columns.is_none_or(|columns| columns.contains(&column)) => read(column, node, input),
                Some(node) => skip(node, input),
                None => Ok(()),
            }
        })?;
        Ok(())
    }
}

/// A file that is being read.
struct File {
    builder: DataFileBuilder,
    content: DataContentType,
    rows: u64,
    has_row_ids: bool,
}

fn said(error: iceberg::Error) -> Damage {
    error.message().to_owned()
}

fn mismatch(node: &Node, wanted: &str) -> Damage {
    format!("{:?} is not {wanted}", node.shape)
}

fn long(node: &Node, input: &mut Cursor<'_>) -> Result<i64, Damage> {
    match node.shape {
        Shape::Int | Shape::Long => input.long(),
        _ => Err(mismatch(node, "a number")),
    }
}

fn int(node: &Node, input: &mut Cursor<'_>) -> Result<i32, Damage> {
    i32::try_from(long(node, input)?).map_err(|_| "a number is too large".to_owned())
}

fn count(node: &Node, input: &mut Cursor<'_>) -> Result<u64, Damage> {
    u64::try_from(long(node, input)?).map_err(|_| "a count is negative".to_owned())
}

fn bytes<'a>(node: &Node, input: &mut Cursor<'a>) -> Result<&'a [u8], Damage> {
    match node.shape {
        Shape::Bytes | Shape::Text => input.counted(),
        Shape::Fixed(size) => input.bytes(size),
        _ => Err(mismatch(node, "bytes")),
    }
}

fn text(node: &Node, input: &mut Cursor<'_>) -> Result<String, Damage> {
    let bytes = bytes(node, input)?;
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| "a text is not UTF-8".to_owned())
}

fn list<T>(
    node: &Node,
    input: &mut Cursor<'_>,
    read: impl Fn(&Node, &mut Cursor<'_>) -> Result<T, Damage>,
) -> Result<Vec<T>, Damage> {
    let Shape::Array(item) = &node.shape else { return Err(mismatch(node, "a list")) };
    let mut values = Vec::new();
    input.items(item.least, |input| {
        values.push(read(present(item, input)?.ok_or("an item is NULL")?, input)?);
        Ok(())
    })?;
    Ok(values)
}

/// A partition value (Iceberg specification, appendix A, "Avro").
fn literal(kind: &PrimitiveType, node: &Node, input: &mut Cursor<'_>) -> Result<Literal, Damage> {
    use PrimitiveType as P;
    let value = match kind {
        P::Boolean => match node.shape {
            Shape::Boolean => PrimitiveLiteral::Boolean(input.array::<1>()? != [0]),
            _ => return Err(mismatch(node, "a boolean")),
        },
        P::Int | P::Date => PrimitiveLiteral::Int(int(node, input)?),
        P::Long | P::Time | P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs => {
            PrimitiveLiteral::Long(long(node, input)?)
        }
        P::Float => match node.shape {
            Shape::Float => PrimitiveLiteral::Float(f32::from_le_bytes(input.array()?).into()),
            _ => return Err(mismatch(node, "a float")),
        },
        P::Double => match node.shape {
            Shape::Float => PrimitiveLiteral::Double(f64::from(f32::from_le_bytes(input.array()?)).into()),
            Shape::Double => PrimitiveLiteral::Double(f64::from_le_bytes(input.array()?).into()),
            _ => return Err(mismatch(node, "a double")),
        },
        P::Decimal { .. } => PrimitiveLiteral::Int128(unscaled(bytes(node, input)?)?),
        P::String => PrimitiveLiteral::String(text(node, input)?),
        P::Uuid => {
            let uuid = match node.shape {
                Shape::Text => Uuid::parse_str(&text(node, input)?).ok(),
                _ => Uuid::from_slice(bytes(node, input)?).ok(),
            };
            PrimitiveLiteral::UInt128(uuid.ok_or("a partition value is not a UUID")?.as_u128())
        }
        P::Fixed(_) | P::Binary => PrimitiveLiteral::Binary(bytes(node, input)?.to_vec()),
    };
    Ok(Literal::Primitive(value))
}

/// A big-endian two's complement number.
fn unscaled(bytes: &[u8]) -> Result<i128, Damage> {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let mut all = [if negative { 0xff } else { 0 }; 16];
    let start = all.len().checked_sub(bytes.len()).ok_or("a decimal has too many bytes")?;
    if let Some(end) = all.get_mut(start..) {
        end.copy_from_slice(bytes);
    }
    Ok(i128::from_be_bytes(all))
}
