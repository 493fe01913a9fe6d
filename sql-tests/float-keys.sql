-- Floating point keys of joins, and NaN under NOT: an Iceberg table of 30 rows, for which Flink 2.1.3 with its Iceberg
-- connector (batch mode) joins by hashes, and so by bits. The rows are Flink's.
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE lake.db;
USE lake.db;
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE src (id INT, d DOUBLE, i INT);
INSERT INTO src VALUES (0, CAST('NaN' AS DOUBLE), -2147483648), (1, CAST('-0.0' AS DOUBLE), -2147483647), (2, CAST('0.0' AS DOUBLE), -11), (3, CAST('Infinity' AS DOUBLE), -10), (4, CAST('-Infinity' AS DOUBLE), -9), (5, CAST('1.5' AS DOUBLE), CAST(NULL AS INT)), (6, CAST('-1.5' AS DOUBLE), 0), (7, CAST('0.1' AS DOUBLE), 1), (8, CAST(NULL AS DOUBLE), 9), (9, CAST('4.9E-324' AS DOUBLE), 10), (10, CAST('1.6777217E7' AS DOUBLE), 11), (11, CAST('0.10000000149011612' AS DOUBLE), 100), (12, CAST('NaN' AS DOUBLE), 2147483646), (13, CAST('-0.0' AS DOUBLE), 2147483647), (14, CAST('0.0' AS DOUBLE), -2147483648), (15, CAST('Infinity' AS DOUBLE), -2147483647), (16, CAST('-Infinity' AS DOUBLE), CAST(NULL AS INT)), (17, CAST('1.5' AS DOUBLE), -10), (18, CAST('-1.5' AS DOUBLE), -9), (19, CAST(NULL AS DOUBLE), -1), (20, CAST('1.7976931348623157E308' AS DOUBLE), 0), (21, CAST('4.9E-324' AS DOUBLE), 1), (22, CAST('1.6777217E7' AS DOUBLE), 9), (23, CAST('0.10000000149011612' AS DOUBLE), 10), (24, CAST('NaN' AS DOUBLE), 11), (25, CAST('-0.0' AS DOUBLE), 100), (26, CAST('0.0' AS DOUBLE), 2147483646), (27, CAST('Infinity' AS DOUBLE), CAST(NULL AS INT)), (28, CAST('-Infinity' AS DOUBLE), -2147483648), (29, CAST('1.5' AS DOUBLE), -2147483647);
SELECT a.id, b.id FROM (SELECT * FROM src WHERE id < 4) b JOIN src a ON a.d = b.d ORDER BY 1, 2;
SELECT a.id, b.id FROM (SELECT * FROM src WHERE id < 4) b JOIN src a ON a.d >= b.d AND a.d <= b.d ORDER BY 1, 2;
SELECT a.id FROM src a WHERE a.d IN (SELECT b.d FROM src b WHERE b.id < 4) ORDER BY 1;
SELECT a.id FROM src a WHERE EXISTS (SELECT 1 FROM src b WHERE b.id < 4 AND b.d = a.d) ORDER BY 1;
SELECT a.id FROM src a WHERE EXISTS (SELECT 1 FROM src b WHERE b.id < 4 AND b.d <= a.d AND b.d >= a.d) ORDER BY 1;
SELECT a.id FROM src a WHERE a.d NOT IN (SELECT b.d FROM src b WHERE b.id < 4 AND b.d IS NOT NULL) AND a.d IS NOT NULL ORDER BY 1;
SELECT a.id FROM src a WHERE a.d = (SELECT b.d FROM src b WHERE b.id = 1) ORDER BY 1;
SELECT id FROM src WHERE NOT (d < 1) ORDER BY id;
SELECT id, NOT (d < 1), d NOT BETWEEN 0 AND 1, d <> d, d = d FROM src WHERE id < 3 ORDER BY id;
SELECT id FROM src WHERE d NOT BETWEEN 0 AND 1 ORDER BY id;
SELECT id FROM src WHERE NOT (d >= 1 AND i > -5) ORDER BY id;
SELECT id FROM src WHERE (d < 1) IS NOT TRUE ORDER BY id;
SELECT id FROM src WHERE CASE WHEN d < 1 THEN FALSE ELSE TRUE END ORDER BY id;
SELECT id FROM src WHERE d <> d ORDER BY id;
-- Outer and anti joins, with the rows that are left of the changes of Flink's streaming joins.
CREATE TABLE t (id INT, d DOUBLE, f FLOAT, i INT);
INSERT INTO t VALUES (0, CAST('NaN' AS DOUBLE), CAST('NaN' AS FLOAT), 1), (1, CAST('-0.0' AS DOUBLE), CAST('-0.0' AS FLOAT), 2), (2, 0E0, CAST('0.0' AS FLOAT), -3), (3, CAST('Infinity' AS DOUBLE), CAST('Infinity' AS FLOAT), CAST(NULL AS INT)), (4, CAST(NULL AS DOUBLE), CAST(NULL AS FLOAT), 5), (5, 1.5E0, CAST('1.5' AS FLOAT), -6), (6, CAST('NaN' AS DOUBLE), CAST('1.5' AS FLOAT), -7), (7, CAST('-Infinity' AS DOUBLE), CAST('NaN' AS FLOAT), 8);
SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.d = b.d AND b.i > 0 ORDER BY 1, 2;
SELECT a.id, b.id FROM t a FULL JOIN (SELECT * FROM t WHERE id < 2) b ON a.d = b.d ORDER BY 1, 2;
SELECT id FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.id < 2 AND b.d = a.d) ORDER BY 1;
SELECT id FROM t WHERE d NOT IN (SELECT d FROM t WHERE id < 2) ORDER BY 1;
SELECT id FROM t WHERE NOT (f IN (SELECT f FROM t WHERE id < 2)) ORDER BY 1;
SELECT id, (SELECT COUNT(*) FROM t b WHERE b.d = a.d) FROM t a ORDER BY 1;
SELECT a.d, a.n, b.n FROM (SELECT d, COUNT(*) AS n FROM t GROUP BY d) a JOIN (SELECT f, COUNT(*) AS n FROM t GROUP BY f) b ON a.d = b.f ORDER BY 1, 2;
-- A DELETE takes the rows that a SELECT with its condition shows.
DELETE FROM t WHERE NOT (d < 1);
SELECT id, d FROM t ORDER BY id;
