CREATE TABLE dd (a INT) DISTRIBUTED BY HASH (a) INTO 3 BUCKETS WITH ('connector'='blackhole')
