-- Temporary tables and views live in the session, in whatever catalog their name says, and hide what has that name there.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
USE ice.db;
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1), (2);

CREATE TEMPORARY TABLE t (b STRING) WITH ('connector' = 'blackhole');
DESCRIBE t;
SHOW CREATE TABLE t;
DROP TABLE t;
DROP TABLE IF EXISTS t;
CREATE TEMPORARY TABLE t (c INT) WITH ('connector' = 'blackhole');
CREATE TEMPORARY TABLE IF NOT EXISTS t (c INT) WITH ('connector' = 'blackhole');
CREATE TEMPORARY VIEW t AS SELECT 1 AS a;
DROP TEMPORARY VIEW t;
DROP TEMPORARY TABLE t;
DROP TEMPORARY TABLE t;
DROP TEMPORARY TABLE IF EXISTS t;
SELECT * FROM t;

CREATE TEMPORARY VIEW big AS SELECT a FROM t WHERE a > 1;
SELECT * FROM big;
SHOW TABLES;
SHOW VIEWS;
SHOW CREATE VIEW big;
DROP VIEW big;
ALTER VIEW big RENAME TO bigger;

-- a view that hides what it reads would read itself
CREATE TEMPORARY VIEW t AS SELECT * FROM t;

-- Iceberg catalogs keep tables alone
CREATE VIEW v AS SELECT 1 AS a;
CREATE TABLE c (a INT, b AS a + 1);
CREATE TABLE c (a INT METADATA);
CREATE TABLE c (a TIMESTAMP(3), WATERMARK FOR a AS a);
CREATE TABLE c (a INT) DISTRIBUTED BY (a) INTO 2 BUCKETS;

-- in catalogs and databases that are not there
CREATE TEMPORARY TABLE nowhere.nothing.t (a INT) WITH ('connector' = 'blackhole');
DESCRIBE nowhere.nothing.t;
SHOW TABLES FROM nowhere.nothing;
CREATE TEMPORARY VIEW default_catalog.nothing.v AS SELECT 1 AS a;
SELECT * FROM default_catalog.nothing.v;

-- they outlive their catalog
CREATE TEMPORARY TABLE stays (a INT) WITH ('connector' = 'blackhole');
USE CATALOG default_catalog;
DROP CATALOG ice;
DESCRIBE ice.db.stays;
SELECT * FROM ice.db.big;
