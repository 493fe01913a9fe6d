-- Statements with the verdict of Flink 2.2 on their syntax, each behind its name and the verdict.
--# cat1 accepted
CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='rest','uri'='http://x')
--# cat2 accepted
CREATE CATALOG IF NOT EXISTS ice COMMENT 'c' WITH ('type'='iceberg')
--# cat3 accepted
USE CATALOG ice
--# cat4 accepted
DROP CATALOG IF EXISTS ice
--# cat5 accepted
ALTER CATALOG ice SET ('k'='v')
--# cat6 accepted
ALTER CATALOG ice RESET ('k')
--# cat7 accepted
ALTER CATALOG ice COMMENT 'x'
--# cat8 accepted
DESCRIBE CATALOG EXTENDED ice
--# db1 accepted
CREATE DATABASE db
--# db2 accepted
CREATE DATABASE IF NOT EXISTS ice.db COMMENT 'c' WITH ('k'='v')
--# db3 accepted
USE ice.db
--# db3b accepted
USE `default`
--# db3c refused
USE default
--# db4 accepted
DROP DATABASE IF EXISTS db CASCADE
--# db4b accepted
DROP DATABASE db RESTRICT
--# db5 accepted
ALTER DATABASE db SET ('k'='v')
--# db6 accepted
DESCRIBE DATABASE db
--# mod1 accepted
LOAD MODULE hive WITH ('hive-version'='3.1.3')
--# mod2 accepted
UNLOAD MODULE hive
--# mod3 accepted
USE MODULES core, hive
--# ct1 accepted
CREATE TABLE t (a INT, b STRING) WITH ('connector'='datagen')
--# ct2 accepted
CREATE TABLE IF NOT EXISTS ice.db.t (id BIGINT NOT NULL COMMENT 'pk', data STRING, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'tbl' PARTITIONED BY (data) WITH ('format-version'='2')
--# ct3 accepted
CREATE TABLE t (id BIGINT PRIMARY KEY NOT ENFORCED, x INT) WITH ('connector'='x')
--# ct4 accepted
CREATE TABLE t (id BIGINT, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='x')
--# ct5 accepted
CREATE TABLE t (id BIGINT UNIQUE, x INT, UNIQUE (x)) WITH ('connector'='x')
--# ct6 accepted
CREATE TABLE t (a INT, c AS a + 1, d AS UPPER(CAST(a AS STRING)) COMMENT 'd') WITH ('connector'='x')
--# ct7 accepted
CREATE TABLE t (a INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', off BIGINT METADATA VIRTUAL, m MAP<STRING,STRING> METADATA FROM 'h' VIRTUAL) WITH ('connector'='x')
--# ct8 accepted
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='x')
--# ct9 accepted
CREATE TABLE t (a ROW<ts TIMESTAMP(3)>, WATERMARK FOR a.ts AS a.ts) WITH ('connector'='x')
--# ct10 accepted
CREATE TABLE t (a INT) DISTRIBUTED BY HASH(a) INTO 4 BUCKETS WITH ('connector'='x')
--# ct11 accepted
CREATE TABLE t (a INT) DISTRIBUTED INTO 4 BUCKETS
--# ct12 accepted
CREATE TABLE t2 LIKE t1
--# ct13 accepted
CREATE TABLE t2 (extra INT) WITH ('k'='v') LIKE t1 (INCLUDING ALL EXCLUDING CONSTRAINTS OVERWRITING OPTIONS)
--# ct14 accepted
CREATE TABLE t2 WITH ('k'='v') AS SELECT a, b FROM t1 WHERE a > 1
--# ct15 accepted
CREATE TABLE t2 AS SELECT 1 AS a
--# ct16 accepted
CREATE OR REPLACE TABLE t2 WITH ('k'='v') AS SELECT * FROM t
--# ct17 accepted
CREATE TEMPORARY TABLE t (a INT) WITH ('connector'='print')
--# ct18 accepted
CREATE TABLE t (`a b` INT, `select` STRING) WITH ('connector'='print')
--# ct19 accepted
CREATE TABLE t2 (a, b) WITH ('k'='v') AS SELECT x, y FROM t
--# ct20 accepted
CREATE TABLE t (a INT) PARTITIONED BY (a, b)
--# ct21 accepted
CREATE TABLE `ice`.`db`.`t` (`id` BIGINT, `data` STRING) WITH ('connector'='iceberg', 'catalog-name'='c', 'catalog-type'='hadoop')
--# ct22 accepted
CREATE TABLE t (a INT METADATA, b INT) WITH ('connector'='x')
--# mt1 accepted
CREATE MATERIALIZED TABLE mt FRESHNESS = INTERVAL '3' MINUTE AS SELECT * FROM t
--# ty1 accepted
CREATE TABLE t (a CHAR(3), b VARCHAR(20), c STRING, d BINARY(2), e VARBINARY(10), f BYTES, g BOOLEAN)
--# ty2 accepted
CREATE TABLE t (a TINYINT, b SMALLINT, c INT, c2 INTEGER, d BIGINT, e FLOAT, f DOUBLE, g DOUBLE PRECISION, h DECIMAL(38,18), i DEC(5), j NUMERIC(5,2), k DECIMAL)
--# ty3 accepted
CREATE TABLE t (a DATE, b TIME, c TIME(0), d TIMESTAMP, e TIMESTAMP(6), f TIMESTAMP(6) WITHOUT TIME ZONE, g TIMESTAMP_LTZ(3), h TIMESTAMP(6) WITH LOCAL TIME ZONE, i TIMESTAMP_LTZ)
--# ty3b accepted
CREATE TABLE t (h TIMESTAMP(6) WITH LOCAL TIME ZONE)
--# ty4 accepted
CREATE TABLE t (a ARRAY<INT>)
--# ty5 accepted
CREATE TABLE t (a INT ARRAY)
--# ty6 accepted
CREATE TABLE t (a MAP<STRING, INT>)
--# ty7 accepted
CREATE TABLE t (a ROW<a INT, b STRING>)
--# ty8 accepted
CREATE TABLE t (a ROW(a INT, b STRING))
--# ty9 accepted
CREATE TABLE t (a MULTISET<STRING>, b STRING MULTISET)
--# ty10 accepted
CREATE TABLE t (a RAW('java.lang.Void','AA=='))
--# ty11 refused
CREATE TABLE t (a INTERVAL DAY TO SECOND, b INTERVAL YEAR TO MONTH)
--# ty11b refused
CREATE TABLE t (a INTERVAL DAY(3) TO SECOND(3))
--# ty12 accepted
CREATE TABLE t (a ARRAY<ROW<x INT, y MAP<STRING, ARRAY<INT>>>>)
--# ty13 accepted
CREATE TABLE t (a INT NOT NULL, b ARRAY<INT NOT NULL> NOT NULL, c ROW<x INT NOT NULL 'desc', y INT NULL>)
--# ty14 refused
CREATE TABLE t (a VARIANT, b NULL)
--# ty15 accepted
SELECT CAST(NULL AS ROW<a INT, b STRING>), CAST(x AS MAP<STRING,INT>), CAST(y AS ARRAY<INT>)
--# ty16 accepted
SELECT CAST(x AS TIMESTAMP_LTZ(3)), CAST(x AS BYTES), CAST(x AS STRING)
--# at1 accepted
ALTER TABLE t SET ('k'='v', 'k2'='v2')
--# at2 accepted
ALTER TABLE t RESET ('k')
--# at3 accepted
ALTER TABLE t RENAME TO t2
--# at4 accepted
ALTER TABLE t ADD c INT
--# at5 accepted
ALTER TABLE t ADD (c INT COMMENT 'x' FIRST, d STRING AFTER c, WATERMARK FOR ts AS ts)
--# at6 accepted
ALTER TABLE t MODIFY c BIGINT
--# at7 accepted
ALTER TABLE t MODIFY (c BIGINT NOT NULL, PRIMARY KEY (c) NOT ENFORCED)
--# at8 accepted
ALTER TABLE t DROP c
--# at8b accepted
ALTER TABLE t DROP (c, d)
--# at9 accepted
ALTER TABLE t DROP PRIMARY KEY
--# at10 accepted
ALTER TABLE t DROP WATERMARK
--# at10b accepted
ALTER TABLE t DROP CONSTRAINT pk
--# at11 accepted
ALTER TABLE t RENAME a TO b
--# at12 accepted
ALTER TABLE IF EXISTS t ADD PRIMARY KEY (id) NOT ENFORCED
--# at13 accepted
ALTER TABLE t ADD PARTITION (dt='2020-01-01') WITH ('k'='v')
--# at14 accepted
ALTER TABLE t DROP IF EXISTS PARTITION (dt='2020-01-01')
--# at15 accepted
ALTER TABLE t ADD DISTRIBUTION BY HASH(a) INTO 6 BUCKETS
--# dr1 accepted
DROP TABLE IF EXISTS ice.db.t
--# dr2 accepted
DROP TEMPORARY TABLE t
--# dr3 accepted
DROP VIEW IF EXISTS v
--# v1 accepted
CREATE VIEW v AS SELECT * FROM t
--# v2 refused
CREATE TEMPORARY VIEW IF NOT EXISTS v (a, b COMMENT 'x') COMMENT 'vv' AS SELECT a, b FROM t
--# v3 accepted
ALTER VIEW v RENAME TO v2
--# v4 accepted
ALTER VIEW v AS SELECT 1
--# fn1 accepted
CREATE TEMPORARY SYSTEM FUNCTION f AS 'com.x.F' LANGUAGE JAVA USING JAR 'file:///x.jar'
--# fn2 accepted
CREATE FUNCTION IF NOT EXISTS db.f AS 'com.x.F'
--# fn3 accepted
DROP TEMPORARY FUNCTION IF EXISTS f
--# in1 accepted
INSERT INTO t /*+ OPTIONS('upsert-enabled'='true', 'a'='b') */ SELECT * FROM s
--# in2 refused
INSERT OVERWRITE t PARTITION (a='x', b) SELECT c, d FROM s
--# in3 accepted
INSERT INTO t PARTITION (dt='2020') (c, d) SELECT c, d FROM s
--# in4 accepted
INSERT INTO t VALUES (1, 'a'), (2, 'b')
--# in5 accepted
INSERT INTO t (a, b.c) SELECT 1, 2
--# in6 accepted
INSERT INTO t SELECT * FROM s ORDER BY a LIMIT 10
--# in7 accepted
INSERT INTO t VALUES (1, ROW(1,'x'), ARRAY[1,2], MAP['a',1,'b',2], CAST(NULL AS STRING), DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', X'AB')
--# in8 accepted
INSERT OVERWRITE t VALUES (1,'a')
--# in9 accepted
INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x
--# ss1 accepted
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT * FROM s; INSERT INTO b SELECT * FROM s; END
--# ss2 accepted
BEGIN STATEMENT SET
--# ss3 refused
STATEMENT SET BEGIN INSERT INTO a SELECT 1; END
--# ss4 accepted
EXECUTE INSERT INTO a SELECT 1
--# q1 accepted
SELECT * FROM t /*+ OPTIONS('streaming'='true', 'monitor-interval'='1s') */
--# q2 accepted
SELECT a.x FROM ice.db.t /*+ OPTIONS('snapshot-id'='1') */ AS a JOIN s /*+ OPTIONS('k'='v') */ b ON a.x = b.x
--# q3 accepted
SELECT /*+ BROADCAST(s), STATE_TTL('a'='1d') */ * FROM a JOIN s ON a.x = s.x
--# q4 accepted
SELECT * FROM `db`.`t$snapshots`
--# q5 refused
SELECT * FROM db.t$snapshots
--# q6 accepted
SELECT * FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c
--# q7 accepted
SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01 00:00:00' AS x
--# q8 accepted
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end
--# q9 accepted
SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)
--# q10 accepted
SELECT * FROM TABLE(HOP(DATA => TABLE ice.db.t, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '5' MINUTES, SIZE => INTERVAL '10' MINUTES)) AS w
--# q11 accepted
SELECT * FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
--# q12 accepted
SELECT T.* FROM Ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rowtime MEASURES A.id AS aid, LAST(B.price) AS p ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+? C{2,3}) WITHIN INTERVAL '1' HOUR DEFINE A AS A.name = 'a', B AS B.price > 1) AS T
--# q13 accepted
SELECT a, b, SUM(c) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
--# q14 accepted
SELECT a, b, GROUPING_ID(a,b) FROM t GROUP BY CUBE (a, b)
--# q15 accepted
SELECT * FROM t, LATERAL TABLE(f(x)) AS T(a)
--# q16 accepted
SELECT * FROM t LEFT JOIN LATERAL TABLE(f(x)) AS T(a, b) ON TRUE
--# q17 accepted
SELECT * FROM t CROSS JOIN UNNEST(t.arr) WITH ORDINALITY AS u (x, pos)
--# q18 accepted
SELECT * FROM t CROSS JOIN UNNEST(arr) AS u (x)
--# q19 accepted
VALUES (1, 'a'), (2, 'b')
--# q20 accepted
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (id, n)
--# q21 accepted
SELECT TRY_CAST(a AS INT), CAST(b AS DECIMAL(10,2)) FROM t
--# q22 accepted
SELECT arr[1], m['k'], r.f, r.f.g, arr[1].x FROM t
--# q22b accepted
SELECT t.r.f, db.t.r FROM db.t
--# q22c accepted
SELECT (r).f, r.* FROM t
--# q23 accepted
SELECT JSON_VALUE(j, '$.a' RETURNING INT DEFAULT 1 ON EMPTY ERROR ON ERROR) FROM t
--# q23a accepted
SELECT JSON_VALUE(j, '$.a') FROM t
--# q24 accepted
SELECT JSON_QUERY(j, '$.a' WITH CONDITIONAL ARRAY WRAPPER NULL ON EMPTY EMPTY ARRAY ON ERROR) FROM t
--# q25 accepted
SELECT JSON_EXISTS(j, '$.a' TRUE ON ERROR) FROM t
--# q26 accepted
SELECT j IS JSON, j IS NOT JSON OBJECT FROM t
--# q27 accepted
SELECT JSON_OBJECT('a' VALUE 1, KEY 'b' VALUE 2 NULL ON NULL), JSON_ARRAY(1, 2 ABSENT ON NULL)
--# q27b accepted
SELECT JSON_OBJECT('a' VALUE 1, 'b' VALUE 2 NULL ON NULL), JSON_ARRAY(1, 2 ABSENT ON NULL), JSON_OBJECTAGG(KEY k VALUE v), JSON_ARRAYAGG(x)
--# q28 accepted
SELECT * FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) = 1
--# q29 refused
SELECT a == b FROM t
--# q29b refused
SELECT a <> b, a != b, a % b, a || b FROM t
--# q30 accepted
SELECT U&'\00e9t\00e9', _UTF16'x', 'it''s', X'AB'
--# q30a accepted
SELECT U&'\00e9t\00e9'
--# q30b accepted
SELECT _UTF16'x'
--# q30c accepted
SELECT U&'#00e9' UESCAPE '#'
--# q31 accepted
SELECT SUM(x) OVER (PARTITION BY a ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM t
--# q32 accepted
SELECT * FROM a FULL OUTER JOIN b USING (id) UNION ALL SELECT * FROM c EXCEPT SELECT * FROM d INTERSECT ALL SELECT * FROM e
--# q33 accepted
SELECT * FROM t WHERE a BETWEEN SYMMETRIC 1 AND 5 AND b SIMILAR TO 'x%' AND c IS DISTINCT FROM d AND e NOT LIKE 'x' ESCAPE '!'
--# q33a accepted
SELECT * FROM t WHERE a BETWEEN ASYMMETRIC 1 AND 5
--# q34 accepted
SELECT EXTRACT(DAY FROM ts), TIMESTAMPADD(MINUTE, 1, ts), TIMESTAMPDIFF(DAY, a, b), FLOOR(ts TO HOUR), CEIL(ts TO DAY) FROM t
--# q35 accepted
SELECT CURRENT_DATE, CURRENT_TIME, LOCALTIMESTAMP, CURRENT_TIMESTAMP, LOCALTIME, NOW(), PROCTIME()
--# q36 accepted
SELECT TRIM(BOTH 'x' FROM a), SUBSTRING(a FROM 2 FOR 3), POSITION('a' IN b), OVERLAY(a PLACING 'x' FROM 2 FOR 1) FROM t
--# q37 accepted
SELECT (TIME '10:00:00', INTERVAL '1' HOUR) OVERLAPS (TIME '10:30:00', INTERVAL '1' HOUR)
--# q38 accepted
SELECT INTERVAL '10 00:00:00.004' DAY TO SECOND, INTERVAL '2-10' YEAR TO MONTH, INTERVAL '1' DAY, INTERVAL -'1' DAY
--# q38a accepted
SELECT INTERVAL '10 00:00:00.004' DAY TO SECOND, INTERVAL '2-10' YEAR TO MONTH, INTERVAL '99' DAY(2)
--# q39 accepted
SELECT COUNT(DISTINCT a) FILTER (WHERE b > 1), LISTAGG(DISTINCT a, ',') , COLLECT(a), LISTAGG(a) FROM t
--# q40 accepted
SELECT a FROM t ORDER BY a NULLS FIRST OFFSET 10 ROWS FETCH NEXT 5 ROWS ONLY
--# q40b accepted
SELECT a FROM t ORDER BY a DESC LIMIT 10 OFFSET 5
--# q41 accepted
WITH x AS (SELECT 1 AS a), y (b) AS (SELECT 2) SELECT * FROM x, y
--# q41b accepted
WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x
--# q42 accepted
SELECT * FROM t WHERE a IN (SELECT b FROM s) AND EXISTS (SELECT 1 FROM s WHERE s.x = t.x) AND (a, b) IN ((1,2),(3,4))
--# q43 accepted
SELECT a.*, b AS `c d` FROM t a NATURAL JOIN u
--# q44 accepted
SELECT TUMBLE_START(ts, INTERVAL '1' HOUR), COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)
--# q45 refused
SELECT year, value, timestamp FROM t
--# q45b accepted
SELECT `year`, `value`, `timestamp` FROM t
--# q46 accepted
SELECT CASE WHEN a IS TRUE THEN 1 WHEN b IS NOT UNKNOWN THEN 2 END, NULLIF(a,b), COALESCE(a,b), IF(a, 1, 2) FROM t
--# q47 accepted
SELECT ROW(a, b), (a, b), CAST((1,'x') AS ROW<a INT, b STRING>) FROM t
--# q48 accepted
SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1 WINDOW w AS (PARTITION BY a)
--# q49 accepted
SELECT LEAD(a, 1) IGNORE NULLS OVER (ORDER BY b) FROM t
--# q50 accepted
SELECT FIRST_VALUE(a) OVER w, LAST_VALUE(a) OVER w FROM t WINDOW w AS (PARTITION BY b ORDER BY c ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
--# q51 accepted
SELECT * FROM t TABLESAMPLE SYSTEM (10)
--# q52 accepted
SELECT 'a' 'b', 1e3, 1.5, .5, 1.5E-2
--# q53 refused
SELECT e.a FROM t AS e SEMI JOIN u ON e.a = u.a
--# q54 accepted
TABLE t
--# q55 accepted
SELECT * FROM t LIMIT ALL
--# q56 refused
SELECT "a" FROM t
--# q57 accepted
SELECT f(a => 1, b => 'x'), f(DEFAULT, a => 2)
--# q58 accepted
SELECT ML FROM ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(a))
--# q59 refused
SELECT ts AT LOCAL, ts AT TIME ZONE 'UTC' FROM t
--# q60 accepted
SELECT a FROM t -- comment
WHERE /* x */ a = 1
--# q61 refused
SELECT a /*+ NOT A HINT */ + 1 FROM t
--# q62 accepted
SELECT CAST(a AS INTERVAL DAY TO SECOND), SUM(a) WITHIN GROUP (ORDER BY a) FROM t
--# set1 accepted
SET 'execution.runtime-mode' = 'batch'
--# set2 accepted
SET table.dynamic-table-options.enabled = true
--# set2b accepted
SET execution.runtime-mode = streaming
--# set3 accepted
SET
--# set4 accepted
RESET 'k'
--# set5 accepted
RESET
--# set5b accepted
RESET table.dynamic-table-options.enabled
--# set6 accepted
SET 'table.local-time-zone' = 'UTC'
--# set7 accepted
SET parallelism.default = 2
--# set8 accepted
SET sql-client.execution.result-mode=tableau
--# set9 accepted
SET execution.checkpointing.interval = 10s
--# jar1 accepted
ADD JAR '/x.jar'
--# jar2 accepted
REMOVE JAR '/x.jar'
--# jar3 accepted
SHOW JARS
--# sh1 accepted
SHOW CATALOGS
--# sh1b accepted
SHOW CATALOGS LIKE 'x%'
--# sh2 accepted
SHOW CURRENT CATALOG
--# sh3 accepted
SHOW DATABASES
--# sh3b accepted
SHOW DATABASES FROM ice NOT LIKE 'x%'
--# sh4 accepted
SHOW CURRENT DATABASE
--# sh5 accepted
SHOW TABLES
--# sh5b accepted
SHOW TABLES FROM ice.db LIKE 'x%'
--# sh6 accepted
SHOW CREATE TABLE ice.db.t
--# sh7 accepted
SHOW COLUMNS FROM t LIKE '%f%'
--# sh8 accepted
SHOW PARTITIONS t PARTITION (dt='2020')
--# sh9 accepted
SHOW VIEWS
--# sh10 accepted
SHOW CREATE VIEW v
--# sh11 accepted
SHOW USER FUNCTIONS
--# sh12 accepted
SHOW MODULES
--# sh12b accepted
SHOW FULL MODULES
--# sh13 accepted
SHOW JOBS
--# sh14 accepted
SHOW PROCEDURES FROM ice.sys
--# sh15 accepted
SHOW CREATE CATALOG ice
--# de1 accepted
DESCRIBE t
--# de2 accepted
DESC EXTENDED ice.db.t
--# ex1 accepted
EXPLAIN SELECT * FROM t
--# ex2 accepted
EXPLAIN PLAN FOR SELECT * FROM t
--# ex3 accepted
EXPLAIN ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN SELECT * FROM t
--# ex4 accepted
EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END
--# ex5 accepted
EXPLAIN INSERT INTO a SELECT 1
--# ex6 refused
EXPLAIN AST SELECT 1
--# call1 refused
CALL ice.sys.rollback_to_snapshot(table => 'db.t', snapshot_id => 1)
--# call2 accepted
CALL `ice`.`system`.compact('db.t')
--# an1 accepted
ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS
--# an2 accepted
ANALYZE TABLE t PARTITION (dt='x') COMPUTE STATISTICS FOR COLUMNS a, b
--# an3 accepted
ANALYZE TABLE t PARTITION (dt) COMPUTE STATISTICS
--# cp1 accepted
COMPILE PLAN '/p.json' FOR INSERT INTO a SELECT 1
--# cp2 accepted
EXECUTE PLAN '/p.json'
--# cp3 accepted
COMPILE AND EXECUTE PLAN '/p.json' FOR INSERT INTO a SELECT 1
--# dml1 accepted
DELETE FROM t WHERE a = 1
--# dml2 accepted
UPDATE t SET a = 1, b = 'x' WHERE c = 2
--# dml3 accepted
TRUNCATE TABLE t
--# job1 accepted
STOP JOB '228d70913eab60dda85c5e7f78b5782c' WITH SAVEPOINT
--# misc1 accepted
CLEAR
--# misc2 accepted
QUIT
--# misc3 accepted
HELP
--# misc4 accepted
END
--# misc5 accepted
SHOW MODELS
--# misc6 accepted
CREATE MODEL m INPUT (a INT) OUTPUT (b INT) WITH ('k'='v')
--# misc7 refused
CREATE CONNECTION c WITH ('k'='v')
