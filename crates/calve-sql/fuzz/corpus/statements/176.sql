CREATE TABLE t16 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS m['k']) WITH ('connector'='datagen')
