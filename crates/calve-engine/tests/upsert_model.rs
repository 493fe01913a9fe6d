//! Random upsert batches equal an in-memory map, in format versions 2 and 3.
//!
//! The final tables and the rows they must hold stay in `target/model/`, where `sql-tests/interop/read_with_duckdb.py` reads
//! them with another engine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{rows, run};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const BATCHES: usize = 300;
/// An upsert by position reads the keys of every file that may hold one: here, of all.
const BATCHES_BY_POSITION: usize = 60;
const KEYS: i32 = 60;
const PARTITIONS: i32 = 4;

type Model = BTreeMap<(i32, String), (i64, Option<String>)>;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/model").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.canonicalize().unwrap()
}

fn value(text: Option<&str>) -> String {
    text.map_or("CAST(NULL AS STRING)".to_owned(), |t| format!("'{t}'"))
}

async fn model(name: &str, format_version: u8, setting: (&str, &str), seed: u64) {
    let warehouse = folder(name);
    let mut session = common::session(&warehouse, &[setting, ("execution.runtime-mode", "batch")]).await;
    run(
        &mut session,
        &format!(
            "CREATE TABLE t (id INT, p STRING, n BIGINT, s STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)
             WITH ('format-version' = '{format_version}', 'write.upsert.enabled' = 'true')"
        ),
    )
    .await;

    let mut random = StdRng::seed_from_u64(seed);
    let mut model = Model::new();
    let batches = if setting.1 == "position" { BATCHES_BY_POSITION } else { BATCHES };
    for batch in 1..=batches {
        let values: Vec<String> = (0..random.random_range(1..=12))
            .map(|_| {
                let key = (random.random_range(0..KEYS), format!("p{}", random.random_range(0..PARTITIONS)));
                let n: i64 = random.random_range(-1000..1000);
                let s = random.random_bool(0.8).then(|| format!("s{}", random.random_range(0..100)));
                let row = format!("({}, '{}', CAST({n} AS BIGINT), {})", key.0, key.1, value(s.as_deref()));
                model.insert(key, (n, s));
                row
            })
            .collect();
        run(&mut session, &format!("INSERT INTO t VALUES {}", values.join(", "))).await;
        if batch <= 50 || batch % 25 == 0 {
            let got = rows(&mut session, "SELECT id, p, n, s FROM t ORDER BY id, p").await;
            let want: Vec<Vec<Option<String>>> = model
                .iter()
                .map(|((id, p), (n, s))| vec![Some(id.to_string()), Some(p.clone()), Some(n.to_string()), s.clone()])
                .collect();
            assert_eq!(got, want, "after batch {batch} of {name}");
        }
    }

    let lines: Vec<String> =
        model.iter().map(|((id, p), (n, s))| format!("{id}\t{p}\t{n}\t{}", s.as_deref().unwrap_or("\\N"))).collect();
    std::fs::write(warehouse.join("expected.tsv"), lines.join("\n") + "\n").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upserts_equal_a_map_v2() {
    model("v2", 2, ("calve.upsert.equality-deletes", "needed"), 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upserts_equal_a_map_v3() {
    model("v3", 3, ("calve.upsert.equality-deletes", "needed"), 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upserts_equal_a_map_with_an_equality_delete_for_every_key() {
    model("v2-always", 2, ("calve.upsert.equality-deletes", "always"), 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upserts_by_position_equal_a_map_v2() {
    model("v2-position", 2, ("calve.upsert.mode", "position"), 5).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upserts_by_position_equal_a_map_v3() {
    model("v3-position", 3, ("calve.upsert.mode", "position"), 6).await;
}
