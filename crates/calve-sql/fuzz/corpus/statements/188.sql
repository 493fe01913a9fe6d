CREATE TABLE w2 (a INT, b ROW<x INT NOT NULL COMMENT 'x'>, c ROW<x INT 'yy'>) WITH ('connector'='blackhole')
