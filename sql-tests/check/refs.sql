CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
CREATE DATABASE lake.shop;
USE lake.shop;
CREATE TABLE orders (id INT, name STRING);
-- no row was written yet
ALTER TABLE orders CREATE TAG early;
INSERT INTO orders VALUES (1, 'a');
ALTER TABLE orders CREATE TAG first;
ALTER TABLE orders CREATE BRANCH audit;
ALTER TABLE orders CREATE OR REPLACE BRANCH audit AS OF VERSION 5;
ALTER TABLE orders REPLACE TAG first RETAIN 3 DAYS;
INSERT INTO orders /*+ OPTIONS('branch' = 'audit') */ VALUES (2, 'b');
SELECT * FROM orders /*+ OPTIONS('tag' = 'first') */;
SELECT * FROM orders /*+ OPTIONS('start-tag' = 'first') */;
SELECT * FROM orders FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01 00:00:00';
SELECT * FROM orders$files /*+ OPTIONS('branch' = 'audit') */;
ALTER TABLE orders SET ('cherry-pick-snapshot-id' = '5');
ALTER TABLE orders SET ('current-snapshot-id' = '5');
ALTER TABLE orders DROP TAG first;
ALTER TABLE orders DROP BRANCH main;
CREATE TABLE copy AS SELECT id FROM orders;
ALTER TABLE copy CREATE TAG first;
-- the same folder by another name
CREATE CATALOG other WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
SELECT nothing FROM other.shop.copy /*+ OPTIONS('tag' = 'first') */;
DROP CATALOG other;
