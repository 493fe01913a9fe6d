CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE TABLE shop.t (id INT) WITH ('write.upsert.enabled' = 'maybe', 'write.target-file-size-bytes' = '-5', 'owner' = 'me');
ALTER TABLE shop.t SET ('commit.retry.num-retries' = '-1', 'write.parquet.compression-codec' = 'nope');
CREATE TABLE shop.u WITH ('commit.retry.min-wait-ms' = 'soon') AS SELECT 1 AS id;
ALTER TABLE shop.t SET ('write.target-file-size-bytes' = '1048576', 'write.parquet.compression-codec' = 'ZSTD');
