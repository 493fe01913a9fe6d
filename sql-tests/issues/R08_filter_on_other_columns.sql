-- A filter on columns that are not the key does not see replaced rows.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, d DATE, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, DATE '2021-01-01', 10);
INSERT INTO t VALUES (1, DATE '2022-01-01', 20);
SELECT v FROM t WHERE d = DATE '2021-01-01';
-- the key is neither projected nor filtered
SELECT v FROM t WHERE v < 15;
SELECT v FROM t WHERE v > 15;
SELECT COUNT(*) FROM t;
-- in format version 3 and with the key of a partition as well
CREATE TABLE t3 (id INT, p STRING, v INT, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)
  WITH ('format-version' = '3', 'write.upsert.enabled' = 'true');
INSERT INTO t3 VALUES (1, 'a', 10), (1, 'b', 11);
INSERT INTO t3 VALUES (1, 'a', 20);
SELECT v FROM t3 WHERE v < 15;
SELECT COUNT(*), MIN(v), MAX(v) FROM t3;
