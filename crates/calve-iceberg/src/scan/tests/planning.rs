//! What planning a large table costs.

use std::time::Instant;

use datafusion::prelude::SessionContext;
use iceberg::spec::*;

use super::lake::{Lake, batch, fields, int64, schema};
use crate::scan::plan::plan;

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// To be run with optimisation, alone: `cargo test --release --workspace --lib a_hundred_thousand -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn a_hundred_thousand_files_are_planned_in_two_seconds() {
    let names: Vec<String> = (0..10).map(|i| format!("column_{i}")).collect();
    let columns: Vec<_> = (1..).zip(&names).map(|(id, name)| (id, name.as_str(), PrimitiveType::Long)).collect();
    let columns = fields(&columns);
    for version in [FormatVersion::V2, FormatVersion::V3] {
        let mut lake = Lake::new(version, schema(columns.clone()), &[]);
        let rows = batch(&columns, (0..10).map(|i| int64((i..i + 20).map(Some))).collect());
        let path = lake.data(&rows).file_path().to_owned();
        for _ in 0..20 {
            let describe = |i: usize, lake: &mut Lake| {
                let mut file = lake.describe(&path, &rows);
                file.file_path(format!("{path}-of-a-table-in-some-bucket-{i:08}.parquet")).build().unwrap()
            };
            let one = describe(0, &mut lake);
            let files = (0..5_000).map(|i| {
                let mut file = crate::table::rebuild(&one, 0);
                file.file_path(format!("{path}-of-a-table-in-some-bucket-{i:08}.parquet")).build().unwrap()
            });
            let files = files.collect();
            lake.commit(files).await;
        }
        let before = peak();
        let table = lake.table();
        let started = Instant::now();
        let files = plan(&table, table.metadata().current_snapshot().unwrap(), None).await.unwrap();
        println!("{version:?}: {} files planned in {:?}, {} MB more", files.len(), started.elapsed(), peak() - before);
        drop(files);
        let started = Instant::now();
        let again = plan(&table, table.metadata().current_snapshot().unwrap(), None).await.unwrap();
        println!("{version:?}: again in {:?}", started.elapsed());
        drop(again);
        let started = Instant::now();
        let rows = SessionContext::new().read_table(lake.provider(&[])).unwrap();
        rows.create_physical_plan().await.unwrap();
        println!("{version:?}: as a table of DataFusion in {:?}, {} MB more", started.elapsed(), peak() - before);
    }
}
