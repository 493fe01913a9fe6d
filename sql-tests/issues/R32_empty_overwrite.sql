-- INSERT OVERWRITE without rows leaves everything as it is, as in Flink, and says so.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p);
INSERT INTO t VALUES (1, 'a'), (2, 'b');
INSERT OVERWRITE t PARTITION (p = 'a') SELECT id FROM t WHERE 1 = 0;
SELECT * FROM t ORDER BY p;
INSERT OVERWRITE t SELECT * FROM t WHERE id > 10;
SELECT COUNT(*) FROM t;
SELECT COUNT(*) FROM t$snapshots;
