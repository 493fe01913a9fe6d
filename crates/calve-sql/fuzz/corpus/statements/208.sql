CREATE TABLE t (id INT, name STRING, amt DECIMAL(10,2)) WITH ('connector'='filesystem','path'='${DATA}/t','format'='csv')
