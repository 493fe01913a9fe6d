//! What a table looks like after a run that ended badly.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{calve, jsonl};
use serde_json::{Value, json};

const CATALOG: &str = "CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='wh'); USE CATALOG ice; \
     CREATE DATABASE IF NOT EXISTS shop; USE shop; SET 'execution.runtime-mode' = 'batch';";

fn create(dir: &Path, table: &str) {
    let (code, objects) = jsonl(dir, &["-e", &format!("{CATALOG} {table}")]);
    assert_eq!(code, 0, "{objects:?}");
}

fn query(dir: &Path, sql: &str) -> Value {
    let (code, objects) = jsonl(dir, &["-e", &format!("{CATALOG} {sql}")]);
    let last = objects.last().expect("a result");
    assert_eq!(code, 0, "{last}");
    last["rows"].clone()
}

/// Digits that hardly compress.
fn noise(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut out = String::new();
    for _ in 0..6 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out += &format!("{state:016x}");
    }
    out
}

#[test]
fn a_killed_insert_leaves_the_table_before_or_after_it() {
    const KEYS: usize = 2_000;
    const MOMENTS: u32 = 10;
    let dir = tempfile::tempdir().expect("folder");
    let dir = dir.path();
    create(
        dir,
        "CREATE TABLE t (id INT, part INT, v INT, PRIMARY KEY (id, part) NOT ENFORCED) PARTITIONED BY (part) \
         WITH ('write.upsert.enabled' = 'true')",
    );
    let insert = |v: u32| {
        let rows: Vec<_> = (0..KEYS).map(|id| format!("({id},{},{v})", id % 3)).collect();
        let path = dir.join(format!("insert{v}.sql"));
        std::fs::write(&path, format!("{CATALOG} INSERT INTO t VALUES {}", rows.join(","))).expect("script");
        let mut command = calve();
        command.current_dir(dir).arg("run").arg(path).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let run = |v: u32| {
        let output = insert(v).output().expect("run");
        assert_eq!(output.status.code(), Some(0), "insert {v}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(0);
    let started = Instant::now();
    run(1);
    let whole = started.elapsed();
    let mut before = 1;
    for moment in 0..MOMENTS {
        let v = 2 * moment + 2;
        let mut child = insert(v).spawn().expect("spawn");
        std::thread::sleep(whole * (2 * moment + 1) / (2 * MOMENTS));
        child.kill().expect("kill"); // SIGKILL
        child.wait().expect("wait");
        let rows = query(dir, "SELECT v, COUNT(*) FROM t GROUP BY v");
        let count = KEYS.to_string();
        let (old, new) = (json!([[before.to_string(), count]]), json!([[v.to_string(), count]]));
        assert!(rows == old || rows == new, "moment {moment}: {rows}");
        run(v + 1);
        before = v + 1;
        assert_eq!(query(dir, "SELECT v, COUNT(*) FROM t GROUP BY v"), json!([[before.to_string(), count]]));
    }
}

#[test]
fn a_full_disk_leaves_the_table_as_it_was() {
    let dir = tempfile::tempdir().expect("folder");
    let dir = dir.path();
    for (name, with) in [("plain", ""), ("keyed", "WITH ('write.upsert.enabled' = 'true')")] {
        create(dir, &format!("CREATE TABLE {name} (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) {with}"));
        create(dir, &format!("INSERT INTO {name} VALUES (1, 'a'), (2, 'b')"));
        let before = common::tree(&dir.join("wh"));
        let rows: Vec<_> = (0..8_000).map(|id| format!("({id},'{}')", noise(id))).collect();
        let script = dir.join("big.sql");
        std::fs::write(&script, format!("{CATALOG} INSERT INTO {name} VALUES {}", rows.join(","))).expect("script");

        // 64 or 128 KiB, depending on the shell; the file takes about 400
        let mut command = common::plain(Command::new("sh"));
        command.args(["-c", "ulimit -f 128; exec \"$0\" run --output jsonl \"$1\"", common::CALVE]).arg(&script);
        let output = command.current_dir(dir).output().expect("run");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{name}: {text} {}", String::from_utf8_lossy(&output.stderr));
        let last: Value = serde_json::from_str(text.lines().last().expect("a result")).expect("JSON");
        assert_eq!(last["status"], "error", "{last}");
        assert!(last["error"]["message"].to_string().to_lowercase().contains("file too large"), "{}", last["error"]);

        assert_eq!(common::tree(&dir.join("wh")), before, "{name}: uncommitted files are gone");
        assert_eq!(query(dir, &format!("SELECT id, v FROM {name} ORDER BY id")), json!([["1", "a"], ["2", "b"]]));
        create(dir, &format!("INSERT INTO {name} VALUES (3, 'c')"));
        assert_eq!(query(dir, &format!("SELECT COUNT(*) FROM {name}")), json!([["3"]]));
    }
}

/// A table with small files, so that some are there soon.
fn create_for_long_insert(dir: &Path) {
    create(
        dir,
        "CREATE TABLE t (a BIGINT, b BIGINT, c BIGINT) WITH ('write.target-file-size-bytes'='65536', \
         'write.parquet.row-group-size-bytes'='65536')",
    );
}

/// An INSERT into that table that does not come to its end.
fn start_long_insert(dir: &Path, stderr: Stdio) -> Child {
    let numbers: Vec<_> = (0..1_000).map(|n| format!("(CAST({n} AS BIGINT))")).collect();
    let numbers = format!("(VALUES {})", numbers.join(","));
    let script = dir.join("long.sql");
    let sql = format!(
        "{CATALOG} INSERT INTO t SELECT x.n, y.n, z.n FROM {numbers} AS x(n) CROSS JOIN {numbers} AS y(n) CROSS JOIN {numbers} AS z(n)"
    );
    std::fs::write(&script, sql).expect("script");
    calve().current_dir(dir).arg("run").arg(&script).stdout(Stdio::null()).stderr(stderr).spawn().expect("spawn")
}

#[test]
fn an_interrupted_insert_leaves_no_files() {
    let dir = tempfile::tempdir().expect("folder");
    let dir = dir.path();
    create_for_long_insert(dir);
    let before = common::tree(&dir.join("wh"));
    let mut child = start_long_insert(dir, Stdio::null());
    let deadline = Instant::now() + Duration::from_secs(30);
    while common::tree(&dir.join("wh")).len() < before.len() + 5 {
        assert!(Instant::now() < deadline, "no data files");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let status = common::wait_for(&mut child, Duration::from_secs(20)).expect("the statement ends");
    assert_eq!(status.code(), Some(130));
    assert_eq!(common::tree(&dir.join("wh")), before);
}

/// Nobody may run another statement to hear of it.
#[test]
fn what_an_interrupted_insert_leaves_is_told_at_once() {
    let dir = tempfile::tempdir().expect("folder");
    let dir = dir.path();
    create_for_long_insert(dir);
    let mut child = start_long_insert(dir, Stdio::piped());
    let deadline = Instant::now() + Duration::from_secs(30);
    let data = |path: &String| path.ends_with(".parquet");
    let file = loop {
        assert!(Instant::now() < deadline, "no data files");
        std::thread::sleep(Duration::from_millis(20));
        let tree = common::tree(&dir.join("wh"));
        if tree.iter().filter(|path| data(path)).count() > 5 {
            break tree.into_iter().find(data).expect("a file");
        }
    };
    // a folder in the place of a file cannot be deleted as one
    std::fs::remove_file(dir.join("wh").join(&file)).expect("remove");
    std::fs::create_dir(dir.join("wh").join(&file)).expect("folder");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let status = common::wait_for(&mut child, Duration::from_secs(20)).expect("the statement ends");
    assert_eq!(status.code(), Some(130));
    let mut told = String::new();
    child.stderr.take().expect("stderr").read_to_string(&mut told).expect("text");
    assert!(told.contains("error[interrupted]") && told.contains("What may be left: "), "{told}");
    assert!(told.contains(&file), "{told}");
}

#[test]
fn a_killed_overwrite_of_files_loses_no_row() {
    const PARTS: usize = 150;
    const MOMENTS: usize = 8;
    let dir = tempfile::tempdir().expect("folder");
    let dir = dir.path();
    let table = "SET 'execution.runtime-mode' = 'batch'; CREATE TABLE t (v INT, part INT) PARTITIONED BY (part) \
                 WITH ('connector' = 'filesystem', 'path' = 'files', 'format' = 'csv');";
    let overwrite = |v: usize| {
        let rows: Vec<_> = (0..PARTS).map(|part| format!("({v},{part})")).collect();
        let path = dir.join("overwrite.sql");
        let sql = format!("{table} INSERT OVERWRITE t VALUES {};", rows.join(","));
        std::fs::write(&path, sql).expect("script");
        let mut command = calve();
        command.current_dir(dir).arg("run").arg(path).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let select = |sql: &str| {
        let (code, objects) = jsonl(dir, &["-e", &format!("{table} {sql}")]);
        let last = objects.last().expect("a result");
        assert_eq!(code, 0, "{last}");
        last["rows"].clone()
    };
    let staged = || {
        let entries = std::fs::read_dir(dir.join("files")).expect("folder");
        entries.filter(|e| e.as_ref().expect("entry").file_name().to_string_lossy().starts_with(".staging-")).count()
    };
    let shown = || {
        let all = common::tree(&dir.join("files"));
        all.iter().filter(|name| !name.starts_with('.')).cloned().collect::<std::collections::BTreeSet<_>>()
    };
    assert!(overwrite(0).status().expect("run").success());
    let mut caught = 0;
    for moment in 0..MOMENTS {
        let (old, new) = (2 * moment, 2 * moment + 1);
        let before = shown();
        let mut child = overwrite(new).spawn().expect("spawn");
        // somewhere between the first file that comes and the last that goes
        let deadline = Instant::now() + Duration::from_secs(30);
        while child.try_wait().expect("wait").is_none() && Instant::now() < deadline {
            let now = shown();
            let moved = now.difference(&before).count() + before.difference(&now).count();
            if moved > moment * PARTS * 2 / MOMENTS {
                break;
            }
        }
        child.kill().expect("kill"); // SIGKILL
        child.wait().expect("wait");
        caught += staged();
        let rows = select(&format!("SELECT COUNT(DISTINCT part) FROM t WHERE v IN ({old}, {new})"));
        assert_eq!(rows, json!([[PARTS.to_string()]]), "moment {moment}");
        assert_eq!(select(&format!("SELECT COUNT(*) FROM t WHERE v NOT IN ({old}, {new})")), json!([["0"]]));
        // running it again heals
        assert!(overwrite(new + 1).status().expect("run").success());
        let rows = select("SELECT COUNT(*), COUNT(DISTINCT part), MIN(v), MAX(v) FROM t");
        let (parts, v) = (PARTS.to_string(), (new + 1).to_string());
        assert_eq!(rows, json!([[parts, parts, v, v]]), "moment {moment}");
        assert_eq!(staged(), 0, "moment {moment}: the dead writer's folder is gone");
    }
    assert!(caught > 0, "no overwrite was killed before its end");
}
