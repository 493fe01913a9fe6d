-- reserved words need backticks
CREATE TABLE order (a INT) WITH ('connector'='blackhole')
