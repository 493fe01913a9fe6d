-- Statements with the verdict of Flink 2.1 on their syntax, each behind a line with its name and `accepted` or `refused`.
--# error_01-1 accepted
SELECT * FROM missing
--# error_01-2 accepted
SELECT * FROM default_database.missing
--# error_01-3 accepted
SELECT * FROM nocat.db.t
--# error_01-4 accepted
INSERT INTO missing VALUES (1)
--# error_01-5 accepted
INSERT INTO missing SELECT * FROM also_missing
--# error_01-6 accepted
DROP TABLE missing
--# error_01-7 accepted
ALTER TABLE missing ADD c INT
--# error_01-8 accepted
DESCRIBE missing
--# error_01-9 accepted
SHOW CREATE TABLE missing
--# error_01-10 accepted
USE missing
--# error_01-11 accepted
USE CATALOG missing
--# error_01-12 accepted
TRUNCATE TABLE missing
--# error_01-13 accepted
EXPLAIN SELECT * FROM missing
--# error_03-2 accepted
CREATE TABLE t (id INT, name STRING, amt DECIMAL(10,2)) WITH ('connector'='filesystem','path'='${DATA}/t','format'='csv')
--# error_03-3 accepted
INSERT INTO t VALUES (1, 'a', 1.5)
--# error_03-4 accepted
SELECT id FROM t WHERE name = 1
--# error_03-5 accepted
SELECT id FROM t WHERE id = 'x'
--# error_03-6 accepted
SELECT id FROM t WHERE id
--# error_03-7 accepted
SELECT id FROM t WHERE name
--# error_03-8 accepted
SELECT id + name FROM t
--# error_03-9 accepted
SELECT name + 1 FROM t
--# error_04-4 accepted
SELECT id FROM t ORDER BY missing
--# error_04-5 accepted
SELECT SUM(name) FROM t
--# error_04-6 accepted
SELECT UPPER(id) FROM t
--# error_04-7 accepted
SELECT foo(id) FROM t
--# error_04-8 refused
SELECT id, FROM t
--# error_04-9 accepted
SELECT id FROM t t1 JOIN t t2 ON t1.id = t2.id
--# error_06-2 accepted
CREATE TABLE t (id INT, name STRING) WITH ('connector'='print')
--# error_06-3 accepted
INSERT INTO t VALUES (1)
--# error_06-4 accepted
INSERT INTO t VALUES (1, 'a', 2)
--# error_06-5 accepted
INSERT INTO t VALUES ('a', 'b')
--# error_06-6 accepted
INSERT INTO t VALUES (1, 2)
--# error_06-7 accepted
INSERT INTO t VALUES (1.5, 'a')
--# error_06-8 accepted
INSERT INTO t VALUES (NULL, 'a')
--# error_06-9 accepted
INSERT INTO t VALUES (NULL, NULL)
--# error_06-10 accepted
INSERT INTO t SELECT 1
--# error_06-11 accepted
INSERT INTO t (id, nope) VALUES (1, 'a')
--# error_06-12 accepted
INSERT INTO t (id, id) VALUES (1, 2)
--# error_06-13 accepted
INSERT INTO t (name) VALUES ('only name')
--# error_06-14 accepted
INSERT INTO t PARTITION (id=1) SELECT 'a'
--# error_06-15 accepted
INSERT INTO t VALUES (1, 'a'), (2)
--# error_06-16 refused
INSERT INTO t VALUES
--# error_06-17 refused
INSERT t VALUES (1, 'a')
--# error_06-18 refused
INSERT INTO t DEFAULT VALUES
--# error_06-19 accepted
INSERT INTO t SELECT CAST('x' AS INT), 'a'
--# error_06-20 accepted
INSERT INTO t SELECT 1/0, 'a'
--# error_06-21 accepted
INSERT OVERWRITE t VALUES (1, 'a')
--# error_06-22 accepted
INSERT INTO t VALUES (3000000000, 'a')
--# error_06-23 refused
INSERT INTO t SET id = 1
--# error_07-1 accepted
CREATE TABLE e1 (id INT PRIMARY KEY) WITH ('connector'='blackhole')
--# error_07-2 accepted
CREATE TABLE e2 (id INT, PRIMARY KEY (id)) WITH ('connector'='blackhole')
--# error_07-3 accepted
CREATE TABLE e3 (id INT, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED, CONSTRAINT pk2 PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='blackhole')
--# error_07-4 accepted
CREATE TABLE e4 (id INT, x AS id + 1, PRIMARY KEY (x) NOT ENFORCED) WITH ('connector'='blackhole')
--# error_07-5 refused
CREATE TABLE e5 (id INT NOT NULL NOT NULL) WITH ('connector'='blackhole')
--# error_07-6 refused
CREATE TABLE e6 (id INT DEFAULT 5) WITH ('connector'='blackhole')
--# error_07-7 refused
CREATE TABLE e7 (id INT AUTO_INCREMENT) WITH ('connector'='blackhole')
--# error_07-8 refused
CREATE TABLE e8 (id INT CHECK (id > 0)) WITH ('connector'='blackhole')
--# error_07-9 refused
CREATE TABLE e9 (id INT REFERENCES other(id)) WITH ('connector'='blackhole')
--# error_07-10 refused
CREATE TABLE e10 (id INT) ENGINE=InnoDB
--# error_07-11 refused
CREATE TABLE e11 (id INT) USING iceberg
--# error_07-12 refused
CREATE TABLE e12 (id INT) STORED AS PARQUET
--# error_07-13 refused
CREATE TABLE e13 (id INT) TBLPROPERTIES ('a'='b')
--# error_07-14 refused
CREATE TABLE e14 (id INT) LOCATION '/x'
--# error_07-15 refused
CREATE EXTERNAL TABLE e15 (id INT) WITH ('connector'='blackhole')
--# error_07-16 accepted
CREATE OR REPLACE TABLE e16 (id INT) WITH ('connector'='blackhole')
--# error_07-17 refused
CREATE TABLE e17 (id INT) COMMENT = 'x' WITH ('connector'='blackhole')
--# error_07-18 refused
CREATE TABLE e18 (id INT) WITH (connector='blackhole')
--# error_07-19 refused
CREATE TABLE e19 (id INT) WITH ("connector"='blackhole')
--# error_07-20 refused
CREATE TABLE e20 (id INT) WITH ('connector'='blackhole') PARTITIONED BY (id)
--# error_07-21 refused
CREATE TABLE e21 (id INT) PARTITIONED BY id WITH ('connector'='blackhole')
--# error_07-22 refused
CREATE TABLE e22 (id INT, PARTITIONED BY (id)) WITH ('connector'='blackhole')
--# error_07-23 accepted
CREATE TABLE e23 AS SELECT 1 AS a
--# error_07-24 refused
CREATE TABLE e24 (id INT) WITH ('connector'=blackhole)
--# error_07-25 accepted
CREATE TABLE e25 (id INT) WITH ('connector'='blackhole', 'connector'='print')
--# error_07-26 refused
CREATE INDEX i ON e25 (id)
--# error_07-27 refused
CREATE SCHEMA s
--# error_07-28 refused
CREATE USER u
--# error_07-29 refused
GRANT SELECT ON e25 TO u
--# error_09-2 accepted
SELECT 10 / 0 AS a
--# error_09-3 accepted
SELECT 10 % 0 AS a
--# error_09-4 accepted
SELECT MOD(10, 0) AS a
--# error_09-5 accepted
SELECT a / b AS q FROM (VALUES (10, 0)) AS t(a, b)
--# error_09-6 accepted
SELECT ARRAY[1, 2][0] AS a
--# error_09-7 accepted
SELECT ELEMENT(ARRAY[1, 2]) AS a
--# error_10-2 accepted
SELECT (SELECT x FROM (VALUES (1), (2)) AS t(x)) AS a
--# error_10-3 accepted
SELECT SUBSTRING('abc', 1, -5) AS a
--# error_10-4 accepted
SELECT CHR(-5) AS a
--# error_10-5 accepted
SELECT SQRT(-1) AS a, LN(-1) AS b, LN(0) AS c
--# error_10-6 accepted
SELECT POWER(10, 400) AS a
--# error_10-7 accepted
SELECT CAST(1e40 AS FLOAT) AS a, CAST(1e20 AS BIGINT) AS b, CAST(-1e20 AS INT) AS c
--# error_12-1 refused
SELEC * FROM t
--# error_12-2 refused
SELECT * FORM t
--# error_12-3 refused
SELECT * FROM
--# error_12-4 refused
SELECT a b c FROM t
--# error_12-5 refused
SELECT 'unterminated FROM t
--# error_12-6 refused
SELECT `unterminated FROM t
--# error_12-7 refused
SELECT (1 + 2 FROM t
--# error_12-8 refused
SELECT 1 + FROM t
--# error_12-9 refused
SELECT * FROM t WHERE a = 
--# error_12-10 refused
SELECT * FROM t WHERE a IN (1, 2
--# error_12-11 refused
SELECT * FROM t GROUP BY
--# error_12-12 refused
SELECT * FROM t ORDER a
--# error_12-13 refused
SELECT * FROM t LIMIT
--# error_12-14 refused
SELECT * FROM t1 t2 t3
--# error_12-15 accepted
INSERT INTO t VALUES 1, 2
--# error_12-16 refused
INSERT t INTO VALUES (1)
--# error_12-17 refused
UPDATE t SET
--# error_12-18 refused
DELETE t
--# error_12-19 refused
CREATE TABLE t (a INT b INT)
--# error_12-20 refused
CREATE TABLE t a INT
--# error_12-21 refused
CREATE VIEW v
--# error_12-22 refused
DROP TABLE
--# error_12-23 refused
DROP t
--# error_12-24 refused
ALTER TABLE t
--# error_12-25 refused
ALTER TABLE t ADD
--# error_12-26 refused
USE
--# error_12-27 refused
SHOW FOO
--# error_12-28 refused
DESCRIBE
--# error_12-29 refused
EXPLAIN
--# error_12-30 refused
SELECT @x
--# error_12-31 refused
SELECT a[ FROM t
--# error_12-32 refused
SELECT :x
--# error_12-33 accepted
SELECT ?
--# error_12-34 accepted
SELECT $1
--# error_12-35 accepted
SELECT {fn UPPER('a')}
--# error_12-36 refused
SELECT CONVERT('1', INT)
--# error_12-37 refused
SELECT 1 AS
--# error_12-38 refused
SELECT DISTINCT
--# error_12-39 refused
HELLO WORLD
--# error_13-2 accepted
CREATE TABLE u (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='datagen','rows-per-second'='1')
--# error_13-3 accepted
SELECT * FROM u LIMIT 1
--# error_13-4 accepted
SET 'execution.runtime-mode' = 'streaming'
--# error_13-5 accepted
CREATE TABLE s (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='${DATA}/s','format'='csv')
--# error_13-6 accepted
INSERT INTO s VALUES (1, TIMESTAMP '2024-01-01 00:00:00.000'), (1, TIMESTAMP '2024-01-01 00:00:01.000')
--# error_13-7 accepted
SELECT id FROM s ORDER BY id
--# error_13-8 accepted
SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(id), INTERVAL '1' MINUTE))
--# error_13-9 accepted
SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS rn FROM s
--# error_13-10 accepted
SELECT SUM(id) OVER (ORDER BY id) FROM s
--# error_13-11 accepted
SELECT COUNT(DISTINCT id) OVER (ORDER BY ts) FROM s
--# error_13-12 accepted
SELECT s1.id FROM s s1 FULL OUTER JOIN s s2 ON s1.id > s2.id
--# error_13-13 accepted
SELECT id FROM s MATCH_RECOGNIZE (ORDER BY ts PATTERN (A*) DEFINE A AS id > 0)
--# error_13-14 accepted
DELETE FROM s WHERE id = 1
--# error_13-15 accepted
UPDATE s SET id = 1
--# error_13-16 accepted
ALTER TABLE s DROP ts
--# error_13-17 accepted
ALTER TABLE s DROP WATERMARK
--# error_13-18 accepted
ALTER TABLE u SET ('rows-per-second'='abc')
--# error_13-19 accepted
SELECT id FROM u
--# error_13-20 accepted
CREATE TEMPORARY TABLE s (x INT) WITH ('connector'='datagen')
--# error_13-21 accepted
DROP VIEW s
--# error_13-22 accepted
CREATE VIEW s AS SELECT 1 AS a
--# error_13-23 accepted
CREATE TEMPORARY VIEW s AS SELECT 1 AS a
--# lexer_01-2 accepted
-- plain and delimited identifiers keep case; unquoted names are not folded
SELECT a, A1 AS `Mixed Case`, `b c` FROM (VALUES (1, 2, 3)) AS T(a, A1, `b c`)
--# lexer_01-3 accepted
SELECT a FROM (VALUES (1)) AS t(A)
--# lexer_01-4 accepted
SELECT T.a FROM (VALUES (1)) AS t(a)
--# lexer_01-5 accepted
SELECT `a``b` FROM (VALUES (1)) AS t(`a``b`)
--# lexer_01-6 refused
SELECT 1 AS "x"
--# lexer_01-7 refused
select 1 as Lower, SELECT_ from (values (2)) as v(SELECT_)
--# lexer_03-2 accepted
SELECT 1 -- trailing comment
 + 1 AS a
--# lexer_03-3 accepted
/* block comment before */ SELECT /* inside */ 2 AS a
--# lexer_03-4 accepted
-- a ; inside a comment does not end the statement
SELECT 3 AS a
--# lexer_03-5 accepted
SELECT ';' AS semi, '--not a comment' AS b, '/* nor this */' AS c
--# lexer_03-6 accepted
SELECT /* nested /* comment */ 1 AS a
--# lexer_03-7 refused
SELECT 1 /* unterminated
--# lexer_04-2 accepted
SELECT 1;
--# lexer_04-3 refused

--# lexer_04-4 accepted
SELECT 3

--# lexer_04-5 accepted
SELECT 4
--# lexer_06-2 accepted
SELECT TRUE AS a, false AS b, UNKNOWN AS c, NULL AS d
--# lexer_06-3 accepted
SELECT NULL
--# lexer_06-4 accepted
SELECT CAST(NULL AS STRING) AS s
--# lexer_06-5 accepted
SELECT true AND NULL AS a
--# lexer_06-6 accepted
SELECT DATE '2024-02-29' AS d, TIME '23:59:59' AS t, TIMESTAMP '2024-02-29 12:34:56.789' AS ts
--# lexer_06-7 accepted
SELECT DATE '2023-02-29' AS d
--# lexer_06-8 accepted
SELECT TIME '25:00:00' AS t
--# lexer_06-9 accepted
SELECT TIMESTAMP '2024-13-01 00:00:00'
--# lexer_06-10 accepted
SELECT TIMESTAMP '2024-01-01'
--# lexer_06-11 accepted
SELECT DATE '2024-1-2' AS d
--# lexer_07-1 refused
-- reserved words need backticks
CREATE TABLE order (a INT) WITH ('connector'='blackhole')
--# lexer_07-2 accepted
CREATE TABLE `order` (`select` INT, `timestamp` INT) WITH ('connector'='blackhole')
--# lexer_07-3 accepted
DESCRIBE `order`
--# lexer_07-4 refused
CREATE TABLE r1 (value INT) WITH ('connector'='blackhole')
--# lexer_07-5 refused
CREATE TABLE r2 (timestamp INT) WITH ('connector'='blackhole')
--# lexer_07-6 refused
CREATE TABLE r3 (date DATE) WITH ('connector'='blackhole')
--# lexer_07-7 refused
CREATE TABLE r4 (user STRING) WITH ('connector'='blackhole')
--# lexer_07-8 accepted
CREATE TABLE r5 (name STRING, id INT, type STRING, key STRING, status STRING) WITH ('connector'='blackhole')
--# lexer_07-9 refused
CREATE TABLE r6 (year INT) WITH ('connector'='blackhole')
--# lexer_07-10 refused
CREATE TABLE r7 (count INT) WITH ('connector'='blackhole')
--# lexer_07-11 refused
CREATE TABLE r8 (comment STRING, level INT, data STRING, ts TIMESTAMP(3)) WITH ('connector'='blackhole')
--# lexer_07-12 refused
CREATE TABLE r9 (`end` INT, start INT) WITH ('connector'='blackhole')
--# lexer_09-2 accepted
SELECT 1 AS a FROM (VALUES (1)) AS t /* c1 */ -- c2
WHERE 1 = 1
--# lexer_09-3 refused
SELECT 1 <> 2 AS a, 1 != 2 AS b, 1 <= 2 AS c, 1 >= 2 AS d
--# lexer_09-4 refused
SELECT 1 == 1
--# lexer_09-5 accepted
SELECT 5 % 3 AS a, MOD(5, 3) AS b
--# lexer_09-6 accepted
SELECT 'a' || 'b' || 'c' AS s
--# lexer_09-7 refused
SELECT 1 & 2
--# lexer_09-8 refused
SELECT 2 ^ 3
--# lexer_09-9 accepted
SELECT 'a' + 'b'
--# lexer_09-10 accepted
SELECT NOT TRUE AS a, NOT FALSE AND FALSE AS b
--# parser_01-2 refused
SELEC 1
--# parser_01-3 refused
SELECT
--# parser_01-4 refused
SELECT 1 FROM
--# parser_01-5 refused
SELECT * FROM (VALUES (1)) AS t(a) WHERE
--# parser_01-6 refused
SELECT (1
--# parser_01-7 refused
SELECT 1)
--# parser_01-8 refused
SELECT 1 FROM (VALUES (1)) t(a) GROUP BY
--# parser_01-9 refused
SELECT a b c FROM (VALUES (1)) t(a)
--# parser_01-10 refused
CREATE TABLE
--# parser_01-11 refused
DROP
--# parser_01-12 refused
INSERT INTO
--# parser_01-13 accepted
SELECT * FROM (VALUES (1, 2), (3)) AS t(a, b)
--# parser_01-14 accepted
VALUES (1, 'a'), (2, 'b')
--# parser_01-15 accepted
VALUES 1, 2
--# parser_01-16 accepted
TABLE x
--# parser_01-17 refused
SELECT 1 LIMIT -1
--# parser_01-18 refused
SELECT 1 LIMIT a
--# parser_01-19 refused
FROM x SELECT 1
--# parser_01-20 refused
SELECT TOP 1 1
--# parser_01-21 refused
SELECT 1 QUALIFY 1 = 1
--# parser_01-22 refused
BEGIN
--# parser_01-23 refused
COMMIT
--# parser_03-2 refused
SELECT CAST('1' INT)
--# parser_03-3 accepted
SELECT a FROM t1 JOIN t2
--# parser_03-4 accepted
SELECT COUNT(*) FROM nosuch_table
--# parser_03-5 accepted
SELECT * FROM nosuch_db.nosuch_table
--# parser_03-6 accepted
SELECT * FROM a.b.c.d
--# parser_03-7 accepted
SELECT nosuch_function(1)
--# parser_04-2 accepted
SELECT UPPER()
--# parser_04-3 accepted
SELECT UPPER('a', 'b')
--# parser_04-4 refused
SELECT SUBSTRING('abc')
--# parser_04-5 accepted
SELECT ABS('x')
