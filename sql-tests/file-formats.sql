-- Avro and ORC files: one table of all formats, all types, evolved schemas, upserts, and what is refused.
SET 'execution.runtime-mode' = 'batch';
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/wh');
CREATE DATABASE ice.db;
USE ice.db;

-- The format comes from the hint, else from SET, else from the table.
CREATE TABLE mixed (id INT, s STRING) WITH ('write.format.default' = 'orc');
INSERT INTO mixed VALUES (1, 'orc');
SET 'write-format' = 'avro';
INSERT INTO mixed VALUES (2, 'avro');
INSERT INTO mixed /*+ OPTIONS('write-format' = 'Parquet') */ VALUES (3, 'parquet');
RESET 'write-format';
SELECT * FROM mixed ORDER BY id;
SELECT file_format, record_count FROM mixed$files ORDER BY file_format;
SELECT COUNT(*) FROM mixed;
SELECT s FROM mixed WHERE id > 1 ORDER BY s;
INSERT INTO mixed /*+ OPTIONS('write-format' = 'csv') */ VALUES (4, 'csv');
INSERT INTO mixed /*+ OPTIONS('compression-codec' = 'lz4') */ VALUES (4, 'lz4');
INSERT INTO mixed /*+ OPTIONS('write-format' = 'avro', 'compression-codec' = 'zlib') */ VALUES (4, 'zlib');
INSERT INTO mixed /*+ OPTIONS('write-format' = 'avro', 'compression-codec' = 'zstd', 'compression-level' = '9') */ VALUES (4, 'zstd');
INSERT INTO mixed /*+ OPTIONS('compression-codec' = 'snappy') */ VALUES (5, 'snappy');
SELECT * FROM mixed ORDER BY id;

-- Files keep the columns they were written with.
ALTER TABLE mixed ADD (d DOUBLE, r ROW<x INT, y STRING>);
ALTER TABLE mixed MODIFY id BIGINT;
ALTER TABLE mixed RENAME s TO t;
INSERT INTO mixed VALUES (3000000000, 'new', 0.5, ROW(1, 'y'));
INSERT INTO mixed /*+ OPTIONS('write-format' = 'avro') */ VALUES (3000000001, 'new', 1.5, ROW(2, CAST(NULL AS STRING)));
SELECT * FROM mixed ORDER BY id;
SELECT r.x, t FROM mixed WHERE r.x IS NOT NULL ORDER BY 1;
ALTER TABLE mixed DROP t;
ALTER TABLE mixed ADD t INT;
SELECT * FROM mixed WHERE id > 4 ORDER BY id;

-- Every type, its NULL and its extremes.
CREATE TABLE typed (
  id INT, b BOOLEAN, l BIGINT, f FLOAT, d DOUBLE, dec9 DECIMAL(9, 2), dec38 DECIMAL(38, 38), day1 DATE, tod TIME,
  ts TIMESTAMP(6), ltz TIMESTAMP_LTZ(6), ns TIMESTAMP(9), s STRING, bin BYTES, fx BINARY(2), m MAP<STRING, INT>,
  mi MAP<INT, ARRAY<STRING>>, r ROW<a INT, b ARRAY<ROW<c STRING>>>
) WITH ('format-version' = '3', 'write.format.default' = 'avro');
INSERT INTO typed VALUES
  (1, TRUE, 9223372036854775807, CAST('3.4028235E38' AS FLOAT), CAST('-1.7976931348623157E308' AS DOUBLE), 9999999.99,
   CAST('-0.99999999999999999999999999999999999999' AS DECIMAL(38, 38)), DATE '0001-01-01', TIME '23:59:59', TIMESTAMP '0001-01-01 00:00:00.000001',
   CAST(TIMESTAMP '9999-12-31 23:59:59.999999' AS TIMESTAMP_LTZ(6)), TIMESTAMP '1969-12-31 23:59:58.999999999', 'ü', X'00FF',
   X'0A0B', MAP['a', 1, 'b', CAST(NULL AS INT)], MAP[-1, ARRAY['x', CAST(NULL AS STRING)]], ROW(7, ARRAY[ROW('c')])),
  (2, CAST(NULL AS BOOLEAN), CAST(NULL AS BIGINT), CAST(NULL AS FLOAT), CAST(NULL AS DOUBLE), CAST(NULL AS DECIMAL(9, 2)),
   CAST(NULL AS DECIMAL(38, 38)), CAST(NULL AS DATE), CAST(NULL AS TIME), CAST(NULL AS TIMESTAMP(6)),
   CAST(NULL AS TIMESTAMP_LTZ(6)), CAST(NULL AS TIMESTAMP(9)), CAST(NULL AS STRING), CAST(NULL AS BYTES),
   CAST(NULL AS BINARY(2)), CAST(NULL AS MAP<STRING, INT>), CAST(NULL AS MAP<INT, ARRAY<STRING>>),
   CAST(NULL AS ROW<a INT, b ARRAY<ROW<c STRING>>>));
INSERT INTO typed /*+ OPTIONS('write-format' = 'orc') */ SELECT id + 10, b, l, f, d, dec9, dec38, day1, tod, ts, ltz, ns, s, bin, fx, m, mi, r FROM typed;
SELECT * FROM typed ORDER BY id;
SELECT id FROM typed WHERE r.a = 7 AND m['a'] = 1 AND dec38 < 0 ORDER BY id;

-- ORC cannot hold the last second before 1970.
INSERT INTO typed /*+ OPTIONS('write-format' = 'orc') */ (id, ts) VALUES (20, TIMESTAMP '1969-12-31 23:59:59.5');
INSERT INTO typed (id, ts) VALUES (20, TIMESTAMP '1969-12-31 23:59:59.5');
SELECT id, ts FROM typed WHERE id = 20;

-- Partition values and NOT NULL.
CREATE TABLE parted (id INT NOT NULL, p STRING) PARTITIONED BY (p) WITH ('write.format.default' = 'orc');
INSERT INTO parted VALUES (1, 'a'), (2, 'b'), (3, CAST(NULL AS STRING));
SELECT * FROM parted WHERE p = 'a' OR p IS NULL ORDER BY id;

-- Upserts: deletes are written in the format of the data.
CREATE TABLE keyed (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('write.upsert.enabled' = 'true', 'write.format.default' = 'avro');
INSERT INTO keyed VALUES (1, 'a'), (2, 'b'), (1, 'a2');
INSERT INTO keyed /*+ OPTIONS('write-format' = 'orc') */ VALUES (2, 'b2'), (3, 'c'), (3, 'c2');
INSERT INTO keyed VALUES (1, 'a3'), (3, 'c3');
SELECT * FROM keyed ORDER BY k;
SELECT content, file_format, record_count FROM keyed$files ORDER BY content, file_format, record_count;
CREATE TABLE keyed3 (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('format-version' = '3', 'write.upsert.enabled' = 'true', 'write.format.default' = 'orc');
INSERT INTO keyed3 VALUES (1, 'a'), (2, 'b'), (1, 'a2');
INSERT INTO keyed3 VALUES (2, 'b2'), (3, 'c'), (3, 'c2');
SELECT * FROM keyed3 ORDER BY k;
SELECT content, file_format, record_count FROM keyed3$files ORDER BY content, file_format, record_count;
