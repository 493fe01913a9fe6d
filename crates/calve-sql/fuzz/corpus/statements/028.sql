CREATE TEMPORARY TABLE t (a INT) WITH ('connector'='print')
