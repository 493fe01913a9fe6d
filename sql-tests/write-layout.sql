-- How rows are laid out: distribution modes, options, and where files lie.
SET 'execution.runtime-mode' = 'batch';
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/wh');
CREATE DATABASE ice.db;
USE ice.db;
CREATE TABLE source (id INT, p STRING);
INSERT INTO source VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'a'), (5, 'b'), (6, 'c'), (7, 'a');

-- Every mode writes the same rows; hash writes one file per partition.
CREATE TABLE hashed (id INT, p STRING) PARTITIONED BY (p) WITH ('write.distribution-mode' = 'hash');
INSERT INTO hashed SELECT * FROM source;
SELECT `partition`.p AS p, COUNT(*) AS files, SUM(record_count) AS row_count FROM hashed$files GROUP BY `partition`.p ORDER BY 1;
CREATE TABLE ranged (id INT, p STRING) PARTITIONED BY (p);
INSERT INTO ranged /*+ OPTIONS('distribution-mode' = 'range', 'range-distribution-statistics-type' = 'Sketch') */ SELECT * FROM source;
SELECT * FROM hashed EXCEPT SELECT * FROM ranged;
SELECT COUNT(*) FROM ranged;

-- The layout for object stores.
CREATE TABLE spread (id INT, p STRING) PARTITIONED BY (p) WITH ('write.object-storage.enabled' = 'true');
INSERT INTO spread SELECT * FROM source;
SELECT COUNT(*) AS files FROM spread$files WHERE REGEXP(file_path, '/spread/data/[01]{4}/[01]{4}/[01]{4}/[01]{8}/p=[abc]/[^/]+$');
CREATE TABLE spread2 (id INT, p STRING) PARTITIONED BY (p)
WITH ('write.object-storage.enabled' = 'true', 'write.object-storage.partitioned-paths' = 'false');
INSERT INTO spread2 SELECT * FROM source;
SELECT COUNT(*) AS files FROM spread2$files WHERE REGEXP(file_path, '/spread2/data/[01]{4}/[01]{4}/[01]{4}/[01]{8}-[^/]+$');
SELECT COUNT(*) FROM spread2 WHERE p = 'a';

-- Values are refused before a file is written.
INSERT INTO ranged /*+ OPTIONS('distribution-mode' = 'scatter') */ SELECT * FROM source;
INSERT INTO source /*+ OPTIONS('distribution-mode' = 'range') */ SELECT * FROM source;
INSERT INTO source /*+ OPTIONS('range-distribution-statistics-type' = 'map') */ SELECT * FROM source;
INSERT INTO source /*+ OPTIONS('compression-codec' = 'zip') */ SELECT * FROM source;
INSERT INTO source /*+ OPTIONS('compression-level' = 'high') */ SELECT * FROM source;
INSERT INTO source /*+ OPTIONS('target-file-size-bytes' = '0') */ SELECT * FROM source;
INSERT INTO source /*+ OPTIONS('write-parallelism' = '0') */ SELECT * FROM source;
INSERT INTO source /*+ OPTIONS('table-refresh-interval' = 'often') */ SELECT * FROM source;
CREATE TABLE wrong (id INT) WITH ('write.parquet.page-row-limit' = '0');
INSERT INTO wrong VALUES (1);
ALTER TABLE wrong SET ('write.parquet.page-row-limit' = '10', 'write.location-provider.impl' = 'com.example.Places');
INSERT INTO wrong VALUES (1);
ALTER TABLE wrong RESET ('write.location-provider.impl');
ALTER TABLE wrong SET ('write.folder-storage.path' = '/tmp/elsewhere');
INSERT INTO wrong VALUES (1);
ALTER TABLE wrong RESET ('write.folder-storage.path');
ALTER TABLE wrong SET ('flink.max-continuous-empty-commits' = '0');
INSERT INTO wrong VALUES (1);
SELECT COUNT(*) FROM wrong$snapshots;
SELECT COUNT(*) FROM source;
-- what a commit refuses
CREATE TABLE merged (id INT) WITH ('commit.manifest.min-count-to-merge' = 'x');
INSERT INTO merged VALUES (1);
ALTER TABLE merged RESET ('commit.manifest.min-count-to-merge');
ALTER TABLE merged SET ('write.summary.partition-limit' = 'x');
INSERT INTO merged VALUES (1);
ALTER TABLE merged SET ('write.summary.partition-limit' = '0');
INSERT INTO merged VALUES (1);
SELECT COUNT(*) FROM merged$snapshots;
-- table properties have other names in hints
INSERT INTO merged /*+ OPTIONS('write.format.default' = 'avro') */ VALUES (2);
INSERT INTO merged /*+ OPTIONS('write-format' = 'avro') */ VALUES (3);
SELECT file_format, COUNT(*) FROM merged$files GROUP BY file_format ORDER BY 1;
-- bloom filters lose no decimal, in whatever the file keeps it
CREATE TABLE amounts (id INT, narrow DECIMAL(9, 2), wide DECIMAL(30, 5)) WITH (
  'write.parquet.bloom-filter-enabled.column.narrow' = 'true', 'write.parquet.bloom-filter-enabled.column.wide' = 'true');
INSERT INTO amounts VALUES (1, 1.25, 1.5), (2, -1.25, -1.5), (3, 0.5, CAST(NULL AS DECIMAL(30, 5)));
SELECT id FROM amounts WHERE wide = 1.5;
SELECT id FROM amounts WHERE wide IN (-1.5, 7.5) OR narrow = 1.25 ORDER BY id;
