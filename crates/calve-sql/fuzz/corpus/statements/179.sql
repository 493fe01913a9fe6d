CREATE TABLE t23 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS to_date(b)) WITH ('connector'='datagen')
