CREATE TABLE x1 (a INT, b) WITH ('connector'='blackhole')
