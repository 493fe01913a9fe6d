-- What becomes of lines that are no orders: without further ado the job fails and the table stays as it was; with
-- 'csv.ignore-parse-errors' a field that cannot be read is NULL.
SET 'execution.runtime-mode' = 'batch';

CREATE CATALOG lake WITH (
  'type' = 'iceberg',
  'catalog-type' = 'hadoop',
  'warehouse' = '${TMP}/warehouse'
);
CREATE DATABASE lake.shop;
CREATE TABLE lake.shop.orders (order_id BIGINT, amount DECIMAL(10, 2), status STRING);

CREATE TABLE order_files (
  order_id BIGINT,
  amount DECIMAL(10, 2),
  status STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/input/broken/orders.csv',
  'format' = 'csv'
);

INSERT INTO lake.shop.orders SELECT * FROM order_files;
SELECT COUNT(*) AS orders FROM lake.shop.orders;

INSERT INTO lake.shop.orders
SELECT * FROM order_files /*+ OPTIONS('csv.ignore-parse-errors' = 'true') */ WHERE order_id IS NOT NULL;
SELECT * FROM lake.shop.orders ORDER BY order_id;
