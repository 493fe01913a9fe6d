CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;

CREATE TABLE upserted (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
SELECT * FROM upserted /*+ OPTIONS('streaming' = 'true', 'monitor-interval' = '1s') */;
