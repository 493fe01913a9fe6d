-- check: --portable
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;
CREATE TABLE t (id INT, v INT) WITH ('write.merge.mode' = 'merge-on-read');
DELETE FROM t WHERE id = 1;
UPDATE t SET vv = 1;
MERGE INTO t USING (VALUES (1, 2)) AS s (id, v) ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
ALTER TABLE t SET ('write.merge.mode' = 'sometimes');
