SELECT a, b, SUM(c) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
