-- Windows in time, in both modes. The rows are not in order: `WATERMARK` says which are late.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE ev (
  ts TIMESTAMP(3), k STRING, x INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${TMP}/ev', 'format' = 'csv');
INSERT INTO ev VALUES
  (TIMESTAMP '2024-01-01 00:00:01.000', 'a', 1), (TIMESTAMP '2024-01-01 00:00:14.000', 'b', 2),
  (TIMESTAMP '2024-01-01 00:00:09.000', 'a', 3), (TIMESTAMP '2024-01-01 00:00:11.000', 'a', 4),
  (TIMESTAMP '2024-01-01 00:00:25.000', 'b', 5), (TIMESTAMP '2024-01-01 00:00:13.000', 'b', 6),
  (TIMESTAMP '2024-01-01 00:00:24.500', 'a', 7);
DESCRIBE ev;

-- the watermark before each row
SELECT x, CURRENT_WATERMARK(ts) AS w FROM ev;

-- each row with its windows
SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND));
SELECT x, window_start, window_end FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) WHERE x < 3;
SELECT x, window_start, window_end FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) WHERE x < 3;
SELECT k, x, window_start, window_end FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND));

-- aggregates of windows: late rows are dropped
SELECT window_start, window_end, SUM(x) AS s FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(x) AS s FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(x) AS s FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, k, SUM(x) AS s FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k;
SELECT window_start, window_end, SUM(x) AS s FROM TABLE(SESSION(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, window_end, k, SUM(x) AS s FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY GROUPING SETS ((window_start, window_end, k), (window_start, window_end));
SELECT window_start, window_end, SUM(x) AS s FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '3' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, SUM(x) AS s FROM TABLE(TUMBLE(DATA => TABLE ev, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE)) GROUP BY window_start, window_end HAVING SUM(x) > 1;

-- windows of windows
SELECT window_start, window_end, window_time, SUM(s) AS s FROM TABLE(TUMBLE((SELECT window_time AS rt, SUM(x) AS s FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, window_time), DESCRIPTOR(rt), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, window_time;

-- rankings inside of windows
SELECT window_start, k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY x DESC) AS rn FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn <= 2;

-- windows in GROUP BY
SELECT TUMBLE_START(ts, INTERVAL '10' SECOND) AS ws, TUMBLE_END(ts, INTERVAL '10' SECOND) AS we, TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS wr, SUM(x) AS s FROM ev GROUP BY TUMBLE(ts, INTERVAL '10' SECOND);
SELECT HOP_START(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND) AS ws, SUM(x) AS s FROM ev GROUP BY HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND);
SELECT SESSION_START(ts, INTERVAL '5' SECOND) AS ws, SESSION_END(ts, INTERVAL '5' SECOND) AS we, k, SUM(x) AS s FROM ev GROUP BY SESSION(ts, INTERVAL '5' SECOND), k;

-- windows of rows, in the order of time
SELECT ts, k, x, SUM(x) OVER (PARTITION BY k ORDER BY ts) AS s FROM ev;
SELECT ts, k, x, SUM(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) AS s FROM ev;
SELECT ts, k, x, SUM(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM ev;
SELECT ts, k, x, LAG(x) OVER (PARTITION BY k ORDER BY ts) AS p FROM ev;
SELECT ts, k, x FROM ev ORDER BY ts, x DESC;

-- joins of windows
SELECT l.window_start, l.x, r.x AS y FROM (SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE k = 'a') l LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE k = 'b' AND x <> 6) r ON l.window_start = r.window_start AND l.window_end = r.window_end;

-- before 1970, and in a time zone with summer time
CREATE TABLE early (ts TIMESTAMP(3), x INT, WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '${TMP}/early', 'format' = 'csv');
INSERT INTO early VALUES (TIMESTAMP '1969-12-31 23:59:01.000', 1), (TIMESTAMP '1969-12-31 23:58:14.000', 2), (TIMESTAMP '1970-01-01 00:00:00.100', 5);
SELECT window_start, window_end, SUM(x) AS s FROM TABLE(HOP(TABLE early, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
CREATE TABLE ltz (t BIGINT, x INT, ts AS TO_TIMESTAMP_LTZ(t, 3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '${TMP}/ltz', 'format' = 'csv');
INSERT INTO ltz VALUES (1711846800000, 1), (1711848600000, 2), (1711850400000, 3), (1711852200000, 4), (1729985400000, 5), (1729987200000, 6), (1729989000000, 7), (1729990800000, 8), (1729992600000, 9), (1729994400000, 10);
SET 'table.local-time-zone' = 'Europe/Berlin';
SELECT window_start, window_end, window_time, SUM(x) AS s FROM TABLE(TUMBLE(TABLE ltz, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, window_time;
SELECT window_start, window_end, window_time, SUM(x) AS s FROM TABLE(TUMBLE(TABLE ltz, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, window_time;
SET 'table.local-time-zone' = 'UTC';

-- time attributes: what keeps them and what does not
SELECT COALESCE(ts, ts) AS a, CAST(ts AS TIMESTAMP(3)) AS b, ts + INTERVAL '1' SECOND AS e FROM ev WHERE x = 1;
CREATE VIEW late AS SELECT ts AS t2, x FROM ev WHERE x > 1;
SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(t2), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT * FROM TABLE(TUMBLE((SELECT CAST(ts AS TIMESTAMP(3)) AS t2 FROM ev), DESCRIPTOR(t2), INTERVAL '1' HOUR));

-- refusals
SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(x), INTERVAL '10' SECOND));
SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(nope), INTERVAL '10' SECOND));
SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), 10));
SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts)));
SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '0' SECOND));
SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MONTH));
SELECT * FROM TABLE(TUMBLE(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' SECOND));
SELECT window_start, COUNT(*) AS c FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '12' SECOND)) GROUP BY window_start, window_end;
SELECT * FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '10' SECOND));
SELECT TUMBLE_START(ts, INTERVAL '10' SECOND) FROM ev;
SELECT TUMBLE_START(ts, INTERVAL '1' SECOND) FROM ev GROUP BY TUMBLE(ts, INTERVAL '10' SECOND);
SELECT TUMBLE(ts, INTERVAL '10' SECOND) FROM ev;
SELECT COUNT(*) FROM ev GROUP BY TUMBLE(k, INTERVAL '10' SECOND);
SELECT COUNT(*) FROM ev GROUP BY TUMBLE(ts, INTERVAL '10' SECOND, TIME '00:00:05');
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT PROCTIME() AS pt, x FROM ev), DESCRIPTOR(pt), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;

-- batch mode: all rows are there, and no column is a time attribute
SET 'execution.runtime-mode' = 'batch';
SELECT window_start, window_end, SUM(x) AS s FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end ORDER BY window_start;
SELECT window_time, x FROM TABLE(TUMBLE((SELECT TIMESTAMP '2024-01-01 00:00:01.123456' AS t6, 1 AS x), DESCRIPTOR(t6), INTERVAL '1' MINUTE));
SELECT CURRENT_WATERMARK(ts) AS w FROM ev LIMIT 1;
SELECT window_start, COUNT(*) AS c FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k;
SELECT COUNT(*) FROM ev GROUP BY SESSION(ts, INTERVAL '6' SECOND);
