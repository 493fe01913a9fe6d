CREATE TABLE t34 (a INT, b STRING, ts TIMESTAMP(3), dt DATE, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT>, c AS SUBSTR(b,1)) WITH ('connector'='datagen')
