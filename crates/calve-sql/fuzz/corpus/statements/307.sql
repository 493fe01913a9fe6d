SELECT * FROM t UNPIVOT (a FOR b IN (c, d))
