-- Appends all rows to a table of 500 partitions; neighbours in the source are of different partitions.
CREATE TABLE lake.db.t (
  id BIGINT,
  user_name STRING,
  event_type STRING,
  amount DECIMAL(18, 2),
  ts TIMESTAMP(6),
  event_date DATE,
  region STRING,
  payload STRING,
  p INT
) PARTITIONED BY (p) WITH ('format-version' = '2');

INSERT INTO lake.db.t SELECT *, CAST(MOD(id, 500) AS INT) FROM events;
