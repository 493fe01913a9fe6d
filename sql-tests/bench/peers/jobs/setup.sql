-- What every job begins with: the catalog, and the Parquet files that data.py made. By hand, from this folder:
--
--   export WAREHOUSE=/tmp/warehouse DATA=/tmp/data TABLE=lake.db.t
--   envsubst <setup.sql >/tmp/setup.sql; envsubst <append.sql >/tmp/job.sql
--   calve run -i /tmp/setup.sql /tmp/job.sql
SET 'execution.runtime-mode' = 'batch';

CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${WAREHOUSE}');

CREATE DATABASE IF NOT EXISTS lake.db;

CREATE TEMPORARY TABLE events (
  id BIGINT,
  user_name STRING,
  event_type STRING,
  amount DECIMAL(18, 2),
  ts TIMESTAMP(6),
  event_date DATE,
  region STRING,
  payload STRING
) WITH ('connector' = 'filesystem', 'path' = '${DATA}/events', 'format' = 'parquet', 'parquet.utc-timezone' = 'true');

CREATE TEMPORARY TABLE changes WITH ('path' = '${DATA}/upsert.parquet') LIKE events (OVERWRITING OPTIONS);

CREATE TEMPORARY TABLE corrections WITH ('path' = '${DATA}/overwrite.parquet') LIKE events (OVERWRITING OPTIONS);
