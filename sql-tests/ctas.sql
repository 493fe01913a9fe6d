-- CREATE TABLE AS: a table with a query's columns and rows.
CREATE TABLE c1 WITH ('connector' = 'print') AS SELECT a, b, a * 2 AS dbl FROM (VALUES (1, 'x'), (2, 'y')) AS t(a, b);
SHOW CREATE TABLE c1;
CREATE TABLE c2 (extra INT, a BIGINT, c AS a + 1, PRIMARY KEY (b) NOT ENFORCED) COMMENT 'cc'
WITH ('connector' = 'print') AS SELECT 1 AS a, 'q' AS b;
SHOW CREATE TABLE c2;
CREATE TABLE c3 (b, a) WITH ('connector' = 'print') AS SELECT 1 AS a, 'q' AS b;
DESCRIBE c3;
CREATE TABLE IF NOT EXISTS c3 WITH ('connector' = 'blackhole') AS SELECT 'r' AS x, 2 AS y;
CREATE OR REPLACE TABLE c3 WITH ('connector' = 'print') AS SELECT 7 AS z;
DESCRIBE c3;

-- refused before the table is there
CREATE TABLE c1 WITH ('connector' = 'print') AS SELECT 1 AS a;
CREATE TABLE bad (b, nope) WITH ('connector' = 'print') AS SELECT 1 AS a, 'q' AS b;
CREATE TABLE bad (a) WITH ('connector' = 'print') AS SELECT 1 AS a, 'q' AS b;
CREATE TABLE bad (a STRING) WITH ('connector' = 'print') AS SELECT 1 AS a;
CREATE TABLE bad (a AS 1 + 1) WITH ('connector' = 'print') AS SELECT 1 AS a;
CREATE TABLE bad (x INT NOT NULL) WITH ('connector' = 'print') AS SELECT 1 AS a;
CREATE TABLE bad (PRIMARY KEY (nope) NOT ENFORCED) WITH ('connector' = 'print') AS SELECT 1 AS a;
CREATE TABLE bad (a, b);
CREATE TEMPORARY TABLE bad WITH ('connector' = 'print') AS SELECT 1 AS a;
DESCRIBE bad;

-- in an Iceberg catalog a failed one leaves nothing behind
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
USE ice.db;
CREATE TABLE c1 PARTITIONED BY (b) AS SELECT 1 AS a, 'x' AS b, CAST(1 AS TINYINT) AS c;
DESCRIBE c1;
SELECT * FROM c1;
SHOW PARTITIONS c1;
CREATE TABLE c2 AS SELECT CAST(b AS INT) AS n FROM c1;
SHOW TABLES;
CREATE TABLE IF NOT EXISTS c1 AS SELECT 2 AS x, 'y' AS y, 3 AS z;
SELECT * FROM c1;
CREATE OR REPLACE TABLE c1 AS SELECT 1 AS a;
