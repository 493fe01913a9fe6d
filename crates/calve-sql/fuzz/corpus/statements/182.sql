CREATE TABLE t29 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS TO_TIMESTAMP_LTZ(a, 3)) WITH ('connector'='datagen')
