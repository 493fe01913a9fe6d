CREATE TABLE t7 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS TO_TIMESTAMP(b)) WITH ('connector'='datagen')
