-- Jobs: their ids in snapshots, and reads of the tables of a job as it left them
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
USE CATALOG ice;
USE db;
CREATE TABLE src (id INT);
CREATE TABLE a (id INT);
CREATE TABLE b (id INT);
INSERT INTO src VALUES (1), (2);
SET 'calve.job-id' = 'today';
SET 'calve.job-id' = '01234567-89AB-CDEF-0123-456789abcdef';
EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT id FROM src;
INSERT INTO b SELECT id + 1 FROM src;
END;
-- the same statement again is another one
INSERT INTO a VALUES (3);
INSERT INTO a VALUES (3);
RESET 'calve.job-id';
INSERT INTO a VALUES (100);
INSERT INTO b VALUES (100);
SELECT summary['flink.job-id'] AS job, summary['calve.job-place'] AS place, summary['added-records'] AS n FROM a$snapshots ORDER BY place LIMIT 4;
SET 'execution.runtime-mode' = 'batch';
SELECT id FROM a /*+ OPTIONS('as-of-job-id' = '0123456789abcdef0123456789abcdef') */ ORDER BY id;
SELECT id FROM b /*+ OPTIONS('as-of-job-id' = '0123456789ABCDEF0123456789ABCDEF') */ ORDER BY id;
-- what there is not, and what does not make sense
SELECT id FROM src /*+ OPTIONS('as-of-job-id' = '0123456789abcdef0123456789abcdef') */;
SELECT id FROM a /*+ OPTIONS('as-of-job-id' = 'today') */;
SELECT id FROM a /*+ OPTIONS('as-of-job-id' = '0123456789abcdef0123456789abcdef', 'snapshot-id' = '1') */;
SELECT id FROM a /*+ OPTIONS('as-of-job-id' = '0123456789abcdef0123456789abcdef', 'branch' = 'nowhere') */;
DELETE FROM a /*+ OPTIONS('as-of-job-id' = '0123456789abcdef0123456789abcdef') */ WHERE id = 1;
SELECT COUNT(*) AS n FROM a$files /*+ OPTIONS('as-of-job-id' = '0123456789abcdef0123456789abcdef') */;
SELECT COUNT(*) AS n FROM a$all_files /*+ OPTIONS('as-of-job-id' = '0123456789abcdef0123456789abcdef') */;
