CREATE TABLE t10 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS JSON_VALUE(b,'$.a')) WITH ('connector'='datagen')
