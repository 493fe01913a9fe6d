//! ALTER TABLE of Iceberg tables: what was written before is read as the table is now, and a refusal changes nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use calve_engine::Session;
use common::{files, rows, run, session, try_run};

/// Rows as text, NULL as `-`, sorted.
async fn sorted(session: &mut Session, query: &str) -> Vec<String> {
    let rows = rows(session, query).await;
    let row = |row: &Vec<Option<String>>| {
        row.iter().map(|v| v.clone().unwrap_or_else(|| "-".to_owned())).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = rows.iter().map(row).collect();
    rows.sort();
    rows
}

async fn batch(warehouse: &std::path::Path) -> Session {
    session(warehouse, &[("execution.runtime-mode", "batch")]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_written_before_are_read_as_the_table_is_now() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = batch(folder.path()).await;
    let s = &mut session;
    run(s, "CREATE TABLE t (id INT NOT NULL, f FLOAT, d DECIMAL(5, 2), name STRING, gone INT, r ROW<x INT, y STRING>)")
        .await;
    run(s, "INSERT INTO t SELECT 1, CAST(1.5 AS FLOAT), CAST(12.34 AS DECIMAL(5, 2)), 'a', 7, ROW(1, 'x')").await;
    run(s, "INSERT INTO t SELECT 2, CAST(NULL AS FLOAT), CAST(NULL AS DECIMAL(5, 2)), 'b', 8, ROW(2, 'y')").await;
    let first = rows(s, "SELECT snapshot_id FROM t$snapshots ORDER BY committed_at").await[0][0].clone().unwrap();
    run(s, "ALTER TABLE t ADD (born DATE FIRST, tags ARRAY<STRING> AFTER id, extra ROW<p INT, q STRING>)").await;
    run(s, "ALTER TABLE t MODIFY (id BIGINT, f DOUBLE, d DECIMAL(30, 2) COMMENT 'wide' AFTER id)").await;
    run(s, "ALTER TABLE t RENAME name TO gone2").await;
    run(s, "ALTER TABLE t DROP (gone)").await;
    run(s, "ALTER TABLE t ADD gone STRING").await;
    run(
        s,
        "INSERT INTO t SELECT DATE '2024-01-01', 5000000000, CAST(1234567890.12 AS DECIMAL(30, 2)), ARRAY['t'], 2.5E0, 'c', \
         ROW(3, 'z'), ROW(9, 'q'), 'new'",
    )
    .await;
    assert_eq!(sorted(s, "DESCRIBE t").await.len(), 9, "born, id, d, tags, f, gone2, r, extra, gone");
    let all = [
        "- 1 12.34 - 1.5 a (1, x) - -",
        "- 2 - - - b (2, y) - -",
        "2024-01-01 5000000000 1234567890.12 [t] 2.5 c (3, z) (9, q) new",
    ];
    assert_eq!(sorted(s, "SELECT * FROM t").await, all);
    // filters on promoted columns prune by statistics that were written in the old type
    for (filter, ids) in [
        ("id < 2", &["1"][..]),
        ("id > 4999999999", &["5000000000"]),
        ("id IN (2, 5000000000)", &["2", "5000000000"]),
        ("f = 1.5E0", &["1"]),
        ("d = 12.34", &["1"]),
        ("d > 1000000", &["5000000000"]),
        ("gone IS NULL", &["1", "2"]),
        ("gone2 = 'b'", &["2"]),
        ("extra.p = 9", &["5000000000"]),
        ("born IS NOT NULL", &["5000000000"]),
        ("r.x >= 2", &["2", "5000000000"]),
    ] {
        assert_eq!(sorted(s, &format!("SELECT id FROM t WHERE {filter}")).await, ids, "{filter}");
    }
    assert_eq!(
        sorted(s, "SELECT SUM(id), SUM(d), COUNT(gone), MAX(f) FROM t").await,
        ["5000000003 1234567902.46 1 2.5"]
    );
    // an older snapshot is read as the table is now, too
    let then = format!("SELECT id, gone2, gone, d FROM t /*+ OPTIONS('snapshot-id' = '{first}') */");
    assert_eq!(sorted(s, &then).await, ["1 a - 12.34"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_were_promoted_still_find_their_rows() {
    for (version, deletes) in [("2", "always"), ("2", "needed"), ("3", "always"), ("3", "needed")] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = batch(folder.path()).await;
        let s = &mut session;
        run(
            s,
            &format!(
                "CREATE TABLE t (id INT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = \
                 '{version}', 'write.upsert.enabled' = 'true', 'calve.upsert.equality-deletes' = '{deletes}')"
            ),
        )
        .await;
        run(s, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')").await;
        run(s, "INSERT INTO t VALUES (2, 'B')").await;
        run(s, "ALTER TABLE t MODIFY id BIGINT").await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 a", "2 B", "3 c"]);
        run(s, "INSERT INTO t VALUES (CAST(3 AS BIGINT), 'C'), (5000000000, 'z')").await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 a", "2 B", "3 C", "5000000000 z"]);
        run(s, "ALTER TABLE t RENAME id TO k").await;
        run(s, "INSERT INTO t VALUES (CAST(1 AS BIGINT), 'A')").await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 A", "2 B", "3 C", "5000000000 z"]);
        run(s, "ALTER TABLE t ADD n INT FIRST").await;
        run(s, "INSERT INTO t VALUES (7, CAST(2 AS BIGINT), 'bb')").await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["- 1 A", "- 3 C", "- 5000000000 z", "7 2 bb"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_goes_up_to_other_format_versions_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = batch(folder.path()).await;
    let s = &mut session;
    run(s, "CREATE TABLE t (id INT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '1')")
        .await;
    run(s, "INSERT INTO t VALUES (1, 'a'), (2, 'b')").await;
    run(s, "ALTER TABLE t SET ('format-version' = '2', 'write.upsert.enabled' = 'true')").await;
    run(s, "INSERT INTO t VALUES (2, 'B'), (3, 'c'), (3, 'cc')").await;
    assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 a", "2 B", "3 cc"]);
    run(s, "ALTER TABLE t SET ('format-version' = '3')").await;
    assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 a", "2 B", "3 cc"]);
    run(s, "INSERT INTO t VALUES (1, 'A'), (3, 'C'), (4, 'd'), (4, 'dd')").await;
    assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 A", "2 B", "3 C", "4 dd"]);
    run(s, "ALTER TABLE t ADD n TIMESTAMP(9)").await;
    run(s, "INSERT INTO t VALUES (2, 'n', TIMESTAMP '2024-01-01 00:00:00.123456789')").await;
    assert_eq!(sorted(s, "SELECT id, n FROM t WHERE n IS NOT NULL").await, ["2 2024-01-01 00:00:00.123456789"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_change_and_their_columns_too() {
    for version in ["1", "2", "3"] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = batch(folder.path()).await;
        let s = &mut session;
        let create = "CREATE TABLE t (id INT NOT NULL, p INT, ts TIMESTAMP(6), v STRING) PARTITIONED BY (p)";
        run(s, &format!("{create} WITH ('format-version' = '{version}')")).await;
        let day = |d: u32| format!("TIMESTAMP '2024-01-{d:02} 10:00:00'");
        run(s, &format!("INSERT INTO t VALUES (1, 1, {}, 'a'), (2, 2, {}, 'b')", day(1), day(2))).await;
        // the values of identity partitions were written as INT
        run(s, "ALTER TABLE t MODIFY p BIGINT").await;
        run(
            s,
            &format!("INSERT INTO t VALUES (3, 5000000000, {}, 'c'), (4, CAST(2 AS BIGINT), {}, 'd')", day(3), day(4)),
        )
        .await;
        let all = "SELECT id, p, v FROM t";
        assert_eq!(sorted(s, all).await, ["1 1 a", "2 2 b", "3 5000000000 c", "4 2 d"], "v{version}");
        assert_eq!(sorted(s, &format!("{all} WHERE p = 2")).await, ["2 2 b", "4 2 d"]);
        assert_eq!(sorted(s, &format!("{all} WHERE p > 2")).await, ["3 5000000000 c"]);
        run(s, "ALTER TABLE t REPLACE PARTITION FIELD p WITH days(ts)").await;
        run(s, &format!("INSERT INTO t VALUES (5, CAST(2 AS BIGINT), {}, 'e')", day(5))).await;
        run(s, "ALTER TABLE t ADD PARTITION FIELD bucket(4, id) AS shard").await;
        run(s, &format!("INSERT INTO t VALUES (6, CAST(3 AS BIGINT), {}, 'f')", day(6))).await;
        assert_eq!(sorted(s, &format!("{all} WHERE p = 2")).await, ["2 2 b", "4 2 d", "5 2 e"]);
        let since = format!("{all} WHERE ts >= {}", day(4));
        assert_eq!(sorted(s, &since).await, ["4 2 d", "5 2 e", "6 3 f"]);
        if version == "1" {
            run(s, "ALTER TABLE t SET ('format-version' = '2'); ALTER TABLE t DROP PARTITION FIELD p_1000").await;
        }
        // a column that partitioned older files goes, and its files stay readable
        run(s, "ALTER TABLE t DROP p").await;
        assert_eq!(sorted(s, "SELECT id, v FROM t").await, ["1 a", "2 b", "3 c", "4 d", "5 e", "6 f"]);
        assert_eq!(sorted(s, "SELECT id FROM t WHERE id = 4").await, ["4"]);
        run(s, "ALTER TABLE t ADD p STRING").await;
        run(s, &format!("INSERT INTO t VALUES (7, {}, 'g', 'new')", day(7))).await;
        assert_eq!(sorted(s, "SELECT id, p FROM t WHERE p IS NOT NULL OR id = 1").await, ["1 -", "7 new"]);
        run(s, "ALTER TABLE t DROP PARTITION FIELD shard; ALTER TABLE t DROP PARTITION FIELD days(ts)").await;
        run(s, &format!("INSERT INTO t VALUES (8, {}, 'h', 'new')", day(8))).await;
        assert_eq!(sorted(s, "SELECT COUNT(*) FROM t").await, ["8"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_found_in_files_of_another_partition_spec() {
    for version in ["2", "3"] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = batch(folder.path()).await;
        let s = &mut session;
        let create = "CREATE TABLE t (id INT NOT NULL, p INT NOT NULL, v STRING, PRIMARY KEY (id, p) NOT ENFORCED)";
        run(s, &format!("{create} WITH ('format-version' = '{version}', 'write.upsert.enabled' = 'true')")).await;
        run(s, "INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b')").await;
        run(s, "ALTER TABLE t ADD PARTITION FIELD p").await;
        // the old row is in a file without partition
        run(s, "INSERT INTO t VALUES (1, 1, 'A'), (3, 1, 'c')").await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 1 A", "2 2 b", "3 1 c"]);
        // and in files of two specs, with keys and partitions of another type
        run(s, "ALTER TABLE t MODIFY (id BIGINT NOT NULL, p BIGINT NOT NULL)").await;
        run(s, "INSERT INTO t SELECT CAST(id AS BIGINT), CAST(p AS BIGINT), v FROM (VALUES (1, 1, 'AA'), (2, 2, 'B')) AS n(id, p, v)").await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 1 AA", "2 2 B", "3 1 c"]);
        run(s, "ALTER TABLE t REPLACE PARTITION FIELD p WITH bucket(2, id)").await;
        run(s, "INSERT INTO t SELECT CAST(id AS BIGINT), CAST(p AS BIGINT), v FROM (VALUES (3, 1, 'C'), (2, 2, 'BB')) AS n(id, p, v)").await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 1 AA", "2 2 BB", "3 1 C"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_change_leaves_the_table_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = batch(folder.path()).await;
    let s = &mut session;
    run(s, "CREATE TABLE t (id BIGINT NOT NULL, i INT, s STRING, dt DATE, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)").await;
    run(s, "INSERT INTO t VALUES (1, 1, 'a', DATE '2024-01-01')").await;
    let described = rows(s, "DESCRIBE t").await;
    let created = rows(s, "SHOW CREATE TABLE t").await;
    let before = files(folder.path());
    for change in [
        "ADD (ok INT, i STRING)",
        "ADD (ok INT, bad INT NOT NULL)",
        "ADD (ok INT AFTER nope)",
        "ADD ok AS id + 1",
        "ADD ok INT METADATA",
        "ADD WATERMARK FOR dt AS dt",
        "ADD PRIMARY KEY (i) NOT ENFORCED",
        "ADD (ok INT, `a.b` INT)",
        "ADD n TIMESTAMP(9)",
        "MODIFY (i BIGINT, s INT)",
        "MODIFY (i BIGINT AFTER i)",
        "MODIFY (i BIGINT, s STRING NOT NULL)",
        "MODIFY PRIMARY KEY (i) NOT ENFORCED",
        "RENAME i TO s",
        "RENAME dt TO d",
        "RENAME nope TO d",
        "DROP (i, dt)",
        "DROP (i, id)",
        "DROP (i, nope)",
        "DROP PRIMARY KEY",
        "DROP CONSTRAINT x",
        "DROP WATERMARK",
        "DROP DISTRIBUTION",
        "ADD DISTRIBUTION BY (i)",
        "ADD PARTITION (dt = '2024-01-02')",
        "DROP PARTITION (dt = '2024-01-01')",
        "RENAME TO u",
        "SET ('k' = 'v', 'connector' = 'print')",
        "SET ('k' = 'v', 'format-version' = '1')",
        "SET ('k' = 'v', 'location' = '/elsewhere')",
        "SET ('k' = 'v', 'current-snapshot-id' = '7')",
        "RESET ()",
        "RESET ('write.parquet.compression-codec', 'connector')",
        "ADD PARTITION FIELD days(s)",
        "DROP PARTITION FIELD days(dt)",
        "REPLACE PARTITION FIELD dt WITH days(i)",
    ] {
        let error = try_run(s, &format!("ALTER TABLE t {change}")).await.unwrap_err();
        assert!(error.span.is_some(), "{change}: {error:?}");
        assert_ne!(error.code, "internal", "{change}");
        assert_eq!(files(folder.path()), before, "{change}");
    }
    assert_eq!(rows(s, "DESCRIBE t").await, described);
    assert_eq!(rows(s, "SHOW CREATE TABLE t").await, created);
    assert_eq!(sorted(s, "SELECT * FROM t").await, ["1 1 a 2024-01-01"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn main_goes_back_and_forth() {
    for version in ["1", "2", "3"] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = batch(folder.path()).await;
        let s = &mut session;
        run(s, &format!("CREATE TABLE t (a INT) WITH ('format-version' = '{version}')")).await;
        run(s, "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)").await;
        let ids = rows(s, "SELECT snapshot_id FROM t$snapshots ORDER BY committed_at").await;
        let (first, second) = (ids[0][0].clone().unwrap(), ids[1][0].clone().unwrap());
        let current = |id: &str| format!("ALTER TABLE t SET ('current-snapshot-id' = '{id}', 'k' = 'v')");
        let pick = |id: &str| format!("ALTER TABLE t SET ('cherry-pick-snapshot-id' = '{id}', 'k' = 'w')");
        run(s, &current(&first)).await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1"]);
        let error = try_run(s, &pick(&first)).await.unwrap_err();
        assert_eq!(error.detail.unwrap(), format!("Cannot cherrypick snapshot {first}: already an ancestor"));
        // what follows the head becomes the head
        run(s, &pick(&second)).await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1", "2"]);
        assert_eq!(sorted(s, "SELECT COUNT(*) FROM t$snapshots").await, ["2"]);
        // the rows of another one are added once
        run(s, &current(&first)).await;
        run(s, "INSERT INTO t VALUES (3)").await;
        run(s, &pick(&second)).await;
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1", "2", "3"]);
        let error = try_run(s, &pick(&second)).await.unwrap_err();
        let detail = error.detail.unwrap();
        assert!(detail.starts_with(&format!("Cannot cherrypick snapshot {second}: already picked to create ancestor")));
        assert_eq!(sorted(s, "SELECT * FROM t").await, ["1", "2", "3"]);
        assert_eq!(sorted(s, "SELECT COUNT(*) FROM t$snapshots").await, ["4"]);
        assert!(rows(s, "SHOW CREATE TABLE t").await[0][0].clone().unwrap().contains("'k' = 'w'"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_without_columns_gets_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = batch(folder.path()).await;
    let s = &mut session;
    run(s, "CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2)").await;
    run(s, "ALTER TABLE t DROP (a, b)").await;
    assert!(rows(s, "DESCRIBE t").await.is_empty());
    let _ = common::try_rows(s, "SELECT * FROM t").await;
    run(s, "ALTER TABLE t ADD a STRING").await;
    run(s, "INSERT INTO t VALUES ('x')").await;
    assert_eq!(sorted(s, "SELECT * FROM t").await, ["-", "x"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_of_a_jdbc_catalog_has_another_name_or_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = batch(folder.path()).await;
    let s = &mut session;
    let dir = folder.path().display();
    run(
        s,
        &format!(
            "CREATE CATALOG j WITH ('type' = 'iceberg', 'catalog-type' = 'jdbc', 'uri' = 'jdbc:sqlite:{dir}/c.db', \
             'warehouse' = '{dir}/w'); CREATE DATABASE j.db; USE j.db"
        ),
    )
    .await;
    run(s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1); ALTER TABLE t RENAME TO u").await;
    // the old name is free, and its new table shares nothing but the folder
    run(s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (7)").await;
    assert_eq!(try_run(s, "ALTER TABLE t RENAME TO u").await.unwrap_err().code, "table-exists");
    run(s, "DROP TABLE t").await;
    run(s, &format!("ALTER TABLE u SET ('location' = '{dir}/moved')")).await;
    run(s, "INSERT INTO u VALUES (2)").await;
    assert_eq!(sorted(s, "SELECT * FROM u").await, ["1", "2"]);
    assert!(folder.path().join("moved/metadata").is_dir());
    assert_eq!(sorted(s, "SHOW TABLES").await, ["u"]);
}
