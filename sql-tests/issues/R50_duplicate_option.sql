-- Of an option that is given twice the last value holds, as in Flink, and both places are told.
CREATE CATALOG g WITH ('type' = 'iceberg', 'warehouse' = '${TMP}/w', 'catalog-type' = 'glue', 'catalog-type' = 'hadoop');
CREATE DATABASE g.db;
CREATE TABLE g.db.t (id INT) WITH ('k' = 'a', 'k' = 'b');
SHOW CREATE TABLE g.db.t;
