SELECT SQRT(-1) AS a, LN(-1) AS b, LN(0) AS c
