//! Random mixes of appends, upserts, deletes, updates, overwrites, writes to a branch, and changes of columns and
//! partitions leave the rows of a model in memory: after every step, and at the end at every older snapshot and tag.
//!
//! `CALVE_SEED` is the first sequence, `CALVE_SEQUENCES` their number. A failure tells its seed and the script so far.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod model;
mod steps;

use std::collections::BTreeMap;

use common::session;
use model::{Branch, Column, FIELDS, Kind, MAIN};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use steps::Table;

const STEPS: usize = 50;

async fn sequence(seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let format_version = if seed % 4 < 2 { 2 } else { 3 };
    let copy_on_write = seed.is_multiple_of(2);
    let columns = [("id", Kind::Int), ("k", Kind::Text), ("c0", Kind::Int), ("c1", Kind::Float), ("c2", Kind::Text)];
    let columns: Vec<Column> =
        columns.into_iter().enumerate().map(|(id, (name, kind))| Column { id, name: name.to_owned(), kind }).collect();
    let spec: Vec<String> = FIELDS.into_iter().filter(|_| random.random_bool(0.2)).take(2).map(str::to_owned).collect();
    let partitioned = if spec.is_empty() { String::new() } else { format!(" PARTITIONED BY ({})", spec.join(", ")) };
    let mode = if copy_on_write { "copy-on-write" } else { "merge-on-read" };
    let format = ["parquet", "parquet", "avro", "orc"][random.random_range(0..4_usize)];
    let create = format!(
        "CREATE TABLE t (id INT NOT NULL, k STRING NOT NULL, c0 INT, c1 FLOAT, c2 STRING, PRIMARY KEY (id, k) NOT \
         ENFORCED){partitioned} WITH ('format-version' = '{format_version}', 'write.delete.mode' = '{mode}', \
         'write.update.mode' = '{mode}', 'write.format.default' = '{format}')"
    );

    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    let next = columns.len();
    let branches = BTreeMap::from([(MAIN, Branch::default())]);
    let (script, snapshots, tags) = (vec![], vec![], vec![]);
    let mut table = Table {
        session,
        random,
        seed,
        script,
        format_version,
        copy_on_write,
        columns,
        next,
        spec,
        branches,
        snapshots,
        tags,
    };
    table.run(&create).await;
    for _ in 0..STEPS {
        table.step().await;
    }
    for (id, rows) in table.snapshots.clone() {
        table.check(&format!("SELECT * FROM t /*+ OPTIONS('snapshot-id' = '{id}') */"), &rows).await;
    }
    for (n, rows) in table.tags.clone().into_iter().enumerate() {
        table.check(&format!("SELECT * FROM t /*+ OPTIONS('tag' = 't{n}') */"), &rows).await;
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A seed tells the format version and how rows are deleted: each of four tests takes its seeds.
async fn sequences(of: u64) {
    let first = number("CALVE_SEED", 0);
    for seed in first..first + number("CALVE_SEQUENCES", 20) {
        if seed % 4 == of {
            sequence(seed).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_equals_its_model_v2_copy_on_write() {
    sequences(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_equals_its_model_v2_merge_on_read() {
    sequences(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_equals_its_model_v3_copy_on_write() {
    sequences(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_equals_its_model_v3_merge_on_read() {
    sequences(3).await;
}
