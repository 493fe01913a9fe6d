//! The statements: at least one of every kind that writes, over formats, partitions and ways to delete rows.

/// What a statement promises where it is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// A job with one commit: it can be run again under its id.
    Job,
    /// A job with a commit for each table, where the catalog does not commit them as one: those before the one that failed
    /// may be in, and calve says so.
    Set,
    /// A change that is no job: cancelled, it may have been made.
    Change,
    /// A change that takes files away: after an unknown outcome some of them may be gone already.
    Drop,
}

/// A statement and what is there before it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub name: &'static str,
    pub setup: &'static str,
    pub sql: &'static str,
    pub promise: Promise,
    /// Rows of all tables and branches before and after, so that nobody compares nothing with nothing.
    pub rows: (usize, usize),
    pub parallelism: usize,
}

const fn job(name: &'static str, setup: &'static str, sql: &'static str, rows: (usize, usize)) -> Case {
    Case { name, setup, sql, promise: Promise::Job, rows, parallelism: 1 }
}

/// Stands for properties that every table has: nobody waits for long in a test.
pub const QUICK: &str = "'commit.retry.num-retries' = '2', 'commit.retry.min-wait-ms' = '1', \
     'commit.retry.max-wait-ms' = '5', 'commit.status-check.num-retries' = '2', \
     'commit.status-check.min-wait-ms' = '1', 'commit.status-check.max-wait-ms' = '5'";

pub const CASES: [Case; 30] = [
    job(
        "INSERT v2",
        "CREATE TABLE t (id INT, v STRING) WITH ($);
         INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "INSERT INTO t VALUES (3, 'c'), (4, 'd'), (5, 'e')",
        (2, 5),
    ),
    job(
        "INSERT v3, old metadata goes",
        "CREATE TABLE t (id INT, v STRING) WITH ('format-version' = '3', 'write.metadata.previous-versions-max' = '1',
            'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.compression-codec' = 'gzip', $);
         INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b')",
        "INSERT INTO t VALUES (3, 'c')",
        (2, 3),
    ),
    job("INSERT, first rows", "CREATE TABLE t (id INT, v STRING) WITH ($)", "INSERT INTO t VALUES (1, 'a')", (0, 1)),
    Case {
        parallelism: 2,
        ..job(
            "INSERT SELECT, partitions",
            "CREATE TABLE s (id INT, p STRING) WITH ($);
             INSERT INTO s VALUES (1, 'x'), (2, 'y'); INSERT INTO s VALUES (3, 'z');
             CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ($);
             INSERT INTO t VALUES (7, 'x')",
            "INSERT INTO t SELECT id, p FROM s",
            (4, 7),
        )
    },
    job(
        "INSERT Avro",
        "CREATE TABLE t (id INT, v STRING) WITH ('write.format.default' = 'avro', $);
         INSERT INTO t VALUES (1, 'a')",
        "INSERT INTO t VALUES (2, 'b')",
        (1, 2),
    ),
    job(
        "INSERT ORC",
        "CREATE TABLE t (id INT, v STRING) WITH ('write.format.default' = 'orc', $);
         INSERT INTO t VALUES (1, 'a')",
        "INSERT INTO t VALUES (2, 'b')",
        (1, 2),
    ),
    job(
        "INSERT merging manifests",
        "CREATE TABLE t (id INT, v STRING) WITH ('commit.manifest.min-count-to-merge' = '2', $);
         INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b')",
        "INSERT INTO t VALUES (3, 'c')",
        (2, 3),
    ),
    job(
        "INSERT in parts",
        "CREATE TABLE t (id INT, v STRING) WITH ('write.parquet.compression-codec' = 'uncompressed', $);
         CREATE TABLE s (id INT) WITH ($); INSERT INTO s VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9)",
        "INSERT INTO t SELECT id, REPEAT(CAST(id AS STRING), 1000000) FROM s",
        (9, 18),
    ),
    job(
        "upsert by equality v2",
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "INSERT INTO t VALUES (2, 'B'), (3, 'c'), (2, 'BB')",
        (2, 3),
    ),
    job(
        "upsert by equality v3",
        "CREATE TABLE t (id INT, p INT, v STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)
            WITH ('format-version' = '3', 'write.upsert.enabled' = 'true', $);
         INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b')",
        "INSERT INTO t VALUES (2, 2, 'B'), (3, 1, 'c'), (2, 2, 'BB')",
        (2, 3),
    ),
    job(
        "upsert by position v2",
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "INSERT INTO t /*+ OPTIONS('calve.upsert.mode' = 'position') */ VALUES (2, 'B'), (3, 'c')",
        (2, 3),
    ),
    job(
        "upsert by position v3",
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('format-version' = '3', 'write.upsert.enabled' = 'true', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b'), (9, 'z');
         INSERT INTO t /*+ OPTIONS('calve.upsert.mode' = 'position') */ VALUES (9, 'y')",
        "INSERT INTO t /*+ OPTIONS('calve.upsert.mode' = 'position') */ VALUES (2, 'B'), (3, 'c')",
        (3, 4),
    ),
    job(
        "INSERT OVERWRITE",
        "CREATE TABLE t (id INT, v STRING) WITH ($); INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "INSERT OVERWRITE t VALUES (7, 'z')",
        (2, 1),
    ),
    job(
        "INSERT OVERWRITE partition",
        "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ('format-version' = '3', $);
         INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'y')",
        "INSERT OVERWRITE t PARTITION (p = 'y') SELECT 9",
        (3, 2),
    ),
    job(
        "DELETE copy-on-write",
        "CREATE TABLE t (id INT, v STRING) WITH ('write.delete.mode' = 'copy-on-write', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO t VALUES (3, 'c')",
        "DELETE FROM t WHERE id = 2",
        (3, 2),
    ),
    job(
        "DELETE merge-on-read v2",
        "CREATE TABLE t (id INT, v STRING) WITH ('write.delete.mode' = 'merge-on-read', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "DELETE FROM t WHERE id = 2",
        (3, 2),
    ),
    job(
        "DELETE merge-on-read v3",
        "CREATE TABLE t (id INT, v STRING) WITH ('format-version' = '3', 'write.delete.mode' = 'merge-on-read', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'); DELETE FROM t WHERE id = 1",
        "DELETE FROM t WHERE id = 2",
        (2, 1),
    ),
    job(
        "DELETE of whole files",
        "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ($);
         INSERT INTO t VALUES (1, 'x'), (2, 'y')",
        "DELETE FROM t WHERE p = 'y'",
        (2, 1),
    ),
    job(
        "UPDATE copy-on-write",
        "CREATE TABLE t (id INT, v STRING) WITH ('write.update.mode' = 'copy-on-write', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "UPDATE t SET v = 'B' WHERE id = 2",
        (2, 2),
    ),
    job(
        "UPDATE merge-on-read v3",
        "CREATE TABLE t (id INT, v STRING) WITH ('format-version' = '3', 'write.update.mode' = 'merge-on-read', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "UPDATE t SET v = 'B' WHERE id = 2",
        (2, 2),
    ),
    job(
        "MERGE copy-on-write",
        "CREATE TABLE s (id INT, v STRING) WITH ($); INSERT INTO s VALUES (2, 'B'), (3, 'c');
         CREATE TABLE t (id INT, v STRING) WITH ('write.merge.mode' = 'copy-on-write', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
        (4, 5),
    ),
    job(
        "MERGE merge-on-read v2",
        "CREATE TABLE s (id INT, v STRING) WITH ($); INSERT INTO s VALUES (2, 'B'), (3, 'c');
         CREATE TABLE t (id INT, v STRING) WITH ('write.merge.mode' = 'merge-on-read', $);
         INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
        (4, 4),
    ),
    job(
        "CREATE TABLE AS",
        "CREATE TABLE s (id INT, v STRING) WITH ($); INSERT INTO s VALUES (1, 'a'), (2, 'b')",
        "CREATE TABLE t WITH ($) AS SELECT id, v FROM s",
        (2, 4),
    ),
    job(
        "REPLACE TABLE AS",
        "CREATE TABLE s (id INT, v STRING) WITH ($); INSERT INTO s VALUES (1, 'a'), (2, 'b'), (3, 'c');
         CREATE TABLE t (x STRING) WITH ($); INSERT INTO t VALUES ('old')",
        "CREATE OR REPLACE TABLE t WITH ($) AS SELECT id, v FROM s",
        (4, 6),
    ),
    job(
        "INSERT into a branch",
        "CREATE TABLE t (id INT, v STRING) WITH ($); INSERT INTO t VALUES (1, 'a')",
        "INSERT INTO t /*+ OPTIONS('branch' = 'b') */ VALUES (2, 'b')",
        (1, 3),
    ),
    Case {
        promise: Promise::Set,
        ..job(
            "statement set",
            "CREATE TABLE s (id INT, v STRING) WITH ($); INSERT INTO s VALUES (1, 'a'), (2, 'b');
             CREATE TABLE t (id INT, v STRING) WITH ($); INSERT INTO t VALUES (0, '0');
             CREATE TABLE u (id INT, v STRING) WITH ($); INSERT INTO u VALUES (0, '0')",
            "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT id, v FROM s; INSERT INTO u SELECT id + 1, v FROM s; END",
            (4, 8),
        )
    },
    Case {
        promise: Promise::Change,
        ..job("CREATE TABLE", "CREATE TABLE s (x INT) WITH ($)", "CREATE TABLE t (id INT) WITH ($)", (0, 0))
    },
    Case {
        promise: Promise::Change,
        ..job(
            "ALTER TABLE ADD",
            "CREATE TABLE t (id INT) WITH ($); INSERT INTO t VALUES (1)",
            "ALTER TABLE t ADD (n BIGINT)",
            (1, 1),
        )
    },
    Case {
        promise: Promise::Change,
        ..job(
            "ALTER TABLE SET",
            "CREATE TABLE t (id INT) WITH ($); INSERT INTO t VALUES (1)",
            "ALTER TABLE t SET ('note' = 'new')",
            (1, 1),
        )
    },
    Case {
        promise: Promise::Drop,
        ..job(
            "DROP TABLE",
            "CREATE TABLE s (id INT) WITH ($); INSERT INTO s VALUES (1);
             CREATE TABLE t (id INT) WITH ($); INSERT INTO t VALUES (1), (2); INSERT INTO t VALUES (3)",
            "DROP TABLE t",
            (4, 1),
        )
    },
];

/// A script with the properties of every table.
pub fn quick(script: &str) -> String {
    script.replace('$', QUICK)
}
