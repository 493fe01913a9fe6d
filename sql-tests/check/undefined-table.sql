-- check: --offline
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'nessie', 'uri' = 'http://localhost:1');
CREATE CATALOG files WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE files.shop;
CREATE TABLE orders (id INT, customer STRING);
INSERT INTO orders SELECT id, name FROM customers;
INSERT INTO orders SELECT id, city FROM customers;
SELECT custmer FROM orders;
SELECT * FROM ordrs;
DROP TABLE archive;
CREATE VIEW default_catalog.default_database.v AS SELECT * FROM payments;
SELECT * FROM default_catalog.default_database.v;
-- a catalog that cannot be opened is told of once
SELECT * FROM lake.shop.t;
