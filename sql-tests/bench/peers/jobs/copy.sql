-- A fresh copy of a table, as scans of it are compared with.
CREATE TABLE lake.db.fresh WITH ('format-version' = '2') AS SELECT * FROM lake.db.t;
