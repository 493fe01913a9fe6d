-- The table that upserts go to.
CREATE TABLE lake.db.t (
  id BIGINT,
  user_name STRING,
  event_type STRING,
  amount DECIMAL(18, 2),
  ts TIMESTAMP(6),
  event_date DATE,
  region STRING,
  payload STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');

INSERT INTO lake.db.t /*+ OPTIONS('upsert-enabled' = 'false') */ SELECT * FROM events;
