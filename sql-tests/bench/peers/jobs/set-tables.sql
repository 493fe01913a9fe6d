-- The tables of set.sql and set-inserts.sql.
CREATE TABLE lake.db.clicks (
  id BIGINT,
  user_name STRING,
  event_type STRING,
  amount DECIMAL(18, 2),
  ts TIMESTAMP(6),
  event_date DATE,
  region STRING,
  payload STRING
) WITH ('format-version' = '2');

CREATE TABLE lake.db.logins LIKE lake.db.clicks;

CREATE TABLE lake.db.purchases LIKE lake.db.clicks;
