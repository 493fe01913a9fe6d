CREATE TABLE r9 (`end` INT, start INT) WITH ('connector'='blackhole')
