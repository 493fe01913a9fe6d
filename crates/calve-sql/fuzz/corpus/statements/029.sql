CREATE TABLE t (`a b` INT, `select` STRING) WITH ('connector'='print')
