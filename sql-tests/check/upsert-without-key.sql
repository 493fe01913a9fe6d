CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;

-- the table is made, and no INSERT can write it
CREATE TABLE t (id INT) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1);
INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'false') */ VALUES (1);

CREATE TABLE u (id INT);
ALTER TABLE u SET ('write.upsert.enabled' = 'true');
