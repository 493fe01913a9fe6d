-- Format version 1 has no deletes: an upsert is refused before a file is written.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
SET 'execution.runtime-mode' = 'batch';
USE CATALOG ice;
USE db;

CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('format-version' = '1', 'write.upsert.enabled' = 'true');
INSERT INTO t VALUES (1, 1);
CREATE TABLE plain (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '1');
INSERT INTO plain VALUES (1, 1);
INSERT INTO plain /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 2);
SELECT * FROM plain;
SELECT COUNT(*) FROM plain$snapshots;
-- a key that comes twice needs a delete as well
INSERT INTO plain VALUES (3, 1), (3, 2);
-- an upgrade is the way out
ALTER TABLE plain SET ('format-version' = '2');
INSERT INTO plain /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 2);
SELECT * FROM plain;
