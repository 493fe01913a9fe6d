-- CREATE OR REPLACE TABLE AS and REPLACE TABLE AS.
SET 'execution.runtime-mode' = 'batch';
REPLACE TABLE r AS SELECT 1 AS a;
CREATE OR REPLACE TABLE r WITH ('connector' = 'filesystem', 'path' = '${TMP}/r', 'format' = 'csv') AS SELECT 1 AS a;
SELECT * FROM r;
REPLACE TABLE r (b BIGINT, c AS b + 1) COMMENT 'second' WITH ('connector' = 'filesystem', 'path' = '${TMP}/r2', 'format' = 'csv')
  AS SELECT 'x' AS s, 7 AS b;
SHOW CREATE TABLE r;
SELECT * FROM r;
REPLACE TABLE r WITH ('connector' = 'blackhole') AS SELECT nothing;
REPLACE TABLE r WITH ('connector' = 'blackhole') AS SELECT * FROM r;
REPLACE TABLE IF NOT EXISTS r WITH ('connector' = 'blackhole') AS SELECT 1 AS a;
CREATE OR REPLACE TEMPORARY TABLE r WITH ('connector' = 'blackhole') AS SELECT 1 AS a;
CREATE OR REPLACE TABLE r (a INT) WITH ('connector' = 'blackhole');
CREATE VIEW v AS SELECT 1 AS a;
REPLACE TABLE v WITH ('connector' = 'blackhole') AS SELECT 1 AS a;
CREATE TEMPORARY TABLE r (a INT) WITH ('connector' = 'blackhole');
REPLACE TABLE r WITH ('connector' = 'blackhole') AS SELECT 1 AS a;
-- an Iceberg table is replaced by one commit, and its history stays
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
USE ice.db;
CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true', 'gone' = '1');
INSERT INTO t VALUES (1, 'a'), (2, 'b');
INSERT INTO t VALUES (2, 'c');
REPLACE TABLE t PARTITIONED BY (day_) WITH ('kept' = '2') AS
  SELECT n AS id, day_ FROM (VALUES (CAST(10 AS BIGINT), '2024-01-01'), (20, '2024-01-02')) AS s (n, day_);
SELECT * FROM t ORDER BY id;
SHOW CREATE TABLE t;
SHOW PARTITIONS t;
SELECT operation, summary['total-records'], parent_id IS NULL FROM t$snapshots ORDER BY committed_at;
INSERT INTO t VALUES (30, '2024-01-02');
SELECT * FROM t ORDER BY id;
REPLACE TABLE t AS SELECT id FROM t;
REPLACE TABLE t WITH ('format-version' = '1') AS SELECT 1 AS id;
REPLACE TABLE t AS SELECT CAST(x AS INT) AS id FROM (VALUES ('1'), ('x')) AS s (x);
SELECT COUNT(*) FROM t;
EXPLAIN REPLACE TABLE t AS SELECT 1 AS z;
CREATE OR REPLACE TABLE t AS SELECT 1 AS z FROM (VALUES (1)) AS s (a) WHERE a > 1;
SELECT * FROM t;
DESCRIBE t;
CREATE OR REPLACE TABLE t (a INT);
CREATE OR REPLACE TABLE u AS SELECT 1 AS z;
SELECT * FROM u;
REPLACE TABLE nothing AS SELECT 1 AS z;
