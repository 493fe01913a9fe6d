SELECT 1 <> 2 AS a, 1 != 2 AS b, 1 <= 2 AS c, 1 >= 2 AS d
