-- DELETE, UPDATE and MERGE on Iceberg tables, which Flink does not have: copy-on-write and merge-on-read.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
USE CATALOG ice;
CREATE DATABASE shop;
USE shop;

CREATE TABLE orders (id INT NOT NULL, region STRING, amount DECIMAL(8, 2), item ROW<name STRING, n INT>)
  PARTITIONED BY (region);
INSERT INTO orders VALUES (1, 'eu', 10.00, ROW('pen', 1)), (2, 'eu', 20.00, ROW('ink', 2)),
  (3, 'us', 30.00, ROW('pad', 3)), (4, 'us', 40.00, CAST(NULL AS ROW<name STRING, n INT>)), (5, 'asia', 50.00, ROW('cap', 5));

-- in streaming mode as well as in batch mode
DELETE FROM orders WHERE id = 1;
SET 'execution.runtime-mode' = 'batch';
SELECT * FROM orders;
UPDATE orders AS o SET amount = o.amount * 2, o.region = UPPER(region) WHERE region = 'us' AND item IS NOT NULL;
SELECT * FROM orders;
-- a whole partition: no row is read, no file written
DELETE FROM orders WHERE region = 'asia';
-- no row, no commit
DELETE FROM orders WHERE id > 1000;
UPDATE orders SET amount = 0 WHERE id IN (SELECT id FROM orders WHERE amount > 59) OR item.name = 'ink';
SELECT * FROM orders;
SELECT operation, summary['added-data-files'] AS added, summary['deleted-data-files'] AS deleted,
  summary['added-delete-files'] AS deletes FROM orders$snapshots ORDER BY committed_at;

-- by position
CREATE TABLE stock (sku STRING, n INT, PRIMARY KEY (sku) NOT ENFORCED) WITH ('format-version' = '3',
  'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read',
  'write.upsert.enabled' = 'true');
INSERT INTO stock VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4);
INSERT INTO stock VALUES ('d', 44);
UPDATE stock SET n = n + 100 WHERE n < 3;
DELETE FROM stock AS s WHERE s.n = 3;
SELECT * FROM stock;
MERGE INTO stock AS t USING (VALUES ('a', 0), ('b', 7), ('x', 9), ('y', CAST(NULL AS INT))) AS s (sku, n) ON t.sku = s.sku
  WHEN MATCHED AND s.n = 0 THEN DELETE
  WHEN MATCHED THEN UPDATE SET n = t.n + s.n
  WHEN NOT MATCHED AND s.n IS NOT NULL THEN INSERT *
  WHEN NOT MATCHED BY TARGET THEN INSERT (sku) VALUES (UPPER(s.sku))
  WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = -t.n;
SELECT * FROM stock;
SELECT operation, summary['added-dvs'] AS dvs, summary['added-records'] AS records FROM stock$snapshots
  ORDER BY committed_at;

-- a branch
INSERT INTO stock /*+ OPTIONS('branch'='audit') */ VALUES ('z', 26);
DELETE FROM stock /*+ OPTIONS('branch'='audit') */ WHERE sku <> 'z';
SELECT * FROM stock /*+ OPTIONS('branch'='audit') */;
SELECT COUNT(*) FROM stock;

-- what is refused
DELETE FROM orders WHERE idd = 1;
UPDATE orders SET amuont = 1;
UPDATE orders SET amount = 1, amount = 2;
UPDATE orders SET item.name = 'x';
UPDATE orders SET x.amount = 1;
UPDATE orders SET amount = TRUE;
UPDATE orders SET id = CAST(NULL AS INT);
UPDATE orders SET id = (SELECT id FROM orders);
DELETE FROM orders /*+ OPTIONS('snapshot-id'='1') */;
DELETE FROM orders$snapshots;
DELETE FROM nothing;
MERGE INTO nothing USING orders ON TRUE WHEN MATCHED THEN DELETE;
MERGE INTO orders USING stock AS orders ON TRUE WHEN MATCHED THEN DELETE;
MERGE INTO orders USING stock AS s ON orders.id = s.n WHEN MATCHED THEN UPDATE SET *;
MERGE INTO orders USING stock AS s ON orders.id = s.n WHEN MATCHED THEN DELETE WHEN MATCHED THEN DELETE;
MERGE INTO orders USING stock AS s ON orders.id = s.n WHEN NOT MATCHED THEN INSERT (region) VALUES ('x');
MERGE INTO orders USING stock AS s ON orders.id = s.n WHEN NOT MATCHED THEN INSERT (id, region) VALUES (s.n);
MERGE INTO orders USING stock AS s ON orders.id = s.n WHEN NOT MATCHED THEN INSERT (id, region) VALUES (s.n, orders.region);
MERGE INTO orders AS o USING (VALUES (2), (2)) AS s (id) ON o.id = s.id WHEN MATCHED THEN UPDATE SET amount = 1;
CREATE TABLE v1 (id INT) WITH ('format-version' = '1', 'write.delete.mode' = 'merge-on-read');
INSERT INTO v1 VALUES (1), (2);
DELETE FROM v1 WHERE id = 1;
UPDATE v1 SET id = id + 1;
SELECT * FROM v1;
ALTER TABLE v1 SET ('write.update.mode' = 'sometimes');
UPDATE v1 SET id = id + 1;
UPDATE orders SET amount = DEFAULT;
UPDATE orders SET amount = 1, region = DEFAULT WHERE id = 1;
MERGE INTO orders AS o USING (VALUES (2)) AS s (id) ON o.id = s.id WHEN MATCHED THEN UPDATE SET amount = DEFAULT;
TRUNCATE TABLE orders;
SET 'execution.runtime-mode' = 'batch';
TRUNCATE TABLE shop.orders;
SET 'execution.runtime-mode' = 'streaming';

EXPLAIN UPDATE orders SET amount = amount + 1 WHERE region = 'nowhere';
