CREATE TABLE sk (a INT) WITH ('connector'='blackhole')
