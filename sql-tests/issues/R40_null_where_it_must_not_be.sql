-- NULL where it must not be: refused in a NOT NULL column; the fields of a nullable ROW are nullable in Flink SQL.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT NOT NULL, r ROW<x INT NOT NULL, y STRING>, m MAP<STRING, ARRAY<INT>>);
DESCRIBE t;
INSERT INTO t SELECT CAST(NULL AS INT), ROW(1, 'a'), MAP['k', ARRAY[1]];
INSERT INTO t VALUES (1, ROW(CAST(NULL AS INT), 'a'), CAST(NULL AS MAP<STRING, ARRAY<INT>>));
INSERT INTO t VALUES (2, ROW(5, CAST(NULL AS STRING)), MAP['k', CAST(NULL AS ARRAY<INT>)]);
SELECT * FROM t;
-- a ROW that is NOT NULL keeps the NOT NULL of its fields
CREATE TABLE q (id INT, r ROW<x INT NOT NULL, y STRING> NOT NULL);
DESCRIBE q;
INSERT INTO q VALUES (1, ROW(1, 'a'));
SELECT * FROM q;
