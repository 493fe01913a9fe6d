-- What the script made in a catalog stays when the catalog is opened with other options.
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
CREATE DATABASE lake.shop;
CREATE TABLE lake.shop.t (a INT);
ALTER CATALOG lake SET ('k' = 'v');
SELECT a FROM lake.shop.t;
ALTER CATALOG lake RESET ('k');
SELECT b FROM lake.shop.t;
-- in another place there is nothing of it
ALTER CATALOG lake SET ('warehouse' = 'sea');
SELECT a FROM lake.shop.t;

-- What was not made is neither there for the next one of that name, nor missed again.
CREATE CATALOG c WITH ('type' = 'icebreg');
ALTER CATALOG c SET ('k' = 'v');
SELECT * FROM c.d.t;
CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadop', 'warehouse' = 'lake');
CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
SELECT * FROM c.d.t;
DROP CATALOG c;
SELECT * FROM c.d.t;
