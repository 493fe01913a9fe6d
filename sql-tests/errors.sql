-- What goes wrong says what, where, and often the way out. Places are counted from the statement's first line.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
USE CATALOG ice;
CREATE DATABASE shop;
USE shop;
CREATE TABLE orders (id INT NOT NULL, customer STRING);

-- names
SELECT id
FROM ordres;
SELECT custmer FROM orders;
SELECT UPER(customer) FROM orders;
SELECT * FROM nowhere.shop.orders;
SELECT ID FROM orders;
USE CATALOG lake;
INSERT INTO ordres VALUES (1, 'a');

-- syntax
SELEC 1;
SELECT 1 FROM;
SELECT "double";

-- types
SELECT id + customer FROM orders;
SELECT id = 'x' FROM orders;
SELECT CAST('x' AS NUMBR);
SELECT CAST('abc' AS INT);

-- writes
INSERT INTO orders VALUES (1);
INSERT INTO orders VALUES ('a', 'b');
INSERT INTO orders (customer) VALUES ('b');
INSERT INTO orders SELECT CAST(NULL AS INT), 'x';
SELECT * FROM orders;

-- tables and catalogs
CREATE TABLE orders (id INT);
CREATE TABLE keyed (id INT, PRIMARY KEY (id));
CREATE TABLE keyed (id INT, UNIQUE (id));
ALTER TABLE orders ADD CONSTRAINT k UNIQUE (id) NOT ENFORCED;
ALTER TABLE orders ADD note INT UNIQUE;
CREATE TABLE nameless (`` INT);
CREATE TABLE twice (r ROW<a INT, a STRING>);
SELECT CAST(ROW(1, 2) AS ROW<a INT, a INT>);
CREATE CATALOG bad WITH ('type' = 'icebreg');
CREATE CATALOG bad WITH ('type' = 'iceberg', 'catalog-type' = 'hadop', 'warehouse' = '${TMP}/w');
DROP TABLE nothing;

-- recognised and refused
ALTER TABLE orders ADD (note STRING NOT NULL);
CREATE VIEW v AS SELECT 1;

-- a quote that does not end costs what stands before the next `;` at the end of a line
SELECT 'unterminated;
SELECT 2;
