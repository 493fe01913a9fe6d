//! Ranges of the sort order, one per writer, from the first rows (`distribution-mode` = `range`).

use arrow::array::{Array, RecordBatch};
use calve_types::Result;

use super::sort_key::SortKey;

/// No more rows than this are looked at.
const SAMPLE: usize = 100_000;

/// Gives rows the writer of their range. Rows that compare equal go to one writer.
#[derive(Debug)]
pub(crate) struct Ranges {
    key: SortKey,
    /// Where the ranges of the second and the later writers begin, ascending.
    starts: Vec<Box<[u8]>>,
}

impl Ranges {
    /// Ranges for `writers` writers, of about the same number of rows if the rest is like `head`. `key_weight` is how much a
    /// key costs besides its rows, as a part of a writer's share of all rows: many small keys then make a smaller range.
    ///
    /// # Errors
    /// As [`SortKey::keys`].
    pub(crate) fn new(key: SortKey, head: &[RecordBatch], writers: usize, key_weight: f64) -> Result<Self> {
        let rows: usize = head.iter().map(RecordBatch::num_rows).sum();
        let step = rows.div_ceil(SAMPLE).max(1);
        let mut sample: Vec<Box<[u8]>> = Vec::with_capacity(rows / step + 1);
        let mut row = 0;
        for batch in head {
            let keys = key.keys(batch)?;
            // `row` counts on over the batches
            while row < keys.len() {
                sample.push(keys.value(row).into());
                row += step;
            }
            row -= keys.len();
        }
        sample.sort_unstable();
        Ok(Self { starts: starts(&sample, writers, key_weight), key })
    }

    /// The writer of every row.
    ///
    /// # Errors
    /// As [`SortKey::keys`].
    pub(crate) fn writers(&self, rows: &RecordBatch) -> Result<Vec<usize>> {
        let keys = self.key.keys(rows)?;
        let writer = |row| {
            let key = keys.value(row);
            self.starts.partition_point(|start| start.as_ref() <= key)
        };
        Ok((0..keys.len()).map(writer).collect())
    }
}

/// The first keys of the ranges but the first, for keys in order.
fn starts(keys: &[Box<[u8]>], writers: usize, key_weight: f64) -> Vec<Box<[u8]>> {
    let distinct = || keys.chunk_by(|a, b| a == b);
    let each = key_weight * keys.len() as f64 / writers.max(1) as f64;
    let total = keys.len() as f64 + each * distinct().count() as f64;
    let mut starts = Vec::new();
    // the weight of what is before this group, and before its range
    let (mut weight, mut begin) = (0.0, 0.0);
    for group in distinct() {
        let left = writers.saturating_sub(starts.len());
        let share = begin + (total - begin) / left.max(1) as f64;
        // a group goes where its middle is
        if weight + (group.len() as f64 + each) / 2.0 > share && left > 1 && weight > begin {
            starts.extend(group.first().cloned());
            begin = weight;
        }
        weight += group.len() as f64 + each;
    }
    starts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn boxed(keys: &[u8]) -> Vec<Box<[u8]>> {
        keys.iter().map(|key| Box::from([*key])).collect()
    }

    #[test]
    fn ranges_have_about_the_same_number_of_rows() {
        let keys: Vec<u8> = (0..100).collect();
        assert_eq!(starts(&boxed(&keys), 4, 0.0), boxed(&[25, 50, 75]));
        assert_eq!(starts(&boxed(&keys), 1, 0.0), boxed(&[]));
        assert_eq!(starts(&[], 4, 0.0), boxed(&[]));
        // fewer keys than writers
        assert_eq!(starts(&boxed(&[1, 1, 2, 2]), 4, 0.0), boxed(&[2]));
        // one key has most of the rows
        let skewed: Vec<u8> = [vec![5; 90], (6..16).collect()].concat();
        assert_eq!(starts(&boxed(&skewed), 2, 0.0), boxed(&[6]));
    }

    #[test]
    fn keys_weigh_besides_their_rows() {
        // 50 rows of one key, then 50 keys of one row each
        let keys: Vec<u8> = [vec![0; 50], (1..51).collect()].concat();
        assert_eq!(starts(&boxed(&keys), 2, 0.0), boxed(&[1]));
        let starts = starts(&boxed(&keys), 2, 0.1);
        assert!(starts[0][0] > 10, "{starts:?}");
    }
}
