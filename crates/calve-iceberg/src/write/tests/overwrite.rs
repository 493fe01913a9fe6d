//! INSERT OVERWRITE: files that replace partitions.

use std::collections::BTreeMap;

use arrow::array::Int8Array;
use arrow::datatypes::{DataType as ArrowType, Field, Int32Type, Schema};
use calve_types::LogicalType as T;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use iceberg::TableUpdate;
use iceberg::spec::{DataContentType, UnboundPartitionSpec};
use rand::RngExt;

use super::upsert::rows;
use super::*;
use crate::commit::Operation;

async fn fixture(key: &[&str], partition: &[(&str, Transform)]) -> Fixture {
    let columns = vec![("id", T::BigInt.not_null()), ("p", T::Int.not_null()), ("v", T::BigInt.nullable())];
    Fixture::new(Shape { columns, key, partition, with: &[] }).await
}

impl Fixture {
    async fn overwrite(&mut self, batches: Vec<RecordBatch>) -> Written {
        self.hints.insert("overwrite-enabled".to_owned(), "true".to_owned());
        let written = self.write(batches).await.unwrap();
        assert!(written.is_overwrite() && written.deletes.is_empty());
        if !written.is_empty() {
            assert!(matches!(written.to_operation(), Operation::ReplacePartitions(_)));
            self.commit(&written).await;
        }
        self.hints.remove("overwrite-enabled");
        written
    }

    /// The rows of all live data files, in order; there must be no delete files.
    async fn live_rows(&self) -> Vec<(i64, i32, i64)> {
        let mut rows = Vec::new();
        for (file, _) in self.live().await {
            assert_eq!(file.file.content_type(), DataContentType::Data);
            for batch in read(file.file.file_path()) {
                let (ids, values) = (batch.column(0).as_primitive::<Int64Type>(), batch.column(2).as_primitive());
                let parts = batch.column(1).as_primitive::<Int32Type>();
                let values: &arrow::array::PrimitiveArray<Int64Type> = values;
                rows.extend((0..batch.num_rows()).map(|i| (ids.value(i), parts.value(i), values.value(i))));
            }
        }
        rows.sort_unstable();
        rows
    }

    async fn summary(&self) -> BTreeMap<String, String> {
        let table = self.table().await;
        let snapshot = table.metadata().current_snapshot().unwrap();
        let mut all: BTreeMap<String, String> =
            snapshot.summary().additional_properties.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        all.insert("operation".to_owned(), snapshot.summary().operation.as_str().to_owned());
        all
    }
}

#[tokio::test]
async fn partitions_with_rows_are_replaced() {
    let mut f = fixture(&[], &[("p", Transform::Identity)]).await;
    f.insert(vec![rows(&f, &[(1, 1, 0), (2, 2, 0), (3, 3, 0)]).await]).await;
    let batch = rows(&f, &[(10, 1, 9), (11, 4, 9), (10, 1, 9)]).await;
    f.overwrite(vec![batch]).await;
    assert_eq!(f.live_rows().await, [(2, 2, 0), (3, 3, 0), (10, 1, 9), (10, 1, 9), (11, 4, 9)]);
    let summary = f.summary().await;
    assert_eq!(summary["operation"], "overwrite");
    assert_eq!(summary["replace-partitions"], "true");
    assert_eq!((summary["added-data-files"].as_str(), summary["deleted-data-files"].as_str()), ("2", "1"));
}

#[tokio::test]
async fn a_table_without_partitions_is_replaced() {
    let mut f = fixture(&[], &[]).await;
    f.insert(vec![rows(&f, &[(1, 1, 0)]).await]).await;
    f.insert(vec![rows(&f, &[(2, 2, 0)]).await]).await;
    let empty = f.overwrite(vec![rows(&f, &[]).await]).await;
    assert!(empty.is_empty());
    assert_eq!(f.live_rows().await.len(), 2);
    f.overwrite(vec![rows(&f, &[(3, 3, 0)]).await]).await;
    assert_eq!(f.live_rows().await, [(3, 3, 0)]);
}

#[tokio::test]
async fn the_last_row_of_a_key_wins() {
    // the key does not hold the partition: a key may move
    let mut f = fixture(&["id"], &[("p", Transform::Identity)]).await;
    f.insert(vec![rows(&f, &[(1, 1, 0), (2, 2, 0)]).await]).await;
    let batches =
        vec![rows(&f, &[(5, 1, 1), (6, 1, 1), (5, 3, 2)]).await, rows(&f, &[(6, 1, 3), (7, 1, 3), (7, 1, 4)]).await];
    let written = f.overwrite(batches).await;
    assert_eq!(written.rows, 3);
    assert_eq!(f.live_rows().await, [(2, 2, 0), (5, 3, 2), (6, 1, 3), (7, 1, 4)]);
}

#[tokio::test]
async fn delete_files_of_replaced_partitions_go() {
    let mut f = fixture(&["id", "p"], &[("p", Transform::Identity)]).await;
    f.insert(vec![rows(&f, &[(1, 1, 0), (1, 1, 1), (2, 2, 0), (2, 2, 1)]).await]).await;
    assert_eq!(f.live().await.iter().filter(|(f, _)| f.file.content_type() != DataContentType::Data).count(), 2);
    let batch = rows(&f, &[(9, 1, 9), (8, 2, 9)]).await;
    f.overwrite(vec![batch]).await;
    assert_eq!(f.live_rows().await, [(8, 2, 9), (9, 1, 9)]);
}

#[tokio::test]
async fn a_key_whose_last_change_is_a_delete_has_no_row() {
    let mut f = fixture(&["id"], &[]).await;
    let batch = rows(&f, &[(1, 1, 1), (1, 1, 1), (2, 1, 2), (3, 1, 3), (2, 1, 2), (2, 1, 5)]).await;
    let mut fields: Vec<Field> = batch.schema().fields().iter().map(|f| f.as_ref().clone()).collect();
    fields.push(Field::new("op", ArrowType::Int8, false));
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(Int8Array::from(vec![0, 3, 0, 0, 1, 2])));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    f.overwrite(vec![batch]).await;
    assert_eq!(f.live_rows().await, [(2, 1, 5), (3, 1, 3)]);
}

/// Only partitions of the present spec are replaced: files of an older one stay, unless the present one has no fields.
#[tokio::test]
async fn partitions_of_an_older_spec_stay() {
    let mut f = fixture(&[], &[("p", Transform::Identity)]).await;
    f.insert(vec![rows(&f, &[(1, 1, 0)]).await]).await;
    let respec = async |fields: &[(i32, &str, Transform)]| {
        let fields = fields.iter().map(|(id, name, transform)| iceberg::spec::UnboundPartitionField {
            source_id: *id,
            field_id: None,
            name: (*name).to_owned(),
            transform: *transform,
        });
        let spec = UnboundPartitionSpec::builder().add_partition_fields(fields).unwrap().build();
        let updates = vec![TableUpdate::AddSpec { spec }, TableUpdate::SetDefaultSpec { spec_id: -1 }];
        f.catalog.commit(&f.table().await, vec![], updates).await.unwrap();
    };
    respec(&[(2, "p2", Transform::Bucket(1))]).await;
    f.overwrite(vec![rows(&f, &[(2, 1, 0)]).await]).await;
    f.overwrite(vec![rows(&f, &[(3, 1, 0)]).await]).await;
    assert_eq!(f.live_rows().await, [(1, 1, 0), (3, 1, 0)]);
}

#[tokio::test]
async fn many_keys_in_little_memory() {
    let mut random = rand::rng();
    let mut f = fixture(&["id"], &[]).await;
    let mut expected = BTreeMap::new();
    let mut batches = Vec::new();
    for value in 0..60 {
        let rows_of: Vec<(i64, i32, i64)> =
            (0..8_000).map(|_| (random.random_range(0..200_000_i64), 1, value)).collect();
        for (id, _, value) in &rows_of {
            expected.insert(*id, *value);
        }
        batches.push(rows(&f, &rows_of).await);
    }
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(6 << 20))).build_arc().unwrap();
    let config = SessionConfig::new().with_sort_spill_reservation_bytes(1 << 20);
    let context: Arc<TaskContext> = SessionContext::new_with_config_rt(config, runtime).task_ctx();
    f.hints.insert("overwrite-enabled".to_owned(), "true".to_owned());
    let writer = f.prepare().await.unwrap().with_context(context);
    let written = writer.write(stream(batches), Arc::default()).await.unwrap();
    f.commit(&written).await;
    let found: Vec<(i64, i64)> = f.live_rows().await.into_iter().map(|(id, _, value)| (id, value)).collect();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
}

/// A sort that fails leaves nothing behind.
#[tokio::test]
async fn too_little_memory_leaves_no_files() {
    let mut f = fixture(&["id"], &[]).await;
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(1_000))).build_arc().unwrap();
    let context = SessionContext::new_with_config_rt(SessionConfig::new(), runtime).task_ctx();
    f.hints.insert("overwrite-enabled".to_owned(), "true".to_owned());
    let batch = rows(&f, &(0..50_000).map(|i| (i, 1, i)).collect::<Vec<_>>()).await;
    let writer = f.prepare().await.unwrap().with_context(context);
    let error = writer.write(stream(vec![batch]), Arc::default()).await.unwrap_err();
    assert_eq!(error.code, "out-of-memory");
    assert!(f.data_files().is_empty());
}
