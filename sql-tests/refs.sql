-- Branches, tags and the order of rows, as Spark spells them: an extension.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, v STRING, ts TIMESTAMP(6));
ALTER TABLE t CREATE BRANCH early;
ALTER TABLE t CREATE TAG early;
INSERT INTO t VALUES (1, 'a', TIMESTAMP '2024-01-01 00:00:00');
ALTER TABLE t CREATE BRANCH b1;
ALTER TABLE t CREATE TAG t1 RETAIN 7 DAYS;
INSERT INTO t VALUES (2, 'b', TIMESTAMP '2024-01-02 00:00:00');
INSERT INTO t /*+ OPTIONS('branch' = 'b1') */ VALUES (3, 'on b1', TIMESTAMP '2024-01-03 00:00:00');
SELECT id FROM t /*+ OPTIONS('branch' = 'b1') */ ORDER BY id;
SELECT id FROM t /*+ OPTIONS('tag' = 't1') */;
ALTER TABLE t CREATE BRANCH b1;
ALTER TABLE t CREATE TAG IF NOT EXISTS t1;
ALTER TABLE t CREATE BRANCH IF NOT EXISTS b1 RETAIN 1 DAYS;
ALTER TABLE t CREATE OR REPLACE TAG t1;
SELECT id FROM t /*+ OPTIONS('tag' = 't1') */ ORDER BY id;
ALTER TABLE t REPLACE BRANCH b1 RETAIN 12 HOURS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 30 MINUTES;
SELECT id FROM t /*+ OPTIONS('branch' = 'b1') */ ORDER BY id;
ALTER TABLE t CREATE OR REPLACE BRANCH `b-2` WITH SNAPSHOT RETENTION 5 SNAPSHOTS;
ALTER TABLE t CREATE BRANCH b3 WITH SNAPSHOT RETENTION 2 DAYS;
SELECT name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms FROM t$refs ORDER BY name;

-- refused, with Iceberg's words
ALTER TABLE t REPLACE BRANCH nix;
ALTER TABLE t REPLACE TAG nix;
ALTER TABLE t REPLACE TAG b1;
ALTER TABLE t CREATE OR REPLACE BRANCH t1;
ALTER TABLE t CREATE BRANCH b4 AS OF VERSION 17;
ALTER TABLE t DROP BRANCH main;
ALTER TABLE t DROP BRANCH t1;
ALTER TABLE t DROP TAG b1;
ALTER TABLE t DROP BRANCH b11;
ALTER TABLE t DROP BRANCH IF EXISTS b11;
ALTER TABLE t DROP TAG t1;
ALTER TABLE t DROP BRANCH b3;
SELECT name FROM t$refs ORDER BY name;
ALTER TABLE t CREATE BRANCH b5 RETAIN 0 DAYS;
ALTER TABLE t CREATE TAG t5 WITH SNAPSHOT RETENTION 5 SNAPSHOTS;
ALTER TABLE t CREATE b5;
ALTER TABLE nix CREATE BRANCH b5;
ALTER TABLE IF EXISTS nix CREATE BRANCH b5;
CREATE TABLE default_catalog.default_database.other (id INT) WITH ('connector' = 'blackhole');
ALTER TABLE default_catalog.default_database.other CREATE BRANCH b;
INSERT INTO t /*+ OPTIONS('branch' = 'b-2') */ VALUES (4, 'on b-2', TIMESTAMP '2024-01-03 00:00:00');
INSERT INTO t /*+ OPTIONS('branch' = 't1') */ VALUES (5, 'made', TIMESTAMP '2024-01-03 00:00:00');
SELECT name, type FROM t$refs ORDER BY name;

-- columns may have these names
CREATE TABLE named (branch INT, tag INT, `write` INT, id INT);
ALTER TABLE named DROP branch;
ALTER TABLE named DROP tag;
DESCRIBE named;

-- the order of rows in files, and the distribution that goes with it
ALTER TABLE t WRITE ORDERED BY v DESC, days(ts), bucket(4, id) NULLS LAST;
SHOW CREATE TABLE t;
ALTER TABLE t WRITE LOCALLY ORDERED BY (id ASC NULLS FIRST);
ALTER TABLE t WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY id;
SHOW CREATE TABLE t;
ALTER TABLE t WRITE UNORDERED;
SHOW CREATE TABLE t;
ALTER TABLE t WRITE DISTRIBUTED BY PARTITION;
SHOW CREATE TABLE t;
ALTER TABLE t WRITE ORDERED BY nix;
ALTER TABLE t WRITE ORDERED BY days(v);
ALTER TABLE t WRITE;
ALTER TABLE t WRITE UNORDERED ORDERED BY id;

-- all ways to write work on a branch; a first write forks from main's head
CREATE TABLE k (id INT, p STRING, v STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p);
INSERT INTO k /*+ OPTIONS('branch' = 'first') */ VALUES (1, 'a', 'branch only');
SELECT COUNT(*) FROM k;
SELECT * FROM k /*+ OPTIONS('branch' = 'first') */;
SELECT name FROM k$refs;
INSERT INTO k VALUES (1, 'a', 'main'), (2, 'b', 'main');
INSERT INTO k /*+ OPTIONS('branch' = 'up', 'upsert-enabled' = 'true') */ VALUES (1, 'a', 'up'), (3, 'a', 'up');
SELECT * FROM k /*+ OPTIONS('branch' = 'up') */ ORDER BY id, p;
INSERT OVERWRITE k /*+ OPTIONS('branch' = 'over') */ VALUES (9, 'a', 'over');
SELECT * FROM k /*+ OPTIONS('branch' = 'over') */ ORDER BY id, p;
INSERT OVERWRITE k /*+ OPTIONS('branch' = 'over') */ PARTITION (p = 'b') SELECT 8, 'static';
SELECT * FROM k /*+ OPTIONS('branch' = 'over') */ ORDER BY id, p;
SELECT * FROM k ORDER BY id, p;
