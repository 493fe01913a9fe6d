SELECT (a, b) OVERLAPS (c, d), (a, b) CONTAINS (c, d), (a,b) PRECEDES (c,d) FROM t
