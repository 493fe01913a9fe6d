-- What people write who know another database, or what a table of Iceberg cannot have: the hint is Flink's own way.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.shop;
CREATE TABLE ice.shop.t (id BIGINT, s STRING, ts TIMESTAMP(3), dt DATE);
CREATE TABLE o (id BIGINT, s STRING, ts TIMESTAMP(3), dt DATE) WITH ('connector' = 'blackhole');

-- time attributes
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE ice.shop.t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
SELECT COUNT(*) FROM ice.shop.t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
SELECT COUNT(*) FROM ice.shop.t GROUP BY SESSION(ts, INTERVAL '1' HOUR);
SELECT * FROM ice.shop.t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS A.id > 1);
ALTER TABLE ice.shop.t ADD WATERMARK FOR ts AS ts;
SELECT * FROM TABLE(TUMBLE(o, DESCRIPTOR(ts), INTERVAL '1' HOUR));
SELECT * FROM TABLE(TUMBLE(TABLE o, ts, INTERVAL '1' HOUR));

-- COLUMN
ALTER TABLE o ADD COLUMN z INT;
ALTER TABLE o MODIFY COLUMN s DECIMAL(10, 2);
ALTER TABLE o DROP COLUMN s;
ALTER TABLE o RENAME COLUMN s TO x;

-- functions
SELECT DATE_TRUNC('day', ts) FROM o;
SELECT STRING_AGG(s, ',') FROM o;
SELECT NVL(s, '') FROM o;
SELECT DATEDIFF(DAY, dt, dt) FROM o;
SELECT s ILIKE 'a%' FROM o;
SELECT s::INT FROM o;

-- types
INSERT INTO o VALUES (1, 'a', NULL, CURRENT_DATE);
INSERT INTO o (s, id) SELECT s, NULL FROM o;
SELECT dt || s FROM o;
SELECT id + s FROM o;
INSERT INTO o (id) SELECT id, s FROM o;

-- versions
SELECT * FROM ice.shop.t VERSION AS OF 1;
SELECT * FROM ice.shop.t FOR SYSTEM_VERSION AS OF 1;
SELECT * FROM ice.shop.t TIMESTAMP AS OF '2020-01-01';

-- statements and names
SELECT * FROM o
SELECT 1;
SELECT * FROM ice.shp.t;
DESCRIBE ice.shp.t;
DROP TABLE ice.shp.t;
DROP TABLE oo;
