-- Keys are replaced: by table property, by hint, in one statement, over partitions, in format versions 2 and 3.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
USE CATALOG ice;
CREATE DATABASE shop;
USE shop;
SET 'execution.runtime-mode' = 'batch';

CREATE TABLE v2 (id INT, region STRING, v STRING, PRIMARY KEY (id, region) NOT ENFORCED)
  PARTITIONED BY (region) WITH ('write.upsert.enabled' = 'true');
INSERT INTO v2 VALUES (1, 'eu', 'a'), (1, 'us', 'b'), (2, 'eu', 'c'), (2, 'eu', 'd');
SELECT * FROM v2;
INSERT INTO v2 VALUES (1, 'eu', 'A'), (3, 'us', 'new'), (1, 'eu', 'AA');
SELECT * FROM v2;
SELECT operation, summary['added-records'] AS added, summary['added-equality-deletes'] AS equality,
  summary['added-position-deletes'] AS positions FROM v2$snapshots ORDER BY committed_at;

-- a key without upsert: one row per key in a commit, all of them over commits
CREATE TABLE appended (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO appended VALUES (1, 'a'), (1, 'b');
INSERT INTO appended VALUES (1, 'c');
SELECT * FROM appended;
INSERT INTO appended /*+ OPTIONS('upsert-enabled'='true') */ VALUES (1, 'only');
SELECT * FROM appended;

CREATE TABLE v3 (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('format-version' = '3', 'write.upsert.enabled' = 'true');
INSERT INTO v3 VALUES (1, 'a'), (1, 'b'), (2, 'c');
INSERT INTO v3 VALUES (2, 'C'), (2, 'CC');
SELECT * FROM v3;

-- Flink writes an equality delete for every key; calve only where the key may be there already
SET 'calve.upsert.equality-deletes' = 'always';
INSERT INTO v3 VALUES (9, 'z');
SELECT summary['added-equality-deletes'] AS equality FROM v3$snapshots ORDER BY committed_at;
