-- Options that nobody knows are kept, as in Flink, and told of.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enable' = 'true');
SET 'table.exec.iceberg.use-v3-sink' = 'true';
SET 'table.exec.iceberg.use.v2.sink' = 'true';
INSERT INTO t /*+ OPTIONS('upsert-enable' = 'true') */ VALUES (1, 'a');
SELECT * FROM t /*+ OPTIONS('snapshot-idd' = '1') */;
