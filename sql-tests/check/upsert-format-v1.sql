CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;

CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'format-version' = '1',
  'write.upsert.enabled' = 'true'
);
INSERT INTO t VALUES (1);

-- without upsert it needs both
CREATE TABLE u (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '1');
INSERT INTO u VALUES (1);
