-- Names differ by case alone: the same at plan and at write.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (Id INT, id INT);
INSERT INTO t VALUES (1, 2);
SELECT * FROM t;
SELECT Id FROM t WHERE Id = 1;
SELECT id FROM t WHERE id = 1;
INSERT INTO t (ID) VALUES (1);
