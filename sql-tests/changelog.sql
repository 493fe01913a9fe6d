-- Bounded streaming mode: a query whose rows change gives its changelog.
CREATE TEMPORARY VIEW o AS SELECT k, NULLIF(g, 'n') AS g, x FROM (VALUES
  (1, 'a', 10), (2, 'b', 20), (1, 'a', 30), (3, 'n', 5), (2, 'a', 20), (1, 'b', 7)) AS t(k, g, x);
CREATE TEMPORARY VIEW p AS SELECT * FROM (VALUES (1, 'one'), (2, 'two'), (2, 'zwei'), (4, 'four')) AS t(k, n);

-- groups
SELECT k, COUNT(*) AS c, SUM(x) AS s, MAX(g) AS m FROM o GROUP BY k;
SELECT k, COUNT(DISTINCT g) AS d, COUNT(*) FILTER (WHERE x > 10) AS f, LISTAGG(g, '|') AS l FROM o GROUP BY k;
SELECT k, COUNT(*) AS c FROM o GROUP BY k HAVING COUNT(*) < 3;
-- no row for no rows
SELECT COUNT(*) AS c, SUM(x) AS s FROM o WHERE x > 100;
-- an aggregate of changes: groups that end
SELECT c, COUNT(*) AS n, MIN(k) AS least FROM (SELECT k, COUNT(*) AS c FROM o GROUP BY k) GROUP BY c;
SELECT k, g, COUNT(*) AS c FROM o GROUP BY ROLLUP (k, g);
SELECT DISTINCT g FROM o;

-- first rows
SELECT k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) AS rn FROM o) WHERE rn = 1;
SELECT k, x, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x) AS rn FROM o) WHERE rn <= 2;
SELECT k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x) AS rn FROM o) WHERE rn <= 2;
SELECT k, x FROM o ORDER BY x LIMIT 2;
SELECT k, x FROM o ORDER BY x DESC LIMIT 2 OFFSET 1;
SELECT k, c FROM (SELECT k, COUNT(*) AS c FROM o GROUP BY k) ORDER BY c DESC, k LIMIT 1;
SELECT k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt) AS rn FROM (SELECT *, PROCTIME() AS pt FROM o)) WHERE rn = 1;
SELECT k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt DESC) AS rn FROM (SELECT *, PROCTIME() AS pt FROM o)) WHERE rn = 1;
SELECT k, SUM(x) OVER (PARTITION BY g ORDER BY k) AS s FROM o;

-- joins
SELECT a.k, a.c, p.n FROM (SELECT k, COUNT(*) AS c FROM o GROUP BY k) AS a LEFT JOIN p ON a.k = p.k;
SELECT p.n, a.c FROM p FULL JOIN (SELECT k, COUNT(*) AS c FROM o GROUP BY k) AS a ON a.k = p.k;
SELECT k, x FROM o WHERE k NOT IN (SELECT k FROM p);
SELECT k, x FROM o WHERE x > (SELECT AVG(x) FROM o);
SELECT k FROM o EXCEPT SELECT k FROM p;
SELECT k, c FROM (SELECT k, COUNT(*) AS c FROM o GROUP BY k) UNION ALL SELECT k, CAST(0 AS BIGINT) FROM p;

-- a query that only adds rows is no changelog
SELECT o.k, p.n FROM o JOIN p ON o.k = p.k WHERE x > 10;

-- sinks
CREATE TABLE files (k INT, c BIGINT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/files', 'format' = 'csv');
INSERT INTO files SELECT k, COUNT(*) FROM o GROUP BY k;
INSERT INTO files SELECT k, CAST(x AS BIGINT) FROM o ORDER BY x LIMIT 2;
INSERT INTO files SELECT DISTINCT k, CAST(x AS BIGINT) FROM o;
INSERT INTO files SELECT k, CAST(x AS BIGINT) FROM o WHERE k IN (SELECT k FROM p);
CREATE TABLE printed (k INT, c BIGINT) WITH ('connector' = 'print');
INSERT INTO printed SELECT k, COUNT(*) FROM o GROUP BY k;
INSERT INTO printed SELECT k, CAST(x AS BIGINT) FROM o ORDER BY x LIMIT 2;
CREATE TABLE nowhere (k INT, c BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO nowhere SELECT k, COUNT(*) FROM o GROUP BY k;

-- an Iceberg table with a key takes what is left, in one commit; a key of which nothing is left is deleted
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/wh');
CREATE DATABASE ice.db;
CREATE TABLE ice.db.u (c BIGINT, n BIGINT, PRIMARY KEY (c) NOT ENFORCED) WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');
INSERT INTO ice.db.u VALUES (1, 100), (2, 200), (9, 900);
INSERT INTO ice.db.u SELECT c, COUNT(*) FROM (SELECT k, COUNT(*) AS c FROM o WHERE k < 3 GROUP BY k) GROUP BY c;
SELECT * FROM ice.db.u;
INSERT INTO ice.db.u SELECT CAST(k AS BIGINT), COUNT(*) FROM o GROUP BY k;
SELECT * FROM ice.db.u;
INSERT INTO ice.db.u SELECT COUNT(*), SUM(CAST(x AS BIGINT)) FROM o WHERE x > 100;
SELECT * FROM ice.db.u;
CREATE TABLE ice.db.keyless (k INT, c BIGINT);
-- what is never taken back needs no key
INSERT INTO ice.db.keyless SELECT DISTINCT k, CAST(0 AS BIGINT) FROM o;
INSERT INTO ice.db.keyless SELECT k, COUNT(*) FROM o GROUP BY k;
SET 'execution.runtime-mode' = 'batch';
INSERT INTO ice.db.keyless SELECT k, COUNT(*) FROM o GROUP BY k;
SELECT * FROM ice.db.keyless;
SELECT COUNT(*) AS c, SUM(x) AS s FROM o WHERE x > 100;
