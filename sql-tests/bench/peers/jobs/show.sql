-- Alone, without setup.sql: the catalog has a table.
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${WAREHOUSE}');
USE CATALOG lake;
USE db;
SHOW TABLES;
