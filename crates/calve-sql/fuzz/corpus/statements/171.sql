CREATE TABLE t2 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS IF(a>1,'x','y')) WITH ('connector'='datagen')
