-- The same with position deletes.
INSERT INTO lake.db.t /*+ OPTIONS('calve.upsert.mode' = 'position') */ SELECT * FROM changes;
