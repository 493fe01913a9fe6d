-- calve copy_on_write
CREATE TABLE t (id INT NOT NULL, p INT, v STRING) PARTITIONED BY (p);
INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 2, 'd'), (5, 3, 'e');
DELETE FROM t WHERE id = 2;
UPDATE t SET v = UPPER(v), p = p + 1 WHERE id IN (1, 3);
DELETE FROM t WHERE p = 3 AND id = 5;
MERGE INTO t USING (VALUES (4, 'm'), (9, 'n')) AS s (id, v) ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, p, v) VALUES (s.id, 1, s.v);
-- other
INSERT INTO t VALUES (6, 1, 'other');

-- calve merge_on_read2
CREATE TABLE t (id INT NOT NULL, p INT NOT NULL, v STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) WITH
  ('write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read', 'format-version' = '2');
INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 2, 'd'), (5, 3, 'e');
DELETE FROM t WHERE id = 2;
UPDATE t SET v = UPPER(v), p = p + 1 WHERE id IN (1, 3);
MERGE INTO t USING (VALUES (4, 'm'), (9, 'n')) AS s (id, v) ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, p, v) VALUES (s.id, 1, s.v) WHEN NOT MATCHED BY SOURCE AND t.id = 5 THEN DELETE;
-- other
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 2, 'other'), (4, 2, 'other'), (1, 2, 'other2');

-- calve merge_on_read3
CREATE TABLE t (id INT NOT NULL, p INT NOT NULL, v STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) WITH
  ('write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read', 'format-version' = '3');
INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 2, 'd'), (5, 3, 'e');
DELETE FROM t WHERE id = 2;
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (3, 2, 'C2'), (7, 2, 'h'), (7, 2, 'H');
UPDATE t SET v = UPPER(v), p = p + 1 WHERE id IN (1, 3);
MERGE INTO t USING (VALUES (4, 'm'), (9, 'n')) AS s (id, v) ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, p, v) VALUES (s.id, 1, s.v) WHEN NOT MATCHED BY SOURCE AND t.id = 5 THEN DELETE;
DELETE FROM t WHERE id = 7;
-- other
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 2, 'other'), (4, 2, 'other'), (1, 2, 'other2');

-- calve upgraded
CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '1');
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
ALTER TABLE t SET ('format-version' = '2', 'write.upsert.enabled' = 'true', 'write.delete.mode' = 'merge-on-read');
INSERT INTO t VALUES (1, 'a2'), (1, 'a3');
DELETE FROM t WHERE id = 2;
ALTER TABLE t SET ('format-version' = '3');
DELETE FROM t WHERE id = 3;
INSERT INTO t VALUES (5, 'e'), (4, 'd3'), (5, 'e3');
-- other
INSERT INTO t VALUES (1, 'other'), (5, 'other');

-- shape metadata
CREATE TABLE t (id INT, p INT, v STRING) PARTITIONED BY (p) WITH ('write.metadata.compression-codec' = 'gzip',
  'commit.manifest.min-count-to-merge' = '2', 'write.metadata.previous-versions-max' = '2', 'write.metadata.delete-after-commit.enabled' = 'true',
  'write.object-storage.enabled' = 'true', 'write.parquet.compression-codec' = 'snappy', 'write.metadata.metrics.default' = 'none',
  'write.parquet.page-version' = 'v2', 'write.parquet.bloom-filter-enabled.column.v' = 'true', 'write.summary.partition-limit' = '10');
INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b');
INSERT INTO t VALUES (3, 1, 'c');
INSERT INTO t VALUES (4, 1, 'd'), (5, 3, 'e');
-- other
INSERT INTO t VALUES (6, 1, 'other'), (7, 4, 'other');
-- read
SELECT id FROM t WHERE v = 'c' AND p = 1;
SELECT COUNT(*) FROM `t$snapshots`;

-- calve sorted
CREATE TABLE t (id INT, v STRING, ts TIMESTAMP(6)) PARTITIONED BY (truncate(1, v)) WITH ('write.distribution-mode' = 'range');
ALTER TABLE t WRITE ORDERED BY days(ts) DESC NULLS LAST, bucket(4, id), v;
INSERT INTO t VALUES (1, 'a', TIMESTAMP '2024-01-01 00:00:00'), (2, 'b', TIMESTAMP '2024-01-02 00:00:00'), (3, 'a', CAST(NULL AS TIMESTAMP(6))),
  (4, 'ab', TIMESTAMP '2024-01-03 00:00:00');
-- other
INSERT INTO t VALUES (5, 'other', TIMESTAMP '2024-01-02 00:00:00'), (6, 'ax', TIMESTAMP '2024-01-05 00:00:00');

-- shape changes
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE t (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED);
CREATE TEMPORARY TABLE first_changes (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${CHANGES}/1', 'format' = 'debezium-json');
CREATE TEMPORARY TABLE later_changes (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${CHANGES}/2', 'format' = 'debezium-json');
INSERT INTO t SELECT * FROM first_changes;
INSERT INTO t SELECT * FROM later_changes;
SET 'execution.runtime-mode' = 'batch';
-- other
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 'other', 0), (7, 'other', 7);

-- shape changes3
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE t (id INT, status STRING, v INT, PRIMARY KEY (id, status) NOT ENFORCED) PARTITIONED BY (status)
  WITH ('format-version' = '3', 'write.upsert.enabled' = 'true', 'write.format.default' = 'avro');
CREATE TEMPORARY TABLE first_changes (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${CHANGES}/1', 'format' = 'debezium-json');
CREATE TEMPORARY TABLE later_changes (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${CHANGES}/2', 'format' = 'debezium-json');
INSERT INTO t SELECT * FROM first_changes;
INSERT INTO t SELECT * FROM later_changes;
SET 'execution.runtime-mode' = 'batch';
-- other
INSERT INTO t VALUES (1, 'paid', 0), (7, 'new', 7);

-- shape names
CREATE TABLE t (`a b` INT, `select` STRING, `Ünï` INT, `x.y` INT, r ROW<`k-1` INT, `in ner` STRING>) PARTITIONED BY (`select`);
INSERT INTO t VALUES (1, 's', 2, 3, ROW(4, 'i')), (5, CAST(NULL AS STRING), 6, 7, CAST(NULL AS ROW<`k-1` INT, `in ner` STRING>));
-- other
INSERT INTO t VALUES (8, 's', 9, 10, ROW(11, 'other'));
-- read
SELECT `x.y` FROM t WHERE `a b` > 1 AND `Ünï` < 10;
