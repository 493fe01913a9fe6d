CREATE TABLE t24 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS IFNULL(a,1)) WITH ('connector'='datagen')
