EXPLAIN CREATE TABLE zz WITH ('connector'='blackhole') AS SELECT 1 AS a
