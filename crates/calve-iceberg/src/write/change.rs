//! What happens to the rows of a batch.

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int8Type;
use calve_types::{Error, Result};

use crate::error::Context;

/// What happens to a row: Flink's `RowKind`, as far as a writer looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// `INSERT` or `UPDATE_AFTER`: the row comes.
    Comes,
    /// `UPDATE_BEFORE`: the row goes, and another one comes for it.
    Replaced,
    /// `DELETE`: the row goes.
    Goes,
}

/// The changes of the rows of a batch, in their order; `None` if all rows come.
pub(crate) type Changes = Option<Vec<Change>>;

/// The first `width` columns of a batch, and what happens to its rows: one column more has Flink's numbers of it.
///
/// # Errors
/// `internal` for a column of anything else.
pub(crate) fn split_changes(batch: RecordBatch, width: usize) -> Result<(RecordBatch, Changes)> {
    let Some(kinds) = batch.columns().get(width) else { return Ok((batch, None)) };
    let wrong = || Error::internal("a batch without its kinds of changes");
    let kinds = kinds.as_primitive_opt::<Int8Type>().filter(|k| k.null_count() == 0).ok_or_else(wrong)?;
    let changes = kinds.values().iter().map(|kind| match kind {
        0 | 2 => Ok(Change::Comes),
        1 => Ok(Change::Replaced),
        3 => Ok(Change::Goes),
        _ => Err(wrong()),
    });
    let changes = changes.collect::<Result<Vec<_>>>()?;
    let columns: Vec<usize> = (0..width).collect();
    let rows = batch.project(&columns).context(|| "select the table's columns")?;
    Ok((rows, Some(changes).filter(|all| all.iter().any(|change| *change != Change::Comes))))
}

/// The rows of a batch that come, without what happens to them.
///
/// # Errors
/// As [`split_changes`].
pub(crate) fn what_comes(batch: RecordBatch, width: usize) -> Result<RecordBatch> {
    let (rows, changes) = split_changes(batch, width)?;
    let Some(changes) = changes else { return Ok(rows) };
    let comes: BooleanArray = changes.iter().map(|change| Some(*change == Change::Comes)).collect();
    filter_record_batch(&rows, &comes).context(|| "keep the rows that come")
}

/// The changes of the rows at `indices`, of all rows without them.
pub(crate) fn take_changes(changes: &Changes, indices: Option<&UInt32Array>) -> Changes {
    let (Some(all), Some(indices)) = (changes, indices) else { return changes.clone() };
    let taken = indices.values().iter().filter_map(|i| all.get(*i as usize).copied());
    Some(taken.collect::<Vec<_>>()).filter(|taken| taken.iter().any(|change| *change != Change::Comes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::Arc;

    use arrow::array::{Int8Array, Int32Array};

    use super::*;

    fn batch(kinds: &[i8]) -> RecordBatch {
        let rows = Int32Array::from_iter_values((0..).take(kinds.len()));
        RecordBatch::try_from_iter([
            ("a", Arc::new(rows) as Arc<dyn Array>),
            ("op", Arc::new(Int8Array::from(kinds.to_vec()))),
        ])
        .unwrap()
    }

    #[test]
    fn kinds_are_told_apart_and_additions_alone_are_none() {
        let (rows, changes) = split_changes(batch(&[0, 1, 2, 3]), 1).unwrap();
        assert_eq!(rows.num_columns(), 1);
        assert_eq!(changes.unwrap(), [Change::Comes, Change::Replaced, Change::Comes, Change::Goes]);
        assert!(split_changes(batch(&[0, 2]), 1).unwrap().1.is_none());
        assert!(split_changes(batch(&[0, 1]), 2).unwrap().1.is_none());
        assert_eq!(split_changes(batch(&[4]), 1).unwrap_err().code, "internal");
    }

    #[test]
    fn changes_go_along_with_their_rows() {
        let changes = Some(vec![Change::Comes, Change::Goes, Change::Replaced]);
        let taken = take_changes(&changes, Some(&UInt32Array::from(vec![2, 0])));
        assert_eq!(taken.unwrap(), [Change::Replaced, Change::Comes]);
        assert!(take_changes(&changes, Some(&UInt32Array::from(vec![0]))).is_none());
        assert_eq!(take_changes(&changes, None), changes);
    }
}
