CREATE CATALOG lake WITH (
  'type' = 'iceberg',
  'catalog-type' = 'hadoop',
  'warehouse' = 'lake',
  'warehouse' = 'other'
);
USE CATALOG lake;
CREATE TABLE shop.t (id INT) WITH ('format-version' = '2', 'format-version' = '3', 'owner' = 'a', 'format-version' = '2');
