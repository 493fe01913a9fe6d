-- Rows of a key must stay in their partition: its source columns belong into the key.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, region STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  PARTITIONED BY (region) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, 'eu', 1);
SELECT COUNT(*) FROM t$files;
-- with the column in the key they are replaced
CREATE TABLE both_in (id INT, region STRING, v INT, PRIMARY KEY (id, region) NOT ENFORCED)
  PARTITIONED BY (region) WITH ('write.upsert.enabled' = 'true');
INSERT INTO both_in VALUES (1, 'eu', 1);
INSERT INTO both_in VALUES (1, 'eu', 2), (1, 'us', 3);
SELECT * FROM both_in ORDER BY region;
