-- Tables of flink_reads_and_writes.py; flink_shapes_of_changes.sql has more, in the same form. Each shape is a database with a table t.
--   shape NAME: statements that calve runs in one database and Flink in another.
--   calve NAME: statements that only calve has; Flink reads, and does what stands below `other`.
--   other:      statements that the engine which did not make the table runs on it. `read`: further queries.
-- A query is compared as a set of rows.

-- shape append
CREATE TABLE t (id INT, s STRING);
INSERT INTO t VALUES (1, 'a'), (2, CAST(NULL AS STRING)), (3, ''), (4, 'é😀');
INSERT INTO t VALUES (5, 'b'), (5, 'b');
-- other
INSERT INTO t VALUES (6, 'other'), (CAST(NULL AS INT), 'null');
-- read
SELECT id FROM t WHERE s = 'b' OR id < 2;
SELECT s, COUNT(*) FROM t GROUP BY s;

-- shape version1
CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ('format-version' = '1');
INSERT INTO t VALUES (1, 'a'), (2, CAST(NULL AS STRING)), (3, 'c d/e=f');
INSERT OVERWRITE t VALUES (10, 'a');
-- other
INSERT INTO t VALUES (4, 'a'), (5, 'new');

-- shape upsert2
CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (1, 'a2');
INSERT INTO t VALUES (2, 'b2'), (4, 'd'), (4, 'd2');
-- other
INSERT INTO t VALUES (3, 'other'), (5, 'e'), (5, 'e2');
-- read
SELECT v FROM t WHERE id = 2;

-- shape upsert3
CREATE TABLE t (id BIGINT, p STRING, v DECIMAL(10, 2), PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)
  WITH ('format-version' = '3', 'write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, 'x', 1.5), (2, 'x', 2.5), (1, 'y', 3.5), (1, 'x', 4.5);
INSERT INTO t VALUES (2, 'x', 5.5), (1, 'z', 6.5), (1, 'z', 7.5);
-- other
INSERT INTO t VALUES (1, 'x', 8.5), (1, 'y', 9.5), (9, 'x', 0), (9, 'x', -1);
-- read
SELECT p, SUM(v) FROM t GROUP BY p;

-- calve position2
SET 'calve.upsert.mode' = 'position';
CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (1, 'a2');
INSERT INTO t VALUES (2, 'b2'), (4, 'd'), (4, 'd2');
-- other
INSERT INTO t VALUES (3, 'other'), (4, 'other'), (5, 'e');

-- calve position3
SET 'calve.upsert.mode' = 'position';
CREATE TABLE t (id INT, p INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (bucket(3, id), p)
  WITH ('write.upsert.enabled' = 'true', 'format-version' = '3');
INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (1, 2, 'a2');
INSERT INTO t VALUES (2, 2, 'b2'), (4, 1, 'd'), (4, 2, 'd2');
INSERT INTO t VALUES (2, 1, 'b3'), (1, 1, 'a3');
-- other
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'false') */ VALUES (6, 1, 'other');

-- shape keyed_append
CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (1, 'a2');
INSERT INTO t VALUES (1, 'again');
-- other
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 'other'), (3, 'c');

-- shape avro
CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('format-version' = '2', 'write.upsert.enabled' = 'true', 'write.format.default' = 'avro');
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (1, 'a2');
INSERT INTO t VALUES (2, 'b2'), (4, 'd'), (4, 'd2');
-- other
INSERT INTO t /*+ OPTIONS('write-format' = 'orc') */ VALUES (3, 'other'), (4, 'other'), (4, 'other2');

-- shape orc
CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('format-version' = '3', 'write.upsert.enabled' = 'true', 'write.format.default' = 'orc');
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (1, 'a2');
INSERT INTO t VALUES (2, 'b2'), (4, 'd'), (4, 'd2');
-- other
INSERT INTO t /*+ OPTIONS('write-format' = 'avro') */ VALUES (3, 'other'), (4, 'other'), (4, 'other2');

-- shape types
CREATE TABLE t (id BIGINT, b BOOLEAN, i INT, f FLOAT, d DOUBLE, d9 DECIMAL(9, 2), d18 DECIMAL(18, 4), d38 DECIMAL(38, 10), dt DATE,
  tm TIME, ts TIMESTAMP(6), ltz TIMESTAMP_LTZ(6), ns TIMESTAMP(9), lns TIMESTAMP_LTZ(9), s STRING, bs BYTES, fx BINARY(3),
  m MAP<STRING, INT>, mi MAP<INT, STRING>, a ARRAY<INT>, aa ARRAY<ARRAY<STRING>>, r ROW<x INT, y ARRAY<ROW<z STRING>>>)
  WITH ('format-version' = '3');
INSERT INTO t VALUES (1, TRUE, 1, CAST(1.5 AS FLOAT), 2.5E0, 12.34, -1.0001, 1.5, DATE '2024-02-29', TIME '12:34:56',
  TIMESTAMP '2024-02-29 12:34:56.123456', TO_TIMESTAMP_LTZ(1709210096123, 3), TIMESTAMP '2024-02-29 12:34:56.123456789',
  TO_TIMESTAMP_LTZ(1709210096123, 3), 'héllo', X'0102', X'010203', MAP['a', 1, 'b', CAST(NULL AS INT)], MAP[1, 'x'],
  ARRAY[1, CAST(NULL AS INT), 3], ARRAY[ARRAY['p', CAST(NULL AS STRING)], ARRAY['q']], ROW(1, ARRAY[ROW('z'), ROW(CAST(NULL AS STRING))]));
INSERT INTO t VALUES (2, FALSE, -2147483648, CAST(-1.5 AS FLOAT), -2.5E0, -9999999.99, 99999999999999.9999, -1.0000000001, DATE '1969-12-31',
  TIME '00:00:00', TIMESTAMP '1960-01-01 00:00:00.000001', TO_TIMESTAMP_LTZ(-1500, 3), TIMESTAMP '1969-12-31 23:59:59.999999999',
  TO_TIMESTAMP_LTZ(-1500, 3), '', X'', X'ffffff', MAP['z', 0], MAP[-1, ''], ARRAY[0], ARRAY[ARRAY['']], ROW(CAST(NULL AS INT), ARRAY[ROW('')]));
INSERT INTO t (id) VALUES (3);
-- other
INSERT INTO t SELECT id + 10, b, i, f, d, d9, d18, d38, dt, tm, ts, ltz, ns, lns, s, bs, fx, m, mi, a, aa, r FROM t;
INSERT INTO t /*+ OPTIONS('write-format' = 'avro') */ SELECT id + 20, b, i, f, d, d9, d18, d38, dt, tm, ts, ltz, ns, lns, s, bs, fx, m, mi, a, aa, r FROM t WHERE id < 10;
INSERT INTO t /*+ OPTIONS('write-format' = 'orc') */ SELECT id + 30, b, i, f, d, d9, d18, d38, dt, tm, ts, ltz, TIMESTAMP '1969-12-30 01:02:03.000000007', lns, s, bs, fx, m, mi, a, aa, r FROM t WHERE id < 10;
-- read
SELECT id FROM t WHERE ns > TIMESTAMP '2024-02-29 12:34:56' AND dt = DATE '2024-02-29' AND d38 > 1;
SELECT id, r.x, m['a'], a[1], CARDINALITY(aa) FROM t;

-- shape partition_types
CREATE TABLE t (id INT, b BOOLEAN, l BIGINT, d DECIMAL(9, 2), dt DATE, ts TIMESTAMP(6), ltz TIMESTAMP_LTZ(6), s STRING, bs BYTES)
  PARTITIONED BY (b, l, d, dt, ts, ltz, s, bs);
INSERT INTO t VALUES (1, TRUE, 7, 1.25, DATE '1969-12-31', TIMESTAMP '1960-01-01 00:00:00.000001', TO_TIMESTAMP_LTZ(-1500, 3), 'a/b=c d%ü', X'00ff');
INSERT INTO t (id) VALUES (2);
-- other
INSERT INTO t VALUES (3, TRUE, 7, 1.25, DATE '1969-12-31', TIMESTAMP '1960-01-01 00:00:00.000001', TO_TIMESTAMP_LTZ(-1500, 3), 'a/b=c d%ü', X'00ff');
-- read
SELECT id FROM t WHERE s = 'a/b=c d%ü' AND d = 1.25 AND ts < TIMESTAMP '1970-01-01 00:00:00';
SELECT id FROM t WHERE s IS NULL;

-- calve transforms
CREATE TABLE t (id INT, l BIGINT, d DECIMAL(9, 2), dt DATE, ts TIMESTAMP(6), ltz TIMESTAMP_LTZ(6), s STRING, bs BYTES) PARTITIONED BY
  (bucket(4, id), bucket(5, s), bucket(3, ts), truncate(10, l), truncate(3, d), truncate(2, s), truncate(1, bs), years(dt), days(ltz), hours(ts));
INSERT INTO t VALUES (1, 7, 1.25, DATE '1969-12-31', TIMESTAMP '1960-01-01 00:00:00.000001', TO_TIMESTAMP_LTZ(-1500, 3), 'äöü😀', X'00ff'),
  (2, -7, -1.25, DATE '2024-02-29', TIMESTAMP '2024-02-29 23:59:59.999999', TO_TIMESTAMP_LTZ(1709210096123, 3), 'b', X''),
  (-3, 100, 0, DATE '1970-01-01', TIMESTAMP '1970-01-01 00:00:00', TO_TIMESTAMP_LTZ(0, 3), '', X'010203');
INSERT INTO t (id) VALUES (4);
-- other
INSERT INTO t VALUES (5, -11, -1.26, DATE '1968-01-01', TIMESTAMP '1969-12-31 23:59:59.999999', TO_TIMESTAMP_LTZ(-1, 3), 'äö', X'00');
-- read
SELECT id FROM t WHERE id = 1 OR id = 5;
SELECT id FROM t WHERE s = 'äöü😀';
SELECT id FROM t WHERE l < 0;
SELECT id FROM t WHERE d >= -1.26 AND d < -1.24;
SELECT id FROM t WHERE ts < TIMESTAMP '1970-01-01 00:00:00' AND ts > TIMESTAMP '1969-12-31 23:00:00';
SELECT id FROM t WHERE dt <= DATE '1969-12-31' AND ltz < TO_TIMESTAMP_LTZ(0, 3);

-- calve months
CREATE TABLE t (id INT, dt DATE, ts TIMESTAMP(6), ltz TIMESTAMP_LTZ(6)) PARTITIONED BY (days(dt), months(ts), years(ltz), bucket(2, dt));
INSERT INTO t VALUES (1, DATE '1969-12-31', TIMESTAMP '1969-11-30 23:59:59.999999', TO_TIMESTAMP_LTZ(-1, 3)),
  (2, DATE '2024-02-29', TIMESTAMP '2024-02-29 00:00:00', TO_TIMESTAMP_LTZ(1709210096123, 3));
INSERT INTO t (id) VALUES (3);
-- other
INSERT INTO t VALUES (4, DATE '1969-12-31', TIMESTAMP '1969-11-30 23:59:59', TO_TIMESTAMP_LTZ(0, 3));
-- read
SELECT id FROM t WHERE dt = DATE '1969-12-31';
SELECT id FROM t WHERE ts < TIMESTAMP '1969-12-01 00:00:00';
SELECT id FROM t WHERE ltz < TO_TIMESTAMP_LTZ(0, 3);

-- shape evolved
CREATE TABLE t (id INT, f FLOAT, d DECIMAL(5, 2), name STRING, gone INT, p INT, r ROW<x INT, y STRING>) PARTITIONED BY (p);
INSERT INTO t VALUES (1, CAST(1.5 AS FLOAT), 1.25, 'a', 7, 1, ROW(1, 'x'));
ALTER TABLE t ADD (born DATE, tag STRING);
ALTER TABLE t MODIFY (born DATE FIRST, tag STRING AFTER id);
ALTER TABLE t MODIFY (id BIGINT, f DOUBLE, d DECIMAL(20, 2) AFTER id);
ALTER TABLE t RENAME name TO label;
ALTER TABLE t DROP gone;
ALTER TABLE t ADD gone STRING;
INSERT INTO t (born, id, d, tag, f, label, p, r, gone) VALUES (DATE '2024-05-05', 5000000000, 100000.25, 'tag', 3.5E0, 'A', 1, ROW(3, 'z'), 'here');
-- other
INSERT INTO t (id, gone, p) VALUES (3, 'other', 2);
-- read
SELECT id FROM t WHERE f > 1 AND d < 2;
SELECT id FROM t WHERE gone IS NULL OR label = 'A';

-- calve evolved_spec
CREATE TABLE t (id INT NOT NULL, p INT NOT NULL, ts TIMESTAMP(6), v STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) WITH ('format-version' = '2');
INSERT INTO t VALUES (1, 1, TIMESTAMP '2024-01-01 10:00:00', 'a'), (2, 2, TIMESTAMP '2024-01-02 10:00:00', 'b');
ALTER TABLE t ADD PARTITION FIELD bucket(2, id);
INSERT INTO t VALUES (3, 1, TIMESTAMP '2024-01-01 10:00:00', 'c'), (4, 2, TIMESTAMP '2024-01-02 10:00:00', 'd');
ALTER TABLE t DROP PARTITION FIELD p;
INSERT INTO t VALUES (5, 1, TIMESTAMP '2024-01-01 10:00:00', 'e');
ALTER TABLE t ADD PARTITION FIELD days(ts);
INSERT INTO t VALUES (6, 1, TIMESTAMP '2024-01-03 10:00:00', 'f');
ALTER TABLE t REPLACE PARTITION FIELD days(ts) WITH hours(ts);
DELETE FROM t WHERE id = 4;
INSERT INTO t VALUES (7, 1, CAST(NULL AS TIMESTAMP(6)), 'g');
-- other
INSERT INTO t VALUES (8, 1, TIMESTAMP '2024-01-03 11:00:00', 'other');
-- read
SELECT id FROM t WHERE p = 1 AND ts < TIMESTAMP '2024-01-03 10:30:00';
SELECT v FROM t WHERE id = 5;

-- shape overwrite
CREATE TABLE t (id INT, p INT) PARTITIONED BY (p);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4);
INSERT OVERWRITE t VALUES (20, 2), (21, 2), (50, 5);
INSERT OVERWRITE t PARTITION (p = 3) SELECT 30;
-- other
INSERT OVERWRITE t SELECT id + 1000, p FROM t WHERE p IN (1, 2);

-- shape overwrite_all
CREATE TABLE t (id INT, p INT) WITH ('format-version' = '3');
INSERT INTO t VALUES (1, 1), (2, 2);
INSERT OVERWRITE t VALUES (3, 3);
INSERT INTO t VALUES (4, 4);
-- other
INSERT OVERWRITE t SELECT id * 10, p FROM t;

-- calve overwrite_keyed
CREATE TABLE t (id INT NOT NULL, p INT NOT NULL, v STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p);
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 1, 'a'), (2, 2, 'b');
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 1, 'a2'), (2, 2, 'b2');
INSERT OVERWRITE t VALUES (1, 1, 'over'), (1, 1, 'over2'), (3, 1, 'c');
-- other
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (3, 1, 'other'), (2, 2, 'other');

-- shape branch
CREATE TABLE t (id INT, v STRING);
INSERT INTO t VALUES (1, 'main');
INSERT INTO t /*+ OPTIONS('branch' = 'audit') */ VALUES (2, 'audit');
INSERT INTO t VALUES (3, 'main');
-- other
INSERT INTO t /*+ OPTIONS('branch' = 'audit') */ VALUES (4, 'other audit');
INSERT INTO t VALUES (5, 'other main');
-- read
SELECT * FROM t /*+ OPTIONS('branch' = 'audit') */;
SELECT name, type FROM `t$refs`;

-- calve refs
CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, 'a'), (2, 'b');
ALTER TABLE t CREATE TAG first_tag RETAIN 7 DAYS;
INSERT INTO t VALUES (2, 'b2'), (3, 'c');
ALTER TABLE t CREATE BRANCH b WITH SNAPSHOT RETENTION 3 SNAPSHOTS 30 MINUTES;
DELETE FROM t /*+ OPTIONS('branch' = 'b') */ WHERE id = 1;
INSERT INTO t VALUES (1, 'a3');
-- other
INSERT INTO t /*+ OPTIONS('branch' = 'b') */ VALUES (2, 'other'), (9, 'other');
-- read
SELECT * FROM t /*+ OPTIONS('branch' = 'b') */;
SELECT * FROM t /*+ OPTIONS('tag' = 'first_tag') */;
SELECT name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms FROM `t$refs`;
