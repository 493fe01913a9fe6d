CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;

-- told at the first INSERT that adds rows
CREATE TABLE appended (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO appended VALUES (1, 'a');
INSERT INTO appended VALUES (2, 'b');

-- told at the definition: nobody writes it here
CREATE TABLE unwritten (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED);

-- fine
CREATE TABLE upserted (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
INSERT INTO upserted VALUES (1, 'a');
CREATE TABLE by_hint (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO by_hint /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1, 'a');
SET 'upsert-enabled' = 'true';
CREATE TABLE by_session (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO by_session VALUES (1, 'a');
CREATE TEMPORARY TABLE printed (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print');
INSERT INTO printed VALUES (1);
