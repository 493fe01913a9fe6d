SET 'parallelism.defalt' = '4';
SET 'state.backend.type' = 'rocksdb';
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehous' = 'x', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE TABLE shop.t (id INT) WITH ('write.target-file-size-byte' = '1000', 'owner' = 'me');
SELECT * FROM shop.t /*+ OPTIONS('snapshotid' = '5') */;
SELECT * FROM shop.t /*+ OPTIONS('write-parallelism' = '5') */;
INSERT INTO shop.t /*+ OPTIONS('retries' = '3') */ VALUES (1);
CREATE TEMPORARY TABLE p (id INT) WITH ('connector' = 'print', 'print-idntifier' = 'x');
INSERT INTO p VALUES (1);

-- table properties have other names in hints, or none
INSERT INTO shop.t /*+ OPTIONS('write.upsert.enabled' = 'true', 'write.format.default' = 'orc') */ VALUES (1);
INSERT INTO shop.t /*+ OPTIONS('write.parquet.page-row-limit' = '10') */ VALUES (1);
SELECT * FROM shop.t /*+ OPTIONS('read.split.target-size' = '100', 'upsert-enabled' = 'true') */;
DELETE FROM shop.t /*+ OPTIONS('write.delete.mode' = 'merge-on-read') */;
