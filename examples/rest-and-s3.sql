-- Tables behind a REST catalog, their files in S3: an insert, an upsert, and a branch. It can be run again and again.
--
-- README ("A REST catalog and S3, on one machine") tells how to start the server. S3's keys are those of the environment:
-- AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
CREATE CATALOG lake WITH (
  'type' = 'iceberg',
  'catalog-type' = 'rest',
  'uri' = 'http://127.0.0.1:8181',
  'warehouse' = 'warehouse',
  'credential' = 'admin:secretsecret',
  's3.endpoint' = 'http://127.0.0.1:8333'
);
USE CATALOG lake;
CREATE DATABASE IF NOT EXISTS shop;
USE shop;

SET 'execution.runtime-mode' = 'batch';

DROP TABLE IF EXISTS orders;

CREATE TABLE orders (
  order_id BIGINT,
  customer STRING,
  status STRING,
  PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
  'format-version' = '2',
  'write.upsert.enabled' = 'true'
);

INSERT INTO orders VALUES (1, 'Noor', 'new'), (2, 'Timo', 'new'), (3, 'Iris', 'new');

-- A key that is there is replaced; a new one is added.
INSERT INTO orders VALUES (2, 'Timo', 'paid'), (4, 'Noor', 'new');

SELECT * FROM orders ORDER BY order_id;

-- A branch has its own rows from now on.
ALTER TABLE orders CREATE BRANCH audit;

INSERT INTO orders /*+ OPTIONS('branch' = 'audit') */ VALUES (3, 'Iris', 'cancelled');

SELECT m.order_id, m.status AS on_main, a.status AS on_audit
FROM orders AS m
JOIN orders /*+ OPTIONS('branch' = 'audit') */ AS a ON m.order_id = a.order_id
WHERE m.status <> a.status;
