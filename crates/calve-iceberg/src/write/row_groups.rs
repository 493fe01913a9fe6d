//! Row groups of a Parquet file that cannot hold a key, by their statistics and bloom filters.

use std::sync::Arc;

use calve_types::Result;
use iceberg::spec::{DataFileFormat, NestedFieldRef, PrimitiveType, Type};
use parquet::arrow::ParquetRecordBatchStreamBuilder;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{ConvertedType, Type as Physical};
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

use super::key_values::Values;
use super::live::Value;
use crate::scan::{FileTask, ScanContext, open_parquet, unreadable_because};

/// Has the row groups of a file skipped that hold no key with these values of the key columns. False if all of them are.
///
/// # Errors
/// `io`, naming the file.
pub(crate) async fn skip_row_groups(
    context: &Arc<ScanContext>,
    task: &FileTask,
    key: &[NestedFieldRef],
    values: &[Values],
) -> Result<bool> {
    if task.file().file_format() != DataFileFormat::Parquet {
        return Ok(true);
    }
    let mut reader = open_parquet(context.table.io(), task.file())?;
    let footer = task.footer(&mut reader).await?;
    let columns: Vec<(usize, &Values)> =
        key.iter().zip(values).filter_map(|(field, values)| Some((stored(&footer, field)?, values))).collect();
    let groups = footer.row_groups();
    let mut kept: Vec<bool> =
        groups.iter().map(|group| columns.iter().all(|(column, values)| may_hold(group, *column, values))).collect();
    let has_filter = |group: &RowGroupMetaData, column: usize| {
        group.columns().get(column).is_some_and(|chunk| chunk.bloom_filter_offset().is_some())
    };
    let wanted = |column: usize, values: &Values| {
        matches!(values, Values::Few(_)) && groups.iter().any(|group| has_filter(group, column))
    };
    if columns.iter().any(|(column, values)| wanted(*column, values)) {
        let wrong = |e: &parquet::errors::ParquetError| unreadable_because(task.file(), e);
        let metadata =
            ArrowReaderMetadata::try_new(footer.clone(), ArrowReaderOptions::new()).map_err(|e| wrong(&e))?;
        let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(reader, metadata);
        for (column, values) in columns.iter().filter(|(column, values)| wanted(*column, values)) {
            let Values::Few(values) = values else { continue };
            for (index, group) in groups.iter().enumerate() {
                let Some(keep) = kept.get_mut(index).filter(|keep| **keep) else { continue };
                if !has_filter(group, *column) {
                    continue;
                }
                let filter = builder.get_row_group_column_bloom_filter(index, *column).await.map_err(|e| wrong(&e))?;
                if let Some((filter, chunk)) = filter.zip(group.columns().get(*column)) {
                    *keep = values.iter().any(|value| passes(&filter, chunk.column_type(), value));
                }
            }
        }
    }
    let any = kept.contains(&true);
    if kept.contains(&false) {
        task.read_only(kept);
    }
    Ok(any)
}

/// The column of a file with the field, if its stored values order and hash like values of the field's type.
fn stored(footer: &ParquetMetaData, field: &NestedFieldRef) -> Option<usize> {
    let columns = footer.file_metadata().schema_descr().columns();
    let index = columns.iter().position(|column| {
        let info = column.self_type().get_basic_info();
        info.has_id() && info.id() == field.id && column.path().parts().len() == 1
    })?;
    let column = columns.get(index)?;
    let Type::Primitive(of) = field.field_type.as_ref() else { return None };
    let plain = matches!(
        (of, column.physical_type(), column.converted_type()),
        (PrimitiveType::Int, Physical::INT32, ConvertedType::NONE | ConvertedType::INT_32)
            | (PrimitiveType::Long, Physical::INT32, ConvertedType::NONE | ConvertedType::INT_32)
            | (PrimitiveType::Long, Physical::INT64, ConvertedType::NONE | ConvertedType::INT_64)
            | (PrimitiveType::Date, Physical::INT32, ConvertedType::DATE)
            | (PrimitiveType::Timestamp | PrimitiveType::Timestamptz, Physical::INT64, ConvertedType::TIMESTAMP_MICROS)
            | (PrimitiveType::String, Physical::BYTE_ARRAY, ConvertedType::UTF8)
            | (PrimitiveType::Binary, Physical::BYTE_ARRAY, ConvertedType::NONE)
    );
    plain.then_some(index)
}

fn may_hold(group: &RowGroupMetaData, column: usize, values: &Values) -> bool {
    let Some(statistics) = group.columns().get(column).and_then(|chunk| chunk.statistics()) else { return true };
    let number = |v: i64| Value::Number(i128::from(v));
    let (low, high) = match statistics {
        Statistics::Int32(v) => {
            (v.min_opt().map(|v| number(i64::from(*v))), v.max_opt().map(|v| number(i64::from(*v))))
        }
        Statistics::Int64(v) => (v.min_opt().map(|v| number(*v)), v.max_opt().map(|v| number(*v))),
        // old writers compared bytes with signs
        Statistics::ByteArray(v) if !statistics.is_min_max_deprecated() => {
            (v.min_opt().map(|v| Value::Bytes(v.data().to_vec())), v.max_opt().map(|v| Value::Bytes(v.data().to_vec())))
        }
        _ => return true,
    };
    values.may_be_between(low.as_ref(), high.as_ref())
}

fn passes(filter: &Sbbf, physical: Physical, value: &Value) -> bool {
    match (physical, value) {
        // what does not fit the stored type is not in the file
        (Physical::INT32, Value::Number(v)) => i32::try_from(*v).is_ok_and(|v| filter.check(&v)),
        (Physical::INT64, Value::Number(v)) => i64::try_from(*v).is_ok_and(|v| filter.check(&v)),
        (Physical::BYTE_ARRAY, Value::Bytes(v)) => filter.check(v.as_slice()),
        _ => true,
    }
}
