CREATE TABLE t25 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS REGEXP_REPLACE(b,'a','b')) WITH ('connector'='datagen')
