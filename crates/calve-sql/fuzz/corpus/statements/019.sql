CREATE TABLE t (a INT, c AS a + 1, d AS UPPER(CAST(a AS STRING)) COMMENT 'd') WITH ('connector'='x')
