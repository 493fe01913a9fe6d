-- Upsert by position: older rows are looked up and deleted by position files or deletion vectors; no equality deletes.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
USE CATALOG ice;
CREATE DATABASE shop;
USE shop;
SET 'execution.runtime-mode' = 'batch';

CREATE TABLE v2 (id INT, region STRING, v STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('write.upsert.enabled' = 'true', 'calve.upsert.mode' = 'position');
INSERT INTO v2 VALUES (1, 'eu', 'a'), (2, 'us', 'b'), (3, 'eu', 'c'), (3, 'eu', 'd');
INSERT INTO v2 VALUES (1, 'us', 'A'), (4, 'us', CAST(NULL AS STRING)), (1, 'us', 'AA');
INSERT INTO v2 VALUES (2, 'eu', 'B'), (3, 'eu', 'D');
SELECT * FROM v2;
-- every commit replaces the delete files of the one before: one for a data file
SELECT operation, summary['added-equality-deletes'] AS equality, summary['added-position-deletes'] AS positions,
  summary['total-delete-files'] AS files FROM v2$snapshots ORDER BY committed_at;

-- the columns of partition fields need not be in the key: rows move
CREATE TABLE v3 (id INT, region STRING, v STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (region)
  WITH ('format-version' = '3', 'write.upsert.enabled' = 'true');
INSERT INTO v3 VALUES (1, 'eu', 'a');
SET 'calve.upsert.mode' = 'position';
INSERT INTO v3 VALUES (1, 'eu', 'a'), (2, 'us', 'b');
INSERT INTO v3 VALUES (1, 'us', 'A'), (2, 'us', 'B');
SELECT * FROM v3;
SELECT summary['added-dvs'] AS vectors, summary['total-position-deletes'] AS positions FROM v3$snapshots
  ORDER BY committed_at;
INSERT INTO v3 /*+ OPTIONS('calve.upsert.mode'='equality') */ VALUES (1, 'us', 'A');
INSERT INTO v3 /*+ OPTIONS('calve.upsert.mode'='rows') */ VALUES (1, 'us', 'A');

-- version 1 cannot delete rows
CREATE TABLE v1 (id INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('format-version' = '1', 'write.upsert.enabled' = 'true');
INSERT INTO v1 VALUES (1);
