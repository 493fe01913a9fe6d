CREATE TABLE e24 (id INT) WITH ('connector'=blackhole)
