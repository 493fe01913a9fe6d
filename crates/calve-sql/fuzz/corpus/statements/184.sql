CREATE TABLE t32 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS SPLIT_INDEX(b,',',0)) WITH ('connector'='datagen')
