//! The `partition` column of metadata tables: one type for the partitions of all specs (Java's `Partitioning.partitionType`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray, new_null_array};
use arrow::datatypes::DataType as ArrowType;
use calve_types::{DataType, Error, LogicalType, Result, RowField};
use datafusion::common::ScalarValue;
use iceberg::spec::{DataFile, PrimitiveLiteral, PrimitiveType, Transform, Type};

use crate::error::Context;
use crate::scan::literal::{primitive, scalar};
use crate::schema::flink_type;
use crate::table::Table;

/// A field of the partitions of some spec.
struct Field {
    name: String,
    transform: Transform,
    values: Type,
}

/// The partition fields of all specs, and where the files of each spec have them.
#[derive(Debug)]
pub(super) struct PartitionColumn {
    /// Name and type of the values, in the order of the field ids.
    fields: Vec<(String, PrimitiveType)>,
    /// By spec, for each of `fields`, its place in the partition tuples.
    places: HashMap<i32, Vec<Option<usize>>>,
}

impl PartitionColumn {
    /// Without the fields whose source column is gone; names are those of the newest spec that has the field. A field
    /// that version 1 keeps without values has the type it had with them.
    ///
    /// # Errors
    /// `invalid-table` for a transform that its source column cannot have.
    pub fn new(table: &Table) -> Result<Self> {
        let metadata = table.metadata();
        let schema = metadata.current_schema();
        let mut specs: Vec<_> = metadata.partition_specs_iter().collect();
        specs.sort_by_key(|spec| Reverse(spec.spec_id()));
        let mut found: BTreeMap<i32, Field> = BTreeMap::new();
        for field in specs.iter().flat_map(|spec| spec.fields()) {
            let Some(source) = schema.field_by_id(field.source_id) else { continue };
            let values = || field.transform.result_type(&source.field_type);
            let values = values().context(|| format!("read the partition field '{}'", field.name))?;
            match found.get_mut(&field.field_id) {
                None => {
                    let new = Field { name: field.name.clone(), transform: field.transform, values };
                    found.insert(field.field_id, new);
                }
                Some(newer) if newer.transform == Transform::Void => {
                    newer.transform = field.transform;
                    newer.values = values;
                }
                Some(_) => {}
            }
        }
        let place =
            |spec: &iceberg::spec::PartitionSpecRef, id: &i32| spec.fields().iter().position(|f| f.field_id == *id);
        let places = specs.iter().map(|spec| (spec.spec_id(), found.keys().map(|id| place(spec, id)).collect()));
        let places = places.collect();
        let fields = found.into_values().map(|field| match field.values {
            Type::Primitive(values) => Ok((field.name, values)),
            other => Err(Error::new("invalid-table", format!("partition field '{}' has the type {other}", field.name))),
        });
        Ok(Self { fields: fields.collect::<Result<_>>()?, places })
    }

    /// Whether no spec has partition fields: then the table's metadata tables have no such column.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// The column's type.
    ///
    /// # Errors
    /// `not-supported` for a type that Flink does not have.
    pub fn data_type(&self) -> Result<DataType> {
        let field = |(name, values): &(String, PrimitiveType)| {
            Ok(RowField::new(name, flink_type(&Type::Primitive(values.clone()))?.nullable()))
        };
        Ok(LogicalType::Row(self.fields.iter().map(field).collect::<Result<_>>()?).not_null())
    }

    /// The values of one field, of files with the ids of their specs.
    ///
    /// # Errors
    /// `internal` if `data_type` is not the type of such values.
    pub fn values<'a>(
        &self,
        field: usize,
        files: impl Iterator<Item = (i32, &'a DataFile)>,
        data_type: &ArrowType,
    ) -> Result<ArrayRef> {
        let (_, of) = self.fields.get(field).ok_or_else(|| Error::internal("no such partition field"))?;
        let value = |(spec_id, file): (i32, &'a DataFile)| {
            let place = (*self.places.get(&spec_id)?.get(field)?)?;
            Some((primitive(file.partition().fields().get(place)?.as_ref()?)?, of))
        };
        literals(data_type, files.map(value))
    }

    /// The column, of files with the ids of their specs.
    ///
    /// # Errors
    /// `internal` if `data_type` is not [`PartitionColumn::data_type`].
    pub fn array<'a>(
        &self,
        files: impl Iterator<Item = (i32, &'a DataFile)> + Clone,
        data_type: &ArrowType,
    ) -> Result<ArrayRef> {
        let ArrowType::Struct(fields) = data_type else { return Err(Error::internal("'partition' is not a struct")) };
        let columns = fields.iter().enumerate();
        let columns: Result<_> = columns.map(|(at, field)| self.values(at, files.clone(), field.data_type())).collect();
        Ok(Arc::new(StructArray::try_new(fields.clone(), columns?, None).map_err(Error::internal)?))
    }
}

/// Values of one Arrow type; what does not fit it (the bound of a column whose type changed) is NULL.
///
/// # Errors
/// `internal` for a type without scalar values.
pub(super) fn literals<'a>(
    data_type: &ArrowType,
    values: impl Iterator<Item = Option<(&'a PrimitiveLiteral, &'a PrimitiveType)>>,
) -> Result<ArrayRef> {
    let null = ScalarValue::try_from(data_type).map_err(Error::internal)?;
    let scalars: Vec<ScalarValue> = values
        .map(|value| value.and_then(|(v, from)| scalar(v, from, data_type)).unwrap_or_else(|| null.clone()))
        .collect();
    if scalars.is_empty() {
        return Ok(new_null_array(data_type, 0));
    }
    ScalarValue::iter_to_array(scalars).map_err(Error::internal)
}
