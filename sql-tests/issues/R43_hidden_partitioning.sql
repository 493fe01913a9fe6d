-- Partition transforms are an extension, and a warning says so.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE ev (ts TIMESTAMP(6), n INT) PARTITIONED BY (days(ts), bucket(16, n));
INSERT INTO ev VALUES (TIMESTAMP '1969-12-31 23:59:59.999999', -1), (TIMESTAMP '2024-02-29 12:00:00', 34);
-- bucket 34 mod 16 of the hash 2017239379 is that of Iceberg's specification for 34
SELECT `partition`.ts_day, `partition`.n_bucket, record_count FROM ev$partitions ORDER BY record_count, `partition`.ts_day;
SELECT n FROM ev WHERE ts < TIMESTAMP '1970-01-01 00:00:00';
SELECT n FROM ev WHERE n = 34;
