SET 'parallelism.default' = '1';
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;
CREATE TABLE counts (customer STRING, n BIGINT);
CREATE TEMPORARY TABLE visits (customer STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '10');

-- a count that changes takes its old value back, and a table without a key has no way to do so
INSERT INTO counts SELECT customer, COUNT(*) FROM visits GROUP BY customer;
