CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3), d AS a + 1) WITH ('connector'='datagen','number-of-rows'='1')
