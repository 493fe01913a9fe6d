CREATE TABLE t30 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS CAST(b AS ROW<x INT, y STRING>)) WITH ('connector'='datagen')
