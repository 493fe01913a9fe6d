-- What overwrite.sql is compared with: the same rows, appended.
INSERT INTO lake.db.t SELECT *, CAST(MOD(id, 500) AS INT) FROM corrections;
