-- What a Hadoop catalog never does.
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE described COMMENT 'tables';
CREATE DATABASE shop;
USE shop;
CREATE TABLE t (a INT);
ALTER DATABASE shop SET ('k' = 'v');
ALTER TABLE t SET ('location' = '/elsewhere');
ALTER TABLE t SET ('write.metadata.path' = '/elsewhere');
ALTER TABLE t RENAME TO u;
ALTER TABLE t ADD b INT;
SELECT a, b FROM t;
