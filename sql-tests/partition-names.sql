-- Partitions by columns whose names Avro does not have, and by numbers that are equal and not the same.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
USE CATALOG ice;
USE db;
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE odd (`a b` INT, `1c` INT, `é` STRING, `user-id` INT, `x.y` INT, v INT)
  PARTITIONED BY (`a b`, `1c`, `é`, `user-id`, `x.y`);
INSERT INTO odd VALUES (1, 2, 'x', 3, 4, 10), (5, 6, 'y', 7, 8, 11);
SELECT * FROM odd WHERE `a b` = 1;
SELECT v FROM odd WHERE `1c` = 6 AND `é` = 'y' AND `user-id` = 7 AND `x.y` = 8;
SELECT `partition`, record_count FROM odd$partitions ORDER BY record_count, `partition`.`a b`;
SHOW PARTITIONS odd;
INSERT OVERWRITE odd VALUES (1, 2, 'x', 3, 4, 20);
SELECT * FROM odd ORDER BY v;
-- as in Iceberg's Java library
CREATE TABLE two (`a b` INT, a_x20b INT) PARTITIONED BY (`a b`, a_x20b);
INSERT INTO two VALUES (1, 2);

CREATE TABLE zeros (id INT, f DOUBLE) PARTITIONED BY (f);
INSERT INTO zeros VALUES (1, CAST('-0.0' AS DOUBLE)), (2, CAST('0.0' AS DOUBLE));
SELECT `partition`, record_count FROM zeros$partitions ORDER BY last_updated_at, `partition`.f;
INSERT OVERWRITE zeros VALUES (3, CAST('-0.0' AS DOUBLE));
SELECT * FROM zeros ORDER BY id;

-- the same values under two specs
CREATE TABLE specs (id INT, s STRING) PARTITIONED BY (s);
INSERT INTO specs VALUES (1, CAST(NULL AS STRING));
ALTER TABLE specs DROP PARTITION FIELD s;
INSERT INTO specs VALUES (2, 'a');
SELECT `partition`, spec_id, record_count FROM specs$partitions ORDER BY spec_id;
-- the older spec keeps the name
ALTER TABLE specs RENAME s TO t;
ALTER TABLE specs ADD s INT;
ALTER TABLE specs RENAME id TO s;
ALTER TABLE specs RENAME t TO s;
DESCRIBE specs;
