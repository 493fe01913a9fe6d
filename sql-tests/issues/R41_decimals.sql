-- Decimals in partitions and bounds, negative and of 38 digits.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (p DECIMAL(10, 2), q DECIMAL(38, 10)) PARTITIONED BY (p);
-- Flink has no literals of more than 38 digits with a sign and a point
INSERT INTO t VALUES
  (-0.01, CAST('-12345678901234567890.0123456789' AS DECIMAL(38, 10))),
  (3.1, CAST(0 AS DECIMAL(38, 10)));
SELECT * FROM t WHERE p = -0.01;
SELECT * FROM t WHERE p < 0 AND q < 0;
SELECT * FROM t WHERE q > -1;
SELECT * FROM t WHERE p <= -0.01 OR p >= 3.10;
