-- EXPLAIN: the bound algebra, the optimised plan, and what runs.
SET 'parallelism.default' = '1';
CREATE TABLE sink (a INT, b STRING) WITH ('connector' = 'print');
EXPLAIN SELECT a + 1 AS n FROM (VALUES (1, 'x'), (2, 'y')) AS t(a, b) WHERE b = 'x';
EXPLAIN CHANGELOG_MODE INSERT INTO sink SELECT 1, 'x';
EXPLAIN CREATE TABLE made WITH ('connector' = 'print') AS SELECT 1 AS a;
SHOW TABLES;
EXPLAIN PLAN_ADVICE SELECT 1;
EXPLAIN SELECT nope FROM sink;
EXPLAIN SELECT * FROM sink;
