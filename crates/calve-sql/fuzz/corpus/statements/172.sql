CREATE TABLE t3 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS DATE_FORMAT(ts,'yyyy')) WITH ('connector'='datagen')
