-- CREATE TABLE LIKE: what is taken over, and how to say so.
CREATE TABLE base (
  id INT NOT NULL,
  name STRING COMMENT 'nm',
  c AS id + 1,
  ts TIMESTAMP(3),
  meta INT METADATA VIRTUAL,
  WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'base' DISTRIBUTED BY (id) INTO 2 BUCKETS PARTITIONED BY (name)
WITH ('connector' = 'filesystem', 'path' = '${TMP}/base', 'format' = 'json');

CREATE TABLE l1 LIKE base;
SHOW CREATE TABLE l1;
CREATE TABLE l2 (extra STRING) COMMENT 'mine' WITH ('path' = '${TMP}/l2') LIKE base;
SHOW CREATE TABLE l2;
CREATE TABLE l3 WITH ('connector' = 'blackhole') LIKE base (EXCLUDING ALL INCLUDING CONSTRAINTS);
SHOW CREATE TABLE l3;
CREATE TABLE l4 (c AS id + 2, meta INT METADATA FROM 'q', WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) LIKE base (
  OVERWRITING GENERATED OVERWRITING METADATA OVERWRITING WATERMARKS);
SHOW CREATE TABLE l4;
CREATE TABLE l5 (c INT) DISTRIBUTED INTO 3 BUCKETS PARTITIONED BY (id) LIKE base (
  EXCLUDING GENERATED EXCLUDING PARTITIONS EXCLUDING DISTRIBUTION);
SHOW CREATE TABLE l5;

-- conflicts
CREATE TABLE bad WITH ('path' = 'y') LIKE base (INCLUDING OPTIONS);
CREATE TABLE bad (c AS id + 2) LIKE base;
CREATE TABLE bad (meta INT METADATA) LIKE base;
CREATE TABLE bad (name BIGINT) LIKE base;
CREATE TABLE bad (name AS id) LIKE base;
CREATE TABLE bad (meta AS id) LIKE base;
CREATE TABLE bad (WATERMARK FOR ts AS ts) LIKE base;
CREATE TABLE bad (x TIMESTAMP(3), WATERMARK FOR x AS x) LIKE base;
CREATE TABLE bad (PRIMARY KEY (id) NOT ENFORCED) LIKE base;
CREATE TABLE bad (PRIMARY KEY (ts) NOT ENFORCED) LIKE base (EXCLUDING CONSTRAINTS);
CREATE TABLE bad PARTITIONED BY (id) LIKE base;
CREATE TABLE bad DISTRIBUTED BY (name) INTO 3 BUCKETS LIKE base;
CREATE TABLE bad (d AS c + 1) LIKE base;
CREATE TABLE bad LIKE base (OVERWRITING ALL);
CREATE TABLE bad LIKE base (INCLUDING OPTIONS EXCLUDING OPTIONS);
CREATE TABLE bad LIKE nosuch;
CREATE VIEW v AS SELECT 1 AS a;
CREATE TABLE bad LIKE v;

-- Iceberg tables: a copy in an Iceberg catalog is a table of its own
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
USE ice.db;
CREATE TABLE t (id INT COMMENT 'the id', name STRING NOT NULL, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED)
COMMENT 'tab' PARTITIONED BY (id) WITH ('k' = 'v', 'format-version' = '2', 'write.upsert.enabled' = 'true');
DESCRIBE t;
SHOW CREATE TABLE t;
CREATE TABLE copy (x INT) WITH ('k' = 'w') LIKE t (EXCLUDING CONSTRAINTS);
SHOW CREATE TABLE copy;
CREATE TABLE bad (y AS id + 1) LIKE t;
CREATE TABLE default_catalog.default_database.pointer (y AS id + 1) LIKE t;
SHOW CREATE TABLE default_catalog.default_database.pointer;
