CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;

CREATE TABLE t (
  id INT,
  dt STRING,
  PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (dt) WITH (
  'format-version' = '2',
  'write.upsert.enabled' = 'true'
);
INSERT INTO t VALUES (1, '2025-07-04');

-- told of the one INSERT that upserts
CREATE TABLE u (id INT, dt STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt);
INSERT INTO u /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, '2025-07-04');
