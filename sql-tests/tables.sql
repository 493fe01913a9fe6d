-- Tables of the session's own catalog: what their definition may say, what it may not, and how it is shown.
CREATE TABLE events (
  id INT COMMENT 'the id',
  kind STRING,
  ts TIMESTAMP(3),
  price DECIMAL(10, 2),
  tags ARRAY<STRING NOT NULL>,
  place ROW<x DOUBLE, y DOUBLE>,
  twice AS id * 2 COMMENT 'doubled',
  `day` AS DATE_FORMAT(ts, 'yyyy-MM-dd'),
  seen AS PROCTIME(),
  file STRING METADATA FROM 'file.name' VIRTUAL,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT by_id PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'it''s all here'
DISTRIBUTED BY HASH(id) INTO 4 BUCKETS
PARTITIONED BY (kind)
WITH ('connector' = 'blackhole', 'a' = '1', 'a' = '2');
DESCRIBE events;
SHOW CREATE TABLE events;
SHOW COLUMNS FROM events LIKE '%d%';
SHOW COLUMNS FROM events NOT LIKE '%e%';
SHOW PARTITIONS events;

-- a batch job has no time attributes
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE quiet (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'blackhole');
DESCRIBE quiet;
RESET 'execution.runtime-mode';

-- without columns, without a connector
CREATE TABLE bare;
DESCRIBE bare;
SHOW CREATE TABLE bare;
CREATE TABLE nobody (a INT) WITH ('connector' = 'nosuch');
SHOW PARTITIONS nobody;

-- keys
CREATE TABLE bad (a INT, b AS a + 1, PRIMARY KEY (b) NOT ENFORCED);
CREATE TABLE bad (a INT, PRIMARY KEY (nope) NOT ENFORCED);
CREATE TABLE bad (a INT, PRIMARY KEY (a));
CREATE TABLE bad (a INT, PRIMARY KEY (a, a) NOT ENFORCED);

-- columns
CREATE TABLE bad (a INT, a STRING);
CREATE TABLE bad (a INT, a AS 1);
CREATE TABLE bad (a INT, b AS nope + 1);
CREATE TABLE bad (a INT, b AS a + 1, c AS b + 1);

-- watermarks
CREATE TABLE bad (a INT, WATERMARK FOR nope AS nope);
CREATE TABLE bad (a STRING, WATERMARK FOR a AS a);
CREATE TABLE bad (a TIMESTAMP(6), WATERMARK FOR a AS a);
CREATE TABLE bad (a TIMESTAMP(3), WATERMARK FOR a AS 'x');

-- partitions and buckets
CREATE TABLE bad (a INT) PARTITIONED BY (nope);
CREATE TABLE bad (a INT, b AS a + 1) PARTITIONED BY (b);
CREATE TABLE bad (a INT) PARTITIONED BY (bucket(4, a));
CREATE TABLE bad (a INT) DISTRIBUTED BY (nope) INTO 4 BUCKETS;
CREATE TABLE bad (a INT) DISTRIBUTED BY (a) INTO 0 BUCKETS;

-- names
CREATE TABLE events (a INT);
CREATE TABLE IF NOT EXISTS events (a INT);
CREATE OR REPLACE TABLE events (a INT);
CREATE TABLE nowhere.t (a INT);
CREATE TABLE nowhere.nowhere.t (a INT);
CREATE TABLE a.b.c.d (a INT);
DROP TABLE nothing;
DROP TABLE IF EXISTS nothing;
SHOW CREATE TABLE event;
DESCRIBE event;

-- databases
CREATE DATABASE other;
CREATE TABLE other.t (a INT);
SHOW TABLES FROM other;
DROP DATABASE other;
DROP DATABASE other CASCADE;
SHOW TABLES;

-- types without a length
CREATE TABLE lengths (a VARCHAR, b VARBINARY, c CHAR, d BINARY, e VARCHAR(3), f CHAR VARYING, g BINARY VARYING, h CHARACTER VARYING) WITH ('connector' = 'blackhole');
DESCRIBE lengths;
SELECT CAST('abc' AS VARCHAR) AS a, CAST('abc' AS CHAR) AS b, CAST(X'0102' AS VARBINARY) AS c;
