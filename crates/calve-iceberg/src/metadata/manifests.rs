//! `$manifests` and `$all_manifests`: the lines of manifest lists.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, BooleanArray, Int32Array, Int64Array, StringArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;
use calve_types::{DataType, Error, LogicalType, Result, RowField};
use iceberg::spec::{Datum, FieldSummary, Literal, ManifestContentType, ManifestFile, PrimitiveType};

use super::{arrays, column};
use crate::table::{Table, partition_type};
use crate::write::human;

/// The columns; `all` has two more, and other columns that can be NULL, as in the Java library.
pub(super) fn columns(all: bool) -> Vec<(String, DataType)> {
    use LogicalType::{BigInt, Boolean, Int};
    let summary = LogicalType::Row(vec![
        RowField::new("contains_null", Boolean.not_null()),
        RowField::new("contains_nan", Boolean.with_nullable(!all)),
        RowField::new("lower_bound", LogicalType::STRING.nullable()),
        RowField::new("upper_bound", LogicalType::STRING.nullable()),
    ]);
    let mut columns = vec![
        column("content", Int, false),
        column("path", LogicalType::STRING, false),
        column("length", BigInt, false),
        column("partition_spec_id", Int, all),
        column("added_snapshot_id", BigInt, all),
        column("added_data_files_count", Int, all),
        column("existing_data_files_count", Int, all),
        column("deleted_data_files_count", Int, all),
        column("added_delete_files_count", Int, false),
        column("existing_delete_files_count", Int, false),
        column("deleted_delete_files_count", Int, false),
        column("partition_summaries", LogicalType::Array(Box::new(summary.not_null())), all),
    ];
    if all {
        columns.push(column("reference_snapshot_id", BigInt, false));
        columns.push(column("key_metadata", LogicalType::BYTES, true));
    }
    columns
}

/// One of the columns, of manifests in the list of the snapshot `reference`.
///
/// # Errors
/// `internal` for a name or a type that is not among [`columns`].
pub(super) fn array(
    table: &Table,
    manifests: &[ManifestFile],
    reference: i64,
    name: &str,
    data_type: &ArrowType,
) -> Result<ArrayRef> {
    let each = || manifests.iter();
    let ints =
        |value: &dyn Fn(&ManifestFile) -> i32| Arc::new(Int32Array::from_iter_values(each().map(value))) as ArrayRef;
    let longs =
        |value: &dyn Fn(&ManifestFile) -> i64| Arc::new(Int64Array::from_iter_values(each().map(value))) as ArrayRef;
    // a manifest has either data files or delete files
    let counts = |content: ManifestContentType, count: fn(&ManifestFile) -> Option<u32>| {
        let value = |m: &ManifestFile| if m.content == content { count(m).unwrap_or_default() } else { 0 };
        ints(&|m| i32::try_from(value(m)).unwrap_or(i32::MAX))
    };
    use ManifestContentType::{Data, Deletes};
    Ok(match name {
        "content" => ints(&|m| i32::from(m.content == Deletes)),
        "path" => Arc::new(StringArray::from_iter_values(each().map(|m| &m.manifest_path))),
        "length" => longs(&|m| m.manifest_length),
        "partition_spec_id" => ints(&|m| m.partition_spec_id),
        "added_snapshot_id" => longs(&|m| m.added_snapshot_id),
        "added_data_files_count" => counts(Data, |m| m.added_files_count),
        "existing_data_files_count" => counts(Data, |m| m.existing_files_count),
        "deleted_data_files_count" => counts(Data, |m| m.deleted_files_count),
        "added_delete_files_count" => counts(Deletes, |m| m.added_files_count),
        "existing_delete_files_count" => counts(Deletes, |m| m.existing_files_count),
        "deleted_delete_files_count" => counts(Deletes, |m| m.deleted_files_count),
        "partition_summaries" => summaries(table, manifests, data_type)?,
        "reference_snapshot_id" => longs(&|_| reference),
        "key_metadata" => Arc::new(each().map(|m| m.key_metadata.as_deref()).collect::<BinaryArray>()),
        other => return Err(Error::internal(format!("no column '{other}' in $manifests"))),
    })
}

fn summaries(table: &Table, manifests: &[ManifestFile], data_type: &ArrowType) -> Result<ArrayRef> {
    let ArrowType::List(element) = data_type else { return Err(Error::internal("summaries are no list")) };
    let ArrowType::Struct(parts) = element.data_type() else { return Err(Error::internal("summaries are no structs")) };
    let mut lengths = Vec::with_capacity(manifests.len());
    let (mut nulls, mut nans, mut lower, mut upper) = (vec![], vec![], vec![], vec![]);
    let nullable_nan = parts.get(1).is_some_and(|part| part.is_nullable());
    for manifest in manifests {
        let fields = manifest.partitions.as_deref().unwrap_or_default();
        let bound = Bounds::new(table, manifest.partition_spec_id);
        lengths.push(Some(fields.len()));
        for (at, field) in fields.iter().enumerate() {
            nulls.push(field.contains_null);
            nans.push(field.contains_nan.or_else(|| (!nullable_nan).then_some(false)));
            lower.push(bound.text(at, field, |f| f.lower_bound.as_ref().map(|b| b.as_slice())));
            upper.push(bound.text(at, field, |f| f.upper_bound.as_ref().map(|b| b.as_slice())));
        }
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BooleanArray::from(nulls)),
        Arc::new(BooleanArray::from(nans)),
        Arc::new(StringArray::from(lower)),
        Arc::new(StringArray::from(upper)),
    ];
    let rows = lengths.iter().flatten().sum();
    let values = StructArray::try_new_with_length(parts.clone(), columns, None::<NullBuffer>, rows);
    arrays::list(data_type, &lengths, Arc::new(values.map_err(Error::internal)?))
}

/// How the bounds of a manifest's partition fields read.
struct Bounds(Vec<(iceberg::spec::Transform, PrimitiveType)>);

impl Bounds {
    /// A spec nobody knows has no bounds that could be read.
    fn new(table: &Table, spec_id: i32) -> Self {
        let metadata = table.metadata();
        let Some(spec) = metadata.partition_spec_by_id(spec_id) else { return Self(vec![]) };
        let Ok((_, types)) = partition_type(metadata, spec) else { return Self(vec![]) };
        let fields = spec.fields().iter().zip(types.fields());
        Self(fields.filter_map(|(f, t)| Some((f.transform, t.field_type.as_primitive_type()?.clone()))).collect())
    }

    /// `null` for a bound that is not there, as the Java library prints it.
    fn text(&self, at: usize, field: &FieldSummary, bound: fn(&FieldSummary) -> Option<&[u8]>) -> Option<String> {
        let (transform, data_type) = self.0.get(at)?;
        let Some(bytes) = bound(field) else { return Some("null".to_owned()) };
        let datum = Datum::try_from_bytes(bytes, data_type.clone()).ok()?;
        Some(human(*transform, data_type, &Literal::Primitive(datum.literal().clone())))
    }
}
