-- What scripts have around their INSERTs.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT);
EXPLAIN PLAN FOR INSERT INTO t SELECT 1;
SHOW CREATE TABLE t;
SHOW CATALOGS;
DESCRIBE t;
RESET 'parallelism.default';
CREATE TEMPORARY VIEW v AS SELECT 1 AS x;
CREATE FUNCTION f AS 'com.acme.F';
SELECT f(x) FROM v;
CREATE FUNCTION default_catalog.default_database.f AS 'com.acme.F';
SELECT default_catalog.default_database.f(x) FROM v;
BEGIN STATEMENT SET;
INSERT INTO t SELECT x FROM v;
INSERT INTO t SELECT 2;
END;
SELECT * FROM t ORDER BY id;
