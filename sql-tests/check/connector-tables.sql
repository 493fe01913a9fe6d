CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
CREATE TABLE orders (id INT, name STRING) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'catalog-type' = 'hadoop',
  'warehouse' = 'lake', 'catalog-database' = 'shop');
SELECT * FROM orders /*+ OPTIONS('tag' = 'first') */;
INSERT INTO orders VALUES (1, 'a');
SELECT * FROM orders /*+ OPTIONS('tag' = 'first') */;
ALTER TABLE orders CREATE TAG first;
ALTER TABLE lake.shop.orders CREATE TAG first;
SELECT nothing FROM lake.shop.orders /*+ OPTIONS('tag' = 'first') */;
-- which table it is, is a choice of the hint
SELECT * FROM orders /*+ OPTIONS('catalog-table' = 'more', 'catalog-tabel' = 'more') */;
DELETE FROM orders WHERE id = 1;
DELETE FROM lake.shop.orders WHERE id = 1;
