CREATE TABLE t00 (a INT, `b c` INT, CONSTRAINT pk PRIMARY KEY (a, `b c`) NOT ENFORCED) WITH ('connector'='blackhole')
