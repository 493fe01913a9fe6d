-- INSERT OVERWRITE of Iceberg tables: what it replaces, what it leaves, and what is refused.
SET 'execution.runtime-mode' = 'batch';
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/wh');
CREATE DATABASE ice.db;
USE ice.db;

-- Without partitions everything is replaced.
CREATE TABLE plain (id INT, data STRING);
INSERT INTO plain VALUES (1, 'a'), (9, 'z');
INSERT OVERWRITE plain SELECT 2, 'b';
SELECT * FROM plain;
SELECT operation, summary['replace-partitions'] AS replaces, summary['deleted-data-files'] AS deleted FROM plain$snapshots;

-- The table may be read by the same statement.
INSERT OVERWRITE plain SELECT id + 1, UPPER(data) FROM plain UNION ALL SELECT id, data FROM plain;
SELECT * FROM plain ORDER BY id;

-- No rows: nothing happens.
INSERT OVERWRITE plain SELECT * FROM plain WHERE id > 50;
SELECT COUNT(*) FROM plain;
SELECT COUNT(*) FROM plain$snapshots;

-- Partitions that get rows are replaced.
CREATE TABLE parts (id INT, dt STRING, hr INT) PARTITIONED BY (dt, hr);
INSERT INTO parts VALUES (1, 'd1', 1), (2, 'd1', 2), (3, 'd2', 1);
INSERT OVERWRITE parts VALUES (10, 'd1', 1), (11, 'd3', 1);
SELECT * FROM parts ORDER BY id;
-- PARTITION gives columns values, and deletes nothing by itself.
INSERT OVERWRITE parts PARTITION (dt = 'd1') SELECT 20, 2;
SELECT * FROM parts ORDER BY id;
INSERT OVERWRITE parts PARTITION (dt = 'd1', hr = 1) SELECT 30;
SELECT * FROM parts ORDER BY id;
INSERT OVERWRITE parts PARTITION (dt = 'd1', hr = 1) SELECT id FROM parts WHERE FALSE;
SELECT COUNT(*) FROM parts;

-- The last row of a key wins, and there are no delete files.
CREATE TABLE keyed (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO keyed VALUES (1, 'old'), (2, 'old');
INSERT OVERWRITE keyed VALUES (1, 'a'), (3, 'b'), (1, 'c');
SELECT * FROM keyed ORDER BY id;
SELECT content, COUNT(*) AS files, SUM(record_count) AS row_count FROM keyed$files GROUP BY content;

-- overwrite-enabled as a hint outranks the statement; SET does not reach it.
INSERT INTO plain /*+ OPTIONS('overwrite-enabled' = 'true') */ VALUES (7, 'seven');
INSERT OVERWRITE plain /*+ OPTIONS('overwrite-enabled' = 'false') */ VALUES (8, 'eight');
SET 'overwrite-enabled' = 'true';
INSERT INTO plain VALUES (9, 'nine');
RESET 'overwrite-enabled';
SELECT * FROM plain ORDER BY id;

-- A branch has its own partitions.
INSERT INTO plain /*+ OPTIONS('branch' = 'audit') */ VALUES (100, 'audit');
INSERT OVERWRITE plain /*+ OPTIONS('branch' = 'audit') */ VALUES (101, 'replaced');
SELECT * FROM plain /*+ OPTIONS('branch' = 'audit') */;
SELECT COUNT(*) FROM plain;

-- Partitions of an older spec stay.
CREATE TABLE evolved (id INT, p INT) PARTITIONED BY (p);
INSERT INTO evolved VALUES (1, 1), (2, 2);
ALTER TABLE evolved REPLACE PARTITION FIELD p WITH bucket(2, p);
INSERT INTO evolved VALUES (3, 1);
INSERT OVERWRITE evolved VALUES (4, 1);
SELECT * FROM evolved ORDER BY id;

-- An incremental read passes over the snapshots of overwrites.
CREATE TABLE increments (id INT);
INSERT INTO increments VALUES (1);
INSERT OVERWRITE increments VALUES (2);
INSERT INTO increments VALUES (3);
SELECT * FROM increments;

-- Refused.
INSERT OVERWRITE keyed /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 'a');
INSERT OVERWRITE parts PARTITION (id = 1) SELECT 'd1', 1;
SET 'execution.runtime-mode' = 'streaming';
INSERT OVERWRITE plain VALUES (1, 'a');
INSERT OVERWRITE plain /*+ OPTIONS('overwrite-enabled' = 'false') */ VALUES (1, 'a');
INSERT INTO plain /*+ OPTIONS('overwrite-enabled' = 'true') */ VALUES (1, 'hint');
SELECT * FROM plain;
