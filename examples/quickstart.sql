-- An upsert table on Apache Iceberg, from nothing to its history. It can be run again and again.
--
--   cargo run -p calve-cli -- run examples/quickstart.sql
--
-- The catalog is a folder: nothing to install, nothing to start.
CREATE CATALOG lake WITH (
  'type' = 'iceberg',
  'catalog-type' = 'hadoop',
  'warehouse' = 'warehouse'
);
USE CATALOG lake;
CREATE DATABASE IF NOT EXISTS shop;
USE shop;

SET 'execution.runtime-mode' = 'batch';

CREATE TABLE IF NOT EXISTS orders (
  order_id BIGINT,
  customer STRING,
  status STRING,
  amount DECIMAL(10, 2),
  PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
  'format-version' = '2',
  'write.upsert.enabled' = 'true'
);

INSERT INTO orders VALUES
  (1, 'Noor', 'new', 19.90),
  (2, 'Timo', 'new', 5.00),
  (3, 'Iris', 'new', 42.50);

-- A key that is there is replaced; a new one is added.
INSERT INTO orders VALUES
  (2, 'Timo', 'paid', 5.00),
  (3, 'Iris', 'cancelled', 0.00),
  (4, 'Noor', 'new', 7.25);

SELECT * FROM orders ORDER BY order_id;

SELECT customer, COUNT(*) AS orders, SUM(amount) AS total
FROM orders
WHERE status <> 'cancelled'
GROUP BY customer
ORDER BY customer;

-- What the last two commits did.
SELECT operation, summary['added-records'] AS added, summary['added-equality-deletes'] AS deletes
FROM orders$snapshots
ORDER BY committed_at DESC
LIMIT 2;
