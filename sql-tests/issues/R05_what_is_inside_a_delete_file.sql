-- An equality delete has the key's columns, and no other ones.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, a STRING, b STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, 'x', 'y');
INSERT INTO t VALUES (1, 'x2', 'y2');
SELECT content, equality_ids, record_count FROM t$delete_files;
-- what a column of the delete file has is counted, by field id
SELECT value_counts, readable_metrics.id.lower_bound, readable_metrics.a.lower_bound FROM t$delete_files;
SELECT * FROM t;
-- a key of two columns
CREATE TABLE pair (a INT, v STRING, b INT, PRIMARY KEY (b, a) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO pair VALUES (1, 'old', 2);
INSERT INTO pair VALUES (1, 'new', 2);
SELECT content, equality_ids, record_count, value_counts FROM pair$delete_files;
SELECT * FROM pair;
