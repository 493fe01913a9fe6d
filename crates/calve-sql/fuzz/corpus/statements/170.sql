CREATE TABLE t1 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS md5(b)) WITH ('connector'='datagen')
