//! Values of partition keys, as the names of folders have them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray, new_null_array};
use arrow::record_batch::RecordBatch;
use calve_functions::{CastKind, EvalContext, cast};
use calve_types::{DataType, Error, LogicalType, Result, arrow as mapping};
use datafusion::arrow::datatypes::{DataType as ArrowType, Field, Schema};
use datafusion::common::DFSchema;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::{Expr, col};
use datafusion::physical_expr::create_physical_expr;
use datafusion::physical_plan::PhysicalExpr;

use super::listing::DataFile;
use super::{FilesystemTable, listing};
use crate::values::{self, Kind, Values};
use crate::{from_datafusion, java};

/// An array of one value: a folder's text as a value of the key's type, NULL for the default partition.
///
/// # Errors
/// `invalid-partition` if the text is no value of the type.
pub(crate) fn value(text: Option<&str>, key: &str, data_type: &DataType, path: &Path) -> Result<ArrayRef> {
    let arrow = mapping::to_arrow(&data_type.logical)?;
    let Some(text) = text else { return Ok(new_null_array(&arrow, 1)) };
    parse(text, &data_type.logical).map_err(|e| {
        Error::new(
            "invalid-partition",
            format!("partition '{key}={text}' of file '{}' is no {}", path.display(), data_type.logical),
        )
        .with_detail(e.to_string())
    })
}

/// The text cast to the type, as Flink's `RowPartitionComputer` restores it.
fn parse(text: &str, to: &LogicalType) -> Result<ArrayRef> {
    let from = LogicalType::STRING.nullable();
    // timestamps are written with a T
    let sql = text.replacen('T', " ", 1);
    let text = match to {
        LogicalType::Timestamp(_) if sql.len() == "yyyy-MM-dd HH:mm".len() => &format!("{sql}:00"),
        LogicalType::Timestamp(_) => &sql,
        LogicalType::TimestampLtz(_) => sql.strip_suffix('Z').unwrap_or(&sql),
        _ => text,
    };
    let expr = cast(col("value"), &from, &to.clone().nullable(), CastKind::Cast, &EvalContext::default())?;
    let schema = Schema::new(vec![Field::new("value", ArrowType::Utf8, true)]);
    let physical: Arc<dyn PhysicalExpr> = create_physical_expr(
        &expr,
        &DFSchema::try_from(schema.clone()).map_err(from_datafusion)?,
        &ExecutionProps::new(),
    )
    .map_err(from_datafusion)?;
    let array: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let batch = RecordBatch::try_new(Arc::new(schema), vec![array]).map_err(Error::internal)?;
    physical.evaluate(&batch).and_then(|v| v.into_array(1)).map_err(from_datafusion)
}

/// Whether a condition is about partition keys alone, so that it holds for all rows of a partition or for none.
pub(crate) fn is_about_keys(filter: &Expr, table: &FilesystemTable) -> bool {
    let is_key = |name: &str| {
        let place = table.columns.iter().position(|(column, _)| column == name);
        place.is_some_and(|place| table.keys.contains(&place))
    };
    let columns = filter.column_refs();
    !table.keys.is_empty()
        && !columns.is_empty()
        && columns.iter().all(|column| is_key(&column.name))
        && !filter.is_volatile()
}

/// The files of the partitions in which all conditions are true.
///
/// # Errors
/// A folder's name that is no value of its key; what a condition answers.
pub(crate) fn matching(files: Vec<DataFile>, filters: &[Expr], table: &FilesystemTable) -> Result<Vec<DataFile>> {
    let mut fields = Vec::new();
    for key in &table.keys {
        if let Some(field) = table.schema.fields().get(*key) {
            fields.push(field.as_ref().clone().with_nullable(true));
        }
    }
    let schema = Arc::new(Schema::new(fields));
    let df_schema = DFSchema::try_from(schema.as_ref().clone()).map_err(from_datafusion)?;
    let properties = ExecutionProps::new();
    let conditions = filters
        .iter()
        .map(|filter| create_physical_expr(filter, &df_schema, &properties).map_err(from_datafusion))
        .collect::<Result<Vec<_>>>()?;
    let mut matches: HashMap<Vec<Option<String>>, bool> = HashMap::new();
    let mut kept = Vec::new();
    for file in files {
        let is_matching = match matches.get(&file.partition) {
            Some(known) => *known,
            None => {
                let mut arrays = Vec::new();
                for (key, text) in table.keys.iter().zip(&file.partition) {
                    if let Some((name, data_type)) = table.columns.get(*key) {
                        arrays.push(value(text.as_deref(), name, data_type, &file.path)?);
                    }
                }
                let row = RecordBatch::try_new(schema.clone(), arrays).map_err(Error::internal)?;
                let mut holds = true;
                for condition in &conditions {
                    let answer = condition.evaluate(&row).and_then(|v| v.into_array(1)).map_err(from_datafusion)?;
                    holds &= answer.as_boolean_opt().is_some_and(|a| a.iter().next().flatten() == Some(true));
                }
                matches.insert(file.partition.clone(), holds);
                holds
            }
        };
        if is_matching {
            kept.push(file);
        }
    }
    Ok(kept)
}

/// The folders of each row's partition, `k=1/j=x`; NULL and the empty text go to the default partition.
///
/// # Errors
/// Types that no partition may have.
pub(crate) fn folders(batch: &RecordBatch, table: &FilesystemTable) -> Result<Vec<String>> {
    let mut folders = vec![String::new(); batch.num_rows()];
    for key in &table.keys {
        let (Some(array), Some((name, data_type))) = (batch.columns().get(*key), table.columns.get(*key)) else {
            return Err(Error::internal("a partition key has no column"));
        };
        let values = Values::new(array, &data_type.logical)?;
        let escaped = listing::escape(name);
        let mut text = String::new();
        for (row, folder) in folders.iter_mut().enumerate() {
            text.clear();
            if !values.is_null(row) {
                push_text(&values.kind, row, &mut text).ok_or_else(|| {
                    Error::unsupported(format!("partition key '{name}' of type {}", data_type.logical))
                })?;
            }
            if !folder.is_empty() {
                folder.push('/');
            }
            folder.push_str(&escaped);
            folder.push('=');
            folder.push_str(&if text.is_empty() { table.default_name.clone() } else { listing::escape(&text) });
        }
    }
    Ok(folders)
}

/// A key's value as text. Flink writes DATE and TIME as the numbers of its own rows, which it then cannot read; they are
/// written as it reads them.
fn push_text(kind: &Kind<'_>, row: usize, out: &mut String) -> Option<()> {
    let stamp = |(seconds, nanos): values::Stamp, zoned: bool, out: &mut String| {
        java::push_date(seconds.div_euclid(86_400), out);
        out.push('T');
        java::push_local_time(seconds.rem_euclid(86_400), nanos, out);
        if zoned {
            out.push('Z');
        }
    };
    match kind {
        Kind::Boolean(_)
        | Kind::TinyInt(_)
        | Kind::SmallInt(_)
        | Kind::Int(_)
        | Kind::BigInt(_)
        | Kind::Float(_)
        | Kind::Double(_)
        | Kind::Text(_) => values::push_plain(kind, row, out),
        Kind::Decimal(a, scale) => java::push_plain_decimal(a.value(row), i32::from(*scale), out),
        Kind::Date(a) => java::push_date(i64::from(a.value(row)), out),
        Kind::Time(a) => {
            let (seconds, nanos) = values::of_micros(a.value(row));
            java::push_clock(seconds, nanos, out);
        }
        Kind::Micros(a, zoned) => stamp(values::of_micros(a.value(row)), *zoned, out),
        Kind::Nanos(a, zoned) => stamp(values::of_nanos(a.value(row)), *zoned, out),
        Kind::Null | Kind::Bytes(_) | Kind::List(..) | Kind::Map(..) | Kind::Row(_) => return None,
    }
    Some(())
}
