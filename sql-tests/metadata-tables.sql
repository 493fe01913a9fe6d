-- What the metadata tables of an Iceberg table say: columns as Flink 2.1 with Iceberg 1.11 describes them.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE p (id INT NOT NULL, p STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)
  WITH ('write.upsert.enabled' = 'true', 'calve.upsert.equality-deletes' = 'always');
-- without a snapshot there is nothing but the metadata file
SELECT COUNT(*) FROM p$files;
SELECT COUNT(*) FROM p$partitions;
SELECT COUNT(*) FROM p$manifests;
SELECT COUNT(*) FROM p$all_entries;
SELECT latest_snapshot_id, latest_schema_id, latest_sequence_number FROM p$metadata_log_entries;
INSERT INTO p VALUES (1, 'x'), (2, 'y');
INSERT INTO p VALUES (1, 'x'), (1, 'x');

DESCRIBE p$files;
DESCRIBE p$entries;
DESCRIBE p$manifests;
DESCRIBE p$all_manifests;
DESCRIBE p$partitions;
DESCRIBE p$position_deletes;
SELECT content, `partition`.p, record_count, value_counts, null_value_counts, nan_value_counts, equality_ids FROM p$files
  ORDER BY content, `partition`.p, record_count;
SELECT content, COUNT(*) FROM p$all_files GROUP BY content ORDER BY content;
SELECT content, COUNT(*) FROM p$all_data_files GROUP BY content;
SELECT content, COUNT(*) FROM p$all_delete_files GROUP BY content ORDER BY content;
SELECT status, sequence_number, file_sequence_number, data_file.content, data_file.`partition`.p, readable_metrics.id.lower_bound
  FROM p$entries ORDER BY sequence_number, data_file.content, data_file.`partition`.p;
SELECT COUNT(*) FROM p$all_entries WHERE status = 1;
SELECT content, partition_spec_id, added_data_files_count, existing_data_files_count, deleted_data_files_count,
  added_delete_files_count, existing_delete_files_count, deleted_delete_files_count, partition_summaries FROM p$manifests
  ORDER BY content, added_data_files_count, added_delete_files_count;
SELECT COUNT(*), COUNT(DISTINCT path), COUNT(DISTINCT reference_snapshot_id), COUNT(key_metadata) FROM p$all_manifests;
SELECT `partition`.p, spec_id, record_count, file_count, position_delete_record_count, position_delete_file_count,
  equality_delete_record_count, equality_delete_file_count FROM p$partitions ORDER BY `partition`.p;
-- when and by which snapshot a partition was changed last
SELECT t.`partition`.p, s.operation, s.parent_id IS NULL AS is_first, t.last_updated_at = s.committed_at AS then_
  FROM p$partitions t JOIN p$snapshots s ON t.last_updated_snapshot_id = s.snapshot_id ORDER BY 1;

-- NULL is a partition too
CREATE TABLE nulls (id INT, p STRING) PARTITIONED BY (p);
INSERT INTO nulls VALUES (1, CAST(NULL AS STRING)), (2, 'z');
SELECT `partition`, record_count FROM nulls$partitions;
SELECT partition_summaries FROM nulls$manifests;

-- an unpartitioned table is one partition, and has no partition column
CREATE TABLE u (id BIGINT, r ROW<a INT, b ARRAY<DOUBLE>>);
INSERT INTO u VALUES (1, ROW(1, ARRAY[1.5])), (2, CAST(NULL AS ROW<a INT, b ARRAY<DOUBLE>>));
DESCRIBE u$data_files;
DESCRIBE u$partitions;
SELECT record_count, file_count, total_data_file_size_in_bytes > 0 AS has_size, equality_delete_file_count FROM u$partitions;
SELECT `partition` FROM u$files;
SELECT readable_metrics.`r.a`.upper_bound, readable_metrics.id.value_count FROM u$files WHERE readable_metrics.id.lower_bound > 0;

-- a snapshot is chosen by a hint where a table is about one, and nowhere else
SELECT record_count FROM p$files /*+ OPTIONS('snapshot-id' = '1') */;
SELECT * FROM p$snapshots /*+ OPTIONS('snapshot-id' = '1') */;
SELECT * FROM p$manifests /*+ OPTIONS('branch' = 'nix') */;
SELECT * FROM p$all_files /*+ OPTIONS('branch' = 'nix') */;
INSERT INTO p /*+ OPTIONS('branch' = 'side') */ VALUES (9, 'side');
SELECT COUNT(*) FROM p$data_files /*+ OPTIONS('branch' = 'side') */;
SELECT COUNT(*) FROM p$data_files;
SELECT `partition`.p FROM p$partitions /*+ OPTIONS('branch' = 'side') */ ORDER BY 1;

-- names
SELECT COUNT(*) FROM p$FILES;
SELECT COUNT(*) FROM `ice`.`db`.`p$refs`;
SELECT COUNT(*) FROM db.p$refs;
SELECT * FROM p$nothing;
SELECT * FROM nix$files;
SELECT * FROM p$position_deletes;
INSERT INTO p$refs SELECT * FROM p$refs;
ALTER TABLE p$files SET ('a' = 'b');
CREATE TABLE p$x (a INT);
DROP TABLE p$files;

-- partitions of all specs are one column
CREATE TABLE evolved (id INT, a STRING, ts TIMESTAMP(6)) PARTITIONED BY (a);
INSERT INTO evolved VALUES (1, 'x', TIMESTAMP '2024-01-02 03:04:05');
ALTER TABLE evolved ADD PARTITION FIELD days(ts);
INSERT INTO evolved VALUES (2, 'x', TIMESTAMP '2024-01-03 00:00:00');
ALTER TABLE evolved DROP PARTITION FIELD a;
INSERT INTO evolved VALUES (3, 'y', TIMESTAMP '1969-12-31 23:00:00');
SELECT `partition`, spec_id, record_count FROM evolved$partitions ORDER BY spec_id;
SELECT `partition`.a, `partition`.ts_day, spec_id FROM evolved$files ORDER BY spec_id;
SELECT partition_spec_id, partition_summaries FROM evolved$manifests ORDER BY partition_spec_id;

-- deletion vectors
CREATE TABLE v3 (id INT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '3', 'write.upsert.enabled' = 'true');
INSERT INTO v3 VALUES (1, 'a'), (1, 'b'), (2, 'c');
SELECT content, file_format, record_count, first_row_id, referenced_data_file IS NULL AS is_data, content_offset,
  content_size_in_bytes > 0 AS has_size FROM v3$files ORDER BY content, file_format;
SELECT record_count, position_delete_record_count, position_delete_file_count FROM v3$partitions;
