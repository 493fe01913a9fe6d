-- Batch ${BATCH} (0, 1, ..) of several upserts in the mode ${MODE} to a table that was made with ${ROWS} rows:
-- the same keys moved by one, and new ones.
INSERT INTO lake.db.t /*+ OPTIONS('calve.upsert.mode' = '${MODE}') */
SELECT CASE WHEN id < ${ROWS} THEN MOD(id + ${BATCH}, ${ROWS}) ELSE id + ${BATCH} * ${ROWS} / 20 END,
  user_name, event_type, CAST(amount + ${BATCH} AS DECIMAL(18, 2)), ts, event_date, region, payload
FROM changes;
