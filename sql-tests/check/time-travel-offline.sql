-- check: --offline
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
CREATE DATABASE lake.shop;
USE lake.shop;
CREATE TABLE orders (id INT, name STRING);
SELECT * FROM orders /*+ OPTIONS('branch' = 'audit') */;
INSERT INTO orders VALUES (1, 'a');
INSERT INTO orders /*+ OPTIONS('branch' = 'audit') */ VALUES (2, 'b');
SELECT * FROM orders /*+ OPTIONS('branch' = 'audit') */;
SELECT * FROM orders FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP;
SELECT * FROM orders /*+ OPTIONS('as-of-timestamp' = '4070908800000') */;
CREATE TABLE copy AS SELECT id FROM orders /*+ OPTIONS('branch' = 'audit') */;
SELECT name FROM copy /*+ OPTIONS('tag' = 'first') */;
