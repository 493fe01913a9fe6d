-- What must not take twice as long with every join and every subquery.
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
USE CATALOG ice;
CREATE DATABASE db;
USE db;
CREATE TEMPORARY VIEW v AS SELECT * FROM (VALUES (1), (2), (2), (3), (3), (3)) AS x (id);
CREATE TEMPORARY VIEW c AS SELECT id, COUNT(*) AS n FROM v GROUP BY id;
CREATE TABLE o (id INT NOT NULL, n BIGINT, PRIMARY KEY (id) NOT ENFORCED);

-- joins of unique keys: each of them has more keys
INSERT INTO o SELECT t0.id, t0.n + t19.n FROM c AS t0
  JOIN c AS t1 ON t0.id = t1.id
  JOIN c AS t2 ON t0.id = t2.id
  JOIN c AS t3 ON t0.id = t3.id
  JOIN c AS t4 ON t0.id = t4.id
  JOIN c AS t5 ON t0.id = t5.id
  JOIN c AS t6 ON t0.id = t6.id
  JOIN c AS t7 ON t0.id = t7.id
  JOIN c AS t8 ON t0.id = t8.id
  JOIN c AS t9 ON t0.id = t9.id
  JOIN c AS t10 ON t0.id = t10.id
  JOIN c AS t11 ON t0.id = t11.id
  JOIN c AS t12 ON t0.id = t12.id
  JOIN c AS t13 ON t0.id = t13.id
  JOIN c AS t14 ON t0.id = t14.id
  JOIN c AS t15 ON t0.id = t15.id
  JOIN c AS t16 ON t0.id = t16.id
  JOIN c AS t17 ON t0.id = t17.id
  JOIN c AS t18 ON t0.id = t18.id
  JOIN c AS t19 ON t0.id = t19.id;
SELECT * FROM o;

-- subqueries without equal keys
SET 'execution.runtime-mode' = 'batch';
SELECT s.id,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 0) AS c0,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 1) AS c1,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 2) AS c2,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 3) AS c3,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 4) AS c4,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 5) AS c5,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 6) AS c6,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 7) AS c7,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 8) AS c8,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 9) AS c9,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 10) AS c10,
  (SELECT COUNT(*) FROM o AS w WHERE w.n > s.n - 11) AS c11
FROM o AS s ORDER BY s.id;
