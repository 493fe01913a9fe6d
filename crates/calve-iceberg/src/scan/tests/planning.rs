//! Planning a large table: what it costs, and what is forgotten to make it cheap.

use std::time::Instant;

use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{binary, col, lit};
use datafusion::prelude::SessionContext;
use iceberg::spec::*;

use super::lake::{Lake, batch, fields, int64, schema};
use crate::scan::Pruner;
use crate::scan::plan::{plan, plan_measured};

#[tokio::test]
async fn without_metrics_of_other_columns_the_files_and_their_deletes_are_the_same() {
    let columns =
        fields(&[(1, "id", PrimitiveType::Long), (2, "key", PrimitiveType::Long), (3, "v", PrimitiveType::Long)]);
    for version in [FormatVersion::V2, FormatVersion::V3] {
        let mut lake = Lake::new(version, schema(columns.clone()), &[]);
        let rows = |i: i64| batch(&columns, (0..3).map(|_| int64((i * 10..i * 10 + 10).map(Some))).collect());
        let files = (0..10).map(|i| lake.data(&rows(i))).collect();
        lake.commit(files).await;
        let keys = lake.key_deletes(&batch(&columns[1..2], vec![int64([Some(75), Some(85)])]), &[2]);
        lake.commit(vec![keys]).await;
        let table = lake.table();
        let snapshot = table.metadata().current_snapshot().unwrap();
        let schema = lake.provider(&[]).schema();
        let filter = binary(col("id", &schema).unwrap(), Operator::GtEq, lit(60_i64), &schema).unwrap();
        let pruner = Pruner::new(&filter, &schema, table.metadata()).unwrap();
        // first: what was read in full is kept
        let thin = plan_measured(&table, snapshot, Some(&pruner), 9).await.unwrap();
        let full = plan_measured(&table, snapshot, Some(&pruner), 10).await.unwrap();
        let shown = |tasks: &[crate::scan::FileTask]| -> Vec<_> {
            let row_id = |file: &DataFile| file.first_row_id();
            tasks.iter().map(|t| (t.file().file_path().to_owned(), t.deletes.keys.len(), row_id(t.file()))).collect()
        };
        assert_eq!(shown(&thin), shown(&full));
        assert_eq!(thin.iter().map(|task| task.deletes.keys.len()).collect::<Vec<_>>(), [0, 1, 1, 0]);
        let known = |of: &DataFile| {
            let mut ids: Vec<i32> = of.lower_bounds().keys().copied().collect();
            ids.sort_unstable();
            (ids, of.null_value_counts().len(), of.value_counts().len())
        };
        assert!(full.iter().all(|task| known(task.file()) == (vec![1, 2, 3], 3, 3)));
        assert!(thin.iter().all(|task| known(task.file()) == (vec![1, 2], 2, 0)));
        assert_eq!(plan_measured(&table, snapshot, None, 0).await.unwrap().len(), 10);
    }
}

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
