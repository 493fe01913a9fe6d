-- Tables outside Iceberg. What formats read and write is what Flink 2.1.3 answered.
SET 'execution.runtime-mode' = 'batch';
SET 'table.local-time-zone' = 'UTC';

-- files with malformed rows, made of their lines
CREATE TABLE lines (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/csv', 'format' = 'raw');
INSERT INTO lines VALUES ('1,x'), ('2'), ('3,y,z'), ('x,"q""q"'), ('5,a"b');
CREATE TABLE strict (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/csv', 'format' = 'csv');
SELECT * FROM strict;
SELECT * FROM strict /*+ OPTIONS('csv.ignore-parse-errors' = 'true') */;

CREATE TABLE jlines (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/json', 'format' = 'raw');
INSERT INTO jlines VALUES ('{"a": 1, "b": {"c": [1, 2]}}'), ('{"a": "x"}'), ('no json'), ('[{"a": 7}, {"a": 8}]');
CREATE TABLE jstrict (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/json', 'format' = 'json');
SELECT * FROM jstrict;
SELECT * FROM jstrict /*+ OPTIONS('json.ignore-parse-errors' = 'true') */;
SELECT * FROM jstrict /*+ OPTIONS('json.ignore-parse-error' = 'true') */ WHERE a > 100;

-- how values are written
CREATE TABLE c (s STRING, d DECIMAL(10, 2), ts TIMESTAMP(3), ar ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = '${TMP}/c', 'format' = 'csv', 'csv.null-literal' = 'n/a');
INSERT INTO c VALUES ('a b', 100.00, TIMESTAMP '2024-01-05 10:11:00', ARRAY[1, 2]), ('', CAST(NULL AS DECIMAL(10, 2)), TIMESTAMP '2024-01-05 10:11:12.12', ARRAY[3]);
SELECT a FROM strict /*+ OPTIONS('csv.ignore-parse-errrors' = 'true') */ WHERE FALSE;
CREATE TABLE misspelt (a INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/misspelt', 'format' = 'csv', 'csv.field-delimitr' = ';', 'csv.nonsense' = '1');
INSERT INTO misspelt VALUES (1);
CREATE TABLE cl (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/c', 'format' = 'raw');
SELECT * FROM cl;
SELECT * FROM c;

-- partitions
CREATE TABLE p (a INT, k STRING, j INT) PARTITIONED BY (k, j) WITH ('connector' = 'filesystem', 'path' = '${TMP}/p', 'format' = 'csv');
INSERT INTO p VALUES (1, 'a b', 1), (2, 'x/y', 2), (6, 'a b', 2);
SELECT * FROM p;
INSERT OVERWRITE p PARTITION (k = 'a b') SELECT 10, 1;
SELECT * FROM p WHERE k = 'a b';
INSERT OVERWRITE p SELECT a, k, j FROM p WHERE a = 999;
SELECT * FROM p;
CREATE TABLE o (a INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/o', 'format' = 'parquet');
INSERT INTO o VALUES (1), (2);
INSERT OVERWRITE o SELECT a + 10 FROM o;
SELECT * FROM o;
INSERT OVERWRITE o SELECT a FROM o WHERE a = 999;
SELECT * FROM o;

-- rows that are made, rows that are shown
CREATE TABLE g (id INT, n INT, s STRING) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '3', 'number-of-rows' = '10', 'fields.n.null-rate' = '1', 'fields.s.length' = '4');
SELECT id, n, CHAR_LENGTH(s) AS len FROM g;
CREATE TABLE pr (id INT, s STRING, ts TIMESTAMP(3)) WITH ('connector' = 'print', 'print-identifier' = 'p');
INSERT INTO pr VALUES (1, 'x', TIMESTAMP '2024-01-05 10:11:00'), (CAST(NULL AS INT), CAST(NULL AS STRING), TIMESTAMP '2024-01-05 10:11:12.120');
INSERT INTO g VALUES (1, 1, 'x');
SELECT * FROM pr;
CREATE TABLE endless (a INT) WITH ('connector' = 'datagen');
SELECT * FROM endless;
CREATE TABLE seq (id INT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '3');
SELECT * FROM seq;
SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM endless;
SELECT * FROM seq;
SELECT * FROM seq ORDER BY id;
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE same (a INT, b BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '1', 'fields.a.min' = '7', 'fields.a.max' = '7');
SELECT a FROM same;
SELECT b FROM same /*+ OPTIONS('fields.b.min' = '7', 'fields.b.max' = '7') */;

-- what is refused
CREATE TABLE e1 (a INT) WITH ('connector' = 'filesystm', 'path' = '${TMP}/c');
SELECT * FROM e1;
CREATE TABLE e2 (a INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/nope', 'format' = 'csv');
SELECT * FROM e2;
CREATE TABLE e3 (a INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/c', 'format' = 'cvs');
SELECT * FROM e3;
CREATE TABLE e4 (a INT) WITH ('connector' = 'datagen', 'number-of-row' = '3');
SELECT * FROM e4;
CREATE TABLE e5 (a INT) WITH ('connector' = 'filesystem', 'path' = 's3://bucket/c', 'format' = 'csv');
SELECT * FROM e5;
CREATE TABLE e6 (m MAP<STRING, INT>) WITH ('connector' = 'filesystem', 'path' = '${TMP}/c', 'format' = 'csv');
SELECT * FROM e6;
CREATE TABLE tabs (i INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/tabs', 'format' = 'csv', 'csv.field-delimiter' = U&'\0009');
INSERT INTO tabs VALUES (1, 'a,b');
SELECT * FROM tabs;
