//! Writes under a memory limit: the rows of a write without one, or an error and no files.

use std::collections::HashMap;

use arrow::array::{Int8Array, Int32Array, Int64Array, StringArray};
use arrow::datatypes::{Field, Int32Type, Schema};
use calve_types::LogicalType as T;
use datafusion::execution::TaskContext;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use rand::RngExt;

use super::upsert::{keyed, rows};
use super::*;
use crate::scan::{ScanOptions, provider};

fn context(pool: impl MemoryPool + 'static, mode: DiskManagerMode) -> Arc<TaskContext> {
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(pool))
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode));
    let config = SessionConfig::new().with_sort_spill_reservation_bytes(1 << 20);
    SessionContext::new_with_config_rt(config, runtime.build_arc().unwrap()).task_ctx()
}

fn limited(bytes: usize) -> Arc<TaskContext> {
    context(GreedyMemoryPool::new(bytes), DiskManagerMode::OsTmpDirectory)
}

impl Fixture {
    async fn write_in(&self, batches: Vec<RecordBatch>, changes: bool, context: &Arc<TaskContext>) -> Result<Written> {
        let mut writer = self.prepare().await?.with_context(context.clone());
        if changes {
            writer = writer.with_changes().await?;
        }
        writer.write(stream(batches), Arc::default()).await
    }

    /// `id` and `v` of the rows a reader sees.
    async fn seen(&self) -> BTreeMap<i64, i64> {
        let table = self.table().await;
        let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
        let all = SessionContext::new().read_table(provider(table, options).unwrap()).unwrap().collect().await.unwrap();
        let mut seen = BTreeMap::new();
        for batch in all {
            let longs = |at: usize| batch.column(at).as_primitive::<Int64Type>();
            for row in 0..batch.num_rows() {
                assert_eq!(seen.insert(longs(0).value(row), longs(2).value(row)), None, "a key twice");
            }
        }
        seen
    }
}

/// Batches with the kinds of changes; every row that comes has a value of its own.
async fn changes(f: &Fixture, all: &[(i8, i64, i64)]) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    for some in all.chunks(5_000) {
        let plain = rows(f, &some.iter().map(|(_, id, v)| (*id, (id % 3) as i32, *v)).collect::<Vec<_>>()).await;
        let mut fields: Vec<_> = plain.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("op", arrow::datatypes::DataType::Int8, false)));
        let mut columns = plain.columns().to_vec();
        columns.push(Arc::new(Int8Array::from_iter_values(some.iter().map(|(op, ..)| *op))));
        batches.push(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap());
    }
    batches
}

#[tokio::test]
async fn an_upsert_whose_keys_do_not_fit_equals_a_map() {
    let mut random = rand::rng();
    for (version, partition) in [("2", &[][..]), ("3", &[][..]), ("3", &[("p", Transform::Identity)][..])] {
        let mut f = keyed(&[("format-version", version), ("write.upsert.enabled", "true")], partition).await;
        f.session.insert("calve.upsert.equality-deletes".to_owned(), "always".to_owned());
        let before: Vec<(i64, i32, i64)> = (0..20_000).map(|id| (id, (id % 3) as i32, -1)).collect();
        f.insert(vec![rows(&f, &before).await]).await;
        let mut model: BTreeMap<i64, i64> = before.iter().map(|(id, _, v)| (*id, *v)).collect();
        let (mut all, mut written, mut replaced, mut unknown) = (vec![], HashMap::new(), 0, 0);
        for v in 0..150_000_i64 {
            let id = random.random_range(0..60_000);
            let op = [0, 0, 2, 2, 0, 2, 3, 1][random.random_range(0..8)];
            all.push((op, id, v));
            match op {
                0 | 2 => {
                    model.insert(id, v);
                    let known = written.insert(id, v).is_some();
                    replaced += u64::from(known);
                    unknown += u64::from(!known);
                }
                3 => {
                    model.remove(&id);
                    let known = written.remove(&id).is_some();
                    replaced += u64::from(known);
                    unknown += u64::from(!known);
                }
                _ => {}
            }
        }
        let context = limited(2 << 20);
        let done = f.write_in(changes(&f, &all).await, true, &context).await.unwrap();
        assert_eq!(done.position_deletes, replaced, "v{version}");
        assert!(done.equality_deletes > unknown, "no key was forgotten");
        f.commit(&done).await;
        drop(done);
        assert_eq!(f.seen().await, model, "v{version} {partition:?}");
        assert_eq!(context.memory_pool().reserved(), 0);
    }
}

#[tokio::test]
async fn what_cannot_spill_is_refused_and_leaves_no_files() {
    let all: Vec<(i8, i64, i64)> = (0..150_000).map(|id| (0, id, id)).collect();
    let hint = |error: calve_types::Error| {
        assert_eq!(error.code, "out-of-memory", "{error:?}");
        error.hint.unwrap()
    };
    // by position the keys are looked for in the end
    let position = [("format-version", "2"), ("write.upsert.enabled", "true"), ("calve.upsert.mode", "position")];
    let f = keyed(&position, &[]).await;
    let context = limited(2 << 20);
    let told = hint(f.write_in(changes(&f, &all).await, true, &context).await.unwrap_err());
    assert!(told.contains("'calve.upsert.mode' = 'equality'") && told.contains("--memory-limit"), "{told}");
    assert!(f.data_files().is_empty() && context.memory_pool().reserved() == 0);
    // there is nothing to spill in rows that are taken back
    let f = keyed(&[("format-version", "2")], &[]).await;
    let told = hint(f.write_in(changes(&f, &all).await, true, &context).await.unwrap_err());
    assert!(told.contains("upsert"), "{told}");
    assert!(f.data_files().is_empty() && context.memory_pool().reserved() == 0);
    // the same rows, when nothing has to be taken back
    f.commit(&f.write_in(changes(&f, &all).await, false, &context).await.unwrap()).await;
    assert_eq!(f.seen().await.len(), 150_000);
    // not even one open file
    let told = hint(f.write_in(changes(&f, &all).await, false, &limited(10)).await.unwrap_err());
    assert!(told.contains("--memory-limit"), "{told}");
    assert_eq!(f.seen().await.len(), 150_000);
}

#[tokio::test]
async fn an_upsert_that_fails_while_it_spills_leaves_the_table_as_it_was() {
    let f = keyed(&[("format-version", "2"), ("write.upsert.enabled", "true")], &[]).await;
    f.insert(vec![rows(&f, &[(1, 1, 10), (2, 2, 20)]).await]).await;
    let before = (f.data_files(), f.seen().await);
    let all: Vec<(i8, i64, i64)> = (0..150_000).map(|id| (0, id, id)).collect();
    let folder = tempfile::tempdir().unwrap();
    let removed = context(GreedyMemoryPool::new(2 << 20), DiskManagerMode::Directories(vec![folder.path().into()]));
    for of_session in removed.runtime_env().disk_manager.temp_dir_paths() {
        std::fs::remove_dir_all(of_session).unwrap();
    }
    let none = context(GreedyMemoryPool::new(2 << 20), DiskManagerMode::Disabled);
    for (context, code) in [(removed, "io"), (none, "out-of-memory")] {
        let error = f.write_in(changes(&f, &all).await, true, &context).await.unwrap_err();
        assert_eq!(error.code, code, "{error:?}");
        assert_eq!((f.data_files(), f.seen().await), before);
        assert_eq!(context.memory_pool().reserved(), 0);
    }
}

/// Most partitions get one file, whose rows were sorted on disk, and no writer holds more than it may.
#[tokio::test]
async fn many_partitions_in_little_memory() {
    for format in ["parquet", "avro", "orc"] {
        let columns = vec![("id", T::BigInt.not_null()), ("p", T::Int.nullable()), ("s", T::STRING.nullable())];
        let with = [("write.format.default", format)];
        let partition = [("p", Transform::Identity)];
        let mut f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &with }).await;
        f.session.insert("parallelism.default".to_owned(), "1".to_owned());
        let mut batches = Vec::new();
        for i in 0..60_i64 {
            let ids: Vec<i64> = (0..4_000).map(|j| i * 4_000 + j).collect();
            let parts = Int32Array::from_iter_values(ids.iter().map(|id| (id % 300) as i32));
            let texts = StringArray::from_iter_values(ids.iter().map(|id| format!("{id:0>60}")));
            batches.push(f.batch(vec![Arc::new(Int64Array::from(ids)), Arc::new(parts), Arc::new(texts)]).await);
        }
        let context = context(FairSpillPool::new(24 << 20), DiskManagerMode::OsTmpDirectory);
        let written = f.write_in(batches, false, &context).await.unwrap();
        f.commit(&written).await;
        assert!((300..400).contains(&written.data.len()), "{format}: {} files", written.data.len());
        drop(written);
        assert_eq!(context.memory_pool().reserved(), 0);
        let table = f.table().await;
        let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
        let all = SessionContext::new().read_table(provider(table, options).unwrap()).unwrap().collect().await.unwrap();
        let mut ids = Vec::new();
        for batch in all {
            let (id, p) = (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_primitive::<Int32Type>());
            assert!((0..batch.num_rows()).all(|row| id.value(row) % 300 == i64::from(p.value(row))));
            ids.extend_from_slice(id.values());
        }
        ids.sort_unstable();
        assert_eq!(ids, (0..240_000).collect::<Vec<_>>(), "{format}");
    }
}
