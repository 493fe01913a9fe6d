CREATE CATALOG files WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
CREATE TABLE files.shop.t (ts TIMESTAMP(6)) PARTITIONED BY (days(ts));
SELECT 1; SELECT 2;
