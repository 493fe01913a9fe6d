-- Tables of the connector iceberg: entries of the default catalog, and temporary ones, that stand for Iceberg tables.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
SET 'execution.runtime-mode' = 'batch';

-- Neither database nor table is there before the first use; all options become properties but those of the mapping.
CREATE TABLE lazy (id BIGINT, data STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'iceberg', 'catalog-name' = 'h',
  'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse', 'catalog-database' = 'fresh', 'catalog-table' = 'real_one',
  'write.upsert.enabled' = 'true', 'format-version' = '2', 'x' = '1');
SHOW DATABASES IN ice;
DESCRIBE lazy;
SHOW DATABASES IN ice;
SELECT * FROM lazy;
SHOW TABLES IN ice.fresh;
SHOW CREATE TABLE ice.fresh.real_one;
INSERT INTO lazy VALUES (1, 'a'), (2, 'b');
INSERT INTO lazy VALUES (1, 'c');
SELECT * FROM lazy ORDER BY id;
SELECT * FROM ice.fresh.real_one ORDER BY id;
SELECT * FROM lazy$snapshots;

-- The database is that of the entry unless an option names one.
CREATE TABLE here (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
INSERT INTO here VALUES (1), (2);
SHOW TABLES IN ice.default_database;
DROP TABLE here;
SELECT COUNT(*) FROM ice.default_database.here;
CREATE TEMPORARY TABLE here (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
INSERT INTO here VALUES (3);
SELECT SUM(id) FROM here;
DROP TEMPORARY TABLE here;

-- Columns are found by name.
CREATE TABLE ice.fresh.wide (id BIGINT NOT NULL, data STRING, ts TIMESTAMP(6), n INT);
INSERT INTO ice.fresh.wide VALUES (1, 'a', TIMESTAMP '2020-01-02 03:04:05.678901', 7);
CREATE TABLE base WITH ('data' = 'x') LIKE ice.fresh.wide;
CREATE TABLE swapped (n BIGINT, data STRING) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop',
  'warehouse' = '${TMP}/warehouse', 'catalog-database' = 'fresh', 'catalog-table' = 'wide');
SELECT * FROM swapped;
SELECT n + 1, data FROM swapped WHERE n = 7 AND data LIKE 'a%';
SELECT COUNT(*) FROM swapped;
INSERT INTO swapped VALUES (1, 'x');
CREATE TABLE more (data STRING, nix INT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop',
  'warehouse' = '${TMP}/warehouse', 'catalog-database' = 'fresh', 'catalog-table' = 'wide');
SELECT data FROM more;
SELECT * FROM more;
INSERT INTO more VALUES ('x', 1);
CREATE TABLE other (id STRING, data STRING) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop',
  'warehouse' = '${TMP}/warehouse', 'catalog-database' = 'fresh', 'catalog-table' = 'wide');
SELECT * FROM other;
CREATE TABLE nullable (id BIGINT, data STRING) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop',
  'warehouse' = '${TMP}/warehouse', 'catalog-database' = 'fresh', 'catalog-table' = 'wide');
INSERT INTO nullable VALUES (1, 'x');
CREATE TABLE narrow (id BIGINT NOT NULL, data STRING, ts TIMESTAMP(3), n SMALLINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h',
  'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse', 'catalog-database' = 'fresh', 'catalog-table' = 'wide');
INSERT INTO narrow VALUES (8, 'n', TIMESTAMP '2020-01-02 03:04:05.678', CAST(3 AS SMALLINT));
SELECT ts, n FROM narrow ORDER BY id;
SELECT * FROM ice.fresh.wide ORDER BY id;

-- A copy that LIKE makes in another catalog is the table itself; computed columns and a watermark come on top.
CREATE TABLE ice.fresh.parted (id BIGINT, ts TIMESTAMP(6), d STRING) PARTITIONED BY (d);
INSERT INTO ice.fresh.parted VALUES (1, TIMESTAMP '2020-01-01 00:00:00', 'x'), (2, TIMESTAMP '2021-01-01 00:00:00', 'y');
CREATE TABLE link LIKE ice.fresh.parted;
SHOW CREATE TABLE link;
INSERT OVERWRITE link VALUES (5, TIMESTAMP '2022-01-01 00:00:00', 'x');
INSERT OVERWRITE link PARTITION (d = 'y') SELECT CAST(6 AS BIGINT), TIMESTAMP '2022-01-01 00:00:00';
CREATE TABLE computed (yr AS YEAR(ts), ts3 AS CAST(ts AS TIMESTAMP(3)), WATERMARK FOR ts3 AS ts3 - INTERVAL '5' SECOND)
  LIKE ice.fresh.parted;
INSERT INTO computed VALUES (7, TIMESTAMP '2023-01-01 00:00:00', 'z');
SELECT * FROM computed ORDER BY id;
SELECT yr, id FROM computed WHERE yr = 2023;

-- Options of the definition are options of every use; a hint outranks them.
CREATE TABLE on_branch WITH ('branch' = 'br') LIKE ice.fresh.parted;
SELECT * FROM on_branch;
INSERT INTO on_branch VALUES (8, TIMESTAMP '2024-01-01 00:00:00', 'z');
SELECT COUNT(*) FROM on_branch;
SELECT COUNT(*) FROM on_branch /*+ OPTIONS('branch' = 'main') */;
SELECT COUNT(*) FROM ice.fresh.parted;
SELECT * FROM on_branch FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00';

-- base-namespace holds for the table as well.
CREATE TABLE below (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse',
  'base-namespace' = 'base.ns', 'catalog-database' = 'bdb');
INSERT INTO below VALUES (3);
SELECT * FROM below;
CREATE CATALOG based WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse', 'base-namespace' = 'base.ns');
SELECT * FROM based.bdb.below;

-- What is refused, at the first use.
CREATE TABLE no_name (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
SELECT * FROM no_name;
CREATE TABLE no_place (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop');
SELECT * FROM no_place;
CREATE TABLE bad_type (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'nix', 'warehouse' = '${TMP}/warehouse');
SELECT * FROM bad_type;
CREATE TABLE new_computed (id BIGINT, c AS id + 1) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
SELECT * FROM new_computed;
CREATE TABLE new_watermark (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'iceberg', 'catalog-name' = 'h',
  'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
SELECT * FROM new_watermark;
CREATE TABLE placed (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse',
  'location' = '${TMP}/elsewhere');
SELECT * FROM placed;
CREATE TABLE with_metadata (id BIGINT, f STRING METADATA FROM '_file') WITH ('connector' = 'iceberg', 'catalog-name' = 'h',
  'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse', 'catalog-database' = 'fresh', 'catalog-table' = 'wide');
SELECT * FROM with_metadata;
CREATE TABLE dyn (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse',
  'use-dynamic-iceberg-sink' = 'true');
INSERT INTO dyn VALUES (1);

-- CREATE TABLE AS, in another name space of options.
CREATE TABLE as_query WITH ('connector' = 'iceberg', 'catalog-name' = 'h', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse')
  AS SELECT 1 AS a, 'x' AS b;
SELECT * FROM as_query;
ALTER TABLE as_query SET ('limit' = '0');
SELECT * FROM as_query;
ALTER TABLE as_query RENAME TO renamed;
-- the name of the Iceberg table was that of the entry
SELECT COUNT(*) FROM renamed;
SELECT * FROM ice.default_database.as_query;

-- What only an Iceberg catalog has.
DELETE FROM lazy WHERE id = 1;
UPDATE lazy SET data = 'x' WHERE id = 1;
MERGE INTO lazy AS t USING (VALUES (1)) AS s (id) ON t.id = s.id WHEN MATCHED THEN DELETE;
TRUNCATE TABLE lazy;
ALTER TABLE lazy CREATE TAG first;
ALTER TABLE lazy WRITE ORDERED BY id;
SELECT * FROM lazy FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00';
SELECT * FROM lazy$files;
SET 'execution.runtime-mode' = 'streaming';
UPDATE lazy SET data = 'x' WHERE id = 1;
TRUNCATE TABLE lazy;
DROP CATALOG ice;
DELETE FROM lazy WHERE id = 1;
TRUNCATE TABLE lazy;
SELECT * FROM lazy$files;
DELETE FROM below WHERE id = 1;
-- as it is named
CREATE CATALOG h WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
DELETE FROM h.fresh.real_one WHERE id = 1;
SELECT * FROM lazy;
