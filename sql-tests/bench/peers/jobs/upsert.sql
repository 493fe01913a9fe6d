-- Upserts a tenth as many keys as the table has, half of which are there, with equality deletes.
INSERT INTO lake.db.t SELECT * FROM changes;
