SELECT a /*+ NOT A HINT */ + 1 FROM t
