SELECT a FROM t -- comment
WHERE /* x */ a = 1
