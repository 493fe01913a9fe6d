CREATE TABLE e25 (id INT) WITH ('connector'='blackhole', 'connector'='print')
