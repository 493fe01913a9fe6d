-- DELETE, UPDATE and MERGE with values of maps, arrays and rows, whose NOT NULL inside comes from different sides.
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE lake.db;
USE lake.db;
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE src (id INT, m MAP<STRING, INT>, l ARRAY<INT>, r ROW<a INT, s STRING>);
INSERT INTO src VALUES (1, MAP['p', 1], ARRAY[1], ROW(1, 'x')), (2, MAP['q', CAST(NULL AS INT)], ARRAY[2, CAST(NULL AS INT)], ROW(CAST(NULL AS INT), 'y'));
CREATE TABLE t (id INT, m MAP<STRING, INT>, l ARRAY<INT>, r ROW<a INT, s STRING>);
INSERT INTO t VALUES (100, MAP['p', 1], ARRAY[1], ROW(1, 'x'));

-- the first branch of CASE gives NULL, the second a map of other types
MERGE INTO t USING (VALUES (77, MAP['p', 1])) AS s (id, m) ON t.id = s.id
  WHEN NOT MATCHED AND s.id < 10 THEN INSERT (id) VALUES (s.id)
  WHEN NOT MATCHED THEN INSERT (id, m) VALUES (s.id, s.m);
MERGE INTO t USING (VALUES (78, CAST(MAP['p', 1] AS MAP<STRING, INT>))) AS s (id, m) ON t.id = s.id
  WHEN NOT MATCHED AND s.id < 10 THEN INSERT (id) VALUES (s.id)
  WHEN NOT MATCHED THEN INSERT (id, m) VALUES (s.id, s.m);
MERGE INTO t USING (VALUES (80, CAST(MAP['p', 1] AS MAP<STRING, INT>))) AS s (id, m) ON t.id = s.id
  WHEN NOT MATCHED AND s.id < 1000 THEN INSERT (id) VALUES (s.id)
  WHEN NOT MATCHED THEN INSERT (id, m) VALUES (s.id, s.m);
MERGE INTO t USING src AS s ON t.id = s.id
  WHEN NOT MATCHED AND s.id < 2 THEN INSERT (id, l) VALUES (s.id, s.l)
  WHEN NOT MATCHED THEN INSERT *;
MERGE INTO t USING (VALUES (100, CAST(MAP['z', 9] AS MAP<STRING, INT>), ARRAY[7])) AS s (id, m, l) ON t.id = s.id
  WHEN MATCHED AND s.id < 1000 THEN UPDATE SET id = 101
  WHEN MATCHED THEN UPDATE SET m = s.m, l = s.l;
MERGE INTO t USING (VALUES (101)) AS s (id) ON t.id = s.id
  WHEN MATCHED AND s.id > 1000 THEN UPDATE SET id = 102
  WHEN MATCHED THEN UPDATE SET m = CAST(MAP['y', 8] AS MAP<STRING, INT>), r = ROW(CAST(NULL AS INT), 'n');
SELECT * FROM t ORDER BY id;

-- CASE, COALESCE and NULL in an UPDATE
UPDATE t SET m = CASE WHEN id = 1 THEN CAST(MAP['u', 1] AS MAP<STRING, INT>) ELSE m END;
UPDATE t SET m = COALESCE(m, MAP['c', 3]), l = CASE WHEN id = 101 THEN ARRAY[5] ELSE l END, r = CASE WHEN id < 77 THEN r END;
UPDATE t SET l = ARRAY[id, CAST(NULL AS INT)] WHERE id > 79;
SELECT * FROM t ORDER BY id;
SELECT id, CASE WHEN id = 1 THEN m WHEN id = 2 THEN CAST(MAP['v', id] AS MAP<STRING NOT NULL, INT>) END AS m FROM t ORDER BY id;

-- NULL where an element has none
CREATE TABLE strict (id INT, m MAP<STRING, INT NOT NULL>, l ARRAY<INT NOT NULL>);
INSERT INTO strict SELECT id, m, l FROM src WHERE id = 1;
INSERT INTO strict SELECT id, m, l FROM src;
INSERT INTO strict (id, l) SELECT id, l FROM src;
UPDATE strict SET l = ARRAY[1, CAST(NULL AS INT)];
MERGE INTO strict USING src AS s ON strict.id = s.id WHEN NOT MATCHED AND s.id < 2 THEN INSERT (id) VALUES (s.id)
  WHEN NOT MATCHED THEN INSERT *;
INSERT INTO strict SELECT id, CAST(NULL AS MAP<STRING, INT>), ARRAY[id] FROM src WHERE id = 2;
SELECT * FROM strict ORDER BY id;
SELECT CAST(l AS ARRAY<INT NOT NULL>) FROM src WHERE id = 2;
