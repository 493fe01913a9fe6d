-- GROUPING SETS, CUBE, ROLLUP and the functions that tell the sets apart.
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE s (reg STRING, cty STRING, yr INT, amt INT)
WITH ('connector' = 'filesystem', 'path' = '${TMP}/s', 'format' = 'csv', 'csv.null-literal' = 'NULL');
INSERT INTO s VALUES ('eu', 'fr', 2023, 10), ('eu', 'de', 2023, 20), ('eu', 'fr', 2024, 30), ('us', 'ca', 2024, 40),
  ('us', CAST(NULL AS STRING), 2024, 5);
CREATE TABLE k (id INT NOT NULL, g STRING)
WITH ('connector' = 'filesystem', 'path' = '${TMP}/k', 'format' = 'csv');
INSERT INTO k VALUES (1, 'a'), (2, 'a'), (3, 'b');

-- sets, and their products with plain keys
SELECT reg, SUM(amt) AS s FROM s GROUP BY GROUPING SETS ((reg), ()) ORDER BY reg;
SELECT reg, yr, SUM(amt) AS s FROM s GROUP BY reg, ROLLUP (yr) ORDER BY reg, yr;
SELECT reg, yr, cty, COUNT(*) AS c FROM s GROUP BY reg, ROLLUP (yr), CUBE (cty) ORDER BY reg, yr, cty, c;
SELECT reg, yr, COUNT(*) AS c FROM s GROUP BY CUBE (reg, yr), GROUPING SETS ((reg), (yr)) ORDER BY reg, yr, c;
SELECT reg, yr, cty, COUNT(*) AS c FROM s GROUP BY ROLLUP ((reg, yr), cty) ORDER BY reg, yr, cty, c;
SELECT reg, yr, cty, COUNT(*) AS c FROM s GROUP BY CUBE ((reg, yr), cty) ORDER BY reg, yr, cty, c;
SELECT reg, yr, cty, COUNT(*) AS c FROM s GROUP BY GROUPING SETS (GROUPING SETS ((reg), (yr)), cty)
ORDER BY reg, yr, cty, c;

-- a set written twice counts twice, but in CUBE and ROLLUP
SELECT reg, GROUP_ID() AS g, COUNT(*) AS c FROM s GROUP BY GROUPING SETS ((reg), (reg), ()) ORDER BY reg, g;
SELECT reg, yr, COUNT(*) AS c FROM s GROUP BY CUBE (reg, reg, yr) ORDER BY reg, yr;
SELECT SUM(amt) AS s, COUNT(*) AS c FROM s GROUP BY GROUPING SETS ((), ());

-- which set a row belongs to
SELECT reg, yr, GROUPING(reg, yr) AS g FROM s GROUP BY CUBE (reg, yr) ORDER BY reg, yr;
SELECT reg, GROUPING(reg) AS g, GROUPING_ID(reg) AS gi, GROUP_ID() AS gg FROM s GROUP BY reg ORDER BY reg;
SELECT GROUPING(reg) + 1 AS g, TYPEOF(GROUPING(reg)) AS t, COUNT(*) AS c FROM s GROUP BY ROLLUP (reg) ORDER BY g, c;
SELECT CASE WHEN GROUPING(reg) = 1 THEN 'all' ELSE reg END AS r, SUM(amt) AS s FROM s GROUP BY ROLLUP (reg) ORDER BY s;
SELECT DISTINCT GROUPING(reg) AS g FROM s GROUP BY CUBE (reg, yr) ORDER BY g;

-- HAVING, ORDER BY, windows
SELECT reg, yr, SUM(amt) AS s FROM s GROUP BY CUBE (reg, yr) HAVING SUM(amt) > 40 ORDER BY s, reg, yr;
SELECT reg, yr, SUM(amt) AS s FROM s GROUP BY CUBE (reg, yr) HAVING GROUPING(reg) = 0 ORDER BY reg, yr;
SELECT reg, yr, SUM(amt) AS s FROM s GROUP BY CUBE (reg, yr) ORDER BY GROUPING_ID(reg, yr), reg, yr;
SELECT reg, SUM(amt) AS s, RANK() OVER (PARTITION BY GROUPING(reg) ORDER BY SUM(amt) DESC) AS rk FROM s
GROUP BY ROLLUP (reg) ORDER BY reg;

-- expressions as keys, aggregates of keys, DISTINCT and FILTER
SELECT UPPER(reg) AS u, yr + 1 AS y, SUM(amt) AS s FROM s GROUP BY CUBE (UPPER(reg), yr + 1) ORDER BY u, y;
SELECT UPPER(reg) AS u, SUM(amt) AS s FROM s GROUP BY CUBE (reg) ORDER BY u;
SELECT reg, COUNT(DISTINCT cty) AS c, COUNT(DISTINCT yr) AS y, SUM(amt) AS s FROM s GROUP BY CUBE (reg, yr)
ORDER BY reg, c, y, s;
SELECT reg, yr, SUM(yr) AS s, SUM(amt) FILTER (WHERE yr = 2024) AS f FROM s GROUP BY CUBE (reg, yr) ORDER BY reg, yr;

-- a key that some set lacks may be NULL
SELECT id + 1 AS i, COUNT(*) AS c FROM k GROUP BY ROLLUP (id) ORDER BY i;
SELECT id, g, COUNT(*) AS c FROM k GROUP BY GROUPING SETS ((id, g), (id)) ORDER BY id, g;
SELECT id, COUNT(*) AS c FROM k GROUP BY GROUPING SETS ((id)) ORDER BY id;

-- without rows only the one group of all rows has one
SELECT reg, SUM(amt) AS s, COUNT(*) AS c FROM s WHERE amt > 1000 GROUP BY ROLLUP (reg);
SELECT SUM(amt) AS s, COUNT(*) AS c FROM s WHERE amt > 1000 GROUP BY GROUPING SETS (());
SELECT SUM(amt) AS s, COUNT(*) AS c FROM s WHERE amt > 1000 GROUP BY ();

-- inside of other queries
SELECT * FROM (SELECT reg, yr, SUM(amt) AS s FROM s GROUP BY CUBE (reg, yr)) WHERE reg = 'eu' AND yr = 2023;
SELECT COUNT(*) AS c FROM (SELECT reg, yr FROM s GROUP BY CUBE (reg, yr));

-- refused
SELECT GROUPING(reg) FROM s;
SELECT reg, GROUPING(yr) FROM s GROUP BY reg;
SELECT reg, GROUPING_ID() FROM s GROUP BY reg;
SELECT GROUP_ID() FROM s;
SELECT cty, COUNT(*) FROM s GROUP BY GROUPING SETS ((reg));
SELECT reg FROM s WHERE GROUPING(reg) = 0 GROUP BY ROLLUP (reg);
SELECT SUM(GROUPING(reg)) FROM s GROUP BY ROLLUP (reg);
