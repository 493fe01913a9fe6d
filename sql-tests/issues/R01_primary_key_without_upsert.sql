-- A primary key alone replaces no rows: without upsert, they are appended, as in Flink.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO t VALUES (1, 'a');
INSERT INTO t VALUES (1, 'b');
SELECT * FROM t ORDER BY v;
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 'c');
SELECT * FROM t;
