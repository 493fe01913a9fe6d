-- What stands for setup.sql in Flink.
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${WAREHOUSE}');

CREATE DATABASE IF NOT EXISTS lake.db;

CREATE CATALOG source WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${DATA}/iceberg');

CREATE TEMPORARY VIEW events AS SELECT * FROM source.db.events;

CREATE TEMPORARY VIEW changes AS SELECT * FROM source.db.changes;

CREATE TEMPORARY VIEW corrections AS SELECT * FROM source.db.corrections;
