//! Rows to bytes that compare as the rows do.

use arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use arrow::compute::SortOptions;
use arrow::row::{RowConverter, SortField};
use calve_types::{Error, Result};
use iceberg::spec::{NullOrder, PartitionSpec, Schema, SortDirection, SortOrder, TableMetadata, Transform, Type};

use super::partition::{arrow_type, descend, path_of};
use super::transform::apply;
use crate::error::Context;

/// The order of rows by the fields of a partition spec and of a sort order, as the Iceberg specification ("Sorting") has it:
/// of floating-point numbers -NaN is the least and NaN the greatest, and -0 is less than 0; texts compare by code points,
/// bytes as unsigned numbers. Partition values ascend, NULL first.
#[derive(Debug)]
pub(crate) struct SortKey {
    fields: Vec<KeyField>,
    converter: RowConverter,
}

#[derive(Debug)]
struct KeyField {
    /// Index of the top-level column, then of the fields of structs.
    path: Vec<usize>,
    transform: Transform,
}

impl SortKey {
    /// For batches of `schema`'s columns; `None` without a field to sort by.
    ///
    /// # Errors
    /// `invalid-table` for a field whose column is not in the table or does not take its transform; `not-supported` for
    /// columns inside lists and maps, and for unknown transforms.
    pub(crate) fn new(spec: &PartitionSpec, order: &SortOrder, schema: &Schema) -> Result<Option<Self>> {
        let by_partition = spec.fields().iter().map(|f| (f.source_id, f.transform, SortOptions::new(false, true)));
        let by_order = order.fields.iter().map(|f| {
            let descending = f.direction == SortDirection::Descending;
            (f.source_id, f.transform, SortOptions::new(descending, f.null_order == NullOrder::First))
        });
        let (mut fields, mut types) = (Vec::new(), Vec::new());
        for (source_id, transform, options) in by_partition.chain(by_order) {
            if transform == Transform::Void {
                continue;
            }
            let source = schema.field_by_id(source_id);
            let source =
                source.ok_or_else(|| invalid(format!("the column with id {source_id} is not in the table")))?;
            let name = schema.name_by_field_id(source_id).unwrap_or(&source.name);
            if transform == Transform::Unknown {
                return Err(Error::unsupported(format!("sorting by an unknown transform of column '{name}'")));
            }
            let result = match transform.result_type(&source.field_type) {
                Ok(Type::Primitive(result)) => result,
                _ => return Err(invalid(format!("transform '{transform}' does not take column '{name}'"))),
            };
            let Some(path) = path_of(schema.as_struct().fields(), source_id) else {
                return Err(Error::unsupported(format!("sorting by '{name}' inside a list or a map")));
            };
            fields.push(KeyField { path, transform });
            types.push(SortField::new_with_options(arrow_type(&result)?, options));
        }
        if fields.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { fields, converter: RowConverter::new(types).context(|| "compare rows")? }))
    }

    /// The order of a table's partitions; `None` without partitions.
    ///
    /// # Errors
    /// As [`SortKey::new`].
    pub(crate) fn of_partitions(metadata: &TableMetadata) -> Result<Option<Self>> {
        Self::new(metadata.default_partition_spec(), &SortOrder::unsorted_order(), metadata.current_schema())
    }

    /// A key for every row: keys compare as bytes like the rows.
    ///
    /// # Errors
    /// As [`apply`].
    pub(crate) fn keys(&self, rows: &RecordBatch) -> Result<BinaryArray> {
        let values = self.fields.iter().map(|field| apply(field.transform, &descend(rows.columns(), &field.path)?));
        let values = values.collect::<Result<Vec<ArrayRef>>>()?;
        let encoded = self.converter.convert_columns(&values).context(|| "compare rows")?;
        encoded.try_into_binary().context(|| "compare rows")
    }
}

fn invalid(why: String) -> Error {
    Error::new("invalid-table", format!("the table's sort order cannot be applied: {why}"))
}
