INSERT INTO missing SELECT * FROM also_missing
