-- check: --portable
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'jdbc', 'uri' = 'jdbc:sqlite:lake.db', 'warehouse' = 'lake');
CREATE CATALOG files WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG files;
CREATE TABLE shop.t (ts TIMESTAMP(6), id INT UNIQUE) PARTITIONED BY (days(ts), bucket(4, id));
SELECT operation FROM shop.t$snapshots;
SELECT operation FROM shop.`t$snapshots`;
SELECT 1; SELECT 2;
SELECT 3; -- a comment is no statement
SELECT 4;
