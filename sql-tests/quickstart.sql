-- The life of an append table: created, written, read.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
USE CATALOG ice;
CREATE DATABASE shop;
USE shop;
CREATE TABLE orders (
  id BIGINT NOT NULL,
  customer STRING,
  amount DECIMAL(10, 2),
  ordered DATE
) PARTITIONED BY (ordered);
SHOW TABLES;
DESCRIBE orders;

INSERT INTO orders VALUES
  (1, 'Noor', 19.90, DATE '2025-07-04'),
  (2, 'Timo', 5.00, DATE '2025-07-04'),
  (3, CAST(NULL AS STRING), 42.50, DATE '2025-07-05');
INSERT INTO orders (id, amount) VALUES (4, 1.00);

SELECT * FROM orders;
SELECT customer, amount FROM orders WHERE ordered = DATE '2025-07-04' ORDER BY id LIMIT 10;
SELECT ordered, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY ordered;
SELECT a.id, b.id AS other FROM orders AS a JOIN orders AS b ON a.ordered = b.ordered AND a.id < b.id;

SET 'execution.runtime-mode' = 'batch';
SELECT id FROM orders ORDER BY id DESC LIMIT 2;
SELECT operation, summary['added-records'] AS added FROM orders$snapshots ORDER BY committed_at;

DROP TABLE orders;
SHOW TABLES;
