-- FOR SYSTEM_TIME AS OF: each row with the version of another table that was valid at the row's time.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE orders (
  id INT, cur STRING, amt INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = '${TMP}/orders', 'format' = 'csv');
CREATE TABLE changes (
  cur STRING, rate INT, uts TIMESTAMP(3),
  WATERMARK FOR uts AS uts
) WITH ('connector' = 'filesystem', 'path' = '${TMP}/rates', 'format' = 'csv');
INSERT INTO orders VALUES
  (1, 'EUR', 10, TIMESTAMP '2024-01-01 10:00:00.000'), (3, 'USD', 5, TIMESTAMP '2024-01-01 10:30:00.000'),
  (2, 'EUR', 10, TIMESTAMP '2024-01-01 11:00:00.000'), (4, 'GBP', 7, TIMESTAMP '2024-01-01 11:00:00.000'),
  (6, 'EUR', 1, TIMESTAMP '2024-01-01 08:30:00.000'), (7, CAST(NULL AS STRING), 1, TIMESTAMP '2024-01-01 12:30:00.000');
INSERT INTO changes VALUES
  ('EUR', 110, TIMESTAMP '2024-01-01 09:00:00.000'), ('USD', 100, TIMESTAMP '2024-01-01 09:00:00.000'),
  ('EUR', 120, TIMESTAMP '2024-01-01 10:30:00.000'), ('EUR', 115, TIMESTAMP '2024-01-01 10:10:00.000'),
  ('EUR', 121, TIMESTAMP '2024-01-01 10:30:00.000');

-- versions by primary key, and by a view that keeps the latest row of each key
CREATE TABLE rates_pk (
  cur STRING, rate INT, uts TIMESTAMP(3),
  WATERMARK FOR uts AS uts, PRIMARY KEY (cur) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = '${TMP}/rates', 'format' = 'csv');
CREATE VIEW rates AS SELECT cur, rate, uts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cur ORDER BY uts DESC) AS rn FROM changes) WHERE rn = 1;
SELECT o.id, o.amt * r.rate AS v FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates_pk FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
SELECT o.id, r.* FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur AND r.rate > 110;
SELECT o.id, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur AND o.amt > 5 WHERE r.rate < 121;
SELECT o.id, r.rate FROM orders AS o JOIN rates_pk FOR SYSTEM_TIME AS OF o.ts AS r ON UPPER(o.cur) = r.cur;
SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(TUMBLE((SELECT o.ts, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur), DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
SELECT o.ts, r.uts FROM orders AS o JOIN rates_pk FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur WHERE o.id = 1;

-- refusals
CREATE TABLE unversioned (cur STRING, rate INT, uts TIMESTAMP(3), PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'filesystem', 'path' = '${TMP}/rates', 'format' = 'csv');
SELECT o.id FROM orders AS o JOIN changes FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
SELECT o.id FROM orders AS o JOIN unversioned FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
SELECT o.id FROM orders AS o JOIN unversioned FOR SYSTEM_TIME AS OF o.pt AS r ON o.cur = r.cur;
SELECT o.id FROM orders AS o RIGHT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
SELECT o.id FROM orders AS o CROSS JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r;
SELECT o.id FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.id = r.rate;
SELECT o.id FROM orders AS o JOIN rates_pk FOR SYSTEM_TIME AS OF o.ts + INTERVAL '1' MINUTE AS r ON o.cur = r.cur;
SELECT o.id FROM orders AS o JOIN rates_pk FOR SYSTEM_TIME AS OF o.id AS r ON o.cur = r.cur;
SELECT o.id FROM orders AS o JOIN rates_pk FOR SYSTEM_TIME AS OF o.nope AS r ON o.cur = r.cur;
SELECT * FROM rates_pk FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00';
SELECT * FROM rates_pk FOR SYSTEM_TIME AS OF PROCTIME();

-- an Iceberg table as it was: not portable to Flink
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.db;
CREATE TABLE ice.db.t (a INT);
INSERT INTO ice.db.t VALUES (1), (2);
SELECT a FROM ice.db.t FOR SYSTEM_TIME AS OF TIMESTAMP '2999-01-01 00:00:00' ORDER BY a LIMIT 5;
SELECT x.a FROM ice.db.t FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP + INTERVAL '1' HOUR AS x ORDER BY a LIMIT 5;
SELECT a FROM ice.db.t FOR SYSTEM_TIME AS OF TIMESTAMP '1999-01-01 00:00:00';
SELECT a FROM ice.db.t FOR SYSTEM_TIME AS OF '1999-01-01 00:00:00';
SELECT a FROM ice.db.t /*+ OPTIONS('snapshot-id' = '1') */ FOR SYSTEM_TIME AS OF TIMESTAMP '1999-01-01 00:00:00';
