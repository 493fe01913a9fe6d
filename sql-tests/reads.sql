-- What is read of an Iceberg table: changes between tags, options and their values, filters, columns that came later.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
USE CATALOG ice;
CREATE DATABASE shop;
USE shop;
SET 'execution.runtime-mode' = 'batch';

CREATE TABLE t (id INT);
INSERT INTO t VALUES (1);
ALTER TABLE t CREATE TAG t1;
INSERT INTO t VALUES (2);
ALTER TABLE t CREATE TAG t2;
INSERT INTO t VALUES (3);
SELECT * FROM t /*+ OPTIONS('start-tag' = 't1') */;
SELECT * FROM t /*+ OPTIONS('end-tag' = 't2') */;
SELECT * FROM t /*+ OPTIONS('start-tag' = 't1', 'end-tag' = 't2') */;
SELECT COUNT(*) FROM t /*+ OPTIONS('start-tag' = 't1') */ WHERE id > 2;
SELECT * FROM t /*+ OPTIONS('start-tag' = 't2', 'end-tag' = 't1') */;
SELECT * FROM t /*+ OPTIONS('start-tag' = 't1', 'end-tag' = 't1') */;
-- a snapshot means nothing where changes are read
SELECT * FROM t /*+ OPTIONS('start-tag' = 't1', 'end-tag' = 't2', 'tag' = 't1', 'branch' = 'nope') */;
SELECT * FROM t /*+ OPTIONS('end-tag' = 't1', 'snapshot-id' = '1', 'as-of-timestamp' = '1') */;
SELECT * FROM t /*+ OPTIONS('start-tag' = 'nope') */;
SELECT * FROM t /*+ OPTIONS('start-tag' = 't1', 'start-snapshot-id' = '1') */;
SELECT * FROM t /*+ OPTIONS('end-tag' = 't1', 'end-snapshot-id' = '1') */;
SELECT * FROM t /*+ OPTIONS('end-snapshot-id' = '1') */;
-- an overwrite is passed over
INSERT OVERWRITE t VALUES (10);
INSERT INTO t VALUES (11);
SELECT * FROM t /*+ OPTIONS('start-tag' = 't1') */;
SELECT * FROM t;

-- hints, table properties, SET
SET 'connector.iceberg.limit' = '1';
SELECT COUNT(*) FROM t;
SELECT COUNT(*) FROM t /*+ OPTIONS('limit' = '5') */;
SELECT COUNT(*) FROM (SELECT * FROM t LIMIT 2);
RESET 'connector.iceberg.limit';
SET 'connector.iceberg.split-size' = 'abc';
SELECT * FROM t /*+ OPTIONS('split-size' = '0') */;
SELECT * FROM t /*+ OPTIONS('monitor-interval' = 'soon') */;
SELECT * FROM t /*+ OPTIONS('scan.parallelism' = '0') */;
SELECT * FROM t /*+ OPTIONS('streaming' = 'true') */;
SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM t /*+ OPTIONS('streaming' = 'true', 'tag' = 't1') */;
SELECT * FROM t /*+ OPTIONS('streaming' = 'true', 'end-tag' = 't1') */;
SELECT * FROM t /*+ OPTIONS('streaming' = 'true', 'starting-strategy' = 'INCREMENTAL_FROM_SNAPSHOT_ID') */;
SELECT * FROM t /*+ OPTIONS('streaming' = 'true') */;
SET 'execution.runtime-mode' = 'batch';

-- filters
CREATE TABLE f (k BIGINT, s STRING, d DOUBLE, ts TIMESTAMP(6), ltz TIMESTAMP_LTZ(6), r ROW<x INT, y STRING>);
INSERT INTO f VALUES
  (1, 'abc', CAST('NaN' AS DOUBLE), TIMESTAMP '2020-01-01 00:00:00.123456',
   CAST(TIMESTAMP '2020-01-01 00:00:00' AS TIMESTAMP_LTZ(6)), ROW(1, 'a')),
  (2, 'ab%', 1.5, TIMESTAMP '1969-12-31 23:59:59.999999',
   CAST(TIMESTAMP '1969-12-31 23:59:59.5' AS TIMESTAMP_LTZ(6)), CAST(NULL AS ROW<x INT, y STRING>));
INSERT INTO f
  SELECT 3, 'b_c', -0.0, CAST(NULL AS TIMESTAMP(6)), CAST(NULL AS TIMESTAMP_LTZ(6)), ROW(CAST(NULL AS INT), 'b');
SELECT k FROM f WHERE d = CAST('NaN' AS DOUBLE);
SELECT k FROM f WHERE d <> CAST('NaN' AS DOUBLE);
SELECT k FROM f WHERE d = 0.0;
SELECT k FROM f WHERE s LIKE 'ab%';
SELECT k FROM f WHERE s LIKE 'ab\%' ESCAPE '\';
SELECT k FROM f WHERE s LIKE 'b__';
SELECT k FROM f WHERE s NOT LIKE 'a%';
SELECT k FROM f WHERE r.x = 1;
SELECT k FROM f WHERE r.x IS NULL;
SELECT k FROM f WHERE r IS NULL;
SELECT k FROM f WHERE ts < TIMESTAMP '1970-01-01 00:00:00';
SELECT k FROM f WHERE CAST(ts AS TIMESTAMP(3)) = TIMESTAMP '2020-01-01 00:00:00.123';
SELECT k FROM f WHERE ltz <= CAST(TIMESTAMP '1969-12-31 23:59:59.5' AS TIMESTAMP_LTZ(6));
SELECT k FROM f WHERE k + 1 > 2 AND CASE WHEN k = 2 THEN s = 'ab%' ELSE d < 0 END;
SELECT k FROM f WHERE k NOT IN (1, 3);
SELECT k FROM f WHERE CAST(k AS STRING) = '2' OR CAST(k AS INT) = 3;
SELECT k FROM f WHERE (k = 1 OR s = 'b_c') IS NOT TRUE;
SELECT k FROM f WHERE d IS NOT NULL AND k IS NOT DISTINCT FROM 3;
SELECT COUNT(*), COUNT(ts), MIN(k), MAX(k) FROM f;

-- nanoseconds
CREATE TABLE n (id INT, ts TIMESTAMP(9), ltz TIMESTAMP_LTZ(9)) WITH ('format-version' = '3');
INSERT INTO n VALUES (1, TIMESTAMP '2020-01-01 00:00:00.123456789',
  CAST(TIMESTAMP '2020-01-01 00:00:00.123456789' AS TIMESTAMP_LTZ(9)));
SELECT id FROM n WHERE ts = TIMESTAMP '2020-01-01 00:00:00.123456789';
SELECT id FROM n WHERE ts > TIMESTAMP '2020-01-01 00:00:00.123456789';
SELECT * FROM n WHERE ts > TIMESTAMP '2020-01-01 00:00:00.123456788';

-- columns that came later, went and came again
CREATE TABLE e (id INT, r ROW<x INT, y STRING>, p INT) PARTITIONED BY (p);
INSERT INTO e VALUES (1, ROW(1, 'a'), 1);
ALTER TABLE e CREATE TAG first;
INSERT INTO e (id, p) VALUES (2, 2);
ALTER TABLE e RENAME id TO k;
SELECT * FROM e;
ALTER TABLE e DROP k;
ALTER TABLE e ADD k STRING;
SELECT * FROM e;
ALTER TABLE e MODIFY p BIGINT;
SELECT * FROM e WHERE p = 2;
SELECT r.x FROM e WHERE r.x = 1;
SELECT * FROM e /*+ OPTIONS('tag' = 'first') */;
ALTER TABLE e RENAME p TO q;
ALTER TABLE e DROP p;
