//! What DataFusion is told about the rows of a scan before they are read.

use arrow::datatypes::{DataType as ArrowType, Schema as ArrowSchema};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use iceberg::spec::NestedFieldRef;

use super::literal::bound;
use super::plan::FileTask;

/// The statistics of a scan of `files`. The number of rows is exact, so that COUNT(*) needs no scan, unless deletes apply.
///
/// Bounds and counts of NULL are estimates, by which joins choose their sides: Iceberg's bounds need only be outer ones,
/// so that MIN and MAX cannot be answered by them. They are collected for the columns in `projection`, all without.
pub(super) fn statistics(
    schema: &ArrowSchema,
    fields: &[NestedFieldRef],
    files: &[FileTask],
    projection: Option<&[usize]>,
) -> Statistics {
    let total = |of: fn(&FileTask) -> u64| {
        files.iter().map(of).try_fold(0u64, u64::checked_add).and_then(|n| usize::try_from(n).ok())
    };
    let mut statistics = Statistics::new_unknown(schema);
    if let Some(rows) = total(|f| f.file().record_count()) {
        let exact = files.iter().all(|f| f.deletes.is_empty());
        statistics.num_rows = if exact { Precision::Exact(rows) } else { Precision::Inexact(rows) };
    }
    if let Some(bytes) = total(|f| f.file().file_size_in_bytes()) {
        statistics.total_byte_size = Precision::Inexact(bytes);
    }
    for (index, column) in statistics.column_statistics.iter_mut().enumerate() {
        if projection.is_none_or(|used| used.contains(&index))
            && let (Some(field), Some(arrow)) = (fields.get(index), schema.fields().get(index))
        {
            of_column(field, arrow.data_type(), files, column);
        }
    }
    statistics
}

fn of_column(field: &NestedFieldRef, data_type: &ArrowType, files: &[FileTask], column: &mut ColumnStatistics) {
    let nulls = |file: &FileTask| file.file().null_value_counts().get(&field.id).copied();
    let sum = files.iter().try_fold(0u64, |sum, file| sum.checked_add(nulls(file)?));
    if let Some(sum) = sum.and_then(|n| usize::try_from(n).ok()) {
        column.null_count = Precision::Inexact(sum);
    }
    // DataFusion estimates by ranges of integers only
    if !data_type.is_integer() {
        return;
    }
    let mut bounds: Option<(ScalarValue, ScalarValue)> = None;
    for file in files {
        if nulls(file) == Some(file.file().record_count()) {
            continue;
        }
        let (low, high) = (file.file().lower_bounds(), file.file().upper_bounds());
        let (Some(low), Some(high)) = (bound(low, field.id, data_type), bound(high, field.id, data_type)) else {
            return;
        };
        bounds = Some(match bounds {
            None => (low, high),
            Some((least, most)) => (if low < least { low } else { least }, if high > most { high } else { most }),
        });
    }
    // DataFusion 53 counts the values of a range in 64 bits, which all values of BIGINT overflow
    let countable = |least: &ScalarValue, most: &ScalarValue| most.distance(least).is_some_and(|n| n < usize::MAX / 2);
    if let Some((least, most)) = bounds.filter(|(least, most)| least <= most && countable(least, most)) {
        (column.min_value, column.max_value) = (Precision::Inexact(least), Precision::Inexact(most));
    }
}

/// The first files that surely have `limit` rows; all of them if there are not that many.
pub(super) fn first_rows(mut files: Vec<FileTask>, limit: usize) -> Vec<FileTask> {
    let mut rows = 0u64;
    let enough = |file: &FileTask| {
        if file.deletes.is_empty() {
            rows = rows.saturating_add(file.file().record_count());
        }
        rows >= limit as u64
    };
    if let Some(last) = files.iter().position(enough) {
        files.truncate(last + 1);
    }
    files
}
