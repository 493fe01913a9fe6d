//! One row per primary key: the last of those that came.

use std::sync::Arc;

use arrow::array::{Array, BinaryArray, BinaryBuilder, BooleanArray, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::row::{RowConverter, SortField};
use calve_types::Result;
use datafusion::execution::TaskContext;
use futures::StreamExt;

use super::route::from_input;
use super::sorted::{Batches, sorted, without_key};
use crate::error::Context;

/// Bytes behind a key that tell when its row came.
const ARRIVAL: usize = 8;

/// The last row of every key, in the order of the keys, within the memory of `context`.
///
/// # Errors
/// As [`sorted`].
pub(crate) async fn last_of_key(rows: Batches, key_columns: Vec<usize>, context: &Arc<TaskContext>) -> Result<Batches> {
    let mut arrival = 0_u64;
    let mut converter: Option<RowConverter> = None;
    let keys = move |batch: &RecordBatch| -> Result<BinaryArray> {
        let columns = batch.project(&key_columns).context(|| "select key columns")?;
        let converter = match &converter {
            Some(converter) => converter,
            None => {
                let types = columns.columns().iter().map(|c| SortField::new(c.data_type().clone())).collect();
                &*converter.insert(RowConverter::new(types).context(|| "compare keys")?)
            }
        };
        let encoded = converter.convert_columns(columns.columns()).context(|| "compare keys")?;
        let mut keys = BinaryBuilder::with_capacity(batch.num_rows(), encoded.size());
        let mut key = Vec::new();
        for row in &encoded {
            key.clear();
            key.extend_from_slice(row.as_ref());
            key.extend_from_slice(&arrival.to_be_bytes());
            arrival += 1;
            keys.append_value(&key);
        }
        Ok(keys.finish())
    };
    let sorted = sorted(rows, keys, context).await?;
    let last = futures::stream::try_unfold((sorted, None), |(mut sorted, held)| async move {
        let mut held = held;
        loop {
            let Some(batch) = sorted.next().await else {
                // the last row of all is the last of its key
                return match held {
                    Some(row) => Ok(Some((without_key(&row)?.0, (sorted, None)))),
                    None => Ok(None),
                };
            };
            let batch = batch.map_err(from_input)?;
            let (rows, rest) = settled(held.take(), batch)?;
            held = rest;
            if rows.num_rows() > 0 {
                return Ok(Some((rows, (sorted, held))));
            }
        }
    });
    Ok(Box::pin(last))
}

/// The last rows of the keys that end in `batch`, which comes after the row `held`, and its last row, whose key may go on.
fn settled(held: Option<RecordBatch>, batch: RecordBatch) -> Result<(RecordBatch, Option<RecordBatch>)> {
    let batch = match held {
        Some(row) => concat_batches(&batch.schema(), [&row, &batch]).context(|| "join sorted rows")?,
        None => batch,
    };
    let (rows, keys) = without_key(&batch)?;
    let key = |row: usize| {
        let key = keys.value(row);
        key.get(..key.len().saturating_sub(ARRIVAL)).unwrap_or(key)
    };
    let count = rows.num_rows();
    let last: BooleanArray = (0..count).map(|row| Some(row + 1 < count && key(row) != key(row + 1))).collect();
    let rest = count.checked_sub(1).map(|row| batch.slice(row, 1));
    Ok((filter_record_batch(&rows, &last).context(|| "keep the last rows")?, rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::collections::BTreeMap;

    use arrow::array::{AsArray, Int64Array, StringArray};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};
    use rand::RngExt;

    use super::*;

    #[tokio::test]
    async fn the_last_row_of_a_key_stays() {
        let schema = Arc::new(Schema::new(vec![
            Field::new("v", DataType::Int64, false),
            Field::new("a", DataType::Utf8, true),
            Field::new("b", DataType::Int64, true),
        ]));
        let mut random = rand::rng();
        for keys in [1, 3, 50, 100_000] {
            let mut expected = BTreeMap::new();
            let mut batches = Vec::new();
            let mut next = 0;
            for _ in 0..random.random_range(0..12) {
                let rows = random.random_range(0..9_000);
                let picked: Vec<i64> = (0..rows).map(|_| random.random_range(0..keys)).collect();
                let values: Vec<i64> = (next..next + rows).collect();
                next += rows;
                // two columns whose encodings must not run into each other
                let texts: Vec<String> = picked.iter().map(|k| "x".repeat((k % 7) as usize)).collect();
                for (key, value) in picked.iter().zip(&values) {
                    expected.insert((*key % 7, key / 7), *value);
                }
                let longs: Vec<i64> = picked.iter().map(|k| k / 7).collect();
                batches.push(Ok(RecordBatch::try_new(
                    schema.clone(),
                    vec![
                        Arc::new(Int64Array::from(values)),
                        Arc::new(StringArray::from(texts)),
                        Arc::new(Int64Array::from(longs)),
                    ],
                )
                .unwrap()));
            }
            let rows: Batches = Box::pin(futures::stream::iter(batches));
            let mut last = last_of_key(rows, vec![1, 2], &Arc::default()).await.unwrap();
            let mut found = BTreeMap::new();
            while let Some(batch) = last.next().await {
                let batch = batch.unwrap();
                assert_eq!(batch.num_columns(), 3);
                for row in 0..batch.num_rows() {
                    let long = |column: usize| batch.column(column).as_primitive::<Int64Type>().value(row);
                    let key = (batch.column(1).as_string::<i32>().value(row).len() as i64, long(2));
                    assert_eq!(found.insert(key, long(0)), None, "a key twice");
                }
            }
            assert_eq!(found, expected);
        }
    }
}
