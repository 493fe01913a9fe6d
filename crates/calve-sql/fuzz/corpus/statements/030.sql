CREATE TABLE t2 (a, b) WITH ('k'='v') AS SELECT x, y FROM t
