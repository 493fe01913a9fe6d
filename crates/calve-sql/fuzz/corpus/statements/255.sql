CREATE TABLE r8 (comment STRING, level INT, data STRING, ts TIMESTAMP(3)) WITH ('connector'='blackhole')
