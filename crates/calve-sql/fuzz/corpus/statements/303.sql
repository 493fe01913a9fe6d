SELECT a FROM t GROUP BY GROUPING SETS ((a, b), a, (), ROLLUP(a, b), CUBE((a, c), b), GROUPING SETS (a, (b)))
