-- From daily files of orders and payments to tables that people ask.
--
-- 1. Two days of orders, the second with changes of the first's, are upserted into an Iceberg table.
-- 2. One statement set fills two tables from it: sales by day and region, and the largest customers of each region.
-- 3. Payments are joined to find what is still owed.
--
-- ${DATA} is this folder, ${TMP} the folder of this run.
SET 'execution.runtime-mode' = 'batch';

CREATE CATALOG lake WITH (
  'type' = 'iceberg',
  'catalog-type' = 'hadoop',
  'warehouse' = '${TMP}/warehouse'
);
CREATE DATABASE lake.shop;

-- what comes in
CREATE TABLE order_files (
  order_id BIGINT,
  customer_id BIGINT,
  ordered_at TIMESTAMP(6),
  amount DECIMAL(10, 2),
  status STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/input/orders',
  'format' = 'csv'
);
CREATE TABLE payments (
  order_id BIGINT,
  paid_at TIMESTAMP(6),
  `method` STRING,
  amount DECIMAL(10, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/input/payments',
  'format' = 'json'
);
CREATE TABLE customers (
  id BIGINT,
  name STRING,
  region STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/input/customers.csv',
  'format' = 'csv'
);

-- what is kept
CREATE TABLE lake.shop.orders (
  order_id BIGINT,
  customer_id BIGINT,
  ordered_at TIMESTAMP(6),
  amount DECIMAL(10, 2),
  status STRING,
  PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
  'format-version' = '2',
  'write.upsert.enabled' = 'true'
);
CREATE TABLE lake.shop.sales (
  order_day DATE,
  region STRING,
  orders BIGINT,
  total DECIMAL(38, 2)
) PARTITIONED BY (order_day);
CREATE TABLE lake.shop.top_customers (
  region STRING,
  place BIGINT,
  name STRING,
  total DECIMAL(38, 2)
);

-- 1. every order once, as its last line says
INSERT INTO lake.shop.orders SELECT * FROM order_files;
SELECT * FROM lake.shop.orders ORDER BY order_id;

-- 2. both tables are filled from one reading of the orders
CREATE TEMPORARY VIEW sold AS
SELECT CAST(o.ordered_at AS DATE) AS order_day, c.region, c.name, o.amount
FROM lake.shop.orders AS o
JOIN customers AS c ON o.customer_id = c.id
WHERE o.status <> 'cancelled';

EXECUTE STATEMENT SET BEGIN
  INSERT INTO lake.shop.sales
  SELECT order_day, region, COUNT(*), SUM(amount) FROM sold GROUP BY order_day, region;

  INSERT INTO lake.shop.top_customers
  SELECT region, place, name, total
  FROM (
    SELECT region, name, total, ROW_NUMBER() OVER (PARTITION BY region ORDER BY total DESC) AS place
    FROM (SELECT region, name, SUM(amount) AS total FROM sold GROUP BY region, name)
  )
  WHERE place <= 2;
END;
SELECT * FROM lake.shop.sales;
SELECT * FROM lake.shop.top_customers ORDER BY region, place;

-- 3. what is owed
SELECT o.order_id, o.amount
FROM lake.shop.orders AS o
LEFT JOIN payments AS p ON o.order_id = p.order_id
WHERE p.order_id IS NULL AND o.status <> 'cancelled'
ORDER BY o.order_id;

-- what happened to the table: one commit, its id and time masked
SELECT snapshot_id, committed_at, operation, summary['total-records'] AS records FROM lake.shop.`orders$snapshots`;
