-- Asks the tables that iceberg.sql made.
SET 'execution.runtime-mode' = 'batch';
CREATE CATALOG tpch WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${WAREHOUSE}');
USE CATALOG tpch;
USE tpch;
