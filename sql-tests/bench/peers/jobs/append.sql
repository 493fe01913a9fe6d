-- Appends all rows to a table without partitions. The codec is zstd, level 3: Iceberg's default, and calve's.
CREATE TABLE lake.db.t (
  id BIGINT,
  user_name STRING,
  event_type STRING,
  amount DECIMAL(18, 2),
  ts TIMESTAMP(6),
  event_date DATE,
  region STRING,
  payload STRING
) WITH ('format-version' = '2');

INSERT INTO lake.db.t SELECT * FROM events;
