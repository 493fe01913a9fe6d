CREATE TABLE t (a ROW<ts TIMESTAMP(3)>, WATERMARK FOR a.ts AS a.ts) WITH ('connector'='x')
