CREATE TABLE t17 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS arr[1]) WITH ('connector'='datagen')
