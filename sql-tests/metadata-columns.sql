-- Columns that a connector offers beside those in its files. Rows and refusals are those of Flink 2.1.3.
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE f (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/f', 'format' = 'csv');
INSERT INTO f VALUES (1, 'x'), (2, 'y');
CREATE TABLE m (a INT, n STRING METADATA FROM 'file.name', b STRING, sz INT METADATA FROM 'file.size' VIRTUAL, sz2 AS sz + 1, c AS a + 1)
WITH ('connector' = 'filesystem', 'path' = '${TMP}/f', 'format' = 'csv');
DESCRIBE m;
SELECT a, b, sz, sz2, c FROM m;
SELECT a, CHAR_LENGTH(n) > 3 AS nn FROM m;
SELECT COUNT(*) AS c FROM m WHERE sz > 0 AND a = 1;
SELECT COUNT(*) AS c FROM m AS x JOIN m AS y ON x.n = y.n AND x.sz2 = y.sz + 1;
INSERT INTO m VALUES (1, 'x');

-- one that is only read does not hinder an INSERT
CREATE TABLE w (a INT, b STRING, `file.size` BIGINT METADATA VIRTUAL) WITH ('connector' = 'filesystem', 'path' = '${TMP}/w', 'format' = 'csv');
INSERT INTO w VALUES (3, 'z');
SELECT * FROM w;

-- two INSERTs read one scan of it
CREATE TABLE big (a INT, sz BIGINT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/big', 'format' = 'csv');
CREATE TABLE later (c INT, sz2 INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/later', 'format' = 'csv');
EXECUTE STATEMENT SET BEGIN
INSERT INTO big SELECT a, sz FROM m;
INSERT INTO later SELECT c, sz2 FROM m;
END;
SELECT * FROM big;
SELECT * FROM later;

-- what is refused
CREATE TABLE m2 (a INT, n STRING METADATA FROM 'file.nam', b STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/f', 'format' = 'csv');
SELECT a FROM m2;
CREATE TABLE m3 (a INT, n ARRAY<INT> METADATA FROM 'file.name', b STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/f', 'format' = 'csv');
SELECT a FROM m3;
CREATE TABLE m4 (a INT, n STRING METADATA VIRTUAL) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
SELECT a FROM m4;
CREATE TABLE m5 (a INT, n STRING METADATA VIRTUAL) WITH ('connector' = 'blackhole');
SELECT a FROM m5;
CREATE TABLE m6 (a INT, n1 STRING METADATA FROM 'file.name' VIRTUAL, n2 CHAR(2) METADATA FROM 'file.name' VIRTUAL) WITH ('connector' = 'filesystem', 'path' = '${TMP}/f', 'format' = 'csv');
