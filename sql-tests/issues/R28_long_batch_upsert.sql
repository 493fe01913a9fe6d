-- An upsert of many rows is one commit; keys that come again are replaced in it.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE default_catalog.default_database.gen (f_sequence INT) WITH ('connector' = 'datagen', 'number-of-rows' = '100000',
  'fields.f_sequence.kind' = 'sequence', 'fields.f_sequence.start' = '0', 'fields.f_sequence.end' = '99999');
CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO t SELECT f_sequence, 1 FROM default_catalog.default_database.gen;
INSERT INTO t SELECT MOD(f_sequence, 50000), f_sequence FROM default_catalog.default_database.gen;
SELECT COUNT(*), COUNT(DISTINCT id), SUM(CAST(v AS BIGINT)) FROM t;
SELECT COUNT(*) FROM t$snapshots;
