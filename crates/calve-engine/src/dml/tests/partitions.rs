//! Rows of more partitions than files may be open.

use super::Lake;

/// Rows of all partitions come in turn: no partition gets a second file for it. Rows that stay and rows that are new take the
/// same way, with nested columns and, in version 3, with their ids.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_get_one_file_each() {
    let mut lake = Lake::new().await;
    lake.ok("CREATE TABLE d (x INT); INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)").await;
    for version in [2, 3] {
        let table = format!("t{version}");
        lake.ok(&format!(
            "CREATE TABLE {table} (id INT NOT NULL, p INT, r ROW<a INT, m MAP<STRING, INT>>) PARTITIONED BY (p)
               WITH ('format-version' = '{version}');
             INSERT INTO {table} SELECT id, MOD(id, 300), ROW(id, MAP['k', id]) FROM (
               SELECT a.x * 1000 + b.x * 100 + c.x * 10 + e.x AS id FROM d a, d b, d c, d e)"
        ))
        .await;
        let written = lake.ok(&format!("UPDATE {table} SET id = -id WHERE id >= 5000")).await.unwrap();
        assert_eq!((written.rows, written.data_files), (5000, 300));
        let sums = format!(
            "SELECT COUNT(*), COUNT(DISTINCT p), SUM(id), SUM(r.a), SUM(r.m['k']),
               SUM(CASE WHEN MOD(ABS(id), 300) = p THEN 0 ELSE 1 END) FROM {table}"
        );
        let below = 4999 * 5000 / 2;
        let all = 9999 * 10_000 / 2;
        let expected = [10_000, 300, 2 * below - all, all, all, 0].map(|v: i64| Some(v.to_string()));
        assert_eq!(lake.rows(&sums).await, [expected.to_vec()]);
    }
}
