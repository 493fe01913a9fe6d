-- The table of keys.sql, with every other of its keys.
CREATE TABLE lake.db.t (id BIGINT, amount DECIMAL(18, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');

CREATE TEMPORARY TABLE numbers (id BIGINT) WITH (
  'connector' = 'datagen', 'rows-per-second' = '1000000000', 'number-of-rows' = '${KEYS}',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '${KEYS}'
);

INSERT INTO lake.db.t /*+ OPTIONS('upsert-enabled' = 'false') */
SELECT id * 2, CAST(0 AS DECIMAL(18, 2)) FROM numbers WHERE id <= ${KEYS} / 2;
