CREATE TABLE t (id BIGINT UNIQUE, x INT, UNIQUE (x)) WITH ('connector'='x')
