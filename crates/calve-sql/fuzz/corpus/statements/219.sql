CREATE EXTERNAL TABLE e15 (id INT) WITH ('connector'='blackhole')
