-- Awkward names of columns: reserved words, a dot, a dollar sign.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (`partition` INT, `select` STRING, `a.b` INT, `$x` INT) PARTITIONED BY (`partition`);
INSERT INTO t VALUES (1, 's', 2, 3);
SELECT * FROM t;
SELECT `$x` FROM t WHERE `a.b` = 2 AND `select` = 's';
SELECT `partition`, record_count FROM t$partitions;
