CREATE TABLE inset (a INT) WITH ('connector'='blackhole')
