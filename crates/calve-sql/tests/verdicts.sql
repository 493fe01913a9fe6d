--# flink1-1 accepted
SET 'execution.runtime-mode' = 'batch'
--# flink1-2 accepted
CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3), d AS a + 1) WITH ('connector'='datagen','number-of-rows'='1')
--# flink1-3 accepted
CREATE TABLE sk (a INT) WITH ('connector'='blackhole')
--# flink1-4 refused
CREATE VIEW v (a COMMENT 'x') AS SELECT 1
--# flink1-5 accepted
CREATE VIEW v (a) AS SELECT 1
--# flink1-6 accepted
CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1 AS a
--# flink1-7 accepted
CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1 AS a
--# flink1-8 refused
CREATE TEMPORARY SYSTEM VIEW v9 AS SELECT 1 AS a
--# flink1-9 refused
CREATE VIEW v7 () AS SELECT 1 AS a
--# flink1-10 accepted
CREATE VIEW v8 AS VALUES (1, 2)
--# flink1-11 accepted
CREATE VIEW v10 AS TABLE t
--# flink1-12 accepted
CREATE VIEW v11 AS (SELECT 1 AS a)
--# flink1-13 accepted
CREATE VIEW v12 AS SELECT a FROM t ORDER BY a LIMIT 3
--# flink1-14 accepted
CREATE VIEW v13 AS WITH x AS (SELECT 1 AS a) SELECT * FROM x
--# flink1-15 refused
CREATE VIEW v14 AS INSERT INTO sk SELECT 1
--# flink1-16 accepted
CREATE VIEW v15 (a, a) AS SELECT 1, 2
--# flink1-17 accepted
CREATE VIEW a.b.c.d AS SELECT 1
--# flink1-18 refused
CREATE VIEW v16 WITH ('k'='v') AS SELECT 1
--# flink1-19 accepted
ALTER VIEW v RENAME TO w
--# flink1-20 refused
ALTER VIEW IF EXISTS w RENAME TO v
--# flink1-21 accepted
ALTER VIEW w AS SELECT 2 AS b
--# flink1-22 refused
ALTER VIEW w (x) AS SELECT 2 AS b
--# flink1-23 refused
ALTER VIEW w SET ('k'='v')
--# flink1-24 refused
ALTER VIEW w RESET ('k')
--# flink1-25 refused
DROP VIEW IF EXISTS v, w
--# flink1-26 accepted
DROP TEMPORARY VIEW IF EXISTS vv
--# flink1-27 refused
DROP TEMPORARY SYSTEM VIEW IF EXISTS vv
--# flink1-28 accepted
SHOW CREATE TABLE t
--# flink1-29 accepted
SHOW CREATE VIEW w
--# flink1-30 accepted
SHOW CREATE CATALOG default_catalog
--# flink1-31 refused
SHOW CREATE CATALOG a.b
--# flink1-32 refused
SHOW CREATE DATABASE default_database
--# flink1-33 accepted
SHOW CREATE MODEL m
--# flink1-34 refused
SHOW CREATE FUNCTION f
--# flink1-35 refused
SHOW CREATE t
--# flink1-36 accepted
SHOW COLUMNS FROM t LIKE 'a'
--# flink1-37 accepted
SHOW COLUMNS IN t NOT LIKE 'a'
--# flink1-38 refused
SHOW COLUMNS FROM t ILIKE 'A'
--# flink1-39 refused
SHOW COLUMNS FROM t FROM default_database
--# flink1-40 accepted
SHOW VIEWS
--# flink1-41 accepted
SHOW VIEWS FROM default_database LIKE 'v%'
--# flink1-42 refused
SHOW VIEWS ILIKE 'V%'
--# flink1-43 refused
SHOW TABLES ILIKE 'V%'
--# flink1-44 refused
SHOW TABLES NOT ILIKE 'V%'
--# flink1-45 accepted
SHOW DATABASES ILIKE 'D%'
--# flink1-46 accepted
SHOW DATABASES FROM default_catalog NOT LIKE 'D%'
--# flink1-47 accepted
SHOW CATALOGS LIKE 'D%'
--# flink1-48 accepted
SHOW CATALOGS ILIKE 'D%'
--# flink1-49 accepted
SHOW CATALOGS NOT ILIKE 'D%'
--# flink1-50 refused
SHOW CATALOGS FROM x
--# flink1-51 accepted
SHOW FUNCTIONS LIKE 'zzz'
--# flink1-52 accepted
SHOW USER FUNCTIONS
--# flink1-53 accepted
SHOW USER FUNCTIONS FROM default_database ILIKE 'x'
--# flink1-54 accepted
SHOW FUNCTIONS IN default_catalog.default_database NOT LIKE '%'
--# flink1-55 refused
SHOW FUNCTIONS t
--# flink1-56 accepted
SHOW PARTITIONS t
--# flink1-57 accepted
SHOW PARTITIONS t PARTITION (a = 1)
--# flink1-58 refused
SHOW PARTITIONS t PARTITION (a)
--# flink1-59 accepted
SHOW PARTITIONS t PARTITION (a = 1, b = 'x')
--# flink1-60 refused
SHOW PARTITIONS FROM t
--# flink1-61 accepted
SHOW MODULES
--# flink1-62 accepted
SHOW FULL MODULES
--# flink1-63 refused
SHOW MODULES LIKE 'x'
--# flink1-64 accepted
SHOW JARS
--# flink1-65 accepted
SHOW JOBS
--# flink1-66 accepted
SHOW MODELS
--# flink1-67 accepted
SHOW MODELS FROM default_database LIKE 'x'
--# flink1-68 accepted
SHOW PROCEDURES LIKE 'x'
--# flink1-69 refused
SHOW MATERIALIZED TABLES
--# flink1-70 refused
SHOW CONNECTIONS
--# flink1-71 refused
SHOW TEMPORARY TABLES
--# flink1-72 refused
SHOW INDEXES FROM t
--# flink1-73 refused
SHOW CURRENT CATALOG LIKE 'x'
--# flink1-74 refused
SHOW TABLES LIKE x
--# flink1-75 refused
EXPLAIN ESTIMATED_COST, ESTIMATED_COST SELECT 1
--# flink1-76 accepted
EXPLAIN JSON_EXECUTION_PLAN INSERT INTO sk SELECT 1
--# flink1-77 accepted
EXPLAIN PLAN FOR INSERT INTO sk SELECT 1
--# flink1-78 refused
EXPLAIN PLAN FOR ESTIMATED_COST SELECT 1
--# flink1-79 refused
EXPLAIN ESTIMATED_COST FOR SELECT 1
--# flink1-80 accepted
EXPLAIN PLAN FOR STATEMENT SET BEGIN INSERT INTO sk SELECT 1; END
--# flink1-81 accepted
EXPLAIN CHANGELOG_MODE STATEMENT SET BEGIN INSERT INTO sk SELECT 1; INSERT INTO sk SELECT 2; END
--# flink1-82 refused
EXPLAIN STATEMENT SET BEGIN SELECT 1; END
--# flink1-83 refused
EXPLAIN STATEMENT SET BEGIN INSERT INTO sk SELECT 1 END
--# flink1-84 refused
EXPLAIN EXECUTE STATEMENT SET BEGIN INSERT INTO sk SELECT 1; END
--# flink1-85 refused
EXPLAIN EXECUTE SELECT 1
--# flink1-86 refused
EXPLAIN EXPLAIN SELECT 1
--# flink1-87 accepted
EXPLAIN (SELECT 1)
--# flink1-88 accepted
EXPLAIN VALUES (1)
--# flink1-89 accepted
EXPLAIN WITH x AS (SELECT 1 AS a) SELECT * FROM x
--# flink1-90 accepted
EXPLAIN CREATE TABLE zz WITH ('connector'='blackhole') AS SELECT 1 AS a
--# flink1-91 refused
EXPLAIN CREATE VIEW zz AS SELECT 1 AS a
--# flink1-92 refused
EXPLAIN DELETE FROM t WHERE a = 1
--# flink1-93 refused
EXPLAIN UPDATE t SET a = 1
--# flink1-94 accepted
EXPLAIN TABLE t
--# flink1-95 refused
EXECUTE EXPLAIN SELECT 1
--# flink1-96 refused
EXECUTE STATEMENT SET BEGIN INSERT INTO sk SELECT 1 END
--# flink1-97 refused
EXECUTE STATEMENT SET BEGIN SELECT 1; END
--# flink1-98 refused
EXECUTE STATEMENT SET INSERT INTO sk SELECT 1
--# flink1-99 accepted
EXECUTE VALUES (1)
--# flink1-100 accepted
EXECUTE (SELECT 1)
--# flink1-101 accepted
EXECUTE WITH x AS (SELECT 1 AS a) SELECT * FROM x
--# flink1-102 accepted
EXECUTE TABLE t
--# flink1-103 refused
EXECUTE
--# flink1-104 accepted
EXECUTE PLAN 'x'
--# flink1-105 refused
EXECUTE CREATE TABLE x (a INT)
--# flink1-106 accepted
BEGIN STATEMENT SET
--# flink1-107 accepted
SELECT 1
--# flink1-108 accepted
CREATE TABLE inset (a INT) WITH ('connector'='blackhole')
--# flink1-109 accepted
SHOW TABLES
--# flink1-110 accepted
BEGIN STATEMENT SET
--# flink1-111 accepted
EXECUTE STATEMENT SET BEGIN INSERT INTO sk SELECT 1; END
--# flink1-112 accepted
EXPLAIN INSERT INTO sk SELECT 1
--# flink1-113 accepted
EXECUTE INSERT INTO sk SELECT 5
--# flink1-114 accepted
SET 'a' = 'b'
--# flink1-115 accepted
END
--# flink1-116 accepted
END
--# flink1-117 accepted
EXECUTE INSERT OVERWRITE sk SELECT 1
--# flink1-118 accepted
INSERT INTO sk TABLE t
--# flink1-119 accepted
CREATE TABLE dd (a INT) DISTRIBUTED BY HASH (a) INTO 3 BUCKETS WITH ('connector'='blackhole')
--# flink1-120 accepted
SHOW CREATE TABLE dd
--# flink2-58 refused
CREATE VIEW v27 AS SELECT CAST(a AS STRING) AS c1, TRY_CAST(b AS INT) AS c2, CAST(a AS DECIMAL(10,2)) AS c3, CAST(b AS ROW<x INT, y STRING>) AS c4, CAST(ts AS TIMESTAMP_LTZ(3)) AS c5, CAST(b AS VARCHAR(3)) AS c6, CAST(b AS BYTES) AS c7, CAST(ARRAY[1] AS ARRAY<BIGINT>) AS c8, CAST(a AS BIGINT NOT NULL) AS c9 FROM t
--# flink2-160 refused
CREATE VIEW v78 AS SELECT JSON_OBJECT('a' VALUE 1, KEY 'k' VALUE a ABSENT ON NULL) AS c1, JSON_OBJECT() AS c2, JSON_ARRAY(1, 'x' NULL ON NULL) AS c3, JSON_ARRAY() AS c4, JSON_OBJECT('a' : 1) AS c5, JSON_OBJECT('a', 1) AS c6, JSON_ARRAY(a) AS c7 FROM t
--# flink2-162 refused
CREATE VIEW v79 AS SELECT JSON_OBJECTAGG(KEY b VALUE a) AS c1, JSON_ARRAYAGG(a ABSENT ON NULL) AS c2, JSON_OBJECTAGG(b : a NULL ON NULL) AS c3, JSON_ARRAYAGG(a) FILTER (WHERE a > 1) AS c4 FROM t
--# flink2-170 refused
CREATE VIEW v83 AS SELECT JSON_VALUE(b, '$.a' NULL ON ERROR RETURNING INT) AS c1 FROM t
--# flink2-176 refused
CREATE VIEW v86 AS SELECT JSON_QUERY(b, '$.a' NULL ON EMPTY WITH WRAPPER) AS c1 FROM t
--# flink2-178 refused
CREATE VIEW v87 AS SELECT JSON_QUERY(b, '$.a' WITH WRAPPER RETURNING ARRAY<STRING>) AS c1 FROM t
--# flink2-180 refused
CREATE VIEW v88 AS SELECT JSON_OBJECT(KEY 'k' : 1) AS c1 FROM t
--# flink2-186 refused
CREATE VIEW v91 AS SELECT JSON_ARRAYAGG(a) OVER (ORDER BY ts) AS c1 FROM t
--# flink2-188 refused
CREATE VIEW v92 AS SELECT JSON_ARRAY(NULL ON NULL) AS c1 FROM t
--# flink2-190 refused
CREATE VIEW v93 AS SELECT JSON_ARRAY(ABSENT ON NULL) AS c1 FROM t
--# flink2-196 refused
CREATE VIEW v96 AS SELECT JSON_ARRAYAGG(DISTINCT a) AS c1 FROM t
--# flink2-198 refused
CREATE VIEW v97 AS SELECT JSON_QUERY(b, '$.a' EMPTY ON EMPTY) AS c1 FROM t
--# flink2-200 refused
CREATE VIEW v98 AS SELECT JSON_EXISTS(b, '$.a' RETURNING BOOLEAN) AS c1 FROM t
--# flink2-202 refused
CREATE VIEW v99 AS SELECT JSON_VALUE(b) AS c1 FROM t
--# flink2-204 refused
CREATE VIEW v100 AS SELECT JSON_VALUE(b, '$.a', 1) AS c1 FROM t
--# flink2-216 refused
CREATE VIEW v106 AS SELECT a, t.*, 1 AS one FROM u AS t
--# flink2-218 refused
CREATE VIEW v107 AS SELECT a COLLATE 'x' FROM u
--# flink2-220 refused
CREATE VIEW v108 AS SELECT c COLLATE latin1$en$1 AS x FROM u
--# flink2-222 refused
CREATE VIEW v109 AS SELECT ts AT LOCAL AS x FROM t
--# flink3-118 refused
CREATE VIEW v57 AS SELECT JSON_OBJECT('a' VALUE 1, KEY 'k' VALUE a ABSENT ON NULL) AS c1, JSON_OBJECT() AS c2, JSON_ARRAY(1, 'x' NULL ON NULL) AS c3, JSON_ARRAY() AS c4, JSON_OBJECT('a' : 1) AS c5, JSON_ARRAY(a) AS c7 FROM t
--# flink3-122 refused
CREATE VIEW v59 AS SELECT JSON_OBJECT(b VALUE 1) AS c1, JSON_OBJECT('a', 1) AS c2 FROM t
--# flink3-152 refused
CREATE VIEW v74 AS SELECT a FROM t FETCH FIRST ROW ONLY
--# flink3-294 refused
CREATE VIEW v145 AS WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 3) SELECT * FROM x
--# flink4-1 accepted
SET 'execution.runtime-mode' = 'batch'
--# flink4-2 accepted
CREATE TABLE t0 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS CONCAT(b,'x')) WITH ('connector'='datagen')
--# flink4-4 accepted
CREATE TABLE t1 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS md5(b)) WITH ('connector'='datagen')
--# flink4-6 accepted
CREATE TABLE t2 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS IF(a>1,'x','y')) WITH ('connector'='datagen')
--# flink4-8 accepted
CREATE TABLE t3 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS DATE_FORMAT(ts,'yyyy')) WITH ('connector'='datagen')
--# flink4-10 accepted
CREATE TABLE t4 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS PROCTIME()) WITH ('connector'='datagen')
--# flink4-12 accepted
CREATE TABLE t5 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS upper(b)) WITH ('connector'='datagen')
--# flink4-14 accepted
CREATE TABLE t6 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS COALESCE(a,1)) WITH ('connector'='datagen')
--# flink4-16 accepted
CREATE TABLE t7 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS TO_TIMESTAMP(b)) WITH ('connector'='datagen')
--# flink4-18 accepted
CREATE TABLE t8 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS CAST(a AS STRING)) WITH ('connector'='datagen')
--# flink4-20 accepted
CREATE TABLE t9 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS SUBSTRING(b,1,2)) WITH ('connector'='datagen')
--# flink4-22 accepted
CREATE TABLE t10 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS JSON_VALUE(b,'$.a')) WITH ('connector'='datagen')
--# flink4-24 accepted
CREATE TABLE t11 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS b IS JSON) WITH ('connector'='datagen')
--# flink4-26 accepted
CREATE TABLE t12 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS CASE a WHEN 1 THEN 2 END) WITH ('connector'='datagen')
--# flink4-28 accepted
CREATE TABLE t13 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS a BETWEEN 1 AND 2) WITH ('connector'='datagen')
--# flink4-30 accepted
CREATE TABLE t14 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS NOT (a IS NULL)) WITH ('connector'='datagen')
--# flink4-32 accepted
CREATE TABLE t15 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS r.x) WITH ('connector'='datagen')
--# flink4-34 accepted
CREATE TABLE t16 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS m['k']) WITH ('connector'='datagen')
--# flink4-36 accepted
CREATE TABLE t17 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS arr[1]) WITH ('connector'='datagen')
--# flink4-38 accepted
CREATE TABLE t18 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS TRIM(b)) WITH ('connector'='datagen')
--# flink4-40 accepted
CREATE TABLE t19 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS ts - INTERVAL '5' SECOND) WITH ('connector'='datagen')
--# flink4-42 accepted
CREATE TABLE t20 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS LEFT(b,1)) WITH ('connector'='datagen')
--# flink4-44 accepted
CREATE TABLE t21 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS 'é') WITH ('connector'='datagen')
--# flink4-46 accepted
CREATE TABLE t22 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS CURRENT_TIMESTAMP) WITH ('connector'='datagen')
--# flink4-48 accepted
CREATE TABLE t23 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS to_date(b)) WITH ('connector'='datagen')
--# flink4-50 accepted
CREATE TABLE t24 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS IFNULL(a,1)) WITH ('connector'='datagen')
--# flink4-52 accepted
CREATE TABLE t25 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS REGEXP_REPLACE(b,'a','b')) WITH ('connector'='datagen')
--# flink4-54 accepted
CREATE TABLE t26 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS a IN (1,2)) WITH ('connector'='datagen')
--# flink4-56 accepted
CREATE TABLE t27 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS (a + 1) * 2) WITH ('connector'='datagen')
--# flink4-58 accepted
CREATE TABLE t28 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS YEAR(dt)) WITH ('connector'='datagen')
--# flink4-60 accepted
CREATE TABLE t29 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS TO_TIMESTAMP_LTZ(a, 3)) WITH ('connector'='datagen')
--# flink4-62 accepted
CREATE TABLE t30 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS CAST(b AS ROW<x INT, y STRING>)) WITH ('connector'='datagen')
--# flink4-64 accepted
CREATE TABLE t31 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS NOW()) WITH ('connector'='datagen')
--# flink4-66 accepted
CREATE TABLE t32 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS SPLIT_INDEX(b,',',0)) WITH ('connector'='datagen')
--# flink4-68 accepted
CREATE TABLE t33 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS UUID()) WITH ('connector'='datagen')
--# flink4-70 accepted
CREATE TABLE t34 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS SUBSTR(b,1)) WITH ('connector'='datagen')
--# flink4-72 accepted
CREATE TABLE w1 (a INT, ts TIMESTAMP(3), ts2 AS ts + INTERVAL '1' SECOND COMMENT 'it''s', WATERMARK FOR ts2 AS ts2 - INTERVAL '5' SECOND, m INT METADATA FROM 'x' VIRTUAL COMMENT 'mm', PRIMARY KEY (a) NOT ENFORCED) COMMENT 'tab''le' DISTRIBUTED BY (a) PARTITIONED BY (a) WITH ('connector'='blackhole','k'='it''s')
--# flink4-74 accepted
DESCRIBE w1
--# flink4-75 refused
CREATE TABLE w2 (a INT, b ROW<x INT NOT NULL COMMENT 'x'>, c ROW<x INT 'yy'>) WITH ('connector'='blackhole')
--# flink4-76 accepted
CREATE TABLE w3 (a INT, c ROW<x INT NOT NULL 'yy'> NOT NULL, d ARRAY<INT NOT NULL>, e RAW('java.lang.Integer', 'AEdvcmc'), f VARIANT) WITH ('connector'='blackhole')
--# flink4-78 accepted
CREATE VIEW vv COMMENT 'it''s' AS SELECT 1 AS a, 'x' AS b
--# flink4-80 accepted
CREATE TEMPORARY VIEW vt AS SELECT 1 AS a
--# flink4-82 accepted
CREATE TABLE t00 (a INT, `b c` INT, CONSTRAINT pk PRIMARY KEY (a, `b c`) NOT ENFORCED) WITH ('connector'='blackhole')
--# flink4-84 accepted
CREATE CATALOG cc WITH ('type'='generic_in_memory')
--# flink4-86 accepted
CREATE TABLE nowith (a INT)
--# flink4-88 accepted
SELECT JSON_ARRAY('x' NULL ON NULL)
--# flink4-89 accepted
SELECT JSON_ARRAY(1, 'x' NULL ON NULL)
--# flink4-90 accepted
SELECT JSON_OBJECT('a' VALUE 1, KEY 'k' VALUE 2 ABSENT ON NULL)
--# flink4-91 accepted
SELECT JSON_OBJECT('a' : 1)
--# flink4-92 accepted
SELECT JSON_OBJECT()
--# flink4-93 accepted
SELECT JSON_ARRAY(NULL, 1)
--# flink4-94 accepted
SELECT JSON_ARRAY(a ABSENT ON NULL) FROM (VALUES 1) AS t (a)
--# flink4-95 refused
CREATE VIEW vj AS SELECT JSON_ARRAY(a ABSENT ON NULL) AS c1, JSON_ARRAY(1, 2 NULL ON NULL) AS c2, JSON_ARRAY() AS c3, JSON_OBJECT() AS c4, JSON_ARRAY(a, 1) AS c5 FROM (VALUES 1) AS t (a)
--# flink4-97 accepted
CREATE VIEW vn AS SELECT 1. AS a6, 00012 AS a7, 1e+3 AS a8, 12.34e5 AS a9, 1.0 AS a1, 0.10 AS a2
--# flink4-99 accepted
SELECT a FROM (VALUES 1) AS t (a) WHERE a = 1 IS NULL
--# flink4-100 accepted
SELECT 'x' LIKE 'x' = TRUE AS a1, TRUE = 'x' LIKE 'x' AS a2, 1 BETWEEN 1 AND 2 = TRUE AS a3, TRUE = 1 BETWEEN 1 AND 2 AS a4, 1 IN (1) = TRUE AS a5, TRUE = 1 IN (1) AS a6, 1 IS DISTINCT FROM 1 = TRUE AS a7, NOT 1 = 2 AS a8, 'a' || 1 + 2 AS a9
--# flink7-1 accepted
SET 'execution.runtime-mode' = 'batch'
--# flink7-2 accepted
CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3)) WITH ('connector'='blackhole')
--# flink7-3 refused
ALTER TABLE t
--# flink7-4 accepted
ALTER TABLE t RENAME TO u
--# flink7-5 accepted
ALTER TABLE IF EXISTS u RENAME TO t
--# flink7-6 accepted
ALTER TABLE IF EXISTS nope RENAME TO x
--# flink7-7 accepted
ALTER TABLE t RENAME a TO aa
--# flink7-8 accepted
ALTER TABLE t RENAME `aa` TO a
--# flink7-9 accepted
ALTER TABLE t RENAME a.b TO c
--# flink7-10 refused
ALTER TABLE t RENAME (a TO c)
--# flink7-11 accepted
ALTER TABLE t RENAME a TO b.c
--# flink7-12 accepted
ALTER TABLE t SET ('k'='v')
--# flink7-13 accepted
ALTER TABLE t SET ('k'='v', 'l'='w')
--# flink7-14 accepted
ALTER TABLE t SET ()
--# flink7-15 refused
ALTER TABLE t SET 'k'='v'
--# flink7-16 refused
ALTER TABLE t SET (k='v')
--# flink7-17 accepted
ALTER TABLE t RESET ('k')
--# flink7-18 accepted
ALTER TABLE t RESET ('k', 'l')
--# flink7-19 accepted
ALTER TABLE t RESET ()
--# flink7-20 refused
ALTER TABLE t RESET ('k'='v')
--# flink7-21 accepted
ALTER TABLE t ADD c INT
--# flink7-22 refused
ALTER TABLE t ADD COLUMN c2 INT
--# flink7-23 accepted
ALTER TABLE t ADD (c3 INT, c4 STRING COMMENT 'x' FIRST)
--# flink7-24 accepted
ALTER TABLE t ADD (c5 INT AFTER c3)
--# flink7-25 accepted
ALTER TABLE t ADD c6 INT NOT NULL COMMENT 'x' AFTER a
--# flink7-26 accepted
ALTER TABLE t ADD c7 AS a + 1
--# flink7-27 accepted
ALTER TABLE t ADD c8 AS a + 1 COMMENT 'x' AFTER a
--# flink7-28 accepted
ALTER TABLE t ADD c9 INT METADATA FROM 'x' VIRTUAL FIRST
--# flink7-29 refused
ALTER TABLE t ADD ()
--# flink7-30 accepted
ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED
--# flink7-31 accepted
ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (a) NOT ENFORCED
--# flink7-32 accepted
ALTER TABLE t ADD UNIQUE (a) NOT ENFORCED
--# flink7-33 accepted
ALTER TABLE t ADD WATERMARK FOR ts AS ts
--# flink7-34 accepted
ALTER TABLE t ADD (c10 INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND, PRIMARY KEY (a) NOT ENFORCED)
--# flink7-35 accepted
ALTER TABLE t ADD c11 INT PRIMARY KEY NOT ENFORCED
--# flink7-36 refused
ALTER TABLE t ADD IF NOT EXISTS c12 INT
--# flink7-37 refused
ALTER TABLE t ADD c13 INT DEFAULT 1
--# flink7-38 refused
ALTER TABLE t ADD c14 INT, c15 INT
--# flink7-39 accepted
ALTER TABLE t ADD PARTITION (a = 1)
--# flink7-40 accepted
ALTER TABLE t ADD IF NOT EXISTS PARTITION (a = 1) WITH ('k'='v') PARTITION (a = 2)
--# flink7-41 accepted
ALTER TABLE t DROP PARTITION (a = 1)
--# flink7-42 accepted
ALTER TABLE t DROP IF EXISTS PARTITION (a = 1), PARTITION (a = 2)
--# flink7-43 refused
ALTER TABLE t DROP PARTITION (a)
--# flink7-44 refused
ALTER TABLE t PARTITION (a = 1) RENAME TO PARTITION (a = 2)
--# flink7-45 accepted
ALTER TABLE t MODIFY a BIGINT
--# flink7-46 refused
ALTER TABLE t MODIFY COLUMN a BIGINT
--# flink7-47 accepted
ALTER TABLE t MODIFY a BIGINT NOT NULL COMMENT 'x' FIRST
--# flink7-48 accepted
ALTER TABLE t MODIFY (a BIGINT, b STRING AFTER a)
--# flink7-49 refused
ALTER TABLE t MODIFY a COMMENT 'x'
--# flink7-50 accepted
ALTER TABLE t MODIFY a FIRST
--# flink7-51 accepted
ALTER TABLE t MODIFY WATERMARK FOR ts AS ts
--# flink7-52 accepted
ALTER TABLE t MODIFY PRIMARY KEY (a) NOT ENFORCED
--# flink7-53 accepted
ALTER TABLE t MODIFY c7 AS a + 2
--# flink7-54 accepted
ALTER TABLE t DROP c3
--# flink7-55 refused
ALTER TABLE t DROP COLUMN c3
--# flink7-56 accepted
ALTER TABLE t DROP (c3, c4)
--# flink7-57 refused
ALTER TABLE t DROP c3, c4
--# flink7-58 refused
ALTER TABLE t DROP IF EXISTS c3
--# flink7-59 accepted
ALTER TABLE t DROP r.x
--# flink7-60 accepted
ALTER TABLE t DROP CONSTRAINT pk
--# flink7-61 accepted
ALTER TABLE t DROP PRIMARY KEY
--# flink7-62 accepted
ALTER TABLE t DROP WATERMARK
--# flink7-63 accepted
ALTER TABLE t DROP DISTRIBUTION
--# flink7-64 accepted
ALTER TABLE t ADD DISTRIBUTION BY HASH(a) INTO 3 BUCKETS
--# flink7-65 accepted
ALTER TABLE t MODIFY DISTRIBUTION BY (a) INTO 3 BUCKETS
--# flink7-66 accepted
ALTER TABLE t ADD DISTRIBUTION INTO 3 BUCKETS
--# flink7-67 refused
ALTER TABLE t COMPACT
--# flink7-68 refused
ALTER TABLE t PARTITION (a = 1) COMPACT
--# flink7-69 refused
ALTER TABLE t COMMENT 'x'
--# flink7-70 refused
ALTER TABLE t REPLACE COLUMNS (a INT)
--# flink7-71 refused
ALTER TABLE t CHANGE a b INT
--# flink7-72 refused
ALTER TABLE t ADD COLUMNS (a INT)
--# flink7-73 refused
ALTER TABLE t ALTER COLUMN a SET NOT NULL
--# flink7-74 accepted
ALTER TABLE t ADD c.d INT
--# flink7-75 refused
ALTER TABLE t DROP
--# flink7-76 refused
ALTER TABLE t ADD
--# flink7-77 accepted
ALTER CATALOG c SET ('k'='v')
--# flink7-78 accepted
ALTER CATALOG c RESET ('k')
--# flink7-79 accepted
ALTER CATALOG c COMMENT 'x'
--# flink7-80 refused
ALTER CATALOG c
--# flink7-81 refused
ALTER CATALOG c RENAME TO d
--# flink7-82 accepted
ALTER DATABASE d SET ('k'='v')
--# flink7-83 refused
ALTER DATABASE d RESET ('k')
--# flink7-84 refused
ALTER DATABASE d
--# flink7-85 accepted
ALTER FUNCTION f AS 'x'
--# flink7-86 accepted
ALTER TEMPORARY FUNCTION IF EXISTS c.d.f AS 'x' LANGUAGE SQL
--# flink7-87 accepted
ALTER TEMPORARY SYSTEM FUNCTION f AS 'x'
--# flink7-88 accepted
ALTER MODEL m SET ('k'='v')
--# flink7-89 accepted
ALTER MODEL IF EXISTS m RENAME TO n
--# flink7-90 accepted
ALTER MODEL m RESET ('k')
--# flink7-91 accepted
ALTER MATERIALIZED TABLE m SUSPEND
--# flink7-92 accepted
ALTER MATERIALIZED TABLE m REFRESH PARTITION (a = 1)
--# flink7-93 refused
ALTER x
--# flink7-94 refused
ALTER
--# flink7-95 refused
ALTER TABLE
--# flink7-96 accepted
DELETE FROM t WHERE a = 1
--# flink7-97 refused
DELETE t
--# flink7-98 accepted
DELETE FROM t
--# flink7-99 accepted
DELETE FROM t AS x WHERE x.a = 1
--# flink7-100 accepted
UPDATE t SET a = 1
--# flink7-101 refused
UPDATE t SET
--# flink7-102 accepted
UPDATE t SET a = 1 WHERE b = 'x'
--# flink7-103 accepted
UPDATE t AS x SET a = 1
--# flink7-104 accepted
TRUNCATE TABLE t
--# flink7-105 refused
TRUNCATE t
--# flink7-106 accepted
ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a
--# flink7-107 refused
ANALYZE TABLE t
--# flink7-108 accepted
CALL ice.sys.p(1, 'x')
--# flink7-109 accepted
CALL ice.sys.p(a => 1)
--# flink7-110 refused
CALL p
--# flink7-111 accepted
CALL p()
--# flink7-112 accepted
USE MODULES core
--# flink7-113 refused
USE MODULES
--# flink7-114 accepted
LOAD MODULE core WITH ('k'='v')
--# flink7-115 refused
LOAD MODULE
--# flink7-116 accepted
UNLOAD MODULE core
--# flink7-117 refused
UNLOAD core
--# flink7-118 accepted
DESCRIBE JOB 'x'
--# flink7-119 accepted
DESCRIBE CATALOG default_catalog
--# flink7-120 accepted
DESCRIBE DATABASE default_database
--# flink7-121 refused
DESCRIBE EXTENDED DATABASE default_database
--# flink7-122 accepted
DESCRIBE DATABASE EXTENDED default_database
--# flink7-123 accepted
DESC FUNCTION EXTENDED f
--# flink7-124 accepted
DESCRIBE MODEL m
--# flink7-125 accepted
CREATE FUNCTION f AS 'x' LANGUAGE JAVA USING JAR 'y'
--# flink7-126 refused
CREATE FUNCTION f
--# flink7-127 accepted
CREATE TEMPORARY SYSTEM FUNCTION IF NOT EXISTS f AS 'x'
--# flink7-128 accepted
DROP FUNCTION f
--# flink7-129 accepted
DROP TEMPORARY SYSTEM FUNCTION IF EXISTS f
--# flink7-130 refused
DROP FUNCTION
--# flink7-131 accepted
ADD JAR 'x'
--# flink7-132 refused
ADD JAR x
--# flink7-133 accepted
REMOVE JAR 'x'
--# flink7-134 accepted
STOP JOB 'x' WITH SAVEPOINT WITH DRAIN
--# flink7-135 refused
STOP JOB x
--# flink7-136 accepted
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET a = 1
--# flink7-137 refused
CREATE TABLE x1 (a INT, b) WITH ('connector'='blackhole')
--# flink7-138 accepted
REPLACE TABLE x1 WITH ('connector'='blackhole') AS SELECT 1 AS a
--# flink7-139 refused
REPLACE TABLE x1 (a INT) WITH ('connector'='blackhole')
--# flink7-140 accepted
UPSERT INTO t SELECT 1, 'x', TIMESTAMP '2024-01-01 00:00:00'
