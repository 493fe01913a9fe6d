-- Files that hold changes: messages of Debezium, Canal, Maxwell and Oracle GoldenGate.
CREATE TABLE lines1 (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/cdc/1', 'format' = 'raw');
CREATE TABLE lines2 (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/cdc/2', 'format' = 'raw');
INSERT INTO lines1 VALUES ('{"op":"c","after":{"id":1,"status":"new","v":1}}'), ('{"op":"c","after":{"id":2,"status":"new","v":5}}');
INSERT INTO lines2 VALUES ('{"op":"u","before":{"id":1,"status":"new","v":1},"after":{"id":1,"status":"paid","v":2}}'),
  (''), ('{"op":"d","before":{"id":2,"status":"new","v":5}}'), ('{"op":"c","after":{"id":3,"status":"new","v":7}}');
-- the files of a folder are read in the order of their paths
CREATE TABLE cdc (id INT, status STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/cdc', 'format' = 'debezium-json');
CREATE TABLE keyed (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${TMP}/cdc', 'format' = 'debezium-json');
SELECT * FROM cdc;
SELECT status, COUNT(*) AS n, SUM(v) AS s FROM cdc GROUP BY status;
SELECT c.id, n.name FROM cdc AS c JOIN (VALUES (1, 'one'), (3, 'three')) AS n(id, name) ON c.id = n.id;
SELECT id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY status ORDER BY v DESC) AS rn FROM cdc) WHERE rn = 1;

-- an Iceberg table with the key of the source is changed as the source was
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/wh');
CREATE DATABASE ice.db;
CREATE TABLE ice.db.t (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO ice.db.t VALUES (9, 'old', 9);
INSERT INTO ice.db.t SELECT * FROM keyed;
SELECT * FROM ice.db.t;
CREATE TABLE later_lines (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/later', 'format' = 'raw');
INSERT INTO later_lines VALUES ('{"op":"u","before":{"id":1,"status":"paid","v":2},"after":{"id":1,"status":"sent","v":3}}'),
  ('{"op":"d","before":{"id":9,"status":"old","v":9}}');
CREATE TABLE later (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${TMP}/later', 'format' = 'debezium-json');
INSERT INTO ice.db.t SELECT * FROM later;
SELECT * FROM ice.db.t;
SELECT content, record_count FROM ice.db.`t$delete_files`;

-- R4 of the issues: an update pair for one key, in retract mode and in upsert mode
CREATE TABLE r4_lines (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/r4', 'format' = 'raw');
INSERT INTO r4_lines VALUES ('{"op":"c","after":{"id":1,"status":"n","v":1}}'),
  ('{"op":"u","before":{"id":1,"status":"n","v":1},"after":{"id":1,"status":"n","v":2}}'),
  ('{"op":"u","before":{"id":1,"status":"n","v":2},"after":{"id":1,"status":"n","v":3}}');
CREATE TABLE r4 (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${TMP}/r4', 'format' = 'debezium-json');
CREATE TABLE ice.db.r4 (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED);
CREATE TABLE ice.db.r4u (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
-- both tables of a statement set get all changes in their order
EXECUTE STATEMENT SET BEGIN INSERT INTO ice.db.r4 SELECT * FROM r4; INSERT INTO ice.db.r4u SELECT * FROM r4; END;
SELECT id, v FROM ice.db.r4;
SELECT id, v FROM ice.db.r4u;

-- R7: insert, delete, insert of one key in one commit
CREATE TABLE r7_lines (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/r7', 'format' = 'raw');
INSERT INTO r7_lines VALUES ('{"op":"c","after":{"id":1,"v":1}}'), ('{"op":"d","before":{"id":1,"v":1}}'),
  ('{"op":"c","after":{"id":2,"v":1}}'), ('{"op":"d","before":{"id":2,"v":1}}'), ('{"op":"c","after":{"id":2,"v":9}}');
CREATE TABLE r7 (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${TMP}/r7', 'format' = 'debezium-json');
CREATE TABLE ice.db.r7 (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO ice.db.r7 SELECT * FROM r7;
SELECT id, v FROM ice.db.r7;
-- rows of the same commit are deleted by position
SELECT content, record_count FROM ice.db.`r7$delete_files`;

-- R11: what is deleted is gone
CREATE TABLE r11_lines (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/r11', 'format' = 'raw');
INSERT INTO r11_lines VALUES ('{"op":"c","after":{"id":1,"v":1}}'), ('{"op":"c","after":{"id":2,"v":2}}'), ('{"op":"d","before":{"id":1,"v":1}}');
CREATE TABLE r11 (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${TMP}/r11', 'format' = 'debezium-json');
CREATE TABLE ice.db.r11 (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO ice.db.r11 SELECT * FROM r11;
SELECT id FROM ice.db.r11;

-- without a key of the source Flink settles the changes first, and so does calve, with a word about it
CREATE TABLE ice.db.settled (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO ice.db.settled VALUES (2, 'older', 0), (4, 'older', 0);
INSERT INTO ice.db.settled SELECT * FROM cdc;
SELECT * FROM ice.db.settled;
SET 'table.exec.sink.upsert-materialize' = 'NONE';
INSERT INTO ice.db.settled SELECT * FROM cdc;
SELECT * FROM ice.db.settled;
SET 'table.exec.sink.upsert-materialize' = 'SOMETIMES';
RESET 'table.exec.sink.upsert-materialize';

-- files in these formats are written, too: an update as a delete and an insert
CREATE TABLE maxwell (id INT, status STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/maxwell', 'format' = 'maxwell-json');
CREATE TABLE maxwell_lines (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/maxwell', 'format' = 'raw');
INSERT INTO maxwell SELECT * FROM cdc;
SELECT * FROM maxwell_lines;
SELECT * FROM maxwell;

-- refused, each with its reason
CREATE TABLE csv (id INT, status STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${TMP}/csv', 'format' = 'csv');
INSERT INTO csv SELECT * FROM cdc;
CREATE TABLE ice.db.keyless (id INT, status STRING, v INT);
INSERT INTO ice.db.keyless SELECT * FROM cdc;
CREATE TABLE ice.db.v1 (id INT, status STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '1');
INSERT INTO ice.db.v1 SELECT * FROM keyed;
SELECT * FROM cdc /*+ OPTIONS('format' = 'canal-json') */;
SELECT * FROM cdc /*+ OPTIONS('format' = 'maxwel-json') */;
SELECT * FROM cdc /*+ OPTIONS('debezium-json.timestamp-format.standard' = 'x') */;
CREATE TABLE kafka_only (id INT, ingested TIMESTAMP(3) METADATA FROM 'ingestion-timestamp')
  WITH ('connector' = 'filesystem', 'path' = '${TMP}/cdc', 'format' = 'debezium-json');
SELECT * FROM kafka_only;
SET 'table.exec.source.cdc-events-duplicate' = 'true';
SELECT * FROM cdc;
RESET 'table.exec.source.cdc-events-duplicate';
SET 'execution.runtime-mode' = 'batch';
SELECT * FROM cdc;
