//! The columns about rows: whatever is skipped, a position is the row's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray, RecordBatch};
use arrow::datatypes::Int64Type;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext, col, lit};
use iceberg::spec::*;
use rand::RngExt;
use roaring::RoaringTreemap;

use super::lake::{Lake, batch, fields, int64, lines, schema};
use crate::scan::{RowColumn, provider_with};

fn columns() -> Vec<NestedFieldRef> {
    fields(&[(1, "id", PrimitiveType::Long), (2, "v", PrimitiveType::Long)])
}

async fn read(
    lake: &Lake,
    of: &[RowColumn],
    partitions: usize,
    query: impl FnOnce(DataFrame) -> datafusion::error::Result<DataFrame>,
) -> Vec<RecordBatch> {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
    let provider = provider_with(lake.table(), lake.options(&[]).unwrap(), of).unwrap();
    query(context.read_table(provider).unwrap()).unwrap().collect().await.unwrap()
}

fn longs(batches: &[RecordBatch], name: &str) -> Vec<Option<i64>> {
    let column =
        |b: &RecordBatch| b.column_by_name(name).unwrap().as_primitive::<Int64Type>().iter().collect::<Vec<_>>();
    batches.iter().flat_map(column).collect()
}

#[tokio::test]
async fn positions_are_exact_whatever_is_skipped() {
    let columns = columns();
    let mut random = rand::rng();
    for round in 0..12 {
        let version = if round % 2 == 0 { FormatVersion::V2 } else { FormatVersion::V3 };
        let mut lake = Lake::new(version, schema(columns.clone()), &[]);
        lake.row_group_rows = 7;
        // id -> (file, position)
        let mut model: BTreeMap<i64, (String, i64)> = BTreeMap::new();
        for commit in 0..3_i64 {
            let rows = random.random_range(1..80_i64);
            let ids: Vec<i64> = (0..rows).map(|i| commit * 100 + i).collect();
            let data = lake.data(&batch(
                &columns,
                vec![int64(ids.iter().copied().map(Some)), int64(ids.iter().map(|i| Some(i % 5)))],
            ));
            let deleted: Vec<i64> = (0..rows).filter(|_| random.random_bool(0.3)).collect();
            for (position, id) in (0..).zip(&ids) {
                if !deleted.contains(&position) {
                    model.insert(*id, (data.file_path().to_owned(), position));
                }
            }
            let deletes = if version == FormatVersion::V3 {
                (!deleted.is_empty()).then(|| lake.vector(&data, &deleted.iter().map(|p| *p as u64).collect()))
            } else {
                let pairs: Vec<_> = deleted.iter().map(|p| (data.file_path(), *p)).collect();
                (!deleted.is_empty()).then(|| lake.position_deletes(&pairs).build().unwrap())
            };
            lake.commit([data].into_iter().chain(deletes).collect()).await;
        }
        if version == FormatVersion::V2 {
            // equality deletes are applied behind the reader
            let gone: Vec<i64> = model.keys().copied().filter(|_| random.random_bool(0.2)).collect();
            if !gone.is_empty() {
                let keys = batch(&columns[..1], vec![int64(gone.iter().copied().map(Some))]);
                let keys = lake.key_deletes(&keys, &[1]);
                lake.commit(vec![keys]).await;
                gone.iter().for_each(|id| drop(model.remove(id)));
            }
        }
        for _ in 0..6 {
            let (low, high) = (random.random_range(-10..300_i64), random.random_range(-10..300_i64));
            let limit = random.random_bool(0.3).then(|| random.random_range(0..50_usize));
            let partitions = random.random_range(1..4);
            let batches = read(&lake, &[RowColumn::Position, RowColumn::File], partitions, |df| {
                df.filter(col("id").between(lit(low), lit(high)))?.limit(0, limit)
            })
            .await;
            let expected: BTreeMap<i64, _> =
                model.range(low..).take_while(|(id, _)| **id <= high).map(|(id, place)| (*id, place.clone())).collect();
            let ids = longs(&batches, "id");
            assert_eq!(ids.len(), limit.unwrap_or(usize::MAX).min(expected.len()));
            let files: Vec<String> = batches
                .iter()
                .flat_map(|b| {
                    b.column_by_name("_file")
                        .unwrap()
                        .as_string::<i32>()
                        .iter()
                        .map(|f| f.unwrap().to_owned())
                        .collect::<Vec<_>>()
                })
                .collect();
            for ((id, position), file) in ids.iter().zip(longs(&batches, "_pos")).zip(files) {
                assert_eq!(expected[&id.unwrap()], (file, position.unwrap()));
            }
            // without the column that tells which row it is
            let alone = read(&lake, &[RowColumn::Position], partitions, |df| df.select(vec![col("_pos")])).await;
            let mut positions: Vec<_> = longs(&alone, "_pos").into_iter().flatten().collect();
            positions.sort_unstable();
            let mut all: Vec<_> = model.values().map(|(_, position)| *position).collect();
            all.sort_unstable();
            assert_eq!(positions, all);
        }
    }
}

#[tokio::test]
async fn a_file_that_is_cut_into_ranges_keeps_its_positions() {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "b", PrimitiveType::Binary)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    lake.row_group_rows = 3;
    lake.metrics = false;
    let mut random = rand::rng();
    let blobs: Vec<Vec<u8>> =
        (0..64).map(|_| (0..400_000 / 8).flat_map(|_| random.random::<u64>().to_le_bytes()).collect()).collect();
    let blobs: ArrayRef = Arc::new(BinaryArray::from_iter_values(blobs.iter()));
    let data = lake.data(&batch(&columns, vec![int64((0..64).map(Some)), blobs]));
    let deletes = lake.position_deletes(&[(data.file_path(), 5), (data.file_path(), 40)]).build().unwrap();
    lake.commit(vec![data, deletes]).await;
    for partitions in [1, 3] {
        let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
        let provider = provider_with(lake.table(), lake.options(&[]).unwrap(), &[RowColumn::Position]).unwrap();
        let rows = context.read_table(provider).unwrap().select_columns(&["id", "_pos"]).unwrap();
        let plan = rows.clone().create_physical_plan().await.unwrap();
        use datafusion::physical_plan::ExecutionPlanProperties;
        assert_eq!(plan.output_partitioning().partition_count(), partitions);
        let batches = rows.collect().await.unwrap();
        assert_eq!(longs(&batches, "id"), longs(&batches, "_pos"));
        assert_eq!(longs(&batches, "id").len(), 62);
    }
}

#[tokio::test]
async fn row_ids_are_stored_or_follow_from_positions() {
    let columns = columns();
    let mut lake = Lake::new(FormatVersion::V3, schema(columns.clone()), &[]);
    lake.row_group_rows = 2;
    let rows = |ids: std::ops::Range<i64>| vec![int64(ids.clone().map(Some)), int64(ids.map(|i| Some(i * 10)))];
    let first = lake.data(&batch(&columns, rows(0..5)));
    lake.commit(vec![first.clone()]).await;
    // a copy of two rows that kept their ids, one of them changed since, and a new row
    let mut stored = columns.clone();
    stored.push(RowColumn::RowId.field());
    stored.push(RowColumn::LastUpdated.field());
    let mut values = rows(5..8);
    values.push(int64([Some(1), Some(3), None]));
    values.push(int64([Some(1), None, None]));
    let second = lake.data(&batch(&stored, values));
    let vector = lake.vector(&first, &[1_u64, 3].into_iter().collect::<RoaringTreemap>());
    lake.commit(vec![second, vector]).await;
    let of = [RowColumn::RowId, RowColumn::LastUpdated, RowColumn::SpecId];
    let batches =
        read(&lake, &of, 2, |df| df.select_columns(&["id", "_row_id", "_last_updated_sequence_number", "_spec_id"]))
            .await;
    assert_eq!(lines(&batches), ["0,0,1,0", "2,2,1,0", "4,4,1,0", "5,1,1,0", "6,3,2,0", "7,7,2,0"]);
    let filtered = read(&lake, &of, 2, |df| df.filter(col("_row_id").eq(lit(3_i64)))?.select_columns(&["id"])).await;
    assert_eq!(longs(&filtered, "id"), [Some(6)]);
    let filtered = read(&lake, &of, 2, |df| df.filter(col("_spec_id").eq(lit(7)))?.select_columns(&["id"])).await;
    assert_eq!(longs(&filtered, "id"), []);
}

#[tokio::test]
async fn old_tables_have_no_row_ids_and_reserved_names_are_reserved() {
    let columns = columns();
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let data = lake.data(&batch(&columns, vec![int64([Some(1)]), int64([None])]));
    lake.commit(vec![data]).await;
    let of = [RowColumn::RowId, RowColumn::LastUpdated, RowColumn::Position];
    let batches = read(&lake, &of, 1, Ok).await;
    assert_eq!(longs(&batches, "_row_id"), [None]);
    assert_eq!(longs(&batches, "_last_updated_sequence_number"), [None]);
    assert_eq!(longs(&batches, "_pos"), [Some(0)]);
    let lake = Lake::new(FormatVersion::V2, schema(fields(&[(1, "_pos", PrimitiveType::Long)])), &[]);
    let error = provider_with(lake.table(), lake.options(&[]).unwrap(), &of).err().unwrap();
    assert_eq!(error.code, "not-supported");
}
