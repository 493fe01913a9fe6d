CREATE TABLE t8 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS CAST(a AS STRING)) WITH ('connector'='datagen')
