CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;

CREATE TABLE t (
  id INT
) WITH (
  'format-version' = '2',
  'write.delete.distribution-mode' = 'hash',
  'connector' = 'print'
);
SET 'write.upsert.enabled' = 'true';
INSERT INTO t VALUES (1);
SET 'branch' = 'staging';
SELECT * FROM t /*+ OPTIONS('start-tag' = 'a', 'branch' = 'b') */;
