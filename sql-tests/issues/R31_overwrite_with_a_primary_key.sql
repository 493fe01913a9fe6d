-- INSERT OVERWRITE works with a primary key, also of an empty table; of rows with one key the last one stays.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, p STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p);
INSERT OVERWRITE t VALUES (1, 'a'), (2, 'b');
SELECT * FROM t ORDER BY p;
INSERT OVERWRITE t VALUES (9, 'a');
SELECT * FROM t ORDER BY p;
-- Flink fails here
CREATE TABLE u (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED);
INSERT OVERWRITE u VALUES (1, 'first'), (2, 'other'), (1, 'last');
SELECT * FROM u ORDER BY id;
