-- Columns are renamed, dropped and added again while deletes are pending: values are found by field id.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, k STRING, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, 'k1', 'old');
INSERT INTO t VALUES (1, 'k1', 'mid');
ALTER TABLE t RENAME v TO w;
SELECT id, w FROM t;
ALTER TABLE t DROP w;
ALTER TABLE t ADD w STRING;
-- never 'mid'
SELECT id, w FROM t;
-- the key itself gets another name
ALTER TABLE t RENAME id TO id2;
SELECT * FROM t;
INSERT INTO t VALUES (1, 'k2', 'new');
SELECT * FROM t;
-- a key that is a key no more: its deletes stay
ALTER TABLE t ADD (id INT);
SELECT * FROM t;
ALTER TABLE t MODIFY (PRIMARY KEY (id2, k) NOT ENFORCED);
