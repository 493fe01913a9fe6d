-- Upserts ${KEYS} keys in one statement, half of which are there; peers.py runs it with --memory-limit 2g.
CREATE TEMPORARY TABLE numbers (id BIGINT) WITH (
  'connector' = 'datagen', 'rows-per-second' = '1000000000', 'number-of-rows' = '${KEYS}',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '${KEYS}'
);

INSERT INTO lake.db.t SELECT id, CAST(1 AS DECIMAL(18, 2)) FROM numbers;
