-- A table of the connector needs the name of its catalog, and a table of the catalog no connector.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE default_catalog.default_database.t (id INT)
  WITH ('connector' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
-- CREATE checks nothing, as in Flink; the first use does
SELECT * FROM default_catalog.default_database.t;
INSERT INTO default_catalog.default_database.t VALUES (1);
CREATE TABLE ice.db.t (id INT) WITH ('connector' = 'iceberg');
CREATE TABLE ice.db.u (id INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/u');
-- both ways lead to one table
CREATE TABLE ice.db.t (id INT);
INSERT INTO ice.db.t VALUES (1);
CREATE TABLE default_catalog.default_database.same (id INT)
  WITH ('connector' = 'iceberg', 'catalog-name' = 'ice', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse',
    'catalog-database' = 'db', 'catalog-table' = 't');
INSERT INTO default_catalog.default_database.same VALUES (2);
SELECT * FROM ice.db.t ORDER BY id;
