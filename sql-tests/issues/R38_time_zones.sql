-- TIMESTAMP_LTZ is an instant: what is stored does not depend on the time zone of the session.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

SET 'table.local-time-zone' = 'Asia/Shanghai';
CREATE TABLE t (a TIMESTAMP(6), b TIMESTAMP_LTZ(6));
INSERT INTO t VALUES (TIMESTAMP '2026-01-01 00:00:00', TO_TIMESTAMP_LTZ(1767225600000, 3));
SELECT * FROM t;
SELECT * FROM t WHERE b = TO_TIMESTAMP_LTZ(1767225600000, 3);
SELECT * FROM t WHERE b > CAST(TIMESTAMP '2026-01-01 07:59:59' AS TIMESTAMP_LTZ(6));
SELECT * FROM t WHERE b > CAST(TIMESTAMP '2026-01-01 08:00:00' AS TIMESTAMP_LTZ(6));
SET 'table.local-time-zone' = 'UTC';
SELECT * FROM t;
SELECT * FROM t WHERE b = TO_TIMESTAMP_LTZ(1767225600000, 3);
