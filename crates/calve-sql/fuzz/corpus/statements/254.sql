CREATE TABLE r5 (name STRING, id INT, type STRING, key STRING, status STRING) WITH ('connector'='blackhole')
