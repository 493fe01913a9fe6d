--#
SELECT * FROM t
--=
SELECT *
FROM `t`
--#
SELECT a, b AS x FROM t
--=
SELECT `t`.`a`, `t`.`b` AS `x`
FROM `t`
--#
SELECT DISTINCT a FROM t WHERE a > 1 AND b = 'x''y' OR NOT bo
--=
SELECT DISTINCT `t`.`a`
FROM `t`
WHERE `t`.`a` > 1 AND `t`.`b` = 'x''y' OR NOT `t`.`bo`
--#
SELECT a, COUNT(*) AS c FROM t GROUP BY a HAVING COUNT(*) > 1
--=
SELECT `t`.`a`, COUNT(*) AS `c`
FROM `t`
GROUP BY `t`.`a`
HAVING COUNT(*) > 1
--#
SELECT t.a, u.c FROM t JOIN u ON t.a = u.a
--=
SELECT `t`.`a`, `u`.`c`
FROM `t`
INNER JOIN `u` ON `t`.`a` = `u`.`a`
--#
SELECT t.a, u.c FROM t LEFT JOIN u ON t.a = u.a
--=
SELECT `t`.`a`, `u`.`c`
FROM `t`
LEFT JOIN `u` ON `t`.`a` = `u`.`a`
--#
SELECT t.a, u.c FROM t RIGHT OUTER JOIN u ON t.a = u.a
--=
SELECT `t`.`a`, `u`.`c`
FROM `t`
RIGHT JOIN `u` ON `t`.`a` = `u`.`a`
--#
SELECT t.a, u.c FROM t FULL JOIN u ON t.a = u.a
--=
SELECT `t`.`a`, `u`.`c`
FROM `t`
FULL JOIN `u` ON `t`.`a` = `u`.`a`
--#
SELECT t.a, u.c FROM t CROSS JOIN u
--=
SELECT `t`.`a`, `u`.`c`
FROM `t`
CROSS JOIN `u`
--#
SELECT t.a, u.c FROM t, u WHERE t.a = u.a
--=
SELECT `t`.`a`, `u`.`c`
FROM `t`,
`u`
WHERE `t`.`a` = `u`.`a`
--#
SELECT a, c FROM t JOIN u USING (a)
--=
SELECT `t`.`a`, `u`.`c`
FROM `t`
INNER JOIN `u` USING (`a`)
--#
SELECT x.a FROM t AS x
--=
SELECT `x`.`a`
FROM `t` AS `x`
--#
SELECT x.a FROM (SELECT a FROM t) AS x
--=
SELECT `x`.`a`
FROM (SELECT `t`.`a`
FROM `t`) AS `x`
--#
SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS t (a, b)
--=
SELECT *
FROM (VALUES ROW(1, 'x'),
ROW(2, 'y')) AS `t` (`a`, `b`)
--#
VALUES (1, 'a'), (2, 'b')
--=
VALUES ROW(1, 'a'),
ROW(2, 'b')
--#
SELECT a FROM t UNION ALL SELECT a FROM u
--=
SELECT `t`.`a`
FROM `t`
UNION ALL
SELECT `u`.`a`
FROM `u`
--#
SELECT a FROM t UNION SELECT a FROM u ORDER BY a
--=
SELECT `t`.`a`
FROM `t`
UNION
SELECT `u`.`a`
FROM `u`
ORDER BY `a`
--#
(SELECT a FROM t ORDER BY a LIMIT 1) UNION ALL SELECT a FROM u
--=
(SELECT `t`.`a`
FROM `t`
ORDER BY `a`
FETCH NEXT 1 ROWS ONLY)
UNION ALL
SELECT `u`.`a`
FROM `u`
--#
SELECT a FROM t EXCEPT SELECT a FROM u
--=
SELECT `t`.`a`
FROM `t`
EXCEPT
SELECT `u`.`a`
FROM `u`
--#
SELECT a FROM t INTERSECT SELECT a FROM u
--=
SELECT `t`.`a`
FROM `t`
INTERSECT
SELECT `u`.`a`
FROM `u`
--#
SELECT a FROM t ORDER BY a DESC NULLS LAST, b
--=
SELECT `t`.`a`
FROM `t`
ORDER BY `a` DESC NULLS LAST, `t`.`b`
--#
SELECT a FROM t ORDER BY a LIMIT 10
--=
SELECT `t`.`a`
FROM `t`
ORDER BY `a`
FETCH NEXT 10 ROWS ONLY
--#
SELECT a FROM t ORDER BY a LIMIT 10 OFFSET 5
--=
SELECT `t`.`a`
FROM `t`
ORDER BY `a`
OFFSET 5 ROWS
FETCH NEXT 10 ROWS ONLY
--#
SELECT a FROM t OFFSET 5 ROWS FETCH NEXT 3 ROWS ONLY
--=
SELECT `t`.`a`
FROM `t`
OFFSET 5 ROWS
FETCH NEXT 3 ROWS ONLY
--#
WITH x AS (SELECT a FROM t), y (k) AS (SELECT a FROM u) SELECT * FROM x JOIN y ON x.a = y.k
--=
WITH `x` AS (SELECT `t`.`a`
FROM `t`), `y` (`k`) AS (SELECT `u`.`a`
FROM `u`) SELECT *
FROM `x`
INNER JOIN `y` ON `x`.`a` = `y`.`k`
--#
SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END AS c1, CASE a WHEN 1 THEN 2 END AS c2 FROM t
--=
SELECT CASE WHEN `t`.`a` > 1 THEN 'x' ELSE 'y' END AS `c1`, CASE WHEN `t`.`a` = 1 THEN 2 ELSE NULL END AS `c2`
FROM `t`
--#
SELECT a IN (1, 2) AS c1, a NOT IN (1, 2) AS c2, a IN (SELECT a FROM u) AS c3 FROM t
--=
SELECT `t`.`a` IN (1, 2) AS `c1`, `t`.`a` NOT IN (1, 2) AS `c2`, `t`.`a` IN (SELECT `u`.`a`
FROM `u`) AS `c3`
FROM `t`
--#
SELECT a FROM t WHERE a IN (SELECT a FROM u)
--=
SELECT `t`.`a`
FROM `t`
WHERE `t`.`a` IN (SELECT `u`.`a`
FROM `u`)
--#
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)
--=
SELECT `t`.`a`
FROM `t`
WHERE EXISTS (SELECT 1
FROM `u`
WHERE `u`.`a` = `t`.`a`)
--#
SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)
--=
SELECT `t`.`a`
FROM `t`
WHERE NOT EXISTS (SELECT 1
FROM `u`
WHERE `u`.`a` = `t`.`a`)
--#
SELECT (SELECT MAX(a) FROM u) AS c1 FROM t
--=
SELECT (SELECT MAX(`u`.`a`)
FROM `u`) AS `c1`
FROM `t`
--#
SELECT a BETWEEN 1 AND 2 AS c1, a NOT BETWEEN 1 AND 2 AS c2, a BETWEEN SYMMETRIC 1 AND 2 AS c3, a BETWEEN ASYMMETRIC 1 AND 2 AS c4 FROM t
--=
SELECT `t`.`a` BETWEEN ASYMMETRIC 1 AND 2 AS `c1`, `t`.`a` NOT BETWEEN ASYMMETRIC 1 AND 2 AS `c2`, `t`.`a` BETWEEN SYMMETRIC 1 AND 2 AS `c3`, `t`.`a` BETWEEN ASYMMETRIC 1 AND 2 AS `c4`
FROM `t`
--#
SELECT b LIKE 'x%' AS c1, b NOT LIKE 'x' ESCAPE '!' AS c2, b SIMILAR TO 'x' AS c3, b NOT SIMILAR TO 'x' AS c4 FROM t
--=
SELECT `t`.`b` LIKE 'x%' AS `c1`, `t`.`b` NOT LIKE 'x' ESCAPE '!' AS `c2`, `t`.`b` SIMILAR TO 'x' AS `c3`, `t`.`b` NOT SIMILAR TO 'x' AS `c4`
FROM `t`
--#
SELECT a IS NULL AS c1, a IS NOT NULL AS c2, bo IS TRUE AS c3, bo IS NOT FALSE AS c4, bo IS UNKNOWN AS c5, a IS DISTINCT FROM 1 AS c6, a IS NOT DISTINCT FROM 1 AS c7 FROM t
--=
SELECT `t`.`a` IS NULL AS `c1`, `t`.`a` IS NOT NULL AS `c2`, `t`.`bo` IS TRUE AS `c3`, `t`.`bo` IS NOT FALSE AS `c4`, `t`.`bo` IS UNKNOWN AS `c5`, `t`.`a` IS DISTINCT FROM 1 AS `c6`, `t`.`a` IS NOT DISTINCT FROM 1 AS `c7`
FROM `t`
--#
SELECT a + 1 - 2 AS c1, a + (1 - 2) AS c2, (a + 1) * 2 AS c3, a * 1 + 2 AS c4, -a AS c5, - -a AS c6, +a AS c7, a / 2 AS c8, a % 3 AS c9, MOD(a, 3) AS c10, -(a + 1) AS c11, a - (1 - 2) - 3 AS c12, -1 AS c13, - 1.5 AS c14 FROM t
--=
SELECT `t`.`a` + 1 - 2 AS `c1`, `t`.`a` + (1 - 2) AS `c2`, (`t`.`a` + 1) * 2 AS `c3`, `t`.`a` * 1 + 2 AS `c4`, - `t`.`a` AS `c5`, - (- `t`.`a`) AS `c6`, + `t`.`a` AS `c7`, `t`.`a` / 2 AS `c8`, `t`.`a` % 3 AS `c9`, MOD(`t`.`a`, 3) AS `c10`, - (`t`.`a` + 1) AS `c11`, `t`.`a` - (1 - 2) - 3 AS `c12`, -1 AS `c13`, -1.5 AS `c14`
FROM `t`
--#
SELECT b || 'x' || 'y' AS c1, b || ('x' || 'y') AS c2 FROM t
--=
SELECT `t`.`b` || 'x' || 'y' AS `c1`, `t`.`b` || ('x' || 'y') AS `c2`
FROM `t`
--#
SELECT NOT bo AS c1, NOT (bo AND bo) AS c2, (bo OR bo) AND bo AS c3, bo OR bo AND bo AS c4, NOT a = 1 AS c5, (NOT bo) = bo AS c6, (a = 1) = bo AS c7 FROM t
--=
SELECT NOT `t`.`bo` AS `c1`, NOT (`t`.`bo` AND `t`.`bo`) AS `c2`, (`t`.`bo` OR `t`.`bo`) AND `t`.`bo` AS `c3`, `t`.`bo` OR `t`.`bo` AND `t`.`bo` AS `c4`, NOT `t`.`a` = 1 AS `c5`, (NOT `t`.`bo`) = `t`.`bo` AS `c6`, `t`.`a` = 1 = `t`.`bo` AS `c7`
FROM `t`
--#
SELECT 1 AS c1, 1.50 AS c2, 1e3 AS c3, 1.5E-3 AS c4, 'it''s' AS c5, X'0AFF' AS c6, TRUE AS c7, CAST(NULL AS INT) AS c8, DATE '2024-01-01' AS c9, TIME '10:00:00' AS c10, TIMESTAMP '2024-01-01 10:00:00.123' AS c11, 'é' AS c12, U&'\00e9' AS c13, .5 AS c14, 10000000000 AS c15 FROM t
--=
SELECT 1 AS `c1`, 1.50 AS `c2`, 1E3 AS `c3`, 1.5E-3 AS `c4`, 'it''s' AS `c5`, X'0AFF' AS `c6`, TRUE AS `c7`, CAST(NULL AS INTEGER) AS `c8`, DATE '2024-01-01' AS `c9`, TIME '10:00:00' AS `c10`, TIMESTAMP '2024-01-01 10:00:00.123' AS `c11`, _UTF16'é' AS `c12`, _UTF16'é' AS `c13`, 0.5 AS `c14`, 10000000000 AS `c15`
FROM `t`
--#
SELECT ts + INTERVAL '1' DAY AS c1, ts + INTERVAL '1-2' YEAR TO MONTH AS c2, ts - INTERVAL '1 10:00:00.5' DAY TO SECOND AS c3, ts + INTERVAL -'1' HOUR AS c4, ts + INTERVAL '90' DAY(3) AS c5, ts + INTERVAL '1.5' SECOND(2, 3) AS c6, ts + INTERVAL '-1' HOUR AS c7 FROM t
--=
SELECT `t`.`ts` + INTERVAL '1' DAY AS `c1`, `t`.`ts` + INTERVAL '1-2' YEAR TO MONTH AS `c2`, `t`.`ts` - INTERVAL '1 10:00:00.5' DAY TO SECOND AS `c3`, `t`.`ts` + INTERVAL -'1' HOUR AS `c4`, `t`.`ts` + INTERVAL '90' DAY(3) AS `c5`, `t`.`ts` + INTERVAL '1.5' SECOND(2, 3) AS `c6`, `t`.`ts` + INTERVAL '-1' HOUR AS `c7`
FROM `t`
--#
SELECT EXTRACT(YEAR FROM ts) AS c1, FLOOR(ts TO DAY) AS c2, CEIL(ts TO MONTH) AS c3, FLOOR(f) AS c4, CEIL(f) AS c5, YEAR(ts) AS c6, TIMESTAMPDIFF(DAY, ts, ts) AS c7, TIMESTAMPADD(HOUR, 1, ts) AS c8, CEILING(f) AS c9, QUARTER(ts) AS c10 FROM t
--=
SELECT EXTRACT(YEAR FROM `t`.`ts`) AS `c1`, FLOOR(`t`.`ts` TO DAY) AS `c2`, CEIL(`t`.`ts` TO MONTH) AS `c3`, FLOOR(`t`.`f`) AS `c4`, CEIL(`t`.`f`) AS `c5`, YEAR(`t`.`ts`) AS `c6`, TIMESTAMPDIFF(DAY, `t`.`ts`, `t`.`ts`) AS `c7`, TIMESTAMPADD(HOUR, 1, `t`.`ts`) AS `c8`, CEIL(`t`.`f`) AS `c9`, QUARTER(`t`.`ts`) AS `c10`
FROM `t`
--#
SELECT SUBSTRING(b FROM 1 FOR 2) AS c1, SUBSTRING(b, 1, 2) AS c2, SUBSTRING(b FROM 2) AS c3, TRIM(b) AS c4, TRIM(BOTH 'x' FROM b) AS c5, TRIM(LEADING 'x' FROM b) AS c6, OVERLAY(b PLACING 'x' FROM 1 FOR 2) AS c7, POSITION('x' IN b) AS c8, TRIM(TRAILING FROM b) AS c9, SUBSTR(b, 1, 2) AS c10, TRIM('x' FROM b) AS c11, OVERLAY(b PLACING 'x' FROM 1) AS c12, CHAR_LENGTH(b) AS c13, CHARACTER_LENGTH(b) AS c14 FROM t
--=
SELECT SUBSTRING(`t`.`b` FROM 1 FOR 2) AS `c1`, SUBSTRING(`t`.`b` FROM 1 FOR 2) AS `c2`, SUBSTRING(`t`.`b` FROM 2) AS `c3`, TRIM(BOTH ' ' FROM `t`.`b`) AS `c4`, TRIM(BOTH 'x' FROM `t`.`b`) AS `c5`, TRIM(LEADING 'x' FROM `t`.`b`) AS `c6`, OVERLAY(`t`.`b` PLACING 'x' FROM 1 FOR 2) AS `c7`, POSITION('x' IN `t`.`b`) AS `c8`, TRIM(TRAILING ' ' FROM `t`.`b`) AS `c9`, `SUBSTR`(`t`.`b`, 1, 2) AS `c10`, TRIM(BOTH 'x' FROM `t`.`b`) AS `c11`, OVERLAY(`t`.`b` PLACING 'x' FROM 1) AS `c12`, CHAR_LENGTH(`t`.`b`) AS `c13`, CHARACTER_LENGTH(`t`.`b`) AS `c14`
FROM `t`
--#
SELECT UPPER(b) AS c1, upper(b) AS c2, CONCAT(b, 'x') AS c3, COALESCE(a, 1) AS c4, NULLIF(a, 1) AS c5, IF(bo, 1, 2) AS c6, CURRENT_DATE AS c7, CURRENT_TIMESTAMP AS c8, LOCALTIME AS c9, LOCALTIMESTAMP AS c10, PROCTIME() AS c11, NOW() AS c12, PI() AS c13, RAND() AS c14, LEFT(b, 1) AS c15, IFNULL(a, 1) AS c16, LOCALTIMESTAMP(3) AS c17, md5(b) AS c18, CURRENT_TIME AS c19, E() AS c20 FROM t
--=
SELECT UPPER(`t`.`b`) AS `c1`, UPPER(`t`.`b`) AS `c2`, `CONCAT`(`t`.`b`, 'x') AS `c3`, COALESCE(`t`.`a`, 1) AS `c4`, NULLIF(`t`.`a`, 1) AS `c5`, `IF`(`t`.`bo`, 1, 2) AS `c6`, CURRENT_DATE AS `c7`, CURRENT_TIMESTAMP AS `c8`, LOCALTIME AS `c9`, LOCALTIMESTAMP AS `c10`, `PROCTIME`() AS `c11`, `NOW`() AS `c12`, PI() AS `c13`, RAND() AS `c14`, `LEFT`(`t`.`b`, 1) AS `c15`, `IFNULL`(`t`.`a`, 1) AS `c16`, LOCALTIMESTAMP(3) AS `c17`, `md5`(`t`.`b`) AS `c18`, CURRENT_TIME AS `c19`, `E`() AS `c20`
FROM `t`
--#
SELECT COUNT(DISTINCT a) AS c1, SUM(a) FILTER (WHERE a > 1) AS c2, COUNT(a) AS c3, LISTAGG(b, ',') AS c4, COUNT(*) AS c5, LISTAGG(DISTINCT b) AS c6 FROM t
--=
SELECT COUNT(DISTINCT `t`.`a`) AS `c1`, SUM(`t`.`a`) FILTER (WHERE `t`.`a` > 1) AS `c2`, COUNT(`t`.`a`) AS `c3`, LISTAGG(`t`.`b`, ',') AS `c4`, COUNT(*) AS `c5`, LISTAGG(DISTINCT `t`.`b`) AS `c6`
FROM `t`
--#
SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC) AS c1, SUM(a) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW) AS c2, SUM(a) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS c3, SUM(a) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING) AS c4, COUNT(*) OVER () AS c5, LAG(a, 1) OVER (ORDER BY ts) AS c6, SUM(a) OVER w AS c7 FROM t WINDOW w AS (PARTITION BY b ORDER BY ts)
--=
SELECT ROW_NUMBER() OVER (PARTITION BY `t`.`a` ORDER BY `t`.`b` DESC) AS `c1`, SUM(`t`.`a`) OVER (PARTITION BY `t`.`b` ORDER BY `t`.`ts` RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW) AS `c2`, SUM(`t`.`a`) OVER (ORDER BY `t`.`ts` ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS `c3`, SUM(`t`.`a`) OVER (ORDER BY `t`.`ts` ROWS UNBOUNDED PRECEDING) AS `c4`, COUNT(*) OVER () AS `c5`, LAG(`t`.`a`, 1) OVER (ORDER BY `t`.`ts`) AS `c6`, SUM(`t`.`a`) OVER `w` AS `c7`
FROM `t`
WINDOW `w` AS (PARTITION BY `t`.`b` ORDER BY `t`.`ts`)
--#
SELECT a, b, COUNT(*) AS c FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
--=
SELECT `t`.`a`, `t`.`b`, COUNT(*) AS `c`
FROM `t`
GROUP BY GROUPING SETS((`t`.`a`, `t`.`b`), `t`.`a`, ())
--#
SELECT a, b, COUNT(*) AS c FROM t GROUP BY ROLLUP (a, b)
--=
SELECT `t`.`a`, `t`.`b`, COUNT(*) AS `c`
FROM `t`
GROUP BY ROLLUP(`t`.`a`, `t`.`b`)
--#
SELECT a, b, COUNT(*) AS c FROM t GROUP BY CUBE (a, b)
--=
SELECT `t`.`a`, `t`.`b`, COUNT(*) AS `c`
FROM `t`
GROUP BY CUBE(`t`.`a`, `t`.`b`)
--#
SELECT a, b, COUNT(*) AS c FROM t GROUP BY a, b, ()
--=
SELECT `t`.`a`, `t`.`b`, COUNT(*) AS `c`
FROM `t`
GROUP BY `t`.`a`, `t`.`b`, ()
--#
SELECT COUNT(*) AS c FROM t GROUP BY ()
--=
SELECT COUNT(*) AS `c`
FROM `t`
GROUP BY ()
--#
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) = 1
--=
SELECT `t`.`a`
FROM `t`
QUALIFY (ROW_NUMBER() OVER (PARTITION BY `a` ORDER BY `t`.`b`)) = 1
--#
SELECT a FROM t WHERE (a, b) IN ((1, 'x'), (2, 'y'))
--=
SELECT `t`.`a`
FROM `t`
WHERE ROW(`t`.`a`, `t`.`b`) IN (ROW(1, 'x'), ROW(2, 'y'))
--#
SELECT a FROM t WHERE (a, b) = (1, 'x')
--=
SELECT `t`.`a`
FROM `t`
WHERE ROW(`t`.`a`, `t`.`b`) = ROW(1, 'x')
--#
SELECT a FROM t /*+ OPTIONS('number-of-rows'='2') */ AS x
--=
SELECT `x`.`a`
FROM `t`
/*+ `OPTIONS`('number-of-rows' = '2') */ AS `x`
--#
SELECT a FROM t TABLESAMPLE BERNOULLI (10)
--=
SELECT `t`.`a`
FROM `t` TABLESAMPLE BERNOULLI(10.000000149011612)
--#
SELECT a FROM t TABLESAMPLE SYSTEM (10) REPEATABLE (1)
--=
SELECT `t`.`a`
FROM `t` TABLESAMPLE SYSTEM(10.000000149011612) REPEATABLE(1)
--#
SELECT `a b` AS `x y` FROM t
--=
SELECT `t`.`a b` AS `x y`
FROM `t`
--#
SELECT a AS x FROM t GROUP BY a, b ORDER BY x, COUNT(*)
--=
SELECT `t`.`a` AS `x`
FROM `t`
GROUP BY `t`.`a`, `t`.`b`
ORDER BY `x`, COUNT(*)
--#
SELECT ALL a FROM t
--=
SELECT ALL `t`.`a`
FROM `t`
--#
SELECT a FROM t WHERE a > ALL (SELECT a FROM u)
--=
SELECT `t`.`a`
FROM `t`
WHERE `t`.`a` > ALL (SELECT `u`.`a`
FROM `u`)
--#
SELECT a FROM t WHERE a = SOME (SELECT a FROM u)
--=
SELECT `t`.`a`
FROM `t`
WHERE `t`.`a` = SOME (SELECT `u`.`a`
FROM `u`)
--#
SELECT a FROM t WHERE a = ANY (SELECT a FROM u)
--=
SELECT `t`.`a`
FROM `t`
WHERE `t`.`a` = SOME (SELECT `u`.`a`
FROM `u`)
--#
SELECT a AS k FROM t WHERE a = 1 OR a = 2 OR a = 3
--=
SELECT `t`.`a` AS `k`
FROM `t`
WHERE `t`.`a` = 1 OR `t`.`a` = 2 OR `t`.`a` = 3
--#
SELECT JSON_VALUE(b, '$.a') AS c1, JSON_VALUE(b, '$.a' RETURNING INT NULL ON EMPTY ERROR ON ERROR) AS c2, JSON_VALUE(b, '$.a' DEFAULT 'x' ON EMPTY DEFAULT 'y' ON ERROR) AS c3, JSON_QUERY(b, '$.a' WITH CONDITIONAL ARRAY WRAPPER NULL ON EMPTY EMPTY ARRAY ON ERROR) AS c4, JSON_QUERY(b, '$') AS c5, JSON_EXISTS(b, '$.a' TRUE ON ERROR) AS c6, JSON_EXISTS(b, '$.a') AS c7, JSON_QUERY(b, '$' RETURNING ARRAY<STRING> WITHOUT ARRAY WRAPPER) AS c8 FROM t
--=
SELECT JSON_VALUE(`t`.`b`, '$.a') AS `c1`, JSON_VALUE(`t`.`b`, '$.a' RETURNING INTEGER NULL ON EMPTY ERROR ON ERROR) AS `c2`, JSON_VALUE(`t`.`b`, '$.a' DEFAULT 'x' ON EMPTY DEFAULT 'y' ON ERROR) AS `c3`, JSON_QUERY(`t`.`b`, '$.a' WITH CONDITIONAL ARRAY WRAPPER NULL ON EMPTY EMPTY ARRAY ON ERROR) AS `c4`, JSON_QUERY(`t`.`b`, '$' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `c5`, JSON_EXISTS(`t`.`b`, '$.a' TRUE ON ERROR) AS `c6`, JSON_EXISTS(`t`.`b`, '$.a') AS `c7`, JSON_QUERY(`t`.`b`, '$' RETURNING ARRAY< STRING > WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `c8`
FROM `t`
--#
SELECT b IS JSON AS c1, b IS NOT JSON OBJECT AS c2, b IS JSON SCALAR AS c3 FROM t
--=
SELECT `t`.`b` IS JSON VALUE AS `c1`, `t`.`b` IS NOT JSON OBJECT AS `c2`, `t`.`b` IS JSON SCALAR AS `c3`
FROM `t`
--#
SELECT JSON_OBJECT(NULL ON NULL) AS c1 FROM t
--=
SELECT JSON_OBJECT(NULL ON NULL) AS `c1`
FROM `t`
--#
SELECT JSON_VALUE('{}', 'lax $.a' RETURNING BOOLEAN DEFAULT TRUE ON EMPTY) AS c1 FROM t
--=
SELECT JSON_VALUE('{}', 'lax $.a' RETURNING BOOLEAN DEFAULT TRUE ON EMPTY) AS `c1`
FROM `t`
--#
SELECT a FROM t WHERE a > 1 AND (b = 'x' OR b = 'y') AND a < 5
--=
SELECT `t`.`a`
FROM `t`
WHERE `t`.`a` > 1 AND (`t`.`b` = 'x' OR `t`.`b` = 'y') AND `t`.`a` < 5
--#
SELECT a FROM t GROUP BY a HAVING SUM(a) > 1 ORDER BY SUM(a)
--=
SELECT `t`.`a`
FROM `t`
GROUP BY `t`.`a`
HAVING SUM(`t`.`a`) > 1
ORDER BY SUM(`a`)
--#
SELECT a, RANK() OVER (PARTITION BY b ORDER BY a NULLS FIRST) AS rk FROM (SELECT a, b FROM t WHERE a > 0) AS q WHERE q.a < 10
--=
SELECT `q`.`a`, RANK() OVER (PARTITION BY `q`.`b` ORDER BY `q`.`a` NULLS FIRST) AS `rk`
FROM (SELECT `t`.`a`, `t`.`b`
FROM `t`
WHERE `t`.`a` > 0) AS `q`
WHERE `q`.`a` < 10
--#
SELECT GROUPING(a) AS g, GROUPING_ID(a, b) AS h FROM t GROUP BY CUBE (a, b)
--=
SELECT GROUPING(`t`.`a`) AS `g`, GROUPING_ID(`t`.`a`, `t`.`b`) AS `h`
FROM `t`
GROUP BY CUBE(`t`.`a`, `t`.`b`)
--#
SELECT t.* FROM t
--=
SELECT `t`.*
FROM `t`
--#
SELECT (SELECT 1) + 1 AS x, EXISTS (SELECT 1) AS y FROM t
--=
SELECT (SELECT 1) + 1 AS `x`, EXISTS (SELECT 1) AS `y`
FROM `t`
--#
SELECT b IN ('x') AND a NOT IN (1) OR a IS NULL AS x FROM t
--=
SELECT `t`.`b` IN ('x') AND `t`.`a` NOT IN (1) OR `t`.`a` IS NULL AS `x`
FROM `t`
--#
SELECT PERIOD (ts, ts) OVERLAPS (ts, ts) AS x FROM t
--=
SELECT PERIOD (`t`.`ts`, `t`.`ts`) OVERLAPS PERIOD (`t`.`ts`, `t`.`ts`) AS `x`
FROM `t`
--#
SELECT (ts, ts) OVERLAPS (ts, ts) AS x FROM t
--=
SELECT PERIOD (`t`.`ts`, `t`.`ts`) OVERLAPS PERIOD (`t`.`ts`, `t`.`ts`) AS `x`
FROM `t`
--#
SELECT a FROM default_database.t
--=
SELECT `t`.`a`
FROM `t`
--#
SELECT a FROM t ORDER BY 1
--=
SELECT `t`.`a`
FROM `t`
ORDER BY 1
--#
SELECT DATE_FORMAT(ts, 'yyyy') AS a1, TO_DATE(b) AS a2, TO_TIMESTAMP(b, 'x') AS a3, CAST(ts AS DATE) AS a4, UNIX_TIMESTAMP() AS a5, DAYOFMONTH(dt) AS a6, HOUR(ts) AS a7, SECOND(ts) AS a8, WEEK(ts) AS a9 FROM t
--=
SELECT `DATE_FORMAT`(`t`.`ts`, 'yyyy') AS `a1`, `TO_DATE`(`t`.`b`) AS `a2`, `TO_TIMESTAMP`(`t`.`b`, 'x') AS `a3`, CAST(`t`.`ts` AS DATE) AS `a4`, `UNIX_TIMESTAMP`() AS `a5`, DAYOFMONTH(`t`.`dt`) AS `a6`, HOUR(`t`.`ts`) AS `a7`, SECOND(`t`.`ts`) AS `a8`, WEEK(`t`.`ts`) AS `a9`
FROM `t`
--#
SELECT APPROX_COUNT_DISTINCT(a) AS x, STDDEV_POP(a) AS y, VAR_SAMP(a) AS z, COLLECT(a) AS w, ARRAY_AGG(a) AS v, ARRAY_AGG(DISTINCT a) AS q FROM t
--=
SELECT APPROX_COUNT_DISTINCT(`t`.`a`) AS `x`, STDDEV_POP(`t`.`a`) AS `y`, VAR_SAMP(`t`.`a`) AS `z`, COLLECT(`t`.`a`) AS `w`, ARRAY_AGG(`t`.`a`) AS `v`, ARRAY_AGG(DISTINCT `t`.`a`) AS `q`
FROM `t`
--#
SELECT a = 1, a + 1 FROM t
--=
SELECT `t`.`a` = 1, `t`.`a` + 1
FROM `t`
--#
SELECT CAST(NULL AS STRING) AS c1 FROM t
--=
SELECT CAST(NULL AS STRING) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS INT) AS c1 FROM t
--=
SELECT CAST(NULL AS INTEGER) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS INTEGER) AS c1 FROM t
--=
SELECT CAST(NULL AS INTEGER) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS BIGINT) AS c1 FROM t
--=
SELECT CAST(NULL AS BIGINT) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS TINYINT) AS c1 FROM t
--=
SELECT CAST(NULL AS TINYINT) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS SMALLINT) AS c1 FROM t
--=
SELECT CAST(NULL AS SMALLINT) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS FLOAT) AS c1 FROM t
--=
SELECT CAST(NULL AS FLOAT) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS DOUBLE) AS c1 FROM t
--=
SELECT CAST(NULL AS DOUBLE) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS DOUBLE PRECISION) AS c1 FROM t
--=
SELECT CAST(NULL AS DOUBLE) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS DECIMAL(10,2)) AS c1 FROM t
--=
SELECT CAST(NULL AS DECIMAL(10, 2)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS DEC(5,1)) AS c1 FROM t
--=
SELECT CAST(NULL AS DECIMAL(5, 1)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS BOOLEAN) AS c1 FROM t
--=
SELECT CAST(NULL AS BOOLEAN) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS CHAR(3)) AS c1 FROM t
--=
SELECT CAST(NULL AS CHAR(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS VARCHAR(3)) AS c1 FROM t
--=
SELECT CAST(NULL AS VARCHAR(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS BYTES) AS c1 FROM t
--=
SELECT CAST(NULL AS BYTES) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS BINARY(3)) AS c1 FROM t
--=
SELECT CAST(NULL AS BINARY(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS VARBINARY(3)) AS c1 FROM t
--=
SELECT CAST(NULL AS VARBINARY(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS DATE) AS c1 FROM t
--=
SELECT CAST(NULL AS DATE) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS TIME) AS c1 FROM t
--=
SELECT CAST(NULL AS TIME) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS TIME(3)) AS c1 FROM t
--=
SELECT CAST(NULL AS TIME(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS TIMESTAMP) AS c1 FROM t
--=
SELECT CAST(NULL AS TIMESTAMP) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS TIMESTAMP(3)) AS c1 FROM t
--=
SELECT CAST(NULL AS TIMESTAMP(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS TIMESTAMP(3) WITHOUT TIME ZONE) AS c1 FROM t
--=
SELECT CAST(NULL AS TIMESTAMP(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS TIMESTAMP_LTZ) AS c1 FROM t
--=
SELECT CAST(NULL AS TIMESTAMP_LTZ) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS TIMESTAMP_LTZ(3)) AS c1 FROM t
--=
SELECT CAST(NULL AS TIMESTAMP_LTZ(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS ARRAY<INT>) AS c1 FROM t
--=
SELECT CAST(NULL AS ARRAY< INTEGER >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS ARRAY<STRING NOT NULL>) AS c1 FROM t
--=
SELECT CAST(NULL AS ARRAY< STRING NOT NULL >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS MAP<STRING, INT>) AS c1 FROM t
--=
SELECT CAST(NULL AS MAP< STRING, INTEGER >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS MAP<STRING, ARRAY<INT>>) AS c1 FROM t
--=
SELECT CAST(NULL AS MAP< STRING, ARRAY< INTEGER > >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS MULTISET<INT>) AS c1 FROM t
--=
SELECT CAST(NULL AS MULTISET< INTEGER >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS ROW<x INT, y STRING>) AS c1 FROM t
--=
SELECT CAST(NULL AS ROW< `x` INTEGER, `y` STRING >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS ROW<x INT NOT NULL, y ROW<z TIMESTAMP(3)>>) AS c1 FROM t
--=
SELECT CAST(NULL AS ROW< `x` INTEGER NOT NULL, `y` ROW< `z` TIMESTAMP(3) > >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS INTERVAL DAY) AS c1 FROM t
--=
SELECT CAST(NULL AS INTERVAL DAY) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS INTERVAL DAY TO SECOND) AS c1 FROM t
--=
SELECT CAST(NULL AS INTERVAL DAY TO SECOND) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS INTERVAL YEAR TO MONTH) AS c1 FROM t
--=
SELECT CAST(NULL AS INTERVAL YEAR TO MONTH) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS INTERVAL DAY(3) TO SECOND(3)) AS c1 FROM t
--=
SELECT CAST(NULL AS INTERVAL DAY(3) TO SECOND(3)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS ROW<x INT 'comment'>) AS c1 FROM t
--=
SELECT CAST(NULL AS ROW< `x` INTEGER 'comment' >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS VARIANT) AS c1 FROM t
--=
SELECT CAST(NULL AS VARIANT) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS ARRAY<ROW<a INT>>) AS c1 FROM t
--=
SELECT CAST(NULL AS ARRAY< ROW< `a` INTEGER > >) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS CHARACTER VARYING(4)) AS c1 FROM t
--=
SELECT CAST(NULL AS VARCHAR(4)) AS `c1`
FROM `t`
--#
SELECT CAST(NULL AS INTERVAL HOUR TO SECOND) AS c1 FROM t
--=
SELECT CAST(NULL AS INTERVAL HOUR TO SECOND) AS `c1`
FROM `t`
--#
SELECT TRY_CAST(b AS INT) AS c2 FROM t
--=
SELECT TRY_CAST(`t`.`b` AS INTEGER) AS `c2`
FROM `t`
--#
SELECT a, x0 FROM t CROSS JOIN UNNEST(arr) AS s (x0)
--=
SELECT `t`.`a`, `s`.`x0`
FROM `t`
CROSS JOIN UNNEST(`t`.`arr`) AS `s` (`x0`)
--#
SELECT a, x0, o FROM t CROSS JOIN UNNEST(arr) WITH ORDINALITY AS s (x0, o)
--=
SELECT `t`.`a`, `s`.`x0`, `s`.`o`
FROM `t`
CROSS JOIN UNNEST(`t`.`arr`) WITH ORDINALITY AS `s` (`x0`, `o`)
--#
SELECT a, x0 FROM t LEFT JOIN UNNEST(arr) AS s (x0) ON TRUE
--=
SELECT `t`.`a`, `s`.`x0`
FROM `t`
LEFT JOIN UNNEST(`t`.`arr`) AS `s` (`x0`) ON TRUE
--#
SELECT a, x0 FROM t, LATERAL (SELECT u.a AS x0 FROM u WHERE u.a = t.a) AS s
--=
SELECT `t`.`a`, `s`.`x0`
FROM `t`,
LATERAL (SELECT `u`.`a` AS `x0`
FROM `u`
WHERE `u`.`a` = `t`.`a`) AS `s`
--#
SELECT JSON_OBJECTAGG(KEY b VALUE a) AS c1, JSON_ARRAYAGG(a ABSENT ON NULL) AS c2, JSON_OBJECTAGG(b : a NULL ON NULL) AS c3, JSON_ARRAYAGG(a) AS c4 FROM t
--=
SELECT JSON_OBJECTAGG(KEY `t`.`b` VALUE `t`.`a` NULL ON NULL) AS `c1`, JSON_ARRAYAGG(`t`.`a` ABSENT ON NULL) AS `c2`, JSON_OBJECTAGG(KEY `t`.`b` VALUE `t`.`a` NULL ON NULL) AS `c3`, JSON_ARRAYAGG(`t`.`a` ABSENT ON NULL) AS `c4`
FROM `t`
--#
SELECT JSON_OBJECT('a' VALUE JSON_OBJECT('b' VALUE 2)) AS c1, JSON_OBJECT('x' VALUE a + 1, 'y' VALUE a = 1) AS c2 FROM t
--=
SELECT JSON_OBJECT(KEY 'a' VALUE JSON_OBJECT(KEY 'b' VALUE 2 NULL ON NULL) NULL ON NULL) AS `c1`, JSON_OBJECT(KEY 'x' VALUE `t`.`a` + 1, KEY 'y' VALUE `t`.`a` = 1 NULL ON NULL) AS `c2`
FROM `t`
--#
SELECT JSON_QUERY(b, '$.a' WITH UNCONDITIONAL WRAPPER EMPTY OBJECT ON EMPTY ERROR ON ERROR) AS c1 FROM t
--=
SELECT JSON_QUERY(`t`.`b`, '$.a' WITH UNCONDITIONAL ARRAY WRAPPER EMPTY OBJECT ON EMPTY ERROR ON ERROR) AS `c1`
FROM `t`
--#
SELECT JSON_EXISTS(b, '$.a' UNKNOWN ON ERROR) AS c1, JSON_EXISTS(b, '$.a' FALSE ON ERROR) AS c2, JSON_EXISTS(b, '$.a' ERROR ON ERROR) AS c3 FROM t
--=
SELECT JSON_EXISTS(`t`.`b`, '$.a' UNKNOWN ON ERROR) AS `c1`, JSON_EXISTS(`t`.`b`, '$.a' FALSE ON ERROR) AS `c2`, JSON_EXISTS(`t`.`b`, '$.a' ERROR ON ERROR) AS `c3`
FROM `t`
--#
SELECT a FROM t UNION ALL (SELECT a FROM u UNION SELECT a FROM u)
--=
SELECT `t`.`a`
FROM `t`
UNION ALL
(SELECT `u`.`a`
FROM `u`
UNION
SELECT `u`.`a`
FROM `u`)
--#
SELECT a FROM t UNION ALL SELECT a FROM u INTERSECT SELECT a FROM u
--=
SELECT `t`.`a`
FROM `t`
UNION ALL
SELECT `u`.`a`
FROM `u`
INTERSECT
SELECT `u`.`a`
FROM `u`
--#
(SELECT a FROM t) UNION ALL (SELECT a FROM u)
--=
SELECT `t`.`a`
FROM `t`
UNION ALL
SELECT `u`.`a`
FROM `u`
--#
(SELECT a FROM t UNION ALL SELECT a FROM u) INTERSECT SELECT a FROM u
--=
(SELECT `t`.`a`
FROM `t`
UNION ALL
SELECT `u`.`a`
FROM `u`)
INTERSECT
SELECT `u`.`a`
FROM `u`
--#
SELECT a FROM t EXCEPT ALL SELECT a FROM u
--=
SELECT `t`.`a`
FROM `t`
EXCEPT ALL
SELECT `u`.`a`
FROM `u`
--#
SELECT a FROM t INTERSECT ALL SELECT a FROM u
--=
SELECT `t`.`a`
FROM `t`
INTERSECT ALL
SELECT `u`.`a`
FROM `u`
--#
SELECT x.a FROM (SELECT a FROM t UNION ALL SELECT a FROM u) AS x
--=
SELECT `x`.`a`
FROM (SELECT `t`.`a`
FROM `t`
UNION ALL
SELECT `u`.`a`
FROM `u`) AS `x`
--#
SELECT x.a FROM (SELECT a FROM t ORDER BY a LIMIT 3) AS x
--=
SELECT `x`.`a`
FROM (SELECT `t`.`a`
FROM `t`
ORDER BY `a`
FETCH NEXT 3 ROWS ONLY) AS `x`
--#
SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY a LIMIT 3
--=
SELECT `t`.`a`
FROM `t`
UNION ALL
SELECT `u`.`a`
FROM `u`
ORDER BY `a`
FETCH NEXT 3 ROWS ONLY
--#
SELECT a FROM t LIMIT ALL
--=
SELECT `t`.`a`
FROM `t`
--#
SELECT a FROM t OFFSET 3
--=
SELECT `t`.`a`
FROM `t`
OFFSET 3 ROWS
--#
SELECT t.a FROM t INNER JOIN (u INNER JOIN t AS t2 ON u.a = t2.a) ON t.a = u.a
--=
SELECT `t`.`a`
FROM `t`
INNER JOIN (`u` INNER JOIN `t` AS `t2` ON `u`.`a` = `t2`.`a`) ON `t`.`a` = `u`.`a`
--#
SELECT t.a FROM (t INNER JOIN u ON t.a = u.a)
--=
SELECT `t`.`a`
FROM `t`
INNER JOIN `u` ON `t`.`a` = `u`.`a`
--#
SELECT t.a FROM t, u, t AS t2
--=
SELECT `t`.`a`
FROM `t`,
`u`,
`t` AS `t2`
--#
SELECT t.a FROM t, u INNER JOIN t AS t2 ON u.a = t2.a
--=
SELECT `t`.`a`
FROM `t`,
`u`
INNER JOIN `t` AS `t2` ON `u`.`a` = `t2`.`a`
--#
SELECT t.a FROM t LEFT JOIN u ON t.a = u.a INNER JOIN u AS u2 ON u2.a = t.a AND u2.c = u.c
--=
SELECT `t`.`a`
FROM `t`
LEFT JOIN `u` ON `t`.`a` = `u`.`a`
INNER JOIN `u` AS `u2` ON `u2`.`a` = `t`.`a` AND `u2`.`c` = `u`.`c`
--#
SELECT a FROM t WHERE (SELECT MAX(a) FROM u) > 1
--=
SELECT `t`.`a`
FROM `t`
WHERE (SELECT MAX(`u`.`a`)
FROM `u`) > 1
--#
SELECT CASE WHEN a > 1 AND bo THEN a + 1 ELSE NULL END * 2 AS x FROM t
--=
SELECT CASE WHEN `t`.`a` > 1 AND `t`.`bo` THEN `t`.`a` + 1 ELSE NULL END * 2 AS `x`
FROM `t`
--#
SELECT (CASE WHEN bo THEN 1 END) AS x, ((a)) AS y, (a + 1) AS z FROM t
--=
SELECT CASE WHEN `t`.`bo` THEN 1 ELSE NULL END AS `x`, `t`.`a` AS `y`, `t`.`a` + 1 AS `z`
FROM `t`
--#
SELECT a IN (1) = bo AS x, (a BETWEEN 1 AND 2) = bo AS y, (b LIKE 'x') = bo AS z FROM t
--=
SELECT `t`.`a` IN (1) = `t`.`bo` AS `x`, `t`.`a` BETWEEN ASYMMETRIC 1 AND 2 = `t`.`bo` AS `y`, `t`.`b` LIKE 'x' = `t`.`bo` AS `z`
FROM `t`
--#
SELECT (a IS NULL) IS TRUE AS x, (a = 1) IS NULL AS y, (a + 1) IS NULL AS z, NOT a IS NULL AS w, (NOT bo) IS NULL AS v FROM t
--=
SELECT (`t`.`a` IS NULL) IS TRUE AS `x`, `t`.`a` = 1 IS NULL AS `y`, `t`.`a` + 1 IS NULL AS `z`, NOT `t`.`a` IS NULL AS `w`, (NOT `t`.`bo`) IS NULL AS `v`
FROM `t`
--#
SELECT -a * 2 AS x, - (a * 2) AS y, (-a) * 2 AS z, a * -1 AS w, a - -1 AS v, a + -a AS q, - 1 + a AS p FROM t
--=
SELECT - `t`.`a` * 2 AS `x`, - (`t`.`a` * 2) AS `y`, - `t`.`a` * 2 AS `z`, `t`.`a` * -1 AS `w`, `t`.`a` - -1 AS `v`, `t`.`a` + - `t`.`a` AS `q`, -1 + `t`.`a` AS `p`
FROM `t`
--#
SELECT a * (2 * 3) AS x, a / (2 / 3) AS y, (a * 2) / 3 AS z, a % (2 + 1) AS w FROM t
--=
SELECT `t`.`a` * (2 * 3) AS `x`, `t`.`a` / (2 / 3) AS `y`, `t`.`a` * 2 / 3 AS `z`, `t`.`a` % (2 + 1) AS `w`
FROM `t`
--#
SELECT bo AND (bo AND bo) AS x, bo OR (bo OR bo) AS y FROM t
--=
SELECT `t`.`bo` AND (`t`.`bo` AND `t`.`bo`) AS `x`, `t`.`bo` OR (`t`.`bo` OR `t`.`bo`) AS `y`
FROM `t`
--#
SELECT (a = 1) = (a = 2) AS x, a < 1 = bo AS y FROM t
--=
SELECT `t`.`a` = 1 = (`t`.`a` = 2) AS `x`, `t`.`a` < 1 = `t`.`bo` AS `y`
FROM `t`
--#
SELECT (a > 1) IS TRUE AND bo AS x, (bo OR bo) IS TRUE AS y FROM t
--=
SELECT `t`.`a` > 1 IS TRUE AND `t`.`bo` AS `x`, (`t`.`bo` OR `t`.`bo`) IS TRUE AS `y`
FROM `t`
--#
SELECT arr[a + 1] AS x, (arr)[1] AS y, ARRAY[1,2][1] AS z, m['a'] + 1 AS w, MAP['a', ARRAY[1]]['a'][1] AS v FROM t
--=
SELECT `t`.`arr`[`t`.`a` + 1] AS `x`, `t`.`arr`[1] AS `y`, ARRAY[1, 2][1] AS `z`, `t`.`m`['a'] + 1 AS `w`, MAP['a', ARRAY[1]]['a'][1] AS `v`
FROM `t`
--#
SELECT (r).x AS x, (r.y).z AS y, ROW(1, 2).EXPR$0 AS z FROM t
--=
SELECT `r`.`x` AS `x`, `r`.`y`.`z` AS `y`, ROW(1, 2).`EXPR$0` AS `z`
FROM `t`
--#
SELECT a BETWEEN 1 + 1 AND 2 * 3 AND bo AS x, a BETWEEN (1) AND (2) OR bo AS y FROM t
--=
SELECT `t`.`a` BETWEEN ASYMMETRIC 1 + 1 AND 2 * 3 AND `t`.`bo` AS `x`, `t`.`a` BETWEEN ASYMMETRIC 1 AND 2 OR `t`.`bo` AS `y`
FROM `t`
--#
SELECT b || 'x' = 'y' AS x, b || CAST(a AS STRING) AS y, (b || 'x') LIKE 'y%' AS z, b LIKE 'x' || '%' AS w FROM t
--=
SELECT `t`.`b` || 'x' = 'y' AS `x`, `t`.`b` || CAST(`t`.`a` AS STRING) AS `y`, `t`.`b` || 'x' LIKE 'y%' AS `z`, `t`.`b` LIKE 'x' || '%' AS `w`
FROM `t`
--#
SELECT ts + INTERVAL '1' MONTH + INTERVAL '1' DAY AS x, dt + INTERVAL '1' DAY AS y, INTERVAL '1:30' HOUR TO MINUTE AS z, INTERVAL '1.5' SECOND AS w, INTERVAL '10' MINUTE AS v, INTERVAL '1' QUARTER AS q FROM t
--=
SELECT `t`.`ts` + INTERVAL '1' MONTH + INTERVAL '1' DAY AS `x`, `t`.`dt` + INTERVAL '1' DAY AS `y`, INTERVAL '1:30' HOUR TO MINUTE AS `z`, INTERVAL '1.5' SECOND AS `w`, INTERVAL '10' MINUTE AS `v`, INTERVAL '1' QUARTER AS `q`
FROM `t`
--#
SELECT INTERVAL '1' WEEK AS q FROM t
--=
SELECT INTERVAL '1' WEEK AS `q`
FROM `t`
--#
SELECT a AS `select`, a AS `x``y`, b AS `é` FROM t
--=
SELECT `t`.`a` AS `select`, `t`.`a` AS `x``y`, `t`.`b` AS `é`
FROM `t`
--#
SELECT 'it''s' AS x, '' AS y, '\n' AS z, 'a\b' AS w, '😀' AS v FROM t
--=
SELECT 'it''s' AS `x`, '' AS `y`, '\n' AS `z`, 'a\b' AS `w`, _UTF16'😀' AS `v`
FROM `t`
--#
SELECT TIMESTAMP '2024-01-01 10:00:00' AS a1, TIMESTAMP '2024-01-01 10:00:00.000' AS a2, TIME '10:00:00.5' AS a3, DATE '0001-01-01' AS a4, TIMESTAMP '2024-01-01 10:00:00.123456789' AS a5 FROM t
--=
SELECT TIMESTAMP '2024-01-01 10:00:00' AS `a1`, TIMESTAMP '2024-01-01 10:00:00.000' AS `a2`, TIME '10:00:00.5' AS `a3`, DATE '0001-01-01' AS `a4`, TIMESTAMP '2024-01-01 10:00:00.123456789' AS `a5`
FROM `t`
--#
SELECT TRUE AS a1, FALSE AS a2, UNKNOWN AS a3 FROM t
--=
SELECT TRUE AS `a1`, FALSE AS `a2`, UNKNOWN AS `a3`
FROM `t`
--#
SELECT COALESCE(a, NULL) AS x FROM t
--=
SELECT COALESCE(`t`.`a`, NULL) AS `x`
FROM `t`
--#
SELECT EXTRACT(DOW FROM ts) AS a1, EXTRACT(EPOCH FROM ts) AS a2, EXTRACT(DAY FROM INTERVAL '1' DAY) AS a3, EXTRACT(WEEK FROM dt) AS a4, EXTRACT(MILLISECOND FROM ts) AS a5 FROM t
--=
SELECT EXTRACT(DOW FROM `t`.`ts`) AS `a1`, EXTRACT(EPOCH FROM `t`.`ts`) AS `a2`, EXTRACT(DAY FROM INTERVAL '1' DAY) AS `a3`, EXTRACT(WEEK FROM `t`.`dt`) AS `a4`, EXTRACT(MILLISECOND FROM `t`.`ts`) AS `a5`
FROM `t`
--#
SELECT FLOOR(ts TO YEAR) AS a1, CEIL(dt TO WEEK) AS a2, FLOOR(tm TO HOUR) AS a3 FROM t
--=
SELECT FLOOR(`t`.`ts` TO YEAR) AS `a1`, CEIL(`t`.`dt` TO WEEK) AS `a2`, FLOOR(`t`.`tm` TO HOUR) AS `a3`
FROM `t`
--#
SELECT TRIM(LEADING FROM b) AS a1, LTRIM(b) AS a2, BTRIM(b) AS a3, RTRIM(b, 'x') AS a4 FROM t
--=
SELECT TRIM(LEADING ' ' FROM `t`.`b`) AS `a1`, `LTRIM`(`t`.`b`) AS `a2`, `BTRIM`(`t`.`b`) AS `a3`, `RTRIM`(`t`.`b`, 'x') AS `a4`
FROM `t`
--#
SELECT a1.a FROM t AS a1 (a, b, ts, d, f, dt, tm, arr, m, r, bo, tl, ab, vb)
--=
SELECT `a1`.`a`
FROM `t` AS `a1` (`a`, `b`, `ts`, `d`, `f`, `dt`, `tm`, `arr`, `m`, `r`, `bo`, `tl`, `ab`, `vb`)
--#
SELECT COUNT(DISTINCT a, b) AS c1, MAX(a) AS c2, SUM(DISTINCT a) FILTER (WHERE bo) AS c3, COUNT(*) FILTER (WHERE bo) AS c4 FROM t
--=
SELECT COUNT(DISTINCT `t`.`a`, `t`.`b`) AS `c1`, MAX(`t`.`a`) AS `c2`, SUM(DISTINCT `t`.`a`) FILTER (WHERE `t`.`bo`) AS `c3`, COUNT(*) FILTER (WHERE `t`.`bo`) AS `c4`
FROM `t`
--#
SELECT FIRST_VALUE(a) OVER (PARTITION BY b, bo ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c1, LAST_VALUE(a) OVER (ORDER BY ts RANGE UNBOUNDED PRECEDING) AS c2, SUM(a) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS c3, SUM(a) OVER (PARTITION BY b) + 1 AS c4, NTILE(4) OVER (ORDER BY a) AS c5 FROM t
--=
SELECT FIRST_VALUE(`t`.`a`) OVER (PARTITION BY `t`.`b`, `t`.`bo` ORDER BY `t`.`ts` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS `c1`, LAST_VALUE(`t`.`a`) OVER (ORDER BY `t`.`ts` RANGE UNBOUNDED PRECEDING) AS `c2`, SUM(`t`.`a`) OVER (ORDER BY `t`.`ts` ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS `c3`, (SUM(`t`.`a`) OVER (PARTITION BY `t`.`b`)) + 1 AS `c4`, NTILE(4) OVER (ORDER BY `t`.`a`) AS `c5`
FROM `t`
--#
SELECT SUM(a) OVER (w ROWS 2 PRECEDING) AS c1 FROM t WINDOW w AS (PARTITION BY b ORDER BY ts)
--=
SELECT SUM(`t`.`a`) OVER (`w` ROWS 2 PRECEDING) AS `c1`
FROM `t`
WINDOW `w` AS (PARTITION BY `t`.`b` ORDER BY `t`.`ts`)
--#
SELECT SUM(a) OVER w AS c1, MAX(a) OVER v AS c2 FROM t WINDOW w AS (PARTITION BY b ORDER BY ts), v AS (ORDER BY ts DESC)
--=
SELECT SUM(`t`.`a`) OVER `w` AS `c1`, MAX(`t`.`a`) OVER `v` AS `c2`
FROM `t`
WINDOW `w` AS (PARTITION BY `t`.`b` ORDER BY `t`.`ts`),
`v` AS (ORDER BY `t`.`ts` DESC)
--#
SELECT LAG(a, 1) IGNORE NULLS OVER (ORDER BY ts) AS c1 FROM t
--=
SELECT LAG(`t`.`a`, 1) IGNORE NULLS OVER (ORDER BY `t`.`ts`) AS `c1`
FROM `t`
--#
SELECT a FROM t GROUP BY (a)
--=
SELECT `t`.`a`
FROM `t`
GROUP BY `t`.`a`
--#
SELECT a, b FROM t GROUP BY (a, b)
--=
SELECT `t`.`a`, `t`.`b`
FROM `t`
GROUP BY ROW(`t`.`a`, `t`.`b`)
--#
SELECT a, b FROM t GROUP BY ROLLUP ((a, b), bo)
--=
SELECT `t`.`a`, `t`.`b`
FROM `t`
GROUP BY ROLLUP((`t`.`a`, `t`.`b`), `t`.`bo`)
--#
SELECT COUNT(*) AS c FROM t HAVING COUNT(*) > 1
--=
SELECT COUNT(*) AS `c`
FROM `t`
HAVING COUNT(*) > 1
--#
SELECT * FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a DESC) AS rn FROM t) WHERE rn = 1
--=
SELECT *
FROM (SELECT `t`.`a`, ROW_NUMBER() OVER (PARTITION BY `t`.`b` ORDER BY `t`.`a` DESC) AS `rn`
FROM `t`)
WHERE `rn` = 1
--#
SELECT * FROM (SELECT a FROM t)
--=
SELECT *
FROM (SELECT `t`.`a`
FROM `t`)
--#
SELECT a FROM (VALUES (1), (2)) AS x (a)
--=
SELECT `x`.`a`
FROM (VALUES ROW(1),
ROW(2)) AS `x` (`a`)
--#
SELECT EXPR$0 FROM (VALUES 1, 2)
--=
SELECT `EXPR$0`
FROM (VALUES ROW(1),
ROW(2))
--#
SELECT * FROM t WHERE a IN (1, 2) AND b NOT IN ('x', 'y') AND a <> 3 AND a >= 1 AND a <= 5
--=
SELECT *
FROM `t`
WHERE `t`.`a` IN (1, 2) AND `t`.`b` NOT IN ('x', 'y') AND `t`.`a` <> 3 AND `t`.`a` >= 1 AND `t`.`a` <= 5
--#
SELECT DISTINCT a, COUNT(*) AS c FROM t GROUP BY a
--=
SELECT DISTINCT `t`.`a`, COUNT(*) AS `c`
FROM `t`
GROUP BY `t`.`a`
--#
SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u) AND EXISTS (SELECT 1 FROM u)
--=
SELECT `t`.`a`
FROM `t`
WHERE NOT EXISTS (SELECT 1
FROM `u`) AND EXISTS (SELECT 1
FROM `u`)
--#
SELECT a FROM t WHERE NOT (EXISTS (SELECT 1 FROM u))
--=
SELECT `t`.`a`
FROM `t`
WHERE NOT EXISTS (SELECT 1
FROM `u`)
--#
SELECT a FROM t WHERE a NOT IN (SELECT a FROM u WHERE u.c = t.b)
--=
SELECT `t`.`a`
FROM `t`
WHERE `t`.`a` NOT IN (SELECT `u`.`a`
FROM `u`
WHERE `u`.`c` = `t`.`b`)
--#
SELECT a FROM t WHERE (a, b) IN (SELECT a, c FROM u)
--=
SELECT `t`.`a`
FROM `t`
WHERE ROW(`t`.`a`, `t`.`b`) IN (SELECT `u`.`a`, `u`.`c`
FROM `u`)
--#
SELECT a FROM t WHERE (a, b) NOT IN (SELECT a, c FROM u)
--=
SELECT `t`.`a`
FROM `t`
WHERE ROW(`t`.`a`, `t`.`b`) NOT IN (SELECT `u`.`a`, `u`.`c`
FROM `u`)
--#
SELECT NOT (a IN (1, 2)) AS x, NOT (b LIKE 'x') AS y, NOT NOT bo AS z FROM t
--=
SELECT NOT `t`.`a` IN (1, 2) AS `x`, NOT `t`.`b` LIKE 'x' AS `y`, NOT (NOT `t`.`bo`) AS `z`
FROM `t`
--#
SELECT PERCENTILE(f, 0.5) AS x FROM t
--=
SELECT `PERCENTILE`(`t`.`f`, 0.5) AS `x`
FROM `t`
--#
SELECT b AS x FROM t ORDER BY a + 1 DESC, b ASC NULLS FIRST
--=
SELECT `t`.`b` AS `x`
FROM `t`
ORDER BY `t`.`a` + 1 DESC, `t`.`b` NULLS FIRST
--#
WITH x AS (SELECT 1 AS a) SELECT * FROM x UNION ALL SELECT a FROM u ORDER BY 1
--=
WITH `x` AS (SELECT 1 AS `a`) SELECT *
FROM `x`
UNION ALL
SELECT `u`.`a`
FROM `u`
ORDER BY 1
--#
SELECT * FROM (WITH x AS (SELECT 1 AS a) SELECT * FROM x) AS y
--=
SELECT *
FROM (WITH `x` AS (SELECT 1 AS `a`) SELECT *
FROM `x`) AS `y`
--#
SELECT u.* FROM u, t WHERE u.a = t.a AND u.c IS NOT NULL
--=
SELECT `u`.*
FROM `u`,
`t`
WHERE `u`.`a` = `t`.`a` AND `u`.`c` IS NOT NULL
--#
SELECT CEIL(d) AS x, FLOOR(d) AS y, MOD(a, 2) AS z, a % 2 AS w, POWER(a, 2) AS v, LN(f) AS q, LOG10(f) AS p, ROUND(f, 2) AS o, SIGN(a) AS n, RAND(1) AS m, RAND_INTEGER(10) AS l, TRUNCATE(f, 1) AS k, CHAR_LENGTH(b) AS j, LOWER(b) AS i, INITCAP(b) AS h, ASCII(b) AS g, TO_BASE64(b) AS e FROM t
--=
SELECT CEIL(`t`.`d`) AS `x`, FLOOR(`t`.`d`) AS `y`, MOD(`t`.`a`, 2) AS `z`, `t`.`a` % 2 AS `w`, POWER(`t`.`a`, 2) AS `v`, LN(`t`.`f`) AS `q`, LOG10(`t`.`f`) AS `p`, ROUND(`t`.`f`, 2) AS `o`, SIGN(`t`.`a`) AS `n`, RAND(1) AS `m`, RAND_INTEGER(10) AS `l`, TRUNCATE(`t`.`f`, 1) AS `k`, CHAR_LENGTH(`t`.`b`) AS `j`, LOWER(`t`.`b`) AS `i`, INITCAP(`t`.`b`) AS `h`, ASCII(`t`.`b`) AS `g`, `TO_BASE64`(`t`.`b`) AS `e`
FROM `t`
--#
SELECT 1 AS a, 'x' AS b
--=
SELECT 1 AS `a`, 'x' AS `b`
--#
SELECT 1. AS a6, 00012 AS a7, 1e+3 AS a8, 12.34e5 AS a9, 1.0 AS a1, 0.10 AS a2
--=
SELECT 1 AS `a6`, 12 AS `a7`, 1E3 AS `a8`, 1.234E6 AS `a9`, 1.0 AS `a1`, 0.10 AS `a2`
--#
SELECT 1 AS c
--=
SELECT 1 AS `c`
--#
SELECT 2147483648 AS c
--=
SELECT 2147483648 AS `c`
--#
SELECT 1.5 AS c
--=
SELECT 1.5 AS `c`
--#
SELECT 1e3 AS c
--=
SELECT 1E3 AS `c`
--#
SELECT 1.0 AS c
--=
SELECT 1.0 AS `c`
--#
SELECT 'abc' AS c
--=
SELECT 'abc' AS `c`
--#
SELECT TRUE AS c
--=
SELECT TRUE AS `c`
--#
SELECT X'AB' AS c
--=
SELECT X'AB' AS `c`
--#
SELECT DATE '2020-01-31' AS c
--=
SELECT DATE '2020-01-31' AS `c`
--#
SELECT TIME '10:00:00.123' AS c
--=
SELECT TIME '10:00:00.123' AS `c`
--#
SELECT TIMESTAMP '2020-01-01 00:00:00.123456789' AS c
--=
SELECT TIMESTAMP '2020-01-01 00:00:00.123456789' AS `c`
--#
SELECT INTERVAL '1' DAY AS c
--=
SELECT INTERVAL '1' DAY AS `c`
--#
SELECT INTERVAL '1-2' YEAR TO MONTH AS c
--=
SELECT INTERVAL '1-2' YEAR TO MONTH AS `c`
--#
SELECT ARRAY[1,2,3] AS c
--=
SELECT ARRAY[1, 2, 3] AS `c`
--#
SELECT MAP['a',1,'b',2] AS c
--=
SELECT MAP['a', 1, 'b', 2] AS `c`
--#
SELECT ROW(1,'x') AS c
--=
SELECT ROW(1, 'x') AS `c`
--#
SELECT CAST(NULL AS INT) AS c
--=
SELECT CAST(NULL AS INTEGER) AS `c`
--#
SELECT 1/2 AS c
--=
SELECT 1 / 2 AS `c`
--#
SELECT 7/2 AS c
--=
SELECT 7 / 2 AS `c`
--#
SELECT -7/2 AS c
--=
SELECT -7 / 2 AS `c`
--#
SELECT 5 % 3 AS c
--=
SELECT 5 % 3 AS `c`
--#
SELECT -5 % 3 AS c
--=
SELECT -5 % 3 AS `c`
--#
SELECT MOD(-7,3) AS c
--=
SELECT MOD(-7, 3) AS `c`
--#
SELECT 5.0/2 AS c
--=
SELECT 5.0 / 2 AS `c`
--#
SELECT CAST(1 AS DECIMAL(10,2))/CAST(3 AS DECIMAL(10,2)) AS c
--=
SELECT CAST(1 AS DECIMAL(10, 2)) / CAST(3 AS DECIMAL(10, 2)) AS `c`
--#
SELECT CAST(1 AS DECIMAL(38,18))/CAST(3 AS DECIMAL(38,18)) AS c
--=
SELECT CAST(1 AS DECIMAL(38, 18)) / CAST(3 AS DECIMAL(38, 18)) AS `c`
--#
SELECT CAST(1.23 AS DECIMAL(10,2))*CAST(4.5 AS DECIMAL(10,2)) AS c
--=
SELECT CAST(1.23 AS DECIMAL(10, 2)) * CAST(4.5 AS DECIMAL(10, 2)) AS `c`
--#
SELECT CAST(1 AS DECIMAL(38,10))*CAST(2 AS DECIMAL(38,10)) AS c
--=
SELECT CAST(1 AS DECIMAL(38, 10)) * CAST(2 AS DECIMAL(38, 10)) AS `c`
--#
SELECT CAST(1 AS DECIMAL(10,2))+CAST(2 AS DECIMAL(12,4)) AS c
--=
SELECT CAST(1 AS DECIMAL(10, 2)) + CAST(2 AS DECIMAL(12, 4)) AS `c`
--#
SELECT CAST(1 AS DECIMAL(38,18))+CAST(2 AS DECIMAL(38,10)) AS c
--=
SELECT CAST(1 AS DECIMAL(38, 18)) + CAST(2 AS DECIMAL(38, 10)) AS `c`
--#
SELECT CAST(7 AS DECIMAL(10,2)) % CAST(3 AS DECIMAL(10,3)) AS c
--=
SELECT CAST(7 AS DECIMAL(10, 2)) % CAST(3 AS DECIMAL(10, 3)) AS `c`
--#
SELECT CAST(1 AS DECIMAL(10,2)) + 1 AS c
--=
SELECT CAST(1 AS DECIMAL(10, 2)) + 1 AS `c`
--#
SELECT CAST(1 AS DECIMAL(10,2)) * CAST(1.5 AS DOUBLE) AS c
--=
SELECT CAST(1 AS DECIMAL(10, 2)) * CAST(1.5 AS DOUBLE) AS `c`
--#
SELECT CAST(1 AS DECIMAL(10,2)) * 3 AS c
--=
SELECT CAST(1 AS DECIMAL(10, 2)) * 3 AS `c`
--#
SELECT 2147483647 + 1 AS c
--=
SELECT 2147483647 + 1 AS `c`
--#
SELECT CAST(2147483647 AS INT) + CAST(1 AS INT) AS c
--=
SELECT CAST(2147483647 AS INTEGER) + CAST(1 AS INTEGER) AS `c`
--#
SELECT CAST(9223372036854775807 AS BIGINT) + CAST(1 AS BIGINT) AS c
--=
SELECT CAST(9223372036854775807 AS BIGINT) + CAST(1 AS BIGINT) AS `c`
--#
SELECT CAST(2147483647 AS INT) * 2 AS c
--=
SELECT CAST(2147483647 AS INTEGER) * 2 AS `c`
--#
SELECT -CAST(-2147483648 AS INT) AS c
--=
SELECT - CAST(-2147483648 AS INTEGER) AS `c`
--#
SELECT CAST(127 AS TINYINT) + CAST(1 AS TINYINT) AS c
--=
SELECT CAST(127 AS TINYINT) + CAST(1 AS TINYINT) AS `c`
--#
SELECT CAST(1 AS INT) + CAST(1 AS BIGINT) AS c
--=
SELECT CAST(1 AS INTEGER) + CAST(1 AS BIGINT) AS `c`
--#
SELECT CAST(1 AS INT) + CAST(1.5 AS FLOAT) AS c
--=
SELECT CAST(1 AS INTEGER) + CAST(1.5 AS FLOAT) AS `c`
--#
SELECT CAST(1 AS BIGINT) + CAST(1.5 AS FLOAT) AS c
--=
SELECT CAST(1 AS BIGINT) + CAST(1.5 AS FLOAT) AS `c`
--#
SELECT 1.0 = 1 AS c
--=
SELECT 1.0 = 1 AS `c`
--#
SELECT 'a' = 'a ' AS c
--=
SELECT 'a' = 'a ' AS `c`
--#
SELECT CAST('a' AS CHAR(3)) = 'a' AS c
--=
SELECT CAST('a' AS CHAR(3)) = 'a' AS `c`
--#
SELECT CAST('a' AS CHAR(3)) || 'x' AS c
--=
SELECT CAST('a' AS CHAR(3)) || 'x' AS `c`
--#
SELECT CAST('abcdef' AS VARCHAR(3)) AS c
--=
SELECT CAST('abcdef' AS VARCHAR(3)) AS `c`
--#
SELECT CAST('abcdef' AS CHAR(3)) AS c
--=
SELECT CAST('abcdef' AS CHAR(3)) AS `c`
--#
SELECT CAST('ab' AS CHAR(5)) AS c
--=
SELECT CAST('ab' AS CHAR(5)) AS `c`
--#
SELECT CHAR_LENGTH(CAST('ab' AS CHAR(5))) AS c
--=
SELECT CHAR_LENGTH(CAST('ab' AS CHAR(5))) AS `c`
--#
SELECT DATE '2020-01-01' = '2020-01-01' AS c
--=
SELECT DATE '2020-01-01' = '2020-01-01' AS `c`
--#
SELECT TIMESTAMP '2020-01-01 00:00:00' > '2019-12-31 00:00:00' AS c
--=
SELECT TIMESTAMP '2020-01-01 00:00:00' > '2019-12-31 00:00:00' AS `c`
--#
SELECT NULL = NULL AS c
--=
SELECT NULL = NULL AS `c`
--#
SELECT 1 <> NULL AS c
--=
SELECT 1 <> NULL AS `c`
--#
SELECT 1 IS DISTINCT FROM NULL AS c
--=
SELECT 1 IS DISTINCT FROM NULL AS `c`
--#
SELECT NULL IS NOT DISTINCT FROM NULL AS c
--=
SELECT NULL IS NOT DISTINCT FROM NULL AS `c`
--#
SELECT 1 IN (1, NULL) AS c
--=
SELECT 1 IN (1, NULL) AS `c`
--#
SELECT 2 IN (1, NULL) AS c
--=
SELECT 2 IN (1, NULL) AS `c`
--#
SELECT 2 NOT IN (1, NULL) AS c
--=
SELECT 2 NOT IN (1, NULL) AS `c`
--#
SELECT 1 BETWEEN 0 AND 2 AS c
--=
SELECT 1 BETWEEN ASYMMETRIC 0 AND 2 AS `c`
--#
SELECT 1 BETWEEN 2 AND 0 AS c
--=
SELECT 1 BETWEEN ASYMMETRIC 2 AND 0 AS `c`
--#
SELECT 1 BETWEEN SYMMETRIC 2 AND 0 AS c
--=
SELECT 1 BETWEEN SYMMETRIC 2 AND 0 AS `c`
--#
SELECT 'abc' LIKE 'a%' AS c
--=
SELECT 'abc' LIKE 'a%' AS `c`
--#
SELECT 'abc' LIKE 'A%' AS c
--=
SELECT 'abc' LIKE 'A%' AS `c`
--#
SELECT 'a_c' LIKE 'a!_c' ESCAPE '!' AS c
--=
SELECT 'a_c' LIKE 'a!_c' ESCAPE '!' AS `c`
--#
SELECT 'a\c' LIKE 'a\c' AS c
--=
SELECT 'a\c' LIKE 'a\c' AS `c`
--#
SELECT 'abc' SIMILAR TO '(a|b)%' AS c
--=
SELECT 'abc' SIMILAR TO '(a|b)%' AS `c`
--#
SELECT 'abc' SIMILAR TO 'a.c' AS c
--=
SELECT 'abc' SIMILAR TO 'a.c' AS `c`
--#
SELECT TRUE IS UNKNOWN AS c
--=
SELECT TRUE IS UNKNOWN AS `c`
--#
SELECT CAST(NULL AS BOOLEAN) IS UNKNOWN AS c
--=
SELECT CAST(NULL AS BOOLEAN) IS UNKNOWN AS `c`
--#
SELECT CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE) AS c
--=
SELECT CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE) AS `c`
--#
SELECT CAST(' 12 ' AS INT) AS c
--=
SELECT CAST(' 12 ' AS INTEGER) AS `c`
--#
SELECT CAST('12.7' AS INT) AS c
--=
SELECT CAST('12.7' AS INTEGER) AS `c`
--#
SELECT CAST(12.7 AS INT) AS c
--=
SELECT CAST(12.7 AS INTEGER) AS `c`
--#
SELECT CAST(-12.7 AS INT) AS c
--=
SELECT CAST(-12.7 AS INTEGER) AS `c`
--#
SELECT CAST(CAST(12.7 AS DOUBLE) AS INT) AS c
--=
SELECT CAST(CAST(12.7 AS DOUBLE) AS INTEGER) AS `c`
--#
SELECT CAST(CAST(1e20 AS DOUBLE) AS INT) AS c
--=
SELECT CAST(CAST(1E20 AS DOUBLE) AS INTEGER) AS `c`
--#
SELECT CAST(300 AS TINYINT) AS c
--=
SELECT CAST(300 AS TINYINT) AS `c`
--#
SELECT CAST(3000000000 AS INT) AS c
--=
SELECT CAST(3000000000 AS INTEGER) AS `c`
--#
SELECT CAST('1.255' AS DECIMAL(10,2)) AS c
--=
SELECT CAST('1.255' AS DECIMAL(10, 2)) AS `c`
--#
SELECT CAST(1.255 AS DECIMAL(10,2)) AS c
--=
SELECT CAST(1.255 AS DECIMAL(10, 2)) AS `c`
--#
SELECT CAST(1.5 AS STRING) AS c
--=
SELECT CAST(1.5 AS STRING) AS `c`
--#
SELECT CAST(CAST(1.5 AS DOUBLE) AS STRING) AS c
--=
SELECT CAST(CAST(1.5 AS DOUBLE) AS STRING) AS `c`
--#
SELECT CAST(CAST(1e10 AS DOUBLE) AS STRING) AS c
--=
SELECT CAST(CAST(1E10 AS DOUBLE) AS STRING) AS `c`
--#
SELECT CAST(CAST(1e-5 AS DOUBLE) AS STRING) AS c
--=
SELECT CAST(CAST(1E-5 AS DOUBLE) AS STRING) AS `c`
--#
SELECT CAST(CAST(100 AS DOUBLE) AS STRING) AS c
--=
SELECT CAST(CAST(100 AS DOUBLE) AS STRING) AS `c`
--#
SELECT CAST(CAST(1.1 AS FLOAT) AS STRING) AS c
--=
SELECT CAST(CAST(1.1 AS FLOAT) AS STRING) AS `c`
--#
SELECT CAST(CAST(1.1 AS FLOAT) AS DOUBLE) AS c
--=
SELECT CAST(CAST(1.1 AS FLOAT) AS DOUBLE) AS `c`
--#
SELECT CAST(TRUE AS STRING) AS c
--=
SELECT CAST(TRUE AS STRING) AS `c`
--#
SELECT CAST(TRUE AS INT) AS c
--=
SELECT CAST(TRUE AS INTEGER) AS `c`
--#
SELECT CAST(0 AS BOOLEAN) AS c
--=
SELECT CAST(0 AS BOOLEAN) AS `c`
--#
SELECT CAST(2 AS BOOLEAN) AS c
--=
SELECT CAST(2 AS BOOLEAN) AS `c`
--#
SELECT CAST('true' AS BOOLEAN) AS c
--=
SELECT CAST('true' AS BOOLEAN) AS `c`
--#
SELECT CAST('T' AS BOOLEAN) AS c
--=
SELECT CAST('T' AS BOOLEAN) AS `c`
--#
SELECT CAST('yes' AS BOOLEAN) AS c
--=
SELECT CAST('yes' AS BOOLEAN) AS `c`
--#
SELECT CAST('1' AS BOOLEAN) AS c
--=
SELECT CAST('1' AS BOOLEAN) AS `c`
--#
SELECT CAST('2020-01-01' AS DATE) AS c
--=
SELECT CAST('2020-01-01' AS DATE) AS `c`
--#
SELECT CAST('2020-1-1' AS DATE) AS c
--=
SELECT CAST('2020-1-1' AS DATE) AS `c`
--#
SELECT CAST('2020-01-01 10:00:00' AS DATE) AS c
--=
SELECT CAST('2020-01-01 10:00:00' AS DATE) AS `c`
--#
SELECT CAST('2020-01-01 10:00:00' AS TIMESTAMP(3)) AS c
--=
SELECT CAST('2020-01-01 10:00:00' AS TIMESTAMP(3)) AS `c`
--#
SELECT CAST('2020-01-01' AS TIMESTAMP(3)) AS c
--=
SELECT CAST('2020-01-01' AS TIMESTAMP(3)) AS `c`
--#
SELECT CAST('10:11' AS TIME) AS c
--=
SELECT CAST('10:11' AS TIME) AS `c`
--#
SELECT CAST('10:11:12.987' AS TIME) AS c
--=
SELECT CAST('10:11:12.987' AS TIME) AS `c`
--#
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00.123' AS STRING) AS c
--=
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00.123' AS STRING) AS `c`
--#
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00' AS STRING) AS c
--=
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00' AS STRING) AS `c`
--#
SELECT CAST(CAST('2020-01-01 10:00:00.123456' AS TIMESTAMP(3)) AS STRING) AS c
--=
SELECT CAST(CAST('2020-01-01 10:00:00.123456' AS TIMESTAMP(3)) AS STRING) AS `c`
--#
SELECT CAST(CAST('2020-01-01 10:00:00' AS TIMESTAMP(3)) AS STRING) AS c
--=
SELECT CAST(CAST('2020-01-01 10:00:00' AS TIMESTAMP(3)) AS STRING) AS `c`
--#
SELECT CAST(DATE '2020-01-01' AS STRING) AS c
--=
SELECT CAST(DATE '2020-01-01' AS STRING) AS `c`
--#
SELECT CAST(DATE '2020-01-01' AS TIMESTAMP(3)) AS c
--=
SELECT CAST(DATE '2020-01-01' AS TIMESTAMP(3)) AS `c`
--#
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00' AS DATE) AS c
--=
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00' AS DATE) AS `c`
--#
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00' AS TIME) AS c
--=
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00' AS TIME) AS `c`
--#
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00' AS TIMESTAMP_LTZ(3)) AS c
--=
SELECT CAST(TIMESTAMP '2020-01-01 10:00:00' AS TIMESTAMP_LTZ(3)) AS `c`
--#
SELECT CAST(CAST(TIMESTAMP '2020-01-01 10:00:00' AS TIMESTAMP_LTZ(3)) AS STRING) AS c
--=
SELECT CAST(CAST(TIMESTAMP '2020-01-01 10:00:00' AS TIMESTAMP_LTZ(3)) AS STRING) AS `c`
--#
SELECT CAST(CAST(TIMESTAMP '2020-01-01 10:00:00' AS TIMESTAMP_LTZ(3)) AS TIMESTAMP(3)) AS c
--=
SELECT CAST(CAST(TIMESTAMP '2020-01-01 10:00:00' AS TIMESTAMP_LTZ(3)) AS TIMESTAMP(3)) AS `c`
--#
SELECT CAST(ARRAY[1,2,NULL] AS STRING) AS c
--=
SELECT CAST(ARRAY[1, 2, NULL] AS STRING) AS `c`
--#
SELECT CAST(MAP['a',1] AS STRING) AS c
--=
SELECT CAST(MAP['a', 1] AS STRING) AS `c`
--#
SELECT CAST(X'48656C6C6F' AS STRING) AS c
--=
SELECT CAST(X'48656C6C6F' AS STRING) AS `c`
--#
SELECT CAST('Hello' AS BYTES) AS c
--=
SELECT CAST('Hello' AS BYTES) AS `c`
--#
SELECT CAST(INTERVAL '1 02:03:04' DAY TO SECOND AS STRING) AS c
--=
SELECT CAST(INTERVAL '1 02:03:04' DAY TO SECOND AS STRING) AS `c`
--#
SELECT CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING) AS c
--=
SELECT CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING) AS `c`
--#
SELECT CAST('1e3' AS DOUBLE) AS c
--=
SELECT CAST('1e3' AS DOUBLE) AS `c`
--#
SELECT CAST('+5' AS INT) AS c
--=
SELECT CAST('+5' AS INTEGER) AS `c`
--#
SELECT CAST('Infinity' AS DOUBLE) AS c
--=
SELECT CAST('Infinity' AS DOUBLE) AS `c`
--#
SELECT TRY_CAST('abc' AS INT) AS c
--=
SELECT TRY_CAST('abc' AS INTEGER) AS `c`
--#
SELECT TRY_CAST('300' AS TINYINT) AS c
--=
SELECT TRY_CAST('300' AS TINYINT) AS `c`
--#
SELECT TRY_CAST(300 AS TINYINT) AS c
--=
SELECT TRY_CAST(300 AS TINYINT) AS `c`
--#
SELECT CHAR_LENGTH('héllo') AS c
--=
SELECT CHAR_LENGTH(_UTF16'héllo') AS `c`
--#
SELECT CHARACTER_LENGTH('abc') AS c
--=
SELECT CHARACTER_LENGTH('abc') AS `c`
--#
SELECT UPPER('straße') AS c
--=
SELECT UPPER(_UTF16'straße') AS `c`
--#
SELECT LOWER('ABC') AS c
--=
SELECT LOWER('ABC') AS `c`
--#
SELECT INITCAP('hello wORLD-foo bar') AS c
--=
SELECT INITCAP('hello wORLD-foo bar') AS `c`
--#
SELECT CONCAT('a','b') AS c
--=
SELECT `CONCAT`('a', 'b') AS `c`
--#
SELECT SUBSTRING('hello' FROM 2 FOR 3) AS c
--=
SELECT SUBSTRING('hello' FROM 2 FOR 3) AS `c`
--#
SELECT SUBSTRING('hello', 0, 2) AS c
--=
SELECT SUBSTRING('hello' FROM 0 FOR 2) AS `c`
--#
SELECT SUBSTRING('hello', -3) AS c
--=
SELECT SUBSTRING('hello' FROM -3) AS `c`
--#
SELECT SUBSTRING('hello', -3, 2) AS c
--=
SELECT SUBSTRING('hello' FROM -3 FOR 2) AS `c`
--#
SELECT SUBSTRING('hello', 2, -1) AS c
--=
SELECT SUBSTRING('hello' FROM 2 FOR -1) AS `c`
--#
SELECT SUBSTR('hello', 0) AS c
--=
SELECT `SUBSTR`('hello', 0) AS `c`
--#
SELECT SUBSTR('hello', -3) AS c
--=
SELECT `SUBSTR`('hello', -3) AS `c`
--#
SELECT POSITION('l' IN 'hello') AS c
--=
SELECT POSITION('l' IN 'hello') AS `c`
--#
SELECT POSITION('' IN 'hello') AS c
--=
SELECT POSITION('' IN 'hello') AS `c`
--#
SELECT LOCATE('l', 'hello') AS c
--=
SELECT `LOCATE`('l', 'hello') AS `c`
--#
SELECT LOCATE('l', 'hello', 4) AS c
--=
SELECT `LOCATE`('l', 'hello', 4) AS `c`
--#
SELECT INSTR('hello', 'l') AS c
--=
SELECT `INSTR`('hello', 'l') AS `c`
--#
SELECT TRIM(BOTH 'x' FROM 'xxaxx') AS c
--=
SELECT TRIM(BOTH 'x' FROM 'xxaxx') AS `c`
--#
SELECT TRIM(LEADING 'x' FROM 'xxaxx') AS c
--=
SELECT TRIM(LEADING 'x' FROM 'xxaxx') AS `c`
--#
SELECT TRIM('  a  ') AS c
--=
SELECT TRIM(BOTH ' ' FROM '  a  ') AS `c`
--#
SELECT TRIM(BOTH 'xy' FROM 'xyayx') AS c
--=
SELECT TRIM(BOTH 'xy' FROM 'xyayx') AS `c`
--#
SELECT LTRIM('  a ') AS c
--=
SELECT `LTRIM`('  a ') AS `c`
--#
SELECT LTRIM('xxa', 'x') AS c
--=
SELECT `LTRIM`('xxa', 'x') AS `c`
--#
SELECT RTRIM(' a  ') AS c
--=
SELECT `RTRIM`(' a  ') AS `c`
--#
SELECT REPLACE('hello','l','L') AS c
--=
SELECT REPLACE('hello', 'l', 'L') AS `c`
--#
SELECT REGEXP_REPLACE('foobar', 'oo|ar', 'X') AS c
--=
SELECT `REGEXP_REPLACE`('foobar', 'oo|ar', 'X') AS `c`
--#
SELECT REGEXP_REPLACE('foobar', '(o)', '$1$1') AS c
--=
SELECT `REGEXP_REPLACE`('foobar', '(o)', '$1$1') AS `c`
--#
SELECT REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2) AS c
--=
SELECT `REGEXP_EXTRACT`('foothebar', 'foo(.*?)(bar)', 2) AS `c`
--#
SELECT REGEXP('foobar', 'o+') AS c
--=
SELECT `REGEXP`('foobar', 'o+') AS `c`
--#
SELECT OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6 FOR 2) AS c
--=
SELECT OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6 FOR 2) AS `c`
--#
SELECT OVERLAY('abc' PLACING 'X' FROM 10) AS c
--=
SELECT OVERLAY('abc' PLACING 'X' FROM 10) AS `c`
--#
SELECT LPAD('hi', 4, '?') AS c
--=
SELECT `LPAD`('hi', 4, '?') AS `c`
--#
SELECT LPAD('hi', 1, '?') AS c
--=
SELECT `LPAD`('hi', 1, '?') AS `c`
--#
SELECT RPAD('hi', 4, '?') AS c
--=
SELECT `RPAD`('hi', 4, '?') AS `c`
--#
SELECT LEFT('hello', 2) AS c
--=
SELECT `LEFT`('hello', 2) AS `c`
--#
SELECT RIGHT('hello', 2) AS c
--=
SELECT `RIGHT`('hello', 2) AS `c`
--#
SELECT LEFT('hello', -1) AS c
--=
SELECT `LEFT`('hello', -1) AS `c`
--#
SELECT RIGHT('hello', -2) AS c
--=
SELECT `RIGHT`('hello', -2) AS `c`
--#
SELECT REPEAT('ab', 3) AS c
--=
SELECT `REPEAT`('ab', 3) AS `c`
--#
SELECT REVERSE('abc') AS c
--=
SELECT `REVERSE`('abc') AS `c`
--#
SELECT ASCII('abc') AS c
--=
SELECT ASCII('abc') AS `c`
--#
SELECT ASCII('') AS c
--=
SELECT ASCII('') AS `c`
--#
SELECT CHR(97) AS c
--=
SELECT `CHR`(97) AS `c`
--#
SELECT CHR(353) AS c
--=
SELECT `CHR`(353) AS `c`
--#
SELECT ENCODE('hello','UTF-8') AS c
--=
SELECT `ENCODE`('hello', 'UTF-8') AS `c`
--#
SELECT DECODE(X'68656C6C6F','UTF-8') AS c
--=
SELECT `DECODE`(X'68656C6C6F', 'UTF-8') AS `c`
--#
SELECT FROM_BASE64('aGVsbG8=') AS c
--=
SELECT `FROM_BASE64`('aGVsbG8=') AS `c`
--#
SELECT TO_BASE64('hello') AS c
--=
SELECT `TO_BASE64`('hello') AS `c`
--#
SELECT MD5('hello') AS c
--=
SELECT `MD5`('hello') AS `c`
--#
SELECT SHA1('hello') AS c
--=
SELECT `SHA1`('hello') AS `c`
--#
SELECT SHA224('hello') AS c
--=
SELECT `SHA224`('hello') AS `c`
--#
SELECT SHA256('hello') AS c
--=
SELECT `SHA256`('hello') AS `c`
--#
SELECT SHA2('hello', 256) AS c
--=
SELECT `SHA2`('hello', 256) AS `c`
--#
SELECT HEX('hello') AS c
--=
SELECT `HEX`('hello') AS `c`
--#
SELECT HEX(255) AS c
--=
SELECT `HEX`(255) AS `c`
--#
SELECT BIN(4) AS c
--=
SELECT `BIN`(4) AS `c`
--#
SELECT UUID() AS c
--=
SELECT `UUID`() AS `c`
--#
SELECT SPLIT_INDEX('a,b,c', ',', 1) AS c
--=
SELECT `SPLIT_INDEX`('a,b,c', ',', 1) AS `c`
--#
SELECT SPLIT('a,b,c', ',') AS c
--=
SELECT `SPLIT`('a,b,c', ',') AS `c`
--#
SELECT STR_TO_MAP('a=1,b=2') AS c
--=
SELECT `STR_TO_MAP`('a=1,b=2') AS `c`
--#
SELECT STR_TO_MAP('a:1;b:2', ';', ':') AS c
--=
SELECT `STR_TO_MAP`('a:1;b:2', ';', ':') AS `c`
--#
SELECT PARSE_URL('http://facebook.com/path?k=v', 'QUERY', 'k') AS c
--=
SELECT `PARSE_URL`('http://facebook.com/path?k=v', 'QUERY', 'k') AS `c`
--#
SELECT IS_ALPHA('abc') AS c
--=
SELECT `IS_ALPHA`('abc') AS `c`
--#
SELECT IS_DIGIT('123') AS c
--=
SELECT `IS_DIGIT`('123') AS `c`
--#
SELECT IS_DECIMAL('1.5') AS c
--=
SELECT `IS_DECIMAL`('1.5') AS `c`
--#
SELECT IF(TRUE, 1, 2) AS c
--=
SELECT `IF`(TRUE, 1, 2) AS `c`
--#
SELECT COALESCE(NULL, 1) AS c
--=
SELECT COALESCE(NULL, 1) AS `c`
--#
SELECT IFNULL(NULL, 5) AS c
--=
SELECT `IFNULL`(NULL, 5) AS `c`
--#
SELECT NULLIF(1,1) AS c
--=
SELECT NULLIF(1, 1) AS `c`
--#
SELECT GREATEST('a','b') AS c
--=
SELECT `GREATEST`('a', 'b') AS `c`
--#
SELECT TYPEOF(1) AS c
--=
SELECT `TYPEOF`(1) AS `c`
--#
SELECT TYPEOF(CAST(1 AS DECIMAL(10,2))) AS c
--=
SELECT `TYPEOF`(CAST(1 AS DECIMAL(10, 2))) AS `c`
--#
SELECT HASH_CODE('a') AS c
--=
SELECT `HASH_CODE`('a') AS `c`
--#
SELECT ABS(-5) AS c
--=
SELECT ABS(-5) AS `c`
--#
SELECT ABS(CAST(-2147483648 AS INT)) AS c
--=
SELECT ABS(CAST(-2147483648 AS INTEGER)) AS `c`
--#
SELECT CEIL(1.2) AS c
--=
SELECT CEIL(1.2) AS `c`
--#
SELECT CEIL(CAST(1.2 AS DOUBLE)) AS c
--=
SELECT CEIL(CAST(1.2 AS DOUBLE)) AS `c`
--#
SELECT CEILING(-1.2) AS c
--=
SELECT CEIL(-1.2) AS `c`
--#
SELECT FLOOR(-1.2) AS c
--=
SELECT FLOOR(-1.2) AS `c`
--#
SELECT FLOOR(5) AS c
--=
SELECT FLOOR(5) AS `c`
--#
SELECT ROUND(2.5) AS c
--=
SELECT ROUND(2.5) AS `c`
--#
SELECT ROUND(-2.5) AS c
--=
SELECT ROUND(-2.5) AS `c`
--#
SELECT ROUND(CAST(2.5 AS DOUBLE)) AS c
--=
SELECT ROUND(CAST(2.5 AS DOUBLE)) AS `c`
--#
SELECT ROUND(CAST(0.125 AS DOUBLE), 2) AS c
--=
SELECT ROUND(CAST(0.125 AS DOUBLE), 2) AS `c`
--#
SELECT ROUND(1234.567, -2) AS c
--=
SELECT ROUND(1234.567, -2) AS `c`
--#
SELECT ROUND(12345, -2) AS c
--=
SELECT ROUND(12345, -2) AS `c`
--#
SELECT TRUNCATE(42.345, 2) AS c
--=
SELECT TRUNCATE(42.345, 2) AS `c`
--#
SELECT TRUNCATE(-42.345, -1) AS c
--=
SELECT TRUNCATE(-42.345, -1) AS `c`
--#
SELECT TRUNCATE(CAST(42.345 AS DOUBLE), 2) AS c
--=
SELECT TRUNCATE(CAST(42.345 AS DOUBLE), 2) AS `c`
--#
SELECT POWER(2, 10) AS c
--=
SELECT POWER(2, 10) AS `c`
--#
SELECT SQRT(2) AS c
--=
SELECT SQRT(2) AS `c`
--#
SELECT SQRT(-1) AS c
--=
SELECT SQRT(-1) AS `c`
--#
SELECT EXP(1) AS c
--=
SELECT EXP(1) AS `c`
--#
SELECT LN(0) AS c
--=
SELECT LN(0) AS `c`
--#
SELECT LN(-1) AS c
--=
SELECT LN(-1) AS `c`
--#
SELECT LN(10) AS c
--=
SELECT LN(10) AS `c`
--#
SELECT LOG(10) AS c
--=
SELECT `LOG`(10) AS `c`
--#
SELECT LOG(2, 8) AS c
--=
SELECT `LOG`(2, 8) AS `c`
--#
SELECT LOG10(100) AS c
--=
SELECT LOG10(100) AS `c`
--#
SELECT LOG2(8) AS c
--=
SELECT `LOG2`(8) AS `c`
--#
SELECT SIN(1) AS c
--=
SELECT SIN(1) AS `c`
--#
SELECT COSH(1) AS c
--=
SELECT `COSH`(1) AS `c`
--#
SELECT TAN(1) AS c
--=
SELECT TAN(1) AS `c`
--#
SELECT COT(1) AS c
--=
SELECT COT(1) AS `c`
--#
SELECT ASIN(2) AS c
--=
SELECT ASIN(2) AS `c`
--#
SELECT ATAN2(1,1) AS c
--=
SELECT ATAN2(1, 1) AS `c`
--#
SELECT SINH(1) AS c
--=
SELECT `SINH`(1) AS `c`
--#
SELECT TANH(1) AS c
--=
SELECT `TANH`(1) AS `c`
--#
SELECT DEGREES(3.14159) AS c
--=
SELECT DEGREES(3.14159) AS `c`
--#
SELECT RADIANS(180) AS c
--=
SELECT RADIANS(180) AS `c`
--#
SELECT PI() AS c
--=
SELECT PI() AS `c`
--#
SELECT PI AS c
--=
SELECT PI AS `c`
--#
SELECT E() AS c
--=
SELECT `E`() AS `c`
--#
SELECT RAND(1) AS c
--=
SELECT RAND(1) AS `c`
--#
SELECT RAND_INTEGER(1, 10) AS c
--=
SELECT RAND_INTEGER(1, 10) AS `c`
--#
SELECT SIGN(-5) AS c
--=
SELECT SIGN(-5) AS `c`
--#
SELECT SIGN(-5.5) AS c
--=
SELECT SIGN(-5.5) AS `c`
--#
SELECT SIGN(CAST(-5.5 AS DOUBLE)) AS c
--=
SELECT SIGN(CAST(-5.5 AS DOUBLE)) AS `c`
--#
SELECT YEAR(DATE '2020-03-15') AS c
--=
SELECT YEAR(DATE '2020-03-15') AS `c`
--#
SELECT QUARTER(DATE '2020-03-15') AS c
--=
SELECT QUARTER(DATE '2020-03-15') AS `c`
--#
SELECT MONTH(DATE '2020-03-15') AS c
--=
SELECT MONTH(DATE '2020-03-15') AS `c`
--#
SELECT WEEK(DATE '2020-01-01') AS c
--=
SELECT WEEK(DATE '2020-01-01') AS `c`
--#
SELECT DAYOFYEAR(DATE '2020-03-15') AS c
--=
SELECT DAYOFYEAR(DATE '2020-03-15') AS `c`
--#
SELECT DAYOFMONTH(DATE '2020-03-15') AS c
--=
SELECT DAYOFMONTH(DATE '2020-03-15') AS `c`
--#
SELECT DAYOFWEEK(DATE '2020-03-15') AS c
--=
SELECT DAYOFWEEK(DATE '2020-03-15') AS `c`
--#
SELECT HOUR(TIMESTAMP '2020-01-01 10:11:12') AS c
--=
SELECT HOUR(TIMESTAMP '2020-01-01 10:11:12') AS `c`
--#
SELECT MINUTE(TIMESTAMP '2020-01-01 10:11:12') AS c
--=
SELECT MINUTE(TIMESTAMP '2020-01-01 10:11:12') AS `c`
--#
SELECT SECOND(TIMESTAMP '2020-01-01 10:11:12') AS c
--=
SELECT SECOND(TIMESTAMP '2020-01-01 10:11:12') AS `c`
--#
SELECT EXTRACT(YEAR FROM DATE '2020-03-15') AS c
--=
SELECT EXTRACT(YEAR FROM DATE '2020-03-15') AS `c`
--#
SELECT EXTRACT(DOW FROM DATE '2020-03-15') AS c
--=
SELECT EXTRACT(DOW FROM DATE '2020-03-15') AS `c`
--#
SELECT EXTRACT(ISODOW FROM DATE '2020-03-15') AS c
--=
SELECT EXTRACT(ISODOW FROM DATE '2020-03-15') AS `c`
--#
SELECT EXTRACT(WEEK FROM DATE '2021-01-01') AS c
--=
SELECT EXTRACT(WEEK FROM DATE '2021-01-01') AS `c`
--#
SELECT EXTRACT(ISOYEAR FROM DATE '2021-01-01') AS c
--=
SELECT EXTRACT(ISOYEAR FROM DATE '2021-01-01') AS `c`
--#
SELECT EXTRACT(DOY FROM DATE '2020-03-15') AS c
--=
SELECT EXTRACT(DOY FROM DATE '2020-03-15') AS `c`
--#
SELECT EXTRACT(EPOCH FROM TIMESTAMP '2020-01-01 00:00:00') AS c
--=
SELECT EXTRACT(EPOCH FROM TIMESTAMP '2020-01-01 00:00:00') AS `c`
--#
SELECT EXTRACT(SECOND FROM TIMESTAMP '2020-01-01 00:00:12.345') AS c
--=
SELECT EXTRACT(SECOND FROM TIMESTAMP '2020-01-01 00:00:12.345') AS `c`
--#
SELECT EXTRACT(MILLISECOND FROM TIMESTAMP '2020-01-01 00:00:12.345') AS c
--=
SELECT EXTRACT(MILLISECOND FROM TIMESTAMP '2020-01-01 00:00:12.345') AS `c`
--#
SELECT EXTRACT(MICROSECOND FROM TIMESTAMP '2020-01-01 00:00:12.345') AS c
--=
SELECT EXTRACT(MICROSECOND FROM TIMESTAMP '2020-01-01 00:00:12.345') AS `c`
--#
SELECT EXTRACT(CENTURY FROM DATE '2020-03-15') AS c
--=
SELECT EXTRACT(CENTURY FROM DATE '2020-03-15') AS `c`
--#
SELECT EXTRACT(DECADE FROM DATE '2020-03-15') AS c
--=
SELECT EXTRACT(DECADE FROM DATE '2020-03-15') AS `c`
--#
SELECT EXTRACT(DAY FROM INTERVAL '10 00:00:00' DAY TO SECOND) AS c
--=
SELECT EXTRACT(DAY FROM INTERVAL '10 00:00:00' DAY TO SECOND) AS `c`
--#
SELECT EXTRACT(HOUR FROM INTERVAL '10 05:00:00' DAY TO SECOND) AS c
--=
SELECT EXTRACT(HOUR FROM INTERVAL '10 05:00:00' DAY TO SECOND) AS `c`
--#
SELECT FLOOR(TIMESTAMP '2020-03-15 10:11:12' TO HOUR) AS c
--=
SELECT FLOOR(TIMESTAMP '2020-03-15 10:11:12' TO HOUR) AS `c`
--#
SELECT CEIL(TIMESTAMP '2020-03-15 10:11:12' TO DAY) AS c
--=
SELECT CEIL(TIMESTAMP '2020-03-15 10:11:12' TO DAY) AS `c`
--#
SELECT FLOOR(TIMESTAMP '2020-03-15 10:11:12' TO WEEK) AS c
--=
SELECT FLOOR(TIMESTAMP '2020-03-15 10:11:12' TO WEEK) AS `c`
--#
SELECT FLOOR(DATE '2020-03-15' TO MONTH) AS c
--=
SELECT FLOOR(DATE '2020-03-15' TO MONTH) AS `c`
--#
SELECT FLOOR(TIMESTAMP '2020-03-15 10:11:12' TO YEAR) AS c
--=
SELECT FLOOR(TIMESTAMP '2020-03-15 10:11:12' TO YEAR) AS `c`
--#
SELECT TIMESTAMPADD(MONTH, 1, TIMESTAMP '2020-01-31 00:00:00') AS c
--=
SELECT TIMESTAMPADD(MONTH, 1, TIMESTAMP '2020-01-31 00:00:00') AS `c`
--#
SELECT TIMESTAMPADD(DAY, 1, DATE '2020-01-31') AS c
--=
SELECT TIMESTAMPADD(DAY, 1, DATE '2020-01-31') AS `c`
--#
SELECT TIMESTAMPADD(HOUR, 1, DATE '2020-01-31') AS c
--=
SELECT TIMESTAMPADD(HOUR, 1, DATE '2020-01-31') AS `c`
--#
SELECT TIMESTAMPDIFF(DAY, TIMESTAMP '2020-01-01 00:00:00', TIMESTAMP '2020-01-02 23:00:00') AS c
--=
SELECT TIMESTAMPDIFF(DAY, TIMESTAMP '2020-01-01 00:00:00', TIMESTAMP '2020-01-02 23:00:00') AS `c`
--#
SELECT TIMESTAMPDIFF(MONTH, TIMESTAMP '2020-01-31 00:00:00', TIMESTAMP '2020-02-29 00:00:00') AS c
--=
SELECT TIMESTAMPDIFF(MONTH, TIMESTAMP '2020-01-31 00:00:00', TIMESTAMP '2020-02-29 00:00:00') AS `c`
--#
SELECT TIMESTAMPDIFF(SECOND, TIMESTAMP '2020-01-02 00:00:00', TIMESTAMP '2020-01-01 00:00:00') AS c
--=
SELECT TIMESTAMPDIFF(SECOND, TIMESTAMP '2020-01-02 00:00:00', TIMESTAMP '2020-01-01 00:00:00') AS `c`
--#
SELECT DATE '2020-01-31' + INTERVAL '1' MONTH AS c
--=
SELECT DATE '2020-01-31' + INTERVAL '1' MONTH AS `c`
--#
SELECT DATE '2020-01-31' + INTERVAL '1' DAY AS c
--=
SELECT DATE '2020-01-31' + INTERVAL '1' DAY AS `c`
--#
SELECT TIMESTAMP '2020-01-31 00:00:00' + INTERVAL '1' HOUR AS c
--=
SELECT TIMESTAMP '2020-01-31 00:00:00' + INTERVAL '1' HOUR AS `c`
--#
SELECT INTERVAL '1' DAY * 2 AS c
--=
SELECT INTERVAL '1' DAY * 2 AS `c`
--#
SELECT TO_DATE('2020-01-01') AS c
--=
SELECT `TO_DATE`('2020-01-01') AS `c`
--#
SELECT TO_DATE('01/02/2020', 'MM/dd/yyyy') AS c
--=
SELECT `TO_DATE`('01/02/2020', 'MM/dd/yyyy') AS `c`
--#
SELECT TO_DATE('bad') AS c
--=
SELECT `TO_DATE`('bad') AS `c`
--#
SELECT TO_TIMESTAMP('2020-01-01 10:00:00') AS c
--=
SELECT `TO_TIMESTAMP`('2020-01-01 10:00:00') AS `c`
--#
SELECT TO_TIMESTAMP('2020-01-01 10:00:00.123456') AS c
--=
SELECT `TO_TIMESTAMP`('2020-01-01 10:00:00.123456') AS `c`
--#
SELECT TO_TIMESTAMP('01/02/2020 10:00', 'MM/dd/yyyy HH:mm') AS c
--=
SELECT `TO_TIMESTAMP`('01/02/2020 10:00', 'MM/dd/yyyy HH:mm') AS `c`
--#
SELECT TO_TIMESTAMP('bad') AS c
--=
SELECT `TO_TIMESTAMP`('bad') AS `c`
--#
SELECT TO_TIMESTAMP_LTZ(1577836800, 0) AS c
--=
SELECT `TO_TIMESTAMP_LTZ`(1577836800, 0) AS `c`
--#
SELECT TO_TIMESTAMP_LTZ(1577836800123, 3) AS c
--=
SELECT `TO_TIMESTAMP_LTZ`(1577836800123, 3) AS `c`
--#
SELECT DATE_FORMAT(TIMESTAMP '2020-01-01 10:11:12', 'yyyy-MM-dd HH:mm') AS c
--=
SELECT `DATE_FORMAT`(TIMESTAMP '2020-01-01 10:11:12', 'yyyy-MM-dd HH:mm') AS `c`
--#
SELECT DATE_FORMAT('2020-01-01 10:11:12', 'yyyy/MM') AS c
--=
SELECT `DATE_FORMAT`('2020-01-01 10:11:12', 'yyyy/MM') AS `c`
--#
SELECT FROM_UNIXTIME(44) AS c
--=
SELECT `FROM_UNIXTIME`(44) AS `c`
--#
SELECT FROM_UNIXTIME(1577836800, 'yyyy-MM-dd') AS c
--=
SELECT `FROM_UNIXTIME`(1577836800, 'yyyy-MM-dd') AS `c`
--#
SELECT UNIX_TIMESTAMP('2020-01-01 00:00:00') AS c
--=
SELECT `UNIX_TIMESTAMP`('2020-01-01 00:00:00') AS `c`
--#
SELECT UNIX_TIMESTAMP('2020-01-01','yyyy-MM-dd') AS c
--=
SELECT `UNIX_TIMESTAMP`('2020-01-01', 'yyyy-MM-dd') AS `c`
--#
SELECT UNIX_TIMESTAMP('bad') AS c
--=
SELECT `UNIX_TIMESTAMP`('bad') AS `c`
--#
SELECT CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles') AS c
--=
SELECT `CONVERT_TZ`('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles') AS `c`
--#
SELECT TYPEOF(CURRENT_TIMESTAMP) AS c
--=
SELECT `TYPEOF`(CURRENT_TIMESTAMP) AS `c`
--#
SELECT TYPEOF(LOCALTIMESTAMP) AS c
--=
SELECT `TYPEOF`(LOCALTIMESTAMP) AS `c`
--#
SELECT TYPEOF(NOW()) AS c
--=
SELECT `TYPEOF`(`NOW`()) AS `c`
--#
SELECT TYPEOF(CURRENT_DATE) AS c
--=
SELECT `TYPEOF`(CURRENT_DATE) AS `c`
--#
SELECT TYPEOF(CURRENT_TIME) AS c
--=
SELECT `TYPEOF`(CURRENT_TIME) AS `c`
--#
SELECT TYPEOF(LOCALTIME) AS c
--=
SELECT `TYPEOF`(LOCALTIME) AS `c`
--#
SELECT TYPEOF(CURRENT_ROW_TIMESTAMP()) AS c
--=
SELECT `TYPEOF`(`CURRENT_ROW_TIMESTAMP`()) AS `c`
--#
SELECT (TIME '10:00:00', INTERVAL '1' HOUR) OVERLAPS (TIME '10:30:00', INTERVAL '1' HOUR) AS c
--=
SELECT PERIOD (TIME '10:00:00', INTERVAL '1' HOUR) OVERLAPS PERIOD (TIME '10:30:00', INTERVAL '1' HOUR) AS `c`
--#
SELECT CARDINALITY(ARRAY[1,2,3]) AS c
--=
SELECT CARDINALITY(ARRAY[1, 2, 3]) AS `c`
--#
SELECT CARDINALITY(MAP['a',1]) AS c
--=
SELECT CARDINALITY(MAP['a', 1]) AS `c`
--#
SELECT ARRAY[1,2,3][1] AS c
--=
SELECT ARRAY[1, 2, 3][1] AS `c`
--#
SELECT ARRAY[1,2,3][4] AS c
--=
SELECT ARRAY[1, 2, 3][4] AS `c`
--#
SELECT MAP['a',1]['a'] AS c
--=
SELECT MAP['a', 1]['a'] AS `c`
--#
SELECT MAP['a',1]['b'] AS c
--=
SELECT MAP['a', 1]['b'] AS `c`
--#
SELECT ELEMENT(ARRAY[1]) AS c
--=
SELECT ELEMENT(ARRAY[1]) AS `c`
--#
SELECT ARRAY_CONTAINS(ARRAY[1,2], 2) AS c
--=
SELECT `ARRAY_CONTAINS`(ARRAY[1, 2], 2) AS `c`
--#
SELECT ARRAY_CONTAINS(ARRAY[1,NULL], NULL) AS c
--=
SELECT `ARRAY_CONTAINS`(ARRAY[1, NULL], NULL) AS `c`
--#
SELECT ARRAY_CONTAINS(ARRAY[1,NULL], 5) AS c
--=
SELECT `ARRAY_CONTAINS`(ARRAY[1, NULL], 5) AS `c`
--#
SELECT ARRAY_POSITION(ARRAY[1,2], 2) AS c
--=
SELECT `ARRAY_POSITION`(ARRAY[1, 2], 2) AS `c`
--#
SELECT ARRAY_POSITION(ARRAY[1,2], 5) AS c
--=
SELECT `ARRAY_POSITION`(ARRAY[1, 2], 5) AS `c`
--#
SELECT ARRAY_APPEND(ARRAY[1,2], 3) AS c
--=
SELECT `ARRAY_APPEND`(ARRAY[1, 2], 3) AS `c`
--#
SELECT ARRAY_PREPEND(ARRAY[1,2], 0) AS c
--=
SELECT `ARRAY_PREPEND`(ARRAY[1, 2], 0) AS `c`
--#
SELECT ARRAY_CONCAT(ARRAY[1], ARRAY[2]) AS c
--=
SELECT `ARRAY_CONCAT`(ARRAY[1], ARRAY[2]) AS `c`
--#
SELECT ARRAY_DISTINCT(ARRAY[3,1,1,NULL]) AS c
--=
SELECT `ARRAY_DISTINCT`(ARRAY[3, 1, 1, NULL]) AS `c`
--#
SELECT ARRAY_REMOVE(ARRAY[1,2,1], 1) AS c
--=
SELECT `ARRAY_REMOVE`(ARRAY[1, 2, 1], 1) AS `c`
--#
SELECT ARRAY_REVERSE(ARRAY[1,2,3]) AS c
--=
SELECT `ARRAY_REVERSE`(ARRAY[1, 2, 3]) AS `c`
--#
SELECT ARRAY_SLICE(ARRAY[1,2,3,4], 2, 3) AS c
--=
SELECT `ARRAY_SLICE`(ARRAY[1, 2, 3, 4], 2, 3) AS `c`
--#
SELECT ARRAY_SLICE(ARRAY[1,2,3,4], -2) AS c
--=
SELECT `ARRAY_SLICE`(ARRAY[1, 2, 3, 4], -2) AS `c`
--#
SELECT ARRAY_SLICE(ARRAY[1,2,3,4], 0, 2) AS c
--=
SELECT `ARRAY_SLICE`(ARRAY[1, 2, 3, 4], 0, 2) AS `c`
--#
SELECT ARRAY_SORT(ARRAY[3,1,NULL]) AS c
--=
SELECT `ARRAY_SORT`(ARRAY[3, 1, NULL]) AS `c`
--#
SELECT ARRAY_SORT(ARRAY[3,1,NULL], FALSE) AS c
--=
SELECT `ARRAY_SORT`(ARRAY[3, 1, NULL], FALSE) AS `c`
--#
SELECT ARRAY_UNION(ARRAY[1,2,2], ARRAY[3]) AS c
--=
SELECT `ARRAY_UNION`(ARRAY[1, 2, 2], ARRAY[3]) AS `c`
--#
SELECT ARRAY_INTERSECT(ARRAY[1,1,2], ARRAY[1]) AS c
--=
SELECT `ARRAY_INTERSECT`(ARRAY[1, 1, 2], ARRAY[1]) AS `c`
--#
SELECT ARRAY_EXCEPT(ARRAY[1,1,2], ARRAY[2]) AS c
--=
SELECT `ARRAY_EXCEPT`(ARRAY[1, 1, 2], ARRAY[2]) AS `c`
--#
SELECT ARRAY_MAX(ARRAY[1,NULL,3]) AS c
--=
SELECT `ARRAY_MAX`(ARRAY[1, NULL, 3]) AS `c`
--#
SELECT ARRAY_MIN(ARRAY[1,NULL,3]) AS c
--=
SELECT `ARRAY_MIN`(ARRAY[1, NULL, 3]) AS `c`
--#
SELECT ARRAY_JOIN(ARRAY['a',NULL,'b'], ',') AS c
--=
SELECT `ARRAY_JOIN`(ARRAY['a', NULL, 'b'], ',') AS `c`
--#
SELECT ARRAY_JOIN(ARRAY['a',NULL,'b'], ',', 'N') AS c
--=
SELECT `ARRAY_JOIN`(ARRAY['a', NULL, 'b'], ',', 'N') AS `c`
--#
SELECT MAP_KEYS(MAP['a',1]) AS c
--=
SELECT `MAP_KEYS`(MAP['a', 1]) AS `c`
--#
SELECT MAP_VALUES(MAP['a',1]) AS c
--=
SELECT `MAP_VALUES`(MAP['a', 1]) AS `c`
--#
SELECT MAP_ENTRIES(MAP['a',1]) AS c
--=
SELECT `MAP_ENTRIES`(MAP['a', 1]) AS `c`
--#
SELECT MAP_FROM_ARRAYS(ARRAY['a'], ARRAY[1]) AS c
--=
SELECT `MAP_FROM_ARRAYS`(ARRAY['a'], ARRAY[1]) AS `c`
--#
SELECT MAP_UNION(MAP['a',1], MAP['b',2]) AS c
--=
SELECT `MAP_UNION`(MAP['a', 1], MAP['b', 2]) AS `c`
--#
SELECT CAST(ROW(1,'x') AS ROW<a INT, b STRING>).a AS c
--=
SELECT CAST(ROW(1, 'x') AS ROW< `a` INTEGER, `b` STRING >).`a` AS `c`
--#
SELECT (1,'x') = (1,'x') AS c
--=
SELECT ROW(1, 'x') = ROW(1, 'x') AS `c`
--#
SELECT ARRAY[1,2] = ARRAY[1,2] AS c
--=
SELECT ARRAY[1, 2] = ARRAY[1, 2] AS `c`
--#
SELECT JSON_VALUE('{"a":1}', '$.a') AS c
--=
SELECT JSON_VALUE('{"a":1}', '$.a') AS `c`
--#
SELECT JSON_VALUE('{"a":1}', '$.a' RETURNING INT) AS c
--=
SELECT JSON_VALUE('{"a":1}', '$.a' RETURNING INTEGER) AS `c`
--#
SELECT JSON_VALUE('{"a":true}', 'strict $.b' DEFAULT 'x' ON EMPTY) AS c
--=
SELECT JSON_VALUE('{"a":true}', 'strict $.b' DEFAULT 'x' ON EMPTY) AS `c`
--#
SELECT JSON_VALUE('{"a":[1]}', '$.a') AS c
--=
SELECT JSON_VALUE('{"a":[1]}', '$.a') AS `c`
--#
SELECT JSON_VALUE('bad', '$.a') AS c
--=
SELECT JSON_VALUE('bad', '$.a') AS `c`
--#
SELECT JSON_QUERY('{"a":{"b":1}}', '$.a') AS c
--=
SELECT JSON_QUERY('{"a":{"b":1}}', '$.a' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `c`
--#
SELECT JSON_QUERY('{"a":1}', '$.a' WITH WRAPPER) AS c
--=
SELECT JSON_QUERY('{"a":1}', '$.a' WITH UNCONDITIONAL ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `c`
--#
SELECT JSON_QUERY('{"a":1}', '$.a') AS c
--=
SELECT JSON_QUERY('{"a":1}', '$.a' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `c`
--#
SELECT JSON_EXISTS('{"a":1}', '$.a') AS c
--=
SELECT JSON_EXISTS('{"a":1}', '$.a') AS `c`
--#
SELECT JSON_EXISTS('{"a":1}', 'strict $.b' TRUE ON ERROR) AS c
--=
SELECT JSON_EXISTS('{"a":1}', 'strict $.b' TRUE ON ERROR) AS `c`
--#
SELECT JSON_OBJECT(KEY 'a' VALUE 1.5 ABSENT ON NULL) AS c
--=
SELECT JSON_OBJECT(KEY 'a' VALUE 1.5 ABSENT ON NULL) AS `c`
--#
SELECT JSON_STRING(ROW(1,'a')) AS c
--=
SELECT `JSON_STRING`(ROW(1, 'a')) AS `c`
--#
SELECT '{"a":1}' IS JSON AS c
--=
SELECT '{"a":1}' IS JSON VALUE AS `c`
--#
SELECT '1' IS JSON OBJECT AS c
--=
SELECT '1' IS JSON OBJECT AS `c`
--#
SELECT '[1]' IS JSON ARRAY AS c
--=
SELECT '[1]' IS JSON ARRAY AS `c`
--#
SELECT 7 / 2 AS a, -7 / 2 AS b, 7 / -2 AS c, 7 % 3 AS d, -7 % 3 AS e, 7 % -3 AS f, MOD(-7, 3) AS g
--=
SELECT 7 / 2 AS `a`, -7 / 2 AS `b`, 7 / -2 AS `c`, 7 % 3 AS `d`, -7 % 3 AS `e`, 7 % -3 AS `f`, MOD(-7, 3) AS `g`
--#
SELECT 7.0 / 2 AS a, 7 / 2.0 AS b, 1.00 / 3 AS c, 1 / 3.0 AS d, 10.00 / 3.00 AS e, CAST(7 AS DOUBLE) / 2 AS f, CAST(1 AS FLOAT) / 3 AS g
--=
SELECT 7.0 / 2 AS `a`, 7 / 2.0 AS `b`, 1.00 / 3 AS `c`, 1 / 3.0 AS `d`, 10.00 / 3.00 AS `e`, CAST(7 AS DOUBLE) / 2 AS `f`, CAST(1 AS FLOAT) / 3 AS `g`
--#
SELECT CAST(1 AS DECIMAL(10,2)) / CAST(3 AS DECIMAL(10,2)) AS a, CAST(1 AS DECIMAL(38,10)) / CAST(3 AS DECIMAL(38,10)) AS b, CAST(1 AS DECIMAL(20,5)) * CAST(3 AS DECIMAL(20,5)) AS c, CAST(1 AS DECIMAL(38,18)) * CAST(3 AS DECIMAL(38,18)) AS d, CAST(1 AS DECIMAL(38,10)) + CAST(3 AS DECIMAL(38,5)) AS e, CAST(1 AS DECIMAL(10,2)) + 1 AS f, CAST(1 AS DECIMAL(10,2)) * 2 AS g, CAST(1 AS DECIMAL(10,2)) - CAST(2 AS BIGINT) AS h
--=
SELECT CAST(1 AS DECIMAL(10, 2)) / CAST(3 AS DECIMAL(10, 2)) AS `a`, CAST(1 AS DECIMAL(38, 10)) / CAST(3 AS DECIMAL(38, 10)) AS `b`, CAST(1 AS DECIMAL(20, 5)) * CAST(3 AS DECIMAL(20, 5)) AS `c`, CAST(1 AS DECIMAL(38, 18)) * CAST(3 AS DECIMAL(38, 18)) AS `d`, CAST(1 AS DECIMAL(38, 10)) + CAST(3 AS DECIMAL(38, 5)) AS `e`, CAST(1 AS DECIMAL(10, 2)) + 1 AS `f`, CAST(1 AS DECIMAL(10, 2)) * 2 AS `g`, CAST(1 AS DECIMAL(10, 2)) - CAST(2 AS BIGINT) AS `h`
--#
SELECT CAST(5 AS DECIMAL(10,2)) % 3 AS a, MOD(CAST(5.5 AS DECIMAL(5,2)), 2) AS b, 5.5 % 2 AS c
--=
SELECT CAST(5 AS DECIMAL(10, 2)) % 3 AS `a`, MOD(CAST(5.5 AS DECIMAL(5, 2)), 2) AS `b`, 5.5 % 2 AS `c`
--#
SELECT 1/0
--=
SELECT 1 / 0
--#
SELECT 2147483647 + 1 AS a, -2147483648 - 1 AS b, 2147483647 * 2 AS c
--=
SELECT 2147483647 + 1 AS `a`, -2147483648 - 1 AS `b`, 2147483647 * 2 AS `c`
--#
SELECT a + 1 AS x, a * 2 AS y FROM (VALUES (2147483647)) AS t(a)
--=
SELECT `t`.`a` + 1 AS `x`, `t`.`a` * 2 AS `y`
FROM (VALUES ROW(2147483647)) AS `t` (`a`)
--#
SELECT CAST(9223372036854775807 AS BIGINT) + 1 AS a, CAST(127 AS TINYINT) + CAST(1 AS TINYINT) AS b, CAST(32767 AS SMALLINT) + CAST(1 AS SMALLINT) AS c, CAST(127 AS TINYINT) + 1 AS d
--=
SELECT CAST(9223372036854775807 AS BIGINT) + 1 AS `a`, CAST(127 AS TINYINT) + CAST(1 AS TINYINT) AS `b`, CAST(32767 AS SMALLINT) + CAST(1 AS SMALLINT) AS `c`, CAST(127 AS TINYINT) + 1 AS `d`
--#
SELECT a + b AS c FROM (VALUES (CAST(127 AS TINYINT), CAST(1 AS TINYINT))) AS t(a, b)
--=
SELECT `t`.`a` + `t`.`b` AS `c`
FROM (VALUES ROW(CAST(127 AS TINYINT), CAST(1 AS TINYINT))) AS `t` (`a`, `b`)
--#
SELECT -CAST(-128 AS TINYINT) AS a, -(-2147483648) AS b, ABS(-2147483648) AS c
--=
SELECT - CAST(-128 AS TINYINT) AS `a`, 2147483648 AS `b`, ABS(-2147483648) AS `c`
--#
SELECT CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0)) + 1 AS a, CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0)) * 10 AS b
--=
SELECT CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)) + 1 AS `a`, CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)) * 10 AS `b`
--#
SELECT CAST(999.99 AS DECIMAL(5,2)) + CAST(0.01 AS DECIMAL(5,2)) AS a, CAST(999.99 AS DECIMAL(5,2)) * CAST(999.99 AS DECIMAL(5,2)) AS b
--=
SELECT CAST(999.99 AS DECIMAL(5, 2)) + CAST(0.01 AS DECIMAL(5, 2)) AS `a`, CAST(999.99 AS DECIMAL(5, 2)) * CAST(999.99 AS DECIMAL(5, 2)) AS `b`
--#
SELECT 1e308 * 10 AS a, 1e-320 AS b, CAST(1e308 AS FLOAT) AS c
--=
SELECT 1E308 * 10 AS `a`, 1E-320 AS `b`, CAST(1E308 AS FLOAT) AS `c`
--#
SELECT 'a' || CAST(NULL AS STRING) AS a, CAST(5 AS STRING) || 'x' AS b
--=
SELECT 'a' || CAST(NULL AS STRING) AS `a`, CAST(5 AS STRING) || 'x' AS `b`
--#
SELECT 0.1 + 0.2 AS a, CAST(0.1 AS DOUBLE) + CAST(0.2 AS DOUBLE) AS b, 1.10 + 2.20 AS c, 1.1 * 1.1 AS d, 2.50 * 4 AS e
--=
SELECT 0.1 + 0.2 AS `a`, CAST(0.1 AS DOUBLE) + CAST(0.2 AS DOUBLE) AS `b`, 1.10 + 2.20 AS `c`, 1.1 * 1.1 AS `d`, 2.50 * 4 AS `e`
--#
SELECT 3 - 5 AS a, -0 AS b, -0.0 AS c, CAST(-0.0 AS DOUBLE) AS d, -CAST(0 AS DOUBLE) AS e
--=
SELECT 3 - 5 AS `a`, 0 AS `b`, 0.0 AS `c`, CAST(0.0 AS DOUBLE) AS `d`, - CAST(0 AS DOUBLE) AS `e`
--#
SELECT X'4142' || X'43' AS c, X'41' = X'41' AS e, X'41' < X'42' AS l
--=
SELECT X'4142' || X'43' AS `c`, X'41' = X'41' AS `e`, X'41' < X'42' AS `l`
--#
SELECT HEX(255) AS a, HEX('abc') AS b, UNHEX('616263') AS c, UNHEX('zz') AS d, TO_BASE64('hello') AS e, FROM_BASE64('aGVsbG8=') AS f, ENCODE('é', 'UTF-8') AS g, DECODE(X'C3A9', 'UTF-8') AS h, ENCODE('a', 'UTF-16') AS i
--=
SELECT `HEX`(255) AS `a`, `HEX`('abc') AS `b`, `UNHEX`('616263') AS `c`, `UNHEX`('zz') AS `d`, `TO_BASE64`('hello') AS `e`, `FROM_BASE64`('aGVsbG8=') AS `f`, `ENCODE`(_UTF16'é', 'UTF-8') AS `g`, `DECODE`(X'C3A9', 'UTF-8') AS `h`, `ENCODE`('a', 'UTF-16') AS `i`
--#
SELECT ENCODE('a', 'NOSUCH')
--=
SELECT `ENCODE`('a', 'NOSUCH')
--#
SELECT CAST('1' AS INT) AS a, CAST(' 12 ' AS INT) AS b, CAST('+5' AS INT) AS c, CAST('-5' AS BIGINT) AS d, CAST('1.9' AS INT) AS e, CAST('1e3' AS DOUBLE) AS f, CAST('  1.5' AS DECIMAL(5,2)) AS g, CAST('1.555' AS DECIMAL(5,2)) AS h, CAST('NaN' AS DOUBLE) AS i, CAST('Infinity' AS DOUBLE) AS j, CAST('-inf' AS STRING) AS k
--=
SELECT CAST('1' AS INTEGER) AS `a`, CAST(' 12 ' AS INTEGER) AS `b`, CAST('+5' AS INTEGER) AS `c`, CAST('-5' AS BIGINT) AS `d`, CAST('1.9' AS INTEGER) AS `e`, CAST('1e3' AS DOUBLE) AS `f`, CAST('  1.5' AS DECIMAL(5, 2)) AS `g`, CAST('1.555' AS DECIMAL(5, 2)) AS `h`, CAST('NaN' AS DOUBLE) AS `i`, CAST('Infinity' AS DOUBLE) AS `j`, CAST('-inf' AS STRING) AS `k`
--#
SELECT CAST('abc' AS INT)
--=
SELECT CAST('abc' AS INTEGER)
--#
SELECT CAST('' AS INT)
--=
SELECT CAST('' AS INTEGER)
--#
SELECT CAST('128' AS TINYINT)
--=
SELECT CAST('128' AS TINYINT)
--#
SELECT CAST('99999999999' AS INT)
--=
SELECT CAST('99999999999' AS INTEGER)
--#
SELECT CAST('true' AS BOOLEAN) AS a, CAST('FALSE' AS BOOLEAN) AS b, CAST('t' AS BOOLEAN) AS c, CAST('yes' AS BOOLEAN) AS d, CAST('1' AS BOOLEAN) AS e, CAST('0' AS BOOLEAN) AS f, CAST(' true ' AS BOOLEAN) AS g, CAST('n' AS BOOLEAN) AS h
--=
SELECT CAST('true' AS BOOLEAN) AS `a`, CAST('FALSE' AS BOOLEAN) AS `b`, CAST('t' AS BOOLEAN) AS `c`, CAST('yes' AS BOOLEAN) AS `d`, CAST('1' AS BOOLEAN) AS `e`, CAST('0' AS BOOLEAN) AS `f`, CAST(' true ' AS BOOLEAN) AS `g`, CAST('n' AS BOOLEAN) AS `h`
--#
SELECT CAST('on' AS BOOLEAN)
--=
SELECT CAST('on' AS BOOLEAN)
--#
SELECT CAST('maybe' AS BOOLEAN)
--=
SELECT CAST('maybe' AS BOOLEAN)
--#
SELECT CAST(1 AS BOOLEAN) AS a, CAST(0 AS BOOLEAN) AS b, CAST(-5 AS BOOLEAN) AS c
--=
SELECT CAST(1 AS BOOLEAN) AS `a`, CAST(0 AS BOOLEAN) AS `b`, CAST(-5 AS BOOLEAN) AS `c`
--#
SELECT CAST(1.5 AS BOOLEAN) AS a, CAST(CAST(0.0 AS DOUBLE) AS BOOLEAN) AS b
--=
SELECT CAST(1.5 AS BOOLEAN) AS `a`, CAST(CAST(0.0 AS DOUBLE) AS BOOLEAN) AS `b`
--#
SELECT CAST(TRUE AS INT) AS a, CAST(FALSE AS BIGINT) AS b, CAST(TRUE AS DOUBLE) AS c, CAST(TRUE AS DECIMAL(3,1)) AS d, CAST(TRUE AS STRING) AS e, CAST(FALSE AS CHAR(5)) AS f, CAST(TRUE AS VARCHAR(2)) AS g
--=
SELECT CAST(TRUE AS INTEGER) AS `a`, CAST(FALSE AS BIGINT) AS `b`, CAST(TRUE AS DOUBLE) AS `c`, CAST(TRUE AS DECIMAL(3, 1)) AS `d`, CAST(TRUE AS STRING) AS `e`, CAST(FALSE AS CHAR(5)) AS `f`, CAST(TRUE AS VARCHAR(2)) AS `g`
--#
SELECT CAST(1.9 AS INT) AS a, CAST(-1.9 AS INT) AS b, CAST(CAST(1.9 AS DOUBLE) AS INT) AS c, CAST(CAST(-1.5 AS FLOAT) AS BIGINT) AS d, CAST(300 AS TINYINT) AS e, CAST(3000000000 AS INT) AS f, CAST(CAST(3e9 AS DOUBLE) AS INT) AS g, CAST(CAST('NaN' AS DOUBLE) AS INT) AS h, CAST(70000 AS SMALLINT) AS i, CAST(CAST(300.7 AS DOUBLE) AS TINYINT) AS j
--=
SELECT CAST(1.9 AS INTEGER) AS `a`, CAST(-1.9 AS INTEGER) AS `b`, CAST(CAST(1.9 AS DOUBLE) AS INTEGER) AS `c`, CAST(CAST(-1.5 AS FLOAT) AS BIGINT) AS `d`, CAST(300 AS TINYINT) AS `e`, CAST(3000000000 AS INTEGER) AS `f`, CAST(CAST(3E9 AS DOUBLE) AS INTEGER) AS `g`, CAST(CAST('NaN' AS DOUBLE) AS INTEGER) AS `h`, CAST(70000 AS SMALLINT) AS `i`, CAST(CAST(300.7 AS DOUBLE) AS TINYINT) AS `j`
--#
SELECT CAST(123.456 AS DECIMAL(5,2)) AS a, CAST(123.455 AS DECIMAL(5,2)) AS b, CAST(-123.455 AS DECIMAL(5,2)) AS c, CAST(CAST(0.125 AS DOUBLE) AS DECIMAL(5,2)) AS d, CAST(12345 AS DECIMAL(3,0)) AS e, CAST(1234.5 AS DECIMAL(5,2)) AS f, CAST(0.5 AS DECIMAL(1,0)) AS g, CAST(1.5 AS DECIMAL(1,0)) AS h, CAST(2.5 AS DECIMAL(1,0)) AS i
--=
SELECT CAST(123.456 AS DECIMAL(5, 2)) AS `a`, CAST(123.455 AS DECIMAL(5, 2)) AS `b`, CAST(-123.455 AS DECIMAL(5, 2)) AS `c`, CAST(CAST(0.125 AS DOUBLE) AS DECIMAL(5, 2)) AS `d`, CAST(12345 AS DECIMAL(3, 0)) AS `e`, CAST(1234.5 AS DECIMAL(5, 2)) AS `f`, CAST(0.5 AS DECIMAL(1, 0)) AS `g`, CAST(1.5 AS DECIMAL(1, 0)) AS `h`, CAST(2.5 AS DECIMAL(1, 0)) AS `i`
--#
SELECT CAST('2024-01-05' AS DATE) AS a, CAST('2024-1-5' AS DATE) AS b, CAST(' 2024-01-05 ' AS DATE) AS c, CAST('2024-01-05 10:00:00' AS DATE) AS d, CAST('2024' AS DATE) AS e, CAST('2024-03' AS DATE) AS f
--=
SELECT CAST('2024-01-05' AS DATE) AS `a`, CAST('2024-1-5' AS DATE) AS `b`, CAST(' 2024-01-05 ' AS DATE) AS `c`, CAST('2024-01-05 10:00:00' AS DATE) AS `d`, CAST('2024' AS DATE) AS `e`, CAST('2024-03' AS DATE) AS `f`
--#
SELECT CAST('2024-02-30' AS DATE)
--=
SELECT CAST('2024-02-30' AS DATE)
--#
SELECT CAST('garbage' AS DATE)
--=
SELECT CAST('garbage' AS DATE)
--#
SELECT CAST('20240105' AS DATE)
--=
SELECT CAST('20240105' AS DATE)
--#
SELECT CAST('10:11:12' AS TIME) AS a, CAST('10:11' AS TIME) AS b, CAST('10:11:12.345' AS TIME(3)) AS c, CAST('10' AS TIME) AS d, CAST('1:2:3' AS TIME) AS e
--=
SELECT CAST('10:11:12' AS TIME) AS `a`, CAST('10:11' AS TIME) AS `b`, CAST('10:11:12.345' AS TIME(3)) AS `c`, CAST('10' AS TIME) AS `d`, CAST('1:2:3' AS TIME) AS `e`
--#
SELECT CAST('2024-01-05 10:11:12' AS TIMESTAMP) AS a, CAST('2024-01-05 10:11:12.123456789' AS TIMESTAMP(9)) AS b, CAST('2024-01-05 10:11:12.123456789' AS TIMESTAMP(3)) AS c, CAST('2024-01-05T10:11:12' AS TIMESTAMP(0)) AS d, CAST('2024-01-05' AS TIMESTAMP(3)) AS e, CAST('2024-01-05 10:11' AS TIMESTAMP(3)) AS f
--=
SELECT CAST('2024-01-05 10:11:12' AS TIMESTAMP) AS `a`, CAST('2024-01-05 10:11:12.123456789' AS TIMESTAMP(9)) AS `b`, CAST('2024-01-05 10:11:12.123456789' AS TIMESTAMP(3)) AS `c`, CAST('2024-01-05T10:11:12' AS TIMESTAMP(0)) AS `d`, CAST('2024-01-05' AS TIMESTAMP(3)) AS `e`, CAST('2024-01-05 10:11' AS TIMESTAMP(3)) AS `f`
--#
SELECT CAST('2024-01-05T10:11:12Z' AS TIMESTAMP(3))
--=
SELECT CAST('2024-01-05T10:11:12Z' AS TIMESTAMP(3))
--#
SELECT CAST('2024-01-05 10:11:12Z' AS TIMESTAMP_LTZ(3))
--=
SELECT CAST('2024-01-05 10:11:12Z' AS TIMESTAMP_LTZ(3))
--#
SELECT CAST('2024-01-05 10:11:12+02:00' AS TIMESTAMP_LTZ(3))
--=
SELECT CAST('2024-01-05 10:11:12+02:00' AS TIMESTAMP_LTZ(3))
--#
SELECT CAST('garbage' AS TIMESTAMP(3))
--=
SELECT CAST('garbage' AS TIMESTAMP(3))
--#
SELECT CAST(TIMESTAMP '2024-01-05 10:11:12.987' AS DATE) AS a, CAST(TIMESTAMP '2024-01-05 10:11:12.987' AS TIME) AS b, CAST(DATE '2024-01-05' AS TIMESTAMP(3)) AS c, CAST(TIME '10:11:12' AS TIMESTAMP(3)) AS d, CAST(TIMESTAMP '2024-01-05 10:11:12.987654' AS TIMESTAMP(3)) AS e, CAST(TIMESTAMP '2024-01-05 10:11:12' AS TIMESTAMP(9)) AS f, CAST(TIMESTAMP '2024-01-05 10:11:12.987' AS TIMESTAMP(0)) AS g
--=
SELECT CAST(TIMESTAMP '2024-01-05 10:11:12.987' AS DATE) AS `a`, CAST(TIMESTAMP '2024-01-05 10:11:12.987' AS TIME) AS `b`, CAST(DATE '2024-01-05' AS TIMESTAMP(3)) AS `c`, CAST(TIME '10:11:12' AS TIMESTAMP(3)) AS `d`, CAST(TIMESTAMP '2024-01-05 10:11:12.987654' AS TIMESTAMP(3)) AS `e`, CAST(TIMESTAMP '2024-01-05 10:11:12' AS TIMESTAMP(9)) AS `f`, CAST(TIMESTAMP '2024-01-05 10:11:12.987' AS TIMESTAMP(0)) AS `g`
--#
SELECT CAST(ARRAY[1,2] AS ARRAY<BIGINT>) AS a, CAST(ARRAY['1','2'] AS ARRAY<INT>) AS b, CAST(MAP['a','1'] AS MAP<STRING, INT>) AS c, CAST(ROW(1,'2') AS ROW<x BIGINT, y INT>) AS d, CAST((1, 'a') AS ROW<id INT, nm STRING>) AS e
--=
SELECT CAST(ARRAY[1, 2] AS ARRAY< BIGINT >) AS `a`, CAST(ARRAY['1', '2'] AS ARRAY< INTEGER >) AS `b`, CAST(MAP['a', '1'] AS MAP< STRING, INTEGER >) AS `c`, CAST(ROW(1, '2') AS ROW< `x` BIGINT, `y` INTEGER >) AS `d`, CAST(ROW(1, 'a') AS ROW< `id` INTEGER, `nm` STRING >) AS `e`
--#
SELECT TRY_CAST(ARRAY['1','x'] AS ARRAY<INT>) AS a
--=
SELECT TRY_CAST(ARRAY['1', 'x'] AS ARRAY< INTEGER >) AS `a`
--#
SELECT CAST(ARRAY['1','x'] AS ARRAY<INT>)
--=
SELECT CAST(ARRAY['1', 'x'] AS ARRAY< INTEGER >)
--#
SELECT CAST(ROW(1,'x') AS ROW<a INT, b STRING>).a AS f1, CAST(ROW(1,'x') AS ROW<a INT, b STRING>).b AS f2
--=
SELECT CAST(ROW(1, 'x') AS ROW< `a` INTEGER, `b` STRING >).`a` AS `f1`, CAST(ROW(1, 'x') AS ROW< `a` INTEGER, `b` STRING >).`b` AS `f2`
--#
SELECT CAST(CAST(NULL AS STRING) AS INT) AS n, CAST(NULL AS DECIMAL(5,2)) AS d, CAST(NULL AS ROW<a INT>) AS r, CAST(NULL AS MAP<STRING,INT>) AS m
--=
SELECT CAST(CAST(NULL AS STRING) AS INTEGER) AS `n`, CAST(NULL AS DECIMAL(5, 2)) AS `d`, CAST(NULL AS ROW< `a` INTEGER >) AS `r`, CAST(NULL AS MAP< STRING, INTEGER >) AS `m`
--#
SELECT CAST(s AS INT) AS i FROM (VALUES ('1'), ('x')) AS t(s)
--=
SELECT CAST(`t`.`s` AS INTEGER) AS `i`
FROM (VALUES ROW('1'),
ROW('x')) AS `t` (`s`)
--#
SELECT TRY_CAST(s AS INT) AS i FROM (VALUES ('1'), ('x'), (CAST(NULL AS STRING))) AS t(s)
--=
SELECT TRY_CAST(`t`.`s` AS INTEGER) AS `i`
FROM (VALUES ROW('1'),
ROW('x'),
ROW(CAST(NULL AS STRING))) AS `t` (`s`)
--#
SELECT CAST('abc' AS INT) AS a, CAST('hello' AS CHAR(3)) AS b, CAST('hi' AS CHAR(5)) AS c
--=
SELECT CAST('abc' AS INTEGER) AS `a`, CAST('hello' AS CHAR(3)) AS `b`, CAST('hi' AS CHAR(5)) AS `c`
--#
SELECT TRY_CAST('abc' AS INT) AS a, TRY_CAST('' AS INT) AS b, TRY_CAST('128' AS TINYINT) AS c, TRY_CAST('x' AS DOUBLE) AS d, TRY_CAST('12345.6' AS DECIMAL(5,2)) AS e, TRY_CAST('2024-13-01' AS DATE) AS f, TRY_CAST('maybe' AS BOOLEAN) AS g, TRY_CAST('x' AS TIMESTAMP(3)) AS i
--=
SELECT TRY_CAST('abc' AS INTEGER) AS `a`, TRY_CAST('' AS INTEGER) AS `b`, TRY_CAST('128' AS TINYINT) AS `c`, TRY_CAST('x' AS DOUBLE) AS `d`, TRY_CAST('12345.6' AS DECIMAL(5, 2)) AS `e`, TRY_CAST('2024-13-01' AS DATE) AS `f`, TRY_CAST('maybe' AS BOOLEAN) AS `g`, TRY_CAST('x' AS TIMESTAMP(3)) AS `i`
--#
SELECT TRY_CAST('25:00:00' AS TIME) AS a
--=
SELECT TRY_CAST('25:00:00' AS TIME) AS `a`
--#
SELECT s, TRY_CAST(s AS INT) AS i, TRY_CAST(s AS BIGINT) AS b, TRY_CAST(s AS DOUBLE) AS d, TRY_CAST(s AS DECIMAL(6,2)) AS e, TRY_CAST(s AS BOOLEAN) AS o FROM (VALUES ('1'), (' 1 '), ('1.5'), ('-0'), ('1e2'), ('true'), ('T'), ('yes'), ('0x10'), ('99999999999'), ('NaN'), ('')) AS t(s)
--=
SELECT `t`.`s`, TRY_CAST(`t`.`s` AS INTEGER) AS `i`, TRY_CAST(`t`.`s` AS BIGINT) AS `b`, TRY_CAST(`t`.`s` AS DOUBLE) AS `d`, TRY_CAST(`t`.`s` AS DECIMAL(6, 2)) AS `e`, TRY_CAST(`t`.`s` AS BOOLEAN) AS `o`
FROM (VALUES ROW('1'),
ROW(' 1 '),
ROW('1.5'),
ROW('-0'),
ROW('1e2'),
ROW('true'),
ROW('T'),
ROW('yes'),
ROW('0x10'),
ROW('99999999999'),
ROW('NaN'),
ROW('')) AS `t` (`s`)
--#
SELECT s, TRY_CAST(s AS DATE) AS d, TRY_CAST(s AS TIMESTAMP(3)) AS ts FROM (VALUES ('2024-01-05'), ('2024-1-5'), ('2024-02-30'), ('2024-01-05 10:11:12.5'), ('2024-01-05T10:11:12'), ('20240105'), ('2024'), ('05/01/2024'), ('')) AS t(s)
--=
SELECT `t`.`s`, TRY_CAST(`t`.`s` AS DATE) AS `d`, TRY_CAST(`t`.`s` AS TIMESTAMP(3)) AS `ts`
FROM (VALUES ROW('2024-01-05'),
ROW('2024-1-5'),
ROW('2024-02-30'),
ROW('2024-01-05 10:11:12.5'),
ROW('2024-01-05T10:11:12'),
ROW('20240105'),
ROW('2024'),
ROW('05/01/2024'),
ROW('')) AS `t` (`s`)
--#
SELECT s, TRY_CAST(s AS TIME) AS t FROM (VALUES ('10:11:12'), ('10:11'), ('10'), ('x'), ('10:11:12.5')) AS t(s)
--=
SELECT `t`.`s`, TRY_CAST(`t`.`s` AS TIME) AS `t`
FROM (VALUES ROW('10:11:12'),
ROW('10:11'),
ROW('10'),
ROW('x'),
ROW('10:11:12.5')) AS `t` (`s`)
--#
SELECT 1 = 1.0 AS a, 1 = '1' AS b, '1' = 1 AS c, 1 < '10' AS d, CAST(1 AS BIGINT) = CAST(1 AS DOUBLE) AS e, 1.50 = 1.5 AS f
--=
SELECT 1 = 1.0 AS `a`, 1 = '1' AS `b`, '1' = 1 AS `c`, 1 < '10' AS `d`, CAST(1 AS BIGINT) = CAST(1 AS DOUBLE) AS `e`, 1.50 = 1.5 AS `f`
--#
SELECT CASE WHEN TRUE THEN 1 ELSE 2.5 END AS a, CASE WHEN TRUE THEN 1 ELSE CAST(2 AS BIGINT) END AS b, CASE WHEN FALSE THEN 'a' ELSE 'bcd' END AS c, CASE WHEN TRUE THEN 1 END AS d
--=
SELECT CASE WHEN TRUE THEN 1 ELSE 2.5 END AS `a`, CASE WHEN TRUE THEN 1 ELSE CAST(2 AS BIGINT) END AS `b`, CASE WHEN FALSE THEN 'a' ELSE 'bcd' END AS `c`, CASE WHEN TRUE THEN 1 ELSE NULL END AS `d`
--#
SELECT * FROM (VALUES (1, 'a'), (CAST(NULL AS INT), 'bcd')) AS t(a, b)
--=
SELECT *
FROM (VALUES ROW(1, 'a'),
ROW(CAST(NULL AS INTEGER), 'bcd')) AS `t` (`a`, `b`)
--#
SELECT 1 AS a UNION ALL SELECT 2.5
--=
SELECT 1 AS `a`
UNION ALL
SELECT 2.5
--#
SELECT CAST(1 AS INT) AS a UNION ALL SELECT CAST(2 AS BIGINT)
--=
SELECT CAST(1 AS INTEGER) AS `a`
UNION ALL
SELECT CAST(2 AS BIGINT)
--#
SELECT ARRAY[1, 2.5] AS a, ARRAY[1, CAST(2 AS BIGINT)] AS b, ARRAY['a', 'bcd'] AS c, ARRAY[1, CAST(NULL AS INT)] AS d
--=
SELECT ARRAY[1, 2.5] AS `a`, ARRAY[1, CAST(2 AS BIGINT)] AS `b`, ARRAY['a', 'bcd'] AS `c`, ARRAY[1, CAST(NULL AS INTEGER)] AS `d`
--#
SELECT ARRAY[1, NULL]
--=
SELECT ARRAY[1, NULL]
--#
SELECT MAP['a', 1, 'bb', 2.5] AS m
--=
SELECT MAP['a', 1, 'bb', 2.5] AS `m`
--#
SELECT 1 IN (1.0, 2) AS a, '1' IN ('1', '22') AS b, 1 IN ('1', '2') AS c
--=
SELECT 1 IN (1.0, 2) AS `a`, '1' IN ('1', '22') AS `b`, 1 IN ('1', '2') AS `c`
--#
SELECT 1 = 1.0 AS a, CAST(1 AS BIGINT) = CAST(1 AS DOUBLE) AS e, 1.50 = 1.5 AS f, CAST(1 AS TINYINT) < CAST(2 AS BIGINT) AS g
--=
SELECT 1 = 1.0 AS `a`, CAST(1 AS BIGINT) = CAST(1 AS DOUBLE) AS `e`, 1.50 = 1.5 AS `f`, CAST(1 AS TINYINT) < CAST(2 AS BIGINT) AS `g`
--#
SELECT 1 = '1'
--=
SELECT 1 = '1'
--#
SELECT '1' = 1
--=
SELECT '1' = 1
--#
SELECT 1 < '10'
--=
SELECT 1 < '10'
--#
SELECT 1.5 > '1'
--=
SELECT 1.5 > '1'
--#
SELECT x = '1' AS a FROM (VALUES (1)) AS t(x)
--=
SELECT `t`.`x` = '1' AS `a`
FROM (VALUES ROW(1)) AS `t` (`x`)
--#
SELECT x IN ('1', '2') AS b FROM (VALUES (1)) AS t(x)
--=
SELECT `t`.`x` IN ('1', '2') AS `b`
FROM (VALUES ROW(1)) AS `t` (`x`)
--#
SELECT 'abc' = CAST('abc' AS VARCHAR(10)) AS a, CAST('abc' AS CHAR(5)) = CAST('abc' AS VARCHAR(10)) AS b
--=
SELECT 'abc' = CAST('abc' AS VARCHAR(10)) AS `a`, CAST('abc' AS CHAR(5)) = CAST('abc' AS VARCHAR(10)) AS `b`
--#
SELECT ROW(1, 'a') = ROW(1, 'a') AS a, (1, 2) < (1, 3) AS b
--=
SELECT ROW(1, 'a') = ROW(1, 'a') AS `a`, ROW(1, 2) < ROW(1, 3) AS `b`
--#
SELECT ARRAY[1,2,3] AS a, ARRAY[1,2,3][1] AS b, ARRAY[1,2,3][3] AS c, ARRAY['x'][1] AS d
--=
SELECT ARRAY[1, 2, 3] AS `a`, ARRAY[1, 2, 3][1] AS `b`, ARRAY[1, 2, 3][3] AS `c`, ARRAY['x'][1] AS `d`
--#
SELECT ARRAY[1,2,3][0]
--=
SELECT ARRAY[1, 2, 3][0]
--#
SELECT ARRAY[1,2,3][4] AS oob
--=
SELECT ARRAY[1, 2, 3][4] AS `oob`
--#
SELECT a[i] AS v FROM (VALUES (ARRAY[10,20], 1), (ARRAY[10,20], 5)) AS t(a, i)
--=
SELECT `t`.`a`[`t`.`i`] AS `v`
FROM (VALUES ROW(ARRAY[10, 20], 1),
ROW(ARRAY[10, 20], 5)) AS `t` (`a`, `i`)
--#
SELECT a[i] AS v FROM (VALUES (ARRAY[10,20], 0)) AS t(a, i)
--=
SELECT `t`.`a`[`t`.`i`] AS `v`
FROM (VALUES ROW(ARRAY[10, 20], 0)) AS `t` (`a`, `i`)
--#
SELECT ARRAY[1,2,3][-1]
--=
SELECT ARRAY[1, 2, 3][-1]
--#
SELECT t.r.* FROM (SELECT CAST(ROW(1,'x') AS ROW<a INT, b STRING>) AS r) AS t
--=
SELECT `t`.`r`.*
FROM (SELECT CAST(ROW(1, 'x') AS ROW< `a` INTEGER, `b` STRING >) AS `r`) AS `t`
--#
SELECT ARRAY[ROW(1,'a'), ROW(2,'b')] AS a, ARRAY[ROW(1,'a')][1].EXPR$1 AS b
--=
SELECT ARRAY[ROW(1, 'a'), ROW(2, 'b')] AS `a`, ARRAY[ROW(1, 'a')][1].`EXPR$1` AS `b`
--#
SELECT ARRAY[ARRAY[1,2],ARRAY[3]] AS nested, ARRAY[ARRAY[1,2],ARRAY[3]][2][1] AS x
--=
SELECT ARRAY[ARRAY[1, 2], ARRAY[3]] AS `nested`, ARRAY[ARRAY[1, 2], ARRAY[3]][2][1] AS `x`
--#
SELECT CARDINALITY(ARRAY[1,2,3]) AS a, CARDINALITY(CAST(NULL AS ARRAY<INT>)) AS b, ELEMENT(ARRAY[5]) AS c
--=
SELECT CARDINALITY(ARRAY[1, 2, 3]) AS `a`, CARDINALITY(CAST(NULL AS ARRAY< INTEGER >)) AS `b`, ELEMENT(ARRAY[5]) AS `c`
--#
SELECT ELEMENT(ARRAY[1,2])
--=
SELECT ELEMENT(ARRAY[1, 2])
--#
SELECT ARRAY_CONTAINS(ARRAY[1,2], 2) AS a, ARRAY_CONTAINS(ARRAY[1,2], 9) AS b, ARRAY_CONTAINS(ARRAY[1,CAST(NULL AS INT)], CAST(NULL AS INT)) AS c, ARRAY_CONTAINS(CAST(NULL AS ARRAY<INT>), 1) AS d
--=
SELECT `ARRAY_CONTAINS`(ARRAY[1, 2], 2) AS `a`, `ARRAY_CONTAINS`(ARRAY[1, 2], 9) AS `b`, `ARRAY_CONTAINS`(ARRAY[1, CAST(NULL AS INTEGER)], CAST(NULL AS INTEGER)) AS `c`, `ARRAY_CONTAINS`(CAST(NULL AS ARRAY< INTEGER >), 1) AS `d`
--#
SELECT ARRAY_DISTINCT(ARRAY[1,2,1,CAST(NULL AS INT),CAST(NULL AS INT)]) AS a, ARRAY_POSITION(ARRAY[3,2,1], 2) AS b, ARRAY_POSITION(ARRAY[3], 9) AS c, ARRAY_REMOVE(ARRAY[1,2,1], 1) AS d, ARRAY_REVERSE(ARRAY[1,2,3]) AS e
--=
SELECT `ARRAY_DISTINCT`(ARRAY[1, 2, 1, CAST(NULL AS INTEGER), CAST(NULL AS INTEGER)]) AS `a`, `ARRAY_POSITION`(ARRAY[3, 2, 1], 2) AS `b`, `ARRAY_POSITION`(ARRAY[3], 9) AS `c`, `ARRAY_REMOVE`(ARRAY[1, 2, 1], 1) AS `d`, `ARRAY_REVERSE`(ARRAY[1, 2, 3]) AS `e`
--#
SELECT ARRAY_SLICE(ARRAY['a','b','c','d'], 2, 3) AS a, ARRAY_SLICE(ARRAY['a','b','c'], -2) AS b, ARRAY_SLICE(ARRAY[1,2], 5, 6) AS c, ARRAY_SLICE(ARRAY[1,2,3], 0, 1) AS d
--=
SELECT `ARRAY_SLICE`(ARRAY['a', 'b', 'c', 'd'], 2, 3) AS `a`, `ARRAY_SLICE`(ARRAY['a', 'b', 'c'], -2) AS `b`, `ARRAY_SLICE`(ARRAY[1, 2], 5, 6) AS `c`, `ARRAY_SLICE`(ARRAY[1, 2, 3], 0, 1) AS `d`
--#
SELECT MAP_KEYS(MAP['a',1,'b',2]) AS k, MAP_VALUES(MAP['a',1,'b',2]) AS v, MAP_ENTRIES(MAP['a',1]) AS e, MAP_FROM_ARRAYS(ARRAY['x','y'], ARRAY[1,2]) AS f, MAP_UNION(MAP['a',1], MAP['a',9,'b',2]) AS u
--=
SELECT `MAP_KEYS`(MAP['a', 1, 'b', 2]) AS `k`, `MAP_VALUES`(MAP['a', 1, 'b', 2]) AS `v`, `MAP_ENTRIES`(MAP['a', 1]) AS `e`, `MAP_FROM_ARRAYS`(ARRAY['x', 'y'], ARRAY[1, 2]) AS `f`, `MAP_UNION`(MAP['a', 1], MAP['a', 9, 'b', 2]) AS `u`
--#
SELECT MAP_FROM_ARRAYS(ARRAY['x'], ARRAY[1,2])
--=
SELECT `MAP_FROM_ARRAYS`(ARRAY['x'], ARRAY[1, 2])
--#
SELECT COLLECT(x) AS c FROM (VALUES (1),(2),(2)) AS t(x)
--=
SELECT COLLECT(`t`.`x`) AS `c`
FROM (VALUES ROW(1),
ROW(2),
ROW(2)) AS `t` (`x`)
--#
SELECT MAP[CAST(NULL AS STRING), 1] AS nk
--=
SELECT MAP[CAST(NULL AS STRING), 1] AS `nk`
--#
SELECT MAP['k', CAST(NULL AS INT)] AS nv, MAP['k', CAST(NULL AS INT)]['k'] AS v
--=
SELECT MAP['k', CAST(NULL AS INTEGER)] AS `nv`, MAP['k', CAST(NULL AS INTEGER)]['k'] AS `v`
--#
SELECT MAP[1, 'a', 2, 'b'][2] AS x, MAP[DATE '2024-01-01', 1][DATE '2024-01-01'] AS y
--=
SELECT MAP[1, 'a', 2, 'b'][2] AS `x`, MAP[DATE '2024-01-01', 1][DATE '2024-01-01'] AS `y`
--#
SELECT STR_TO_MAP('k1=v1,k2=v2') AS a, STR_TO_MAP('k1:v1;k2:v2', ';', ':') AS b, STR_TO_MAP('a,b=') AS c, STR_TO_MAP('') AS d
--=
SELECT `STR_TO_MAP`('k1=v1,k2=v2') AS `a`, `STR_TO_MAP`('k1:v1;k2:v2', ';', ':') AS `b`, `STR_TO_MAP`('a,b=') AS `c`, `STR_TO_MAP`('') AS `d`
--#
SELECT m['a'] + 1 AS x FROM (VALUES (MAP['a', 1])) AS t(m)
--=
SELECT `t`.`m`['a'] + 1 AS `x`
FROM (VALUES ROW(MAP['a', 1])) AS `t` (`m`)
--#
SELECT ARRAY[1,2] = ARRAY[1,2] AS a, ARRAY[1] <> ARRAY[2] AS b, MAP['a',1] = MAP['a',1] AS c
--=
SELECT ARRAY[1, 2] = ARRAY[1, 2] AS `a`, ARRAY[1] <> ARRAY[2] AS `b`, MAP['a', 1] = MAP['a', 1] AS `c`
--#
SELECT ARRAY[1] < ARRAY[2]
--=
SELECT ARRAY[1] < ARRAY[2]
--#
SELECT t.r.b.c AS c, t.r.b.d[2] AS d FROM (SELECT CAST(ROW(1, ROW('x', ARRAY[1,2])) AS ROW<a INT, b ROW<c STRING, d ARRAY<INT>>>) AS r) AS t
--=
SELECT `t`.`r`.`b`.`c` AS `c`, `t`.`r`.`b`.`d`[2] AS `d`
FROM (SELECT CAST(ROW(1, ROW('x', ARRAY[1, 2])) AS ROW< `a` INTEGER, `b` ROW< `c` STRING, `d` ARRAY< INTEGER > > >) AS `r`) AS `t`
--#
SELECT ARRAY[MAP['a', 1]] AS x, MAP['k', ARRAY[1, 2]] AS y, MAP['k', ROW(1, 'z')] AS z
--=
SELECT ARRAY[MAP['a', 1]] AS `x`, MAP['k', ARRAY[1, 2]] AS `y`, MAP['k', ROW(1, 'z')] AS `z`
--#
SELECT CAST(NULL AS ROW<a INT>) AS r, CARDINALITY(ARRAY[CAST(NULL AS INT)]) AS c
--=
SELECT CAST(NULL AS ROW< `a` INTEGER >) AS `r`, CARDINALITY(ARRAY[CAST(NULL AS INTEGER)]) AS `c`
--#
SELECT a, COUNT(*) AS c FROM (VALUES (ARRAY[1, 2]), (ARRAY[1, 2]), (ARRAY[3])) AS t(a) GROUP BY a
--=
SELECT `t`.`a`, COUNT(*) AS `c`
FROM (VALUES ROW(ARRAY[1, 2]),
ROW(ARRAY[1, 2]),
ROW(ARRAY[3])) AS `t` (`a`)
GROUP BY `t`.`a`
--#
SELECT DISTINCT m FROM (VALUES (MAP['a', 1]), (MAP['a', 1])) AS t(m)
--=
SELECT DISTINCT `t`.`m`
FROM (VALUES ROW(MAP['a', 1]),
ROW(MAP['a', 1])) AS `t` (`m`)
--#
SELECT a FROM (VALUES (ARRAY[2]), (ARRAY[1])) AS t(a) ORDER BY a
--=
SELECT `t`.`a`
FROM (VALUES ROW(ARRAY[2]),
ROW(ARRAY[1])) AS `t` (`a`)
ORDER BY `a`
--#
SELECT 10 / 0 AS a
--=
SELECT 10 / 0 AS `a`
--#
SELECT 10 % 0 AS a
--=
SELECT 10 % 0 AS `a`
--#
SELECT MOD(10, 0) AS a
--=
SELECT MOD(10, 0) AS `a`
--#
SELECT a / b AS q FROM (VALUES (10, 0)) AS t(a, b)
--=
SELECT `t`.`a` / `t`.`b` AS `q`
FROM (VALUES ROW(10, 0)) AS `t` (`a`, `b`)
--#
SELECT ARRAY[1, 2][0] AS a
--=
SELECT ARRAY[1, 2][0] AS `a`
--#
SELECT ELEMENT(ARRAY[1, 2]) AS a
--=
SELECT ELEMENT(ARRAY[1, 2]) AS `a`
--#
SELECT (SELECT x FROM (VALUES (1), (2)) AS t(x)) AS a
--=
SELECT (SELECT `t`.`x`
FROM (VALUES ROW(1),
ROW(2)) AS `t` (`x`)) AS `a`
--#
SELECT SUBSTRING('abc', 1, -5) AS a
--=
SELECT SUBSTRING('abc' FROM 1 FOR -5) AS `a`
--#
SELECT CHR(-5) AS a
--=
SELECT `CHR`(-5) AS `a`
--#
SELECT SQRT(-1) AS a, LN(-1) AS b, LN(0) AS c
--=
SELECT SQRT(-1) AS `a`, LN(-1) AS `b`, LN(0) AS `c`
--#
SELECT POWER(10, 400) AS a
--=
SELECT POWER(10, 400) AS `a`
--#
SELECT CAST(1e40 AS FLOAT) AS a, CAST(1e20 AS BIGINT) AS b, CAST(-1e20 AS INT) AS c
--=
SELECT CAST(1E40 AS FLOAT) AS `a`, CAST(1E20 AS BIGINT) AS `b`, CAST(-1E20 AS INTEGER) AS `c`
--#
SELECT COUNT(*) AS c, SUM(x) AS s, MIN(x) AS m, AVG(x) AS a, LISTAGG(CAST(x AS STRING)) AS l, COLLECT(x) AS co, ARRAY_AGG(x) AS aa, STDDEV_POP(x) AS sd FROM (SELECT 1 AS x) WHERE x > 5
--=
SELECT COUNT(*) AS `c`, SUM(`x`) AS `s`, MIN(`x`) AS `m`, AVG(`x`) AS `a`, LISTAGG(CAST(`x` AS STRING)) AS `l`, COLLECT(`x`) AS `co`, ARRAY_AGG(`x`) AS `aa`, STDDEV_POP(`x`) AS `sd`
FROM (SELECT 1 AS `x`)
WHERE `x` > 5
--#
SELECT x, COUNT(*) AS c FROM (SELECT 1 AS x) WHERE x > 5 GROUP BY x
--=
SELECT `x`, COUNT(*) AS `c`
FROM (SELECT 1 AS `x`)
WHERE `x` > 5
GROUP BY `x`
--#
SELECT MAX(s) AS a, MIN(s) AS b, MAX(d) AS c, MIN(ts) AS e, MAX(b) AS f FROM (VALUES ('a', DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00', TRUE), ('B', DATE '2023-01-01', TIMESTAMP '2023-01-01 00:00:00', FALSE)) AS t(s, d, ts, b)
--=
SELECT MAX(`t`.`s`) AS `a`, MIN(`t`.`s`) AS `b`, MAX(`t`.`d`) AS `c`, MIN(`t`.`ts`) AS `e`, MAX(`t`.`b`) AS `f`
FROM (VALUES ROW('a', DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00', TRUE),
ROW('B', DATE '2023-01-01', TIMESTAMP '2023-01-01 00:00:00', FALSE)) AS `t` (`s`, `d`, `ts`, `b`)
--#
SELECT SUM(x) AS s FROM (VALUES (2147483647), (1)) AS t(x)
--=
SELECT SUM(`t`.`x`) AS `s`
FROM (VALUES ROW(2147483647),
ROW(1)) AS `t` (`x`)
--#
SELECT SUM(x) AS s FROM (VALUES (CAST(9223372036854775807 AS BIGINT)), (CAST(1 AS BIGINT))) AS t(x)
--=
SELECT SUM(`t`.`x`) AS `s`
FROM (VALUES ROW(CAST(9223372036854775807 AS BIGINT)),
ROW(CAST(1 AS BIGINT))) AS `t` (`x`)
--#
SELECT AVG(x) AS s FROM (VALUES (1), (2)) AS t(x)
--=
SELECT AVG(`t`.`x`) AS `s`
FROM (VALUES ROW(1),
ROW(2)) AS `t` (`x`)
--#
SELECT COUNT(DISTINCT a, b) AS c FROM (VALUES (1, 1), (1, 1), (1, 2)) AS t(a, b)
--=
SELECT COUNT(DISTINCT `t`.`a`, `t`.`b`) AS `c`
FROM (VALUES ROW(1, 1),
ROW(1, 1),
ROW(1, 2)) AS `t` (`a`, `b`)
--#
SELECT COUNT(a, b) AS c FROM (VALUES (1, 1), (1, CAST(NULL AS INT))) AS t(a, b)
--=
SELECT COUNT(`t`.`a`, `t`.`b`) AS `c`
FROM (VALUES ROW(1, 1),
ROW(1, CAST(NULL AS INTEGER))) AS `t` (`a`, `b`)
--#
SELECT SUM(x) AS s, TYPEOF(SUM(x)) AS ty, TYPEOF(AVG(x)) AS av FROM (VALUES (CAST(1.5 AS DECIMAL(5,1)))) AS t(x)
--=
SELECT SUM(`t`.`x`) AS `s`, `TYPEOF`(SUM(`t`.`x`)) AS `ty`, `TYPEOF`(AVG(`t`.`x`)) AS `av`
FROM (VALUES ROW(CAST(1.5 AS DECIMAL(5, 1)))) AS `t` (`x`)
--#
SELECT 'abc' LIKE 'a%' AS a, 'abc' LIKE 'A%' AS b, 'abc' LIKE '_b_' AS c, 'a%c' LIKE 'a\%c' AS d, 'a%c' LIKE 'a!%c' ESCAPE '!' AS e, 'abc' NOT LIKE '%z%' AS f, '' LIKE '%' AS g, 'abc' LIKE '' AS h
--=
SELECT 'abc' LIKE 'a%' AS `a`, 'abc' LIKE 'A%' AS `b`, 'abc' LIKE '_b_' AS `c`, 'a%c' LIKE 'a\%c' AS `d`, 'a%c' LIKE 'a!%c' ESCAPE '!' AS `e`, 'abc' NOT LIKE '%z%' AS `f`, '' LIKE '%' AS `g`, 'abc' LIKE '' AS `h`
--#
SELECT 'abc' LIKE CAST(NULL AS STRING) AS a, 'a_c' LIKE 'a!_c' ESCAPE '!' AS b, 'abc' LIKE 'a!' ESCAPE '!' AS c
--=
SELECT 'abc' LIKE CAST(NULL AS STRING) AS `a`, 'a_c' LIKE 'a!_c' ESCAPE '!' AS `b`, 'abc' LIKE 'a!' ESCAPE '!' AS `c`
--#
SELECT 'abc' SIMILAR TO 'a.c' AS a, 'abc' SIMILAR TO '(a|b)%' AS b, 'aaa' SIMILAR TO 'a{3}' AS c, 'abc' NOT SIMILAR TO 'x%' AS d, 'a1' SIMILAR TO '[a-z][0-9]' AS e
--=
SELECT 'abc' SIMILAR TO 'a.c' AS `a`, 'abc' SIMILAR TO '(a|b)%' AS `b`, 'aaa' SIMILAR TO 'a{3}' AS `c`, 'abc' NOT SIMILAR TO 'x%' AS `d`, 'a1' SIMILAR TO '[a-z][0-9]' AS `e`
--#
SELECT 'a' < 'b' AS a, 'a' < 'B' AS b, 'abc' < 'abd' AS c, '' < 'a' AS d, 'é' > 'z' AS e, 'Z' < 'a' AS f
--=
SELECT 'a' < 'b' AS `a`, 'a' < 'B' AS `b`, 'abc' < 'abd' AS `c`, '' < 'a' AS `d`, _UTF16'é' > 'z' AS `e`, 'Z' < 'a' AS `f`
--#
SELECT s, s LIKE '%o%' AS l, s SIMILAR TO '[fb]oo' AS m FROM (VALUES ('foo'), ('bar'), ('boo'), (CAST(NULL AS STRING))) AS t(s) ORDER BY s
--=
SELECT `t`.`s`, `t`.`s` LIKE '%o%' AS `l`, `t`.`s` SIMILAR TO '[fb]oo' AS `m`
FROM (VALUES ROW('foo'),
ROW('bar'),
ROW('boo'),
ROW(CAST(NULL AS STRING))) AS `t` (`s`)
ORDER BY `s`
--#
SELECT x BETWEEN 2 AND 3 AS b, x NOT BETWEEN 2 AND 3 AS nb, x BETWEEN ASYMMETRIC 3 AND 2 AS asy, x BETWEEN SYMMETRIC 3 AND 2 AS sym FROM (VALUES (1), (2), (4)) AS t(x)
--=
SELECT `t`.`x` BETWEEN ASYMMETRIC 2 AND 3 AS `b`, `t`.`x` NOT BETWEEN ASYMMETRIC 2 AND 3 AS `nb`, `t`.`x` BETWEEN ASYMMETRIC 3 AND 2 AS `asy`, `t`.`x` BETWEEN SYMMETRIC 3 AND 2 AS `sym`
FROM (VALUES ROW(1),
ROW(2),
ROW(4)) AS `t` (`x`)
--#
SELECT x IS TRUE AS a, x IS NOT TRUE AS b, x IS FALSE AS c, x IS UNKNOWN AS d, NOT x AS e, x AND TRUE AS f, x OR FALSE AS g FROM (VALUES (TRUE), (FALSE), (CAST(NULL AS BOOLEAN))) AS t(x)
--=
SELECT `t`.`x` IS TRUE AS `a`, `t`.`x` IS NOT TRUE AS `b`, `t`.`x` IS FALSE AS `c`, `t`.`x` IS UNKNOWN AS `d`, NOT `t`.`x` AS `e`, `t`.`x` AND TRUE AS `f`, `t`.`x` OR FALSE AS `g`
FROM (VALUES ROW(TRUE),
ROW(FALSE),
ROW(CAST(NULL AS BOOLEAN))) AS `t` (`x`)
--#
SELECT CASE x WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END AS a, CASE WHEN x > 1 THEN x * 10 WHEN x IS NULL THEN -1 END AS b, IF(x > 1, 'big', 'small') AS c, NULLIF(x, 2) AS d, COALESCE(x, 0) AS e, IFNULL(x, 99) AS f, GREATEST(x, 2) AS g, LEAST(x, 2) AS h FROM (VALUES (1), (2), (3), (CAST(NULL AS INT))) AS t(x)
--=
SELECT CASE WHEN `t`.`x` = 1 THEN 'one' WHEN `t`.`x` = 2 THEN 'two' ELSE 'many' END AS `a`, CASE WHEN `t`.`x` > 1 THEN `t`.`x` * 10 WHEN `t`.`x` IS NULL THEN -1 ELSE NULL END AS `b`, `IF`(`t`.`x` > 1, 'big', 'small') AS `c`, NULLIF(`t`.`x`, 2) AS `d`, COALESCE(`t`.`x`, 0) AS `e`, `IFNULL`(`t`.`x`, 99) AS `f`, `GREATEST`(`t`.`x`, 2) AS `g`, `LEAST`(`t`.`x`, 2) AS `h`
FROM (VALUES ROW(1),
ROW(2),
ROW(3),
ROW(CAST(NULL AS INTEGER))) AS `t` (`x`)
--#
SELECT '{"a":1}' IS JSON AS a, 'x' IS JSON AS b, '[1]' IS JSON ARRAY AS c, '{"a":1}' IS JSON OBJECT AS d, '1' IS JSON SCALAR AS e, '"x"' IS JSON VALUE AS f, '' IS JSON AS g, 'x' IS NOT JSON AS h, CAST(NULL AS STRING) IS JSON AS i
--=
SELECT '{"a":1}' IS JSON VALUE AS `a`, 'x' IS JSON VALUE AS `b`, '[1]' IS JSON ARRAY AS `c`, '{"a":1}' IS JSON OBJECT AS `d`, '1' IS JSON SCALAR AS `e`, '"x"' IS JSON VALUE AS `f`, '' IS JSON VALUE AS `g`, 'x' IS NOT JSON VALUE AS `h`, CAST(NULL AS STRING) IS JSON VALUE AS `i`
--#
SELECT JSON_EXISTS('{"a":{"b":1}}', '$.a.b') AS a, JSON_EXISTS('{"a":1}', '$.z') AS b, JSON_EXISTS('{"a":1}', 'strict $.z' FALSE ON ERROR) AS c, JSON_EXISTS('{"a":1}', 'strict $.z' TRUE ON ERROR) AS d, JSON_EXISTS('{"a":1}', 'strict $.z' UNKNOWN ON ERROR) AS e, JSON_EXISTS(CAST(NULL AS STRING), '$') AS f
--=
SELECT JSON_EXISTS('{"a":{"b":1}}', '$.a.b') AS `a`, JSON_EXISTS('{"a":1}', '$.z') AS `b`, JSON_EXISTS('{"a":1}', 'strict $.z' FALSE ON ERROR) AS `c`, JSON_EXISTS('{"a":1}', 'strict $.z' TRUE ON ERROR) AS `d`, JSON_EXISTS('{"a":1}', 'strict $.z' UNKNOWN ON ERROR) AS `e`, JSON_EXISTS(CAST(NULL AS STRING), '$') AS `f`
--#
SELECT JSON_EXISTS('{"a":1}', 'strict $.z' ERROR ON ERROR) AS g
--=
SELECT JSON_EXISTS('{"a":1}', 'strict $.z' ERROR ON ERROR) AS `g`
--#
SELECT JSON_VALUE('{"a":1,"b":"x","c":true,"d":null,"e":[1,2],"f":1.5}', '$.a') AS a, JSON_VALUE('{"b":"x"}', '$.b') AS b, JSON_VALUE('{"c":true}', '$.c') AS c, JSON_VALUE('{"d":null}', '$.d') AS d, JSON_VALUE('{"e":[1,2]}', '$.e') AS e, JSON_VALUE('{"e":[1,2]}', '$.e[1]') AS f, JSON_VALUE('{"f":1.5}', '$.f') AS g, JSON_VALUE('{"a":1}', '$.zz') AS h, JSON_VALUE('not json', '$.a') AS i
--=
SELECT JSON_VALUE('{"a":1,"b":"x","c":true,"d":null,"e":[1,2],"f":1.5}', '$.a') AS `a`, JSON_VALUE('{"b":"x"}', '$.b') AS `b`, JSON_VALUE('{"c":true}', '$.c') AS `c`, JSON_VALUE('{"d":null}', '$.d') AS `d`, JSON_VALUE('{"e":[1,2]}', '$.e') AS `e`, JSON_VALUE('{"e":[1,2]}', '$.e[1]') AS `f`, JSON_VALUE('{"f":1.5}', '$.f') AS `g`, JSON_VALUE('{"a":1}', '$.zz') AS `h`, JSON_VALUE('not json', '$.a') AS `i`
--#
SELECT JSON_QUERY('{"a":{"b":1}}', '$.a') AS a, JSON_QUERY('[1,2]', '$[0]') AS b, JSON_QUERY('[1,2]', '$') AS c, JSON_QUERY('{"a":1}', '$.a' WITH CONDITIONAL WRAPPER) AS d, JSON_QUERY('{"a":1}', '$.a' WITH UNCONDITIONAL WRAPPER) AS e, JSON_QUERY('{"a":[1,2]}', '$.a' WITHOUT WRAPPER) AS f, JSON_QUERY('{"a":1}', '$.b' EMPTY ARRAY ON EMPTY) AS g, JSON_QUERY('{"a":1}', '$.b' EMPTY OBJECT ON EMPTY) AS h, JSON_QUERY('x', '$') AS i, JSON_QUERY('{"a":["x","y"]}', '$.a' RETURNING ARRAY<STRING>) AS j, JSON_QUERY('{"a":[{"b":1},{"b":2}]}', '$.a[*].b' WITH WRAPPER) AS k
--=
SELECT JSON_QUERY('{"a":{"b":1}}', '$.a' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `a`, JSON_QUERY('[1,2]', '$[0]' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `b`, JSON_QUERY('[1,2]', '$' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `c`, JSON_QUERY('{"a":1}', '$.a' WITH CONDITIONAL ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `d`, JSON_QUERY('{"a":1}', '$.a' WITH UNCONDITIONAL ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `e`, JSON_QUERY('{"a":[1,2]}', '$.a' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `f`, JSON_QUERY('{"a":1}', '$.b' WITHOUT ARRAY WRAPPER EMPTY ARRAY ON EMPTY NULL ON ERROR) AS `g`, JSON_QUERY('{"a":1}', '$.b' WITHOUT ARRAY WRAPPER EMPTY OBJECT ON EMPTY NULL ON ERROR) AS `h`, JSON_QUERY('x', '$' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `i`, JSON_QUERY('{"a":["x","y"]}', '$.a' RETURNING ARRAY< STRING > WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `j`, JSON_QUERY('{"a":[{"b":1},{"b":2}]}', '$.a[*].b' WITH UNCONDITIONAL ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `k`
--#
SELECT JSON_STRING('a"b') AS a, JSON_STRING(1) AS b, JSON_STRING(TRUE) AS c, JSON_STRING(CAST(NULL AS STRING)) AS d, JSON_STRING(ARRAY[1,2]) AS e, JSON_STRING(MAP['k',1]) AS f, JSON_STRING(ROW(1,'x')) AS g, JSON_STRING(1.50) AS h, JSON_STRING(CAST(1.5 AS DOUBLE)) AS i
--=
SELECT `JSON_STRING`('a"b') AS `a`, `JSON_STRING`(1) AS `b`, `JSON_STRING`(TRUE) AS `c`, `JSON_STRING`(CAST(NULL AS STRING)) AS `d`, `JSON_STRING`(ARRAY[1, 2]) AS `e`, `JSON_STRING`(MAP['k', 1]) AS `f`, `JSON_STRING`(ROW(1, 'x')) AS `g`, `JSON_STRING`(1.50) AS `h`, `JSON_STRING`(CAST(1.5 AS DOUBLE)) AS `i`
--#
SELECT JSON_OBJECT('a' VALUE 1, 'b' VALUE 'x') AS a, JSON_OBJECT(KEY 'k' VALUE TRUE) AS b, JSON_OBJECT('n' VALUE CAST(NULL AS STRING)) AS c, JSON_OBJECT('n' VALUE CAST(NULL AS STRING) ABSENT ON NULL) AS d, JSON_OBJECT() AS e, JSON_OBJECT('o' VALUE JSON_OBJECT('i' VALUE 1)) AS f, JSON_OBJECT('a' : 1) AS g, JSON_OBJECT('arr' VALUE ARRAY[1,2]) AS h, JSON_OBJECT('d' VALUE DATE '2024-01-01') AS i
--=
SELECT JSON_OBJECT(KEY 'a' VALUE 1, KEY 'b' VALUE 'x' NULL ON NULL) AS `a`, JSON_OBJECT(KEY 'k' VALUE TRUE NULL ON NULL) AS `b`, JSON_OBJECT(KEY 'n' VALUE CAST(NULL AS STRING) NULL ON NULL) AS `c`, JSON_OBJECT(KEY 'n' VALUE CAST(NULL AS STRING) ABSENT ON NULL) AS `d`, JSON_OBJECT(NULL ON NULL) AS `e`, JSON_OBJECT(KEY 'o' VALUE JSON_OBJECT(KEY 'i' VALUE 1 NULL ON NULL) NULL ON NULL) AS `f`, JSON_OBJECT(KEY 'a' VALUE 1 NULL ON NULL) AS `g`, JSON_OBJECT(KEY 'arr' VALUE ARRAY[1, 2] NULL ON NULL) AS `h`, JSON_OBJECT(KEY 'd' VALUE DATE '2024-01-01' NULL ON NULL) AS `i`
--#
SELECT JSON_OBJECT(KEY k VALUE v) AS o FROM (VALUES ('a', 1), ('b', 2)) AS t(k, v)
--=
SELECT JSON_OBJECT(KEY `t`.`k` VALUE `t`.`v` NULL ON NULL) AS `o`
FROM (VALUES ROW('a', 1),
ROW('b', 2)) AS `t` (`k`, `v`)
--#
SELECT JSON_OBJECTAGG(KEY k VALUE v) AS o, JSON_ARRAYAGG(v) AS a FROM (VALUES ('a', 1), ('b', 2)) AS t(k, v)
--=
SELECT JSON_OBJECTAGG(KEY `t`.`k` VALUE `t`.`v` NULL ON NULL) AS `o`, JSON_ARRAYAGG(`t`.`v` ABSENT ON NULL) AS `a`
FROM (VALUES ROW('a', 1),
ROW('b', 2)) AS `t` (`k`, `v`)
--#
SELECT JSON_OBJECTAGG(KEY k VALUE NULLIF(v, 2) ABSENT ON NULL) AS o, JSON_ARRAYAGG(NULLIF(v, 2) NULL ON NULL) AS a, JSON_ARRAYAGG(NULLIF(v, 2)) AS b FROM (VALUES ('a', 1), ('b', 2)) AS t(k, v)
--=
SELECT JSON_OBJECTAGG(KEY `t`.`k` VALUE NULLIF(`t`.`v`, 2) ABSENT ON NULL) AS `o`, JSON_ARRAYAGG(NULLIF(`t`.`v`, 2) NULL ON NULL) AS `a`, JSON_ARRAYAGG(NULLIF(`t`.`v`, 2) ABSENT ON NULL) AS `b`
FROM (VALUES ROW('a', 1),
ROW('b', 2)) AS `t` (`k`, `v`)
--#
SELECT JSON_QUOTE('a"b') AS a, JSON_UNQUOTE('"abc"') AS b, JSON_UNQUOTE('abc') AS c, JSON_UNQUOTE('"a\u00e9"') AS d
--=
SELECT `JSON_QUOTE`('a"b') AS `a`, `JSON_UNQUOTE`('"abc"') AS `b`, `JSON_UNQUOTE`('abc') AS `c`, `JSON_UNQUOTE`('"a\u00e9"') AS `d`
--#
SELECT PARSE_JSON('{"a":[1,2]}') AS a, TRY_PARSE_JSON('x') AS b, TYPEOF(PARSE_JSON('1')) AS c
--=
SELECT `PARSE_JSON`('{"a":[1,2]}') AS `a`, `TRY_PARSE_JSON`('x') AS `b`, `TYPEOF`(`PARSE_JSON`('1')) AS `c`
--#
SELECT PARSE_JSON('x')
--=
SELECT `PARSE_JSON`('x')
--#
SELECT PARSE_JSON('{"a":[1,2.5,"x",null,true]}') AS a
--=
SELECT `PARSE_JSON`('{"a":[1,2.5,"x",null,true]}') AS `a`
--#
SELECT TRY_PARSE_JSON('x') AS b
--=
SELECT `TRY_PARSE_JSON`('x') AS `b`
--#
SELECT JSON_QUERY('{"a":1}', 'strict $.b' EMPTY ARRAY ON ERROR) AS a, JSON_QUERY('{"a":1}', 'strict $.b' NULL ON ERROR) AS b, JSON_QUERY('{"a":[1,{"b":2}]}', 'lax $.a[1]') AS c
--=
SELECT JSON_QUERY('{"a":1}', 'strict $.b' WITHOUT ARRAY WRAPPER NULL ON EMPTY EMPTY ARRAY ON ERROR) AS `a`, JSON_QUERY('{"a":1}', 'strict $.b' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `b`, JSON_QUERY('{"a":[1,{"b":2}]}', 'lax $.a[1]' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `c`
--#
SELECT j, j IS JSON AS a, j IS JSON OBJECT AS b, j IS JSON ARRAY AS c, j IS JSON SCALAR AS d, JSON_VALUE(j, '$.x') AS e, JSON_QUERY(j, '$.x') AS f, JSON_EXISTS(j, '$.x') AS g FROM (VALUES ('{"x":1}'), ('{"x":{"y":2}}'), ('[1,2]'), ('5'), ('bad'), (CAST(NULL AS STRING))) AS t(j)
--=
SELECT `t`.`j`, `t`.`j` IS JSON VALUE AS `a`, `t`.`j` IS JSON OBJECT AS `b`, `t`.`j` IS JSON ARRAY AS `c`, `t`.`j` IS JSON SCALAR AS `d`, JSON_VALUE(`t`.`j`, '$.x') AS `e`, JSON_QUERY(`t`.`j`, '$.x' WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR) AS `f`, JSON_EXISTS(`t`.`j`, '$.x') AS `g`
FROM (VALUES ROW('{"x":1}'),
ROW('{"x":{"y":2}}'),
ROW('[1,2]'),
ROW('5'),
ROW('bad'),
ROW(CAST(NULL AS STRING))) AS `t` (`j`)
--#
SELECT ABS(-5) AS a, ABS(-1.5) AS b, ABS(CAST(-2.5 AS DOUBLE)) AS c, SIGN(-3) AS d, SIGN(0.0) AS e, SIGN(CAST(2.5 AS DOUBLE)) AS f, ABS(CAST(NULL AS INT)) AS g
--=
SELECT ABS(-5) AS `a`, ABS(-1.5) AS `b`, ABS(CAST(-2.5 AS DOUBLE)) AS `c`, SIGN(-3) AS `d`, SIGN(0.0) AS `e`, SIGN(CAST(2.5 AS DOUBLE)) AS `f`, ABS(CAST(NULL AS INTEGER)) AS `g`
--#
SELECT CEIL(1.2) AS a, CEIL(-1.2) AS b, CEILING(1.0) AS c, FLOOR(1.9) AS d, FLOOR(-1.9) AS e, FLOOR(5) AS f, CEIL(CAST(1.5 AS DOUBLE)) AS g, FLOOR(CAST(-1.5 AS FLOAT)) AS h
--=
SELECT CEIL(1.2) AS `a`, CEIL(-1.2) AS `b`, CEIL(1.0) AS `c`, FLOOR(1.9) AS `d`, FLOOR(-1.9) AS `e`, FLOOR(5) AS `f`, CEIL(CAST(1.5 AS DOUBLE)) AS `g`, FLOOR(CAST(-1.5 AS FLOAT)) AS `h`
--#
SELECT ROUND(1.5) AS a, ROUND(2.5) AS b, ROUND(-1.5) AS c, ROUND(1.2345, 2) AS d, ROUND(1.235, 2) AS e, ROUND(1234, -2) AS f, ROUND(1250, -2) AS g, ROUND(CAST(2.675 AS DOUBLE), 2) AS h, ROUND(CAST(0.5 AS DOUBLE)) AS i, ROUND(15, -1) AS j, ROUND(1.5, 5) AS k
--=
SELECT ROUND(1.5) AS `a`, ROUND(2.5) AS `b`, ROUND(-1.5) AS `c`, ROUND(1.2345, 2) AS `d`, ROUND(1.235, 2) AS `e`, ROUND(1234, -2) AS `f`, ROUND(1250, -2) AS `g`, ROUND(CAST(2.675 AS DOUBLE), 2) AS `h`, ROUND(CAST(0.5 AS DOUBLE)) AS `i`, ROUND(15, -1) AS `j`, ROUND(1.5, 5) AS `k`
--#
SELECT TRUNCATE(1.987, 2) AS a, TRUNCATE(-1.987, 1) AS b, TRUNCATE(1987, -2) AS c, TRUNCATE(1.9) AS d, TRUNCATE(CAST(42.345 AS DOUBLE), 2) AS e, TRUNCATE(CAST(42.345 AS FLOAT), 2) AS f
--=
SELECT TRUNCATE(1.987, 2) AS `a`, TRUNCATE(-1.987, 1) AS `b`, TRUNCATE(1987, -2) AS `c`, TRUNCATE(1.9) AS `d`, TRUNCATE(CAST(42.345 AS DOUBLE), 2) AS `e`, TRUNCATE(CAST(42.345 AS FLOAT), 2) AS `f`
--#
SELECT POWER(2, 10) AS a, POWER(2, -1) AS b, POWER(CAST(2 AS DECIMAL(5,2)), 3) AS c, POWER(0, 0) AS d, SQRT(16) AS e, SQRT(2) AS f, SQRT(-1) AS g, EXP(1) AS h, EXP(0) AS i
--=
SELECT POWER(2, 10) AS `a`, POWER(2, -1) AS `b`, POWER(CAST(2 AS DECIMAL(5, 2)), 3) AS `c`, POWER(0, 0) AS `d`, SQRT(16) AS `e`, SQRT(2) AS `f`, SQRT(-1) AS `g`, EXP(1) AS `h`, EXP(0) AS `i`
--#
SELECT LN(1) AS a, LN(10) AS b, LOG10(1000) AS c, LOG2(8) AS d, LOG(2, 8) AS e, LOG(EXP(1)) AS f, LN(0) AS g, LOG10(-1) AS h
--=
SELECT LN(1) AS `a`, LN(10) AS `b`, LOG10(1000) AS `c`, `LOG2`(8) AS `d`, `LOG`(2, 8) AS `e`, `LOG`(EXP(1)) AS `f`, LN(0) AS `g`, LOG10(-1) AS `h`
--#
SELECT SIN(0) AS a, COS(0) AS b, TAN(0) AS c, COT(1) AS d, ASIN(1) AS e, ACOS(1) AS f, ATAN(1) AS g, ATAN2(1, 1) AS h, SINH(0) AS i, COSH(0) AS j, TANH(0) AS k, DEGREES(PI()) AS l, RADIANS(180) AS m, PI() AS n, E() AS o, PI AS p
--=
SELECT SIN(0) AS `a`, COS(0) AS `b`, TAN(0) AS `c`, COT(1) AS `d`, ASIN(1) AS `e`, ACOS(1) AS `f`, ATAN(1) AS `g`, ATAN2(1, 1) AS `h`, `SINH`(0) AS `i`, `COSH`(0) AS `j`, `TANH`(0) AS `k`, DEGREES(PI()) AS `l`, RADIANS(180) AS `m`, PI() AS `n`, `E`() AS `o`, PI AS `p`
--#
SELECT x, ABS(x) AS a, CEIL(x) AS c, FLOOR(x) AS f, ROUND(x) AS r, TRUNCATE(x, 0) AS t, SIGN(x) AS s FROM (VALUES (CAST(1.5 AS DECIMAL(4,2))), (CAST(-1.5 AS DECIMAL(4,2))), (CAST(0 AS DECIMAL(4,2))), (CAST(NULL AS DECIMAL(4,2)))) AS t(x)
--=
SELECT `t`.`x`, ABS(`t`.`x`) AS `a`, CEIL(`t`.`x`) AS `c`, FLOOR(`t`.`x`) AS `f`, ROUND(`t`.`x`) AS `r`, TRUNCATE(`t`.`x`, 0) AS `t`, SIGN(`t`.`x`) AS `s`
FROM (VALUES ROW(CAST(1.5 AS DECIMAL(4, 2))),
ROW(CAST(-1.5 AS DECIMAL(4, 2))),
ROW(CAST(0 AS DECIMAL(4, 2))),
ROW(CAST(NULL AS DECIMAL(4, 2)))) AS `t` (`x`)
--#
SELECT x, ROUND(x, 1) AS r1, ROUND(x, 0) AS r0, ROUND(x, -1) AS rm1, FLOOR(x) AS f, CEIL(x) AS c FROM (VALUES (CAST(12.345 AS DOUBLE)), (CAST(-12.355 AS DOUBLE)), (CAST(0.05 AS DOUBLE))) AS t(x)
--=
SELECT `t`.`x`, ROUND(`t`.`x`, 1) AS `r1`, ROUND(`t`.`x`, 0) AS `r0`, ROUND(`t`.`x`, -1) AS `rm1`, FLOOR(`t`.`x`) AS `f`, CEIL(`t`.`x`) AS `c`
FROM (VALUES ROW(CAST(12.345 AS DOUBLE)),
ROW(CAST(-12.355 AS DOUBLE)),
ROW(CAST(0.05 AS DOUBLE))) AS `t` (`x`)
--#
SELECT POWER(x, 2) AS p, SQRT(x) AS s, EXP(x) AS e, LN(x) AS l FROM (VALUES (CAST(4 AS INT)), (CAST(1 AS INT))) AS t(x)
--=
SELECT POWER(`t`.`x`, 2) AS `p`, SQRT(`t`.`x`) AS `s`, EXP(`t`.`x`) AS `e`, LN(`t`.`x`) AS `l`
FROM (VALUES ROW(CAST(4 AS INTEGER)),
ROW(CAST(1 AS INTEGER))) AS `t` (`x`)
--#
SELECT x / y AS d, MOD(x, y) AS m FROM (VALUES (7, 2), (-7, 2), (7, -2)) AS t(x, y)
--=
SELECT `t`.`x` / `t`.`y` AS `d`, MOD(`t`.`x`, `t`.`y`) AS `m`
FROM (VALUES ROW(7, 2),
ROW(-7, 2),
ROW(7, -2)) AS `t` (`x`, `y`)
--#
SELECT CAST(x AS DECIMAL(10,2)) / y AS d FROM (VALUES (7, 2), (1, 3)) AS t(x, y)
--=
SELECT CAST(`t`.`x` AS DECIMAL(10, 2)) / `t`.`y` AS `d`
FROM (VALUES ROW(7, 2),
ROW(1, 3)) AS `t` (`x`, `y`)
--#
SELECT SUM(x) AS s, AVG(x) AS a FROM (VALUES (CAST(1.10 AS DECIMAL(10,2))), (CAST(2.25 AS DECIMAL(10,2)))) AS t(x)
--=
SELECT SUM(`t`.`x`) AS `s`, AVG(`t`.`x`) AS `a`
FROM (VALUES ROW(CAST(1.10 AS DECIMAL(10, 2))),
ROW(CAST(2.25 AS DECIMAL(10, 2)))) AS `t` (`x`)
--#
SELECT x + y AS a, x - y AS b, x * y AS c, x / y AS d, x % y AS e FROM (VALUES (CAST(10.50 AS DECIMAL(10,2)), CAST(3.3 AS DECIMAL(5,1)))) AS t(x, y)
--=
SELECT `t`.`x` + `t`.`y` AS `a`, `t`.`x` - `t`.`y` AS `b`, `t`.`x` * `t`.`y` AS `c`, `t`.`x` / `t`.`y` AS `d`, `t`.`x` % `t`.`y` AS `e`
FROM (VALUES ROW(CAST(10.50 AS DECIMAL(10, 2)), CAST(3.3 AS DECIMAL(5, 1)))) AS `t` (`x`, `y`)
--#
SELECT x + y AS a, x * y AS b, x / y AS c FROM (VALUES (CAST(10 AS BIGINT), CAST(4 AS SMALLINT))) AS t(x, y)
--=
SELECT `t`.`x` + `t`.`y` AS `a`, `t`.`x` * `t`.`y` AS `b`, `t`.`x` / `t`.`y` AS `c`
FROM (VALUES ROW(CAST(10 AS BIGINT), CAST(4 AS SMALLINT))) AS `t` (`x`, `y`)
--#
SELECT CHAR_LENGTH('hello') AS a, CHARACTER_LENGTH('') AS b, UPPER('aBc') AS c, LOWER('AbC') AS d, POSITION('l' IN 'hello') AS e, POSITION('z' IN 'hello') AS f, POSITION('' IN 'abc') AS g
--=
SELECT CHAR_LENGTH('hello') AS `a`, CHARACTER_LENGTH('') AS `b`, UPPER('aBc') AS `c`, LOWER('AbC') AS `d`, POSITION('l' IN 'hello') AS `e`, POSITION('z' IN 'hello') AS `f`, POSITION('' IN 'abc') AS `g`
--#
SELECT TRIM('  x  ') AS a, TRIM(LEADING 'x' FROM 'xxaxx') AS b, TRIM(TRAILING 'x' FROM 'xxaxx') AS c, TRIM(BOTH 'x' FROM 'xxaxx') AS d, LTRIM('  a ') AS e, RTRIM(' a  ') AS f, BTRIM('  a  ') AS g, TRIM(BOTH 'xy' FROM 'xyaxy') AS h, LTRIM('xxab', 'x') AS i, RTRIM('abyy', 'y') AS j
--=
SELECT TRIM(BOTH ' ' FROM '  x  ') AS `a`, TRIM(LEADING 'x' FROM 'xxaxx') AS `b`, TRIM(TRAILING 'x' FROM 'xxaxx') AS `c`, TRIM(BOTH 'x' FROM 'xxaxx') AS `d`, `LTRIM`('  a ') AS `e`, `RTRIM`(' a  ') AS `f`, `BTRIM`('  a  ') AS `g`, TRIM(BOTH 'xy' FROM 'xyaxy') AS `h`, `LTRIM`('xxab', 'x') AS `i`, `RTRIM`('abyy', 'y') AS `j`
--#
SELECT SUBSTRING('hello', 2) AS a, SUBSTRING('hello', 2, 3) AS b, SUBSTRING('hello' FROM 2 FOR 2) AS c, SUBSTRING('hello', 0) AS d, SUBSTRING('hello', -3) AS e, SUBSTRING('hello', 10) AS f, SUBSTRING('hello', 2, 0) AS g, SUBSTR('hello', 2, 100) AS h, SUBSTRING('hello', 0, 2) AS i
--=
SELECT SUBSTRING('hello' FROM 2) AS `a`, SUBSTRING('hello' FROM 2 FOR 3) AS `b`, SUBSTRING('hello' FROM 2 FOR 2) AS `c`, SUBSTRING('hello' FROM 0) AS `d`, SUBSTRING('hello' FROM -3) AS `e`, SUBSTRING('hello' FROM 10) AS `f`, SUBSTRING('hello' FROM 2 FOR 0) AS `g`, `SUBSTR`('hello', 2, 100) AS `h`, SUBSTRING('hello' FROM 0 FOR 2) AS `i`
--#
SELECT SUBSTRING('hello', 2, -1) AS neg
--=
SELECT SUBSTRING('hello' FROM 2 FOR -1) AS `neg`
--#
SELECT LEFT('hello', 2) AS a, RIGHT('hello', 2) AS b, LEFT('hi', 10) AS c, LEFT('hi', 0) AS d, RIGHT('hi', -1) AS e, LEFT('hi', -1) AS f
--=
SELECT `LEFT`('hello', 2) AS `a`, `RIGHT`('hello', 2) AS `b`, `LEFT`('hi', 10) AS `c`, `LEFT`('hi', 0) AS `d`, `RIGHT`('hi', -1) AS `e`, `LEFT`('hi', -1) AS `f`
--#
SELECT LPAD('hi', 5, 'xy') AS a, RPAD('hi', 5, 'xy') AS b, LPAD('hello', 3, 'x') AS c, RPAD('hi', -1, 'x') AS d, LPAD('hi', 5, '') AS e, LPAD('hi', 2, '') AS f
--=
SELECT `LPAD`('hi', 5, 'xy') AS `a`, `RPAD`('hi', 5, 'xy') AS `b`, `LPAD`('hello', 3, 'x') AS `c`, `RPAD`('hi', -1, 'x') AS `d`, `LPAD`('hi', 5, '') AS `e`, `LPAD`('hi', 2, '') AS `f`
--#
SELECT REGEXP_REPLACE('foobar', 'oo|ar', '') AS a, REGEXP_REPLACE('a1b22', '[0-9]+', '#') AS b, REGEXP_REPLACE('abc', '(b)', '[$1]') AS c, REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2) AS d, REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)') AS e, REGEXP_EXTRACT('abc', 'z') AS f, REGEXP_EXTRACT('abc', '(b)', 5) AS g, REGEXP('abc', 'b') AS h, REGEXP('abc', '^b') AS i
--=
SELECT `REGEXP_REPLACE`('foobar', 'oo|ar', '') AS `a`, `REGEXP_REPLACE`('a1b22', '[0-9]+', '#') AS `b`, `REGEXP_REPLACE`('abc', '(b)', '[$1]') AS `c`, `REGEXP_EXTRACT`('foothebar', 'foo(.*?)(bar)', 2) AS `d`, `REGEXP_EXTRACT`('foothebar', 'foo(.*?)(bar)') AS `e`, `REGEXP_EXTRACT`('abc', 'z') AS `f`, `REGEXP_EXTRACT`('abc', '(b)', 5) AS `g`, `REGEXP`('abc', 'b') AS `h`, `REGEXP`('abc', '^b') AS `i`
--#
SELECT REGEXP_COUNT('abcabc', 'b') AS a, REGEXP_EXTRACT_ALL('a1b2', '([a-z])([0-9])') AS b, REGEXP_EXTRACT_ALL('a1b2', '([a-z])([0-9])', 2) AS c, REGEXP_INSTR('abcabc', 'ca') AS d, REGEXP_SUBSTR('abc123', '[0-9]+') AS e, REGEXP_COUNT('abc', 'z') AS f, REGEXP_SUBSTR('abc', 'z') AS g
--=
SELECT `REGEXP_COUNT`('abcabc', 'b') AS `a`, `REGEXP_EXTRACT_ALL`('a1b2', '([a-z])([0-9])') AS `b`, `REGEXP_EXTRACT_ALL`('a1b2', '([a-z])([0-9])', 2) AS `c`, `REGEXP_INSTR`('abcabc', 'ca') AS `d`, `REGEXP_SUBSTR`('abc123', '[0-9]+') AS `e`, `REGEXP_COUNT`('abc', 'z') AS `f`, `REGEXP_SUBSTR`('abc', 'z') AS `g`
--#
SELECT REGEXP_REPLACE('abc', '(', 'x') AS bad
--=
SELECT `REGEXP_REPLACE`('abc', '(', 'x') AS `bad`
--#
SELECT REGEXP_EXTRACT('abc', '(', 1) AS bad
--=
SELECT `REGEXP_EXTRACT`('abc', '(', 1) AS `bad`
--#
SELECT PARSE_URL('http://u:p@facebook.com:80/path/p1.php?query=1&b=2#frag', 'HOST') AS a, PARSE_URL('http://facebook.com/path/p1.php?query=1', 'QUERY') AS b, PARSE_URL('http://facebook.com/p?query=1&b=2', 'QUERY', 'b') AS c, PARSE_URL('http://u:p@h:80/p#f', 'REF') AS d, PARSE_URL('http://u:p@h:80/p', 'PROTOCOL') AS e, PARSE_URL('http://u:p@h:80/p', 'AUTHORITY') AS f, PARSE_URL('http://u:p@h:80/p', 'USERINFO') AS g, PARSE_URL('http://h/p?x=1', 'FILE') AS h, PARSE_URL('http://h/p', 'PATH') AS i, PARSE_URL('not a url', 'HOST') AS j
--=
SELECT `PARSE_URL`('http://u:p@facebook.com:80/path/p1.php?query=1&b=2#frag', 'HOST') AS `a`, `PARSE_URL`('http://facebook.com/path/p1.php?query=1', 'QUERY') AS `b`, `PARSE_URL`('http://facebook.com/p?query=1&b=2', 'QUERY', 'b') AS `c`, `PARSE_URL`('http://u:p@h:80/p#f', 'REF') AS `d`, `PARSE_URL`('http://u:p@h:80/p', 'PROTOCOL') AS `e`, `PARSE_URL`('http://u:p@h:80/p', 'AUTHORITY') AS `f`, `PARSE_URL`('http://u:p@h:80/p', 'USERINFO') AS `g`, `PARSE_URL`('http://h/p?x=1', 'FILE') AS `h`, `PARSE_URL`('http://h/p', 'PATH') AS `i`, `PARSE_URL`('not a url', 'HOST') AS `j`
--#
SELECT URL_ENCODE('a b&c=é') AS a, URL_DECODE('a+b%26c') AS b, URL_DECODE('%zz') AS c
--=
SELECT `URL_ENCODE`(_UTF16'a b&c=é') AS `a`, `URL_DECODE`('a+b%26c') AS `b`, `URL_DECODE`('%zz') AS `c`
--#
SELECT TO_BASE64('flink') AS a, FROM_BASE64('Zmxpbms=') AS b, ENCODE('hi', 'US-ASCII') AS c, DECODE(ENCODE('é', 'UTF-16BE'), 'UTF-16BE') AS d, FROM_BASE64('!!!') AS e
--=
SELECT `TO_BASE64`('flink') AS `a`, `FROM_BASE64`('Zmxpbms=') AS `b`, `ENCODE`('hi', 'US-ASCII') AS `c`, `DECODE`(`ENCODE`(_UTF16'é', 'UTF-16BE'), 'UTF-16BE') AS `d`, `FROM_BASE64`('!!!') AS `e`
--#
SELECT STARTSWITH('hello', 'he') AS a, ENDSWITH('hello', 'lo') AS b, STARTSWITH('hello', '') AS c, ENDSWITH('hello', 'x') AS d, STARTSWITH(CAST(NULL AS STRING), 'a') AS e
--=
SELECT `STARTSWITH`('hello', 'he') AS `a`, `ENDSWITH`('hello', 'lo') AS `b`, `STARTSWITH`('hello', '') AS `c`, `ENDSWITH`('hello', 'x') AS `d`, `STARTSWITH`(CAST(NULL AS STRING), 'a') AS `e`
--#
SELECT ELT(2, 'a', 'b') AS a, ELT(5, 'a', 'b') AS b, PRINTF('%d-%s', 5, 'x') AS c, IS_ALPHA('abc') AS d, IS_ALPHA('a1') AS e, IS_DECIMAL('1.5') AS f, IS_DECIMAL('x') AS g, IS_DIGIT('123') AS h, IS_DIGIT('12a') AS i
--=
SELECT `ELT`(2, 'a', 'b') AS `a`, `ELT`(5, 'a', 'b') AS `b`, `PRINTF`('%d-%s', 5, 'x') AS `c`, `IS_ALPHA`('abc') AS `d`, `IS_ALPHA`('a1') AS `e`, `IS_DECIMAL`('1.5') AS `f`, `IS_DECIMAL`('x') AS `g`, `IS_DIGIT`('123') AS `h`, `IS_DIGIT`('12a') AS `i`
--#
SELECT STR_TO_MAP('a=1,b=2')['b'] AS a
--=
SELECT `STR_TO_MAP`('a=1,b=2')['b'] AS `a`
--#
SELECT s, UPPER(s) AS u, LOWER(s) AS l, CHAR_LENGTH(s) AS n, REVERSE(s) AS r, SUBSTRING(s, 2, 2) AS sub, REPLACE(s, 'a', '*') AS rep, LPAD(s, 5, '.') AS lp, s || '!' AS c FROM (VALUES ('Abc'), ('éàü'), (''), ('日本語テキスト'), (CAST(NULL AS STRING))) AS t(s)
--=
SELECT `t`.`s`, UPPER(`t`.`s`) AS `u`, LOWER(`t`.`s`) AS `l`, CHAR_LENGTH(`t`.`s`) AS `n`, `REVERSE`(`t`.`s`) AS `r`, SUBSTRING(`t`.`s` FROM 2 FOR 2) AS `sub`, REPLACE(`t`.`s`, 'a', '*') AS `rep`, `LPAD`(`t`.`s`, 5, '.') AS `lp`, `t`.`s` || '!' AS `c`
FROM (VALUES ROW('Abc'),
ROW(_UTF16'éàü'),
ROW(''),
ROW(_UTF16'日本語テキスト'),
ROW(CAST(NULL AS STRING))) AS `t` (`s`)
--#
SELECT s, TRIM(s) AS t, LTRIM(s) AS lt, RTRIM(s) AS rt, CHAR_LENGTH(TRIM(s)) AS n FROM (VALUES ('  a b  '), (' '), (''), ('x')) AS t(s)
--=
SELECT `t`.`s`, TRIM(BOTH ' ' FROM `t`.`s`) AS `t`, `LTRIM`(`t`.`s`) AS `lt`, `RTRIM`(`t`.`s`) AS `rt`, CHAR_LENGTH(TRIM(BOTH ' ' FROM `t`.`s`)) AS `n`
FROM (VALUES ROW('  a b  '),
ROW(' '),
ROW(''),
ROW('x')) AS `t` (`s`)
--#
SELECT s, POSITION('b' IN s) AS p, INSTR(s, 'b') AS i, LOCATE('b', s, 3) AS l, REGEXP_EXTRACT(s, '([a-z])b', 1) AS re, SPLIT_INDEX(s, 'b', 1) AS si FROM (VALUES ('abab'), ('xyz'), (CAST(NULL AS STRING))) AS t(s)
--=
SELECT `t`.`s`, POSITION('b' IN `t`.`s`) AS `p`, `INSTR`(`t`.`s`, 'b') AS `i`, `LOCATE`('b', `t`.`s`, 3) AS `l`, `REGEXP_EXTRACT`(`t`.`s`, '([a-z])b', 1) AS `re`, `SPLIT_INDEX`(`t`.`s`, 'b', 1) AS `si`
FROM (VALUES ROW('abab'),
ROW('xyz'),
ROW(CAST(NULL AS STRING))) AS `t` (`s`)
--#
SELECT MD5('') AS a, MD5('hello') AS b, SHA1('hello') AS c, SHA224('hello') AS d, SHA256('hello') AS e
--=
SELECT `MD5`('') AS `a`, `MD5`('hello') AS `b`, `SHA1`('hello') AS `c`, `SHA224`('hello') AS `d`, `SHA256`('hello') AS `e`
--#
SELECT SHA384('hello') AS a, SHA512('hello') AS b, SHA2('hello', 256) AS c, SHA2('hello', 224) AS d, MD5(CAST(NULL AS STRING)) AS e
--=
SELECT `SHA384`('hello') AS `a`, `SHA512`('hello') AS `b`, `SHA2`('hello', 256) AS `c`, `SHA2`('hello', 224) AS `d`, `MD5`(CAST(NULL AS STRING)) AS `e`
--#
SELECT SHA2('hello', 128)
--=
SELECT `SHA2`('hello', 128)
--#
SELECT LPAD('hi', 5, 'xy') AS a, RPAD('hi', 5, 'xy') AS b, LPAD('hello', 3, 'x') AS c, LPAD('hi', 2, '') AS f, LPAD('hi', 0, 'x') AS g
--=
SELECT `LPAD`('hi', 5, 'xy') AS `a`, `RPAD`('hi', 5, 'xy') AS `b`, `LPAD`('hello', 3, 'x') AS `c`, `LPAD`('hi', 2, '') AS `f`, `LPAD`('hi', 0, 'x') AS `g`
--#
SELECT LPAD(s, n, p) AS l, RPAD(s, n, p) AS r FROM (VALUES ('hi', 5, 'xy'), ('hi', -1, 'x'), ('hi', 5, ''), (CAST(NULL AS STRING), 5, 'x')) AS t(s, n, p)
--=
SELECT `LPAD`(`t`.`s`, `t`.`n`, `t`.`p`) AS `l`, `RPAD`(`t`.`s`, `t`.`n`, `t`.`p`) AS `r`
FROM (VALUES ROW('hi', 5, 'xy'),
ROW('hi', -1, 'x'),
ROW('hi', 5, ''),
ROW(CAST(NULL AS STRING), 5, 'x')) AS `t` (`s`, `n`, `p`)
--#
SELECT TO_BASE64('flink') AS a, FROM_BASE64('Zmxpbms=') AS b, ENCODE('hi', 'US-ASCII') AS c, DECODE(ENCODE('é', 'UTF-16BE'), 'UTF-16BE') AS d
--=
SELECT `TO_BASE64`('flink') AS `a`, `FROM_BASE64`('Zmxpbms=') AS `b`, `ENCODE`('hi', 'US-ASCII') AS `c`, `DECODE`(`ENCODE`(_UTF16'é', 'UTF-16BE'), 'UTF-16BE') AS `d`
--#
SELECT ENCODE(s, 'UTF-8') AS e, DECODE(CAST(s AS BYTES), 'UTF-8') AS d, HEX(s) AS h, UNHEX(HEX(s)) AS u FROM (VALUES ('é'), ('abc'), ('')) AS t(s)
--=
SELECT `ENCODE`(`t`.`s`, 'UTF-8') AS `e`, `DECODE`(CAST(`t`.`s` AS BYTES), 'UTF-8') AS `d`, `HEX`(`t`.`s`) AS `h`, `UNHEX`(`HEX`(`t`.`s`)) AS `u`
FROM (VALUES ROW(_UTF16'é'),
ROW('abc'),
ROW('')) AS `t` (`s`)
--#
SELECT s, REGEXP_REPLACE(s, '[aeiou]', '*') AS a, REGEXP_EXTRACT(s, '([a-z]+)([0-9]+)', 2) AS b, REGEXP(s, '[0-9]$') AS c, s SIMILAR TO '[a-z]+[0-9]+' AS d, REGEXP_COUNT(s, '[a-z]') AS e, REGEXP_INSTR(s, '[0-9]') AS f FROM (VALUES ('abc123'), ('xyz'), (''), (CAST(NULL AS STRING))) AS t(s)
--=
SELECT `t`.`s`, `REGEXP_REPLACE`(`t`.`s`, '[aeiou]', '*') AS `a`, `REGEXP_EXTRACT`(`t`.`s`, '([a-z]+)([0-9]+)', 2) AS `b`, `REGEXP`(`t`.`s`, '[0-9]$') AS `c`, `t`.`s` SIMILAR TO '[a-z]+[0-9]+' AS `d`, `REGEXP_COUNT`(`t`.`s`, '[a-z]') AS `e`, `REGEXP_INSTR`(`t`.`s`, '[0-9]') AS `f`
FROM (VALUES ROW('abc123'),
ROW('xyz'),
ROW(''),
ROW(CAST(NULL AS STRING))) AS `t` (`s`)
--#
SELECT s, SPLIT(s, ',') AS a, SPLIT_INDEX(s, ',', 0) AS b, STR_TO_MAP(s, ',', '=') AS c, CONCAT_WS('-', s, 'z') AS d FROM (VALUES ('a=1,b=2'), (''), (CAST(NULL AS STRING))) AS t(s)
--=
SELECT `t`.`s`, `SPLIT`(`t`.`s`, ',') AS `a`, `SPLIT_INDEX`(`t`.`s`, ',', 0) AS `b`, `STR_TO_MAP`(`t`.`s`, ',', '=') AS `c`, `CONCAT_WS`('-', `t`.`s`, 'z') AS `d`
FROM (VALUES ROW('a=1,b=2'),
ROW(''),
ROW(CAST(NULL AS STRING))) AS `t` (`s`)
--#
SELECT OVERLAY(s PLACING '#' FROM 2 FOR 1) AS a, TRANSLATE(s, 'abc', 'xy') AS b, INITCAP(s) AS c, ASCII(s) AS d, LEFT(s, 2) AS e, RIGHT(s, 2) AS f, STARTSWITH(s, 'a') AS g FROM (VALUES ('abcabc'), ('hello world'), (CAST(NULL AS STRING))) AS t(s)
--=
SELECT OVERLAY(`t`.`s` PLACING '#' FROM 2 FOR 1) AS `a`, TRANSLATE(`t`.`s`, 'abc', 'xy') AS `b`, INITCAP(`t`.`s`) AS `c`, ASCII(`t`.`s`) AS `d`, `LEFT`(`t`.`s`, 2) AS `e`, `RIGHT`(`t`.`s`, 2) AS `f`, `STARTSWITH`(`t`.`s`, 'a') AS `g`
FROM (VALUES ROW('abcabc'),
ROW('hello world'),
ROW(CAST(NULL AS STRING))) AS `t` (`s`)
--#
SELECT YEAR(DATE '2024-02-29') AS a, QUARTER(DATE '2024-02-29') AS b, MONTH(DATE '2024-02-29') AS c, WEEK(DATE '2024-02-29') AS d, DAYOFYEAR(DATE '2024-02-29') AS e, DAYOFMONTH(DATE '2024-02-29') AS f, DAYOFWEEK(DATE '2024-02-29') AS g, HOUR(TIMESTAMP '2024-02-29 10:11:12') AS h, MINUTE(TIMESTAMP '2024-02-29 10:11:12') AS i, SECOND(TIMESTAMP '2024-02-29 10:11:12') AS j
--=
SELECT YEAR(DATE '2024-02-29') AS `a`, QUARTER(DATE '2024-02-29') AS `b`, MONTH(DATE '2024-02-29') AS `c`, WEEK(DATE '2024-02-29') AS `d`, DAYOFYEAR(DATE '2024-02-29') AS `e`, DAYOFMONTH(DATE '2024-02-29') AS `f`, DAYOFWEEK(DATE '2024-02-29') AS `g`, HOUR(TIMESTAMP '2024-02-29 10:11:12') AS `h`, MINUTE(TIMESTAMP '2024-02-29 10:11:12') AS `i`, SECOND(TIMESTAMP '2024-02-29 10:11:12') AS `j`
--#
SELECT WEEK(DATE '2024-12-30') AS a, WEEK(DATE '2021-01-01') AS b, DAYOFWEEK(DATE '2024-02-25') AS c, DAYOFWEEK(DATE '2024-02-26') AS d
--=
SELECT WEEK(DATE '2024-12-30') AS `a`, WEEK(DATE '2021-01-01') AS `b`, DAYOFWEEK(DATE '2024-02-25') AS `c`, DAYOFWEEK(DATE '2024-02-26') AS `d`
--#
SELECT DATE_FORMAT(TIMESTAMP '2024-05-07 13:04:05.678', 'yyyy-MM-dd HH:mm:ss') AS a, DATE_FORMAT(TIMESTAMP '2024-05-07 13:04:05.678', 'yyyy/M/d') AS b, DATE_FORMAT(TIMESTAMP '2024-05-07 13:04:05.678', 'EEE, d MMM yyyy') AS c, DATE_FORMAT(TIMESTAMP '2024-05-07 13:04:05.678', 'hh:mm a') AS d, DATE_FORMAT(TIMESTAMP '2024-05-07 13:04:05.678', 'yyyyMMddHHmmssSSS') AS e, DATE_FORMAT('2024-05-07 13:04:05', 'yyyy') AS f, DATE_FORMAT(TIMESTAMP '2024-05-07 13:04:05', '''T''HH') AS g, DATE_FORMAT(CAST(NULL AS TIMESTAMP(3)), 'yyyy') AS h
--=
SELECT `DATE_FORMAT`(TIMESTAMP '2024-05-07 13:04:05.678', 'yyyy-MM-dd HH:mm:ss') AS `a`, `DATE_FORMAT`(TIMESTAMP '2024-05-07 13:04:05.678', 'yyyy/M/d') AS `b`, `DATE_FORMAT`(TIMESTAMP '2024-05-07 13:04:05.678', 'EEE, d MMM yyyy') AS `c`, `DATE_FORMAT`(TIMESTAMP '2024-05-07 13:04:05.678', 'hh:mm a') AS `d`, `DATE_FORMAT`(TIMESTAMP '2024-05-07 13:04:05.678', 'yyyyMMddHHmmssSSS') AS `e`, `DATE_FORMAT`('2024-05-07 13:04:05', 'yyyy') AS `f`, `DATE_FORMAT`(TIMESTAMP '2024-05-07 13:04:05', '''T''HH') AS `g`, `DATE_FORMAT`(CAST(NULL AS TIMESTAMP(3)), 'yyyy') AS `h`
--#
SELECT DATE_FORMAT(TIMESTAMP '2024-05-07 13:04:05', 'bad pattern {')
--=
SELECT `DATE_FORMAT`(TIMESTAMP '2024-05-07 13:04:05', 'bad pattern {')
--#
SELECT DATE_FORMAT('garbage', 'yyyy') AS g
--=
SELECT `DATE_FORMAT`('garbage', 'yyyy') AS `g`
--#
SELECT TO_DATE('2024-05-07') AS a, TO_DATE('07/05/2024', 'dd/MM/yyyy') AS b, TO_DATE('2024-13-01') AS c, TO_DATE('x') AS d, TO_DATE(CAST(NULL AS STRING)) AS e, TO_DATE('2024-05-07 10:00:00') AS f
--=
SELECT `TO_DATE`('2024-05-07') AS `a`, `TO_DATE`('07/05/2024', 'dd/MM/yyyy') AS `b`, `TO_DATE`('2024-13-01') AS `c`, `TO_DATE`('x') AS `d`, `TO_DATE`(CAST(NULL AS STRING)) AS `e`, `TO_DATE`('2024-05-07 10:00:00') AS `f`
--#
SELECT TO_TIMESTAMP('2024-05-07 13:04:05') AS a, TO_TIMESTAMP('2024-05-07 13:04:05.123') AS b, TO_TIMESTAMP('07/05/2024 13', 'dd/MM/yyyy HH') AS c, TO_TIMESTAMP('garbage') AS d, TO_TIMESTAMP('2024-05-07') AS e, TO_TIMESTAMP('2024-05-07T13:04:05', 'yyyy-MM-dd''T''HH:mm:ss') AS f, TO_TIMESTAMP('2024-05-07 13:04:05.123456') AS g, TYPEOF(TO_TIMESTAMP('2024-05-07 13:04:05')) AS h
--=
SELECT `TO_TIMESTAMP`('2024-05-07 13:04:05') AS `a`, `TO_TIMESTAMP`('2024-05-07 13:04:05.123') AS `b`, `TO_TIMESTAMP`('07/05/2024 13', 'dd/MM/yyyy HH') AS `c`, `TO_TIMESTAMP`('garbage') AS `d`, `TO_TIMESTAMP`('2024-05-07') AS `e`, `TO_TIMESTAMP`('2024-05-07T13:04:05', 'yyyy-MM-dd''T''HH:mm:ss') AS `f`, `TO_TIMESTAMP`('2024-05-07 13:04:05.123456') AS `g`, `TYPEOF`(`TO_TIMESTAMP`('2024-05-07 13:04:05')) AS `h`
--#
SELECT TO_TIMESTAMP_LTZ(1700000000, 0) AS a, TO_TIMESTAMP_LTZ(1700000000123, 3) AS b, TO_TIMESTAMP_LTZ(-1, 3) AS c, TO_TIMESTAMP_LTZ(CAST(NULL AS BIGINT), 3) AS d, TYPEOF(TO_TIMESTAMP_LTZ(0, 0)) AS e, TO_TIMESTAMP_LTZ(1700000000123) AS f, TO_TIMESTAMP_LTZ('2024-01-01 00:00:00') AS g, TO_TIMESTAMP_LTZ('2024-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss', 'Asia/Tokyo') AS h, TO_TIMESTAMP_LTZ(1.5, 0) AS i
--=
SELECT `TO_TIMESTAMP_LTZ`(1700000000, 0) AS `a`, `TO_TIMESTAMP_LTZ`(1700000000123, 3) AS `b`, `TO_TIMESTAMP_LTZ`(-1, 3) AS `c`, `TO_TIMESTAMP_LTZ`(CAST(NULL AS BIGINT), 3) AS `d`, `TYPEOF`(`TO_TIMESTAMP_LTZ`(0, 0)) AS `e`, `TO_TIMESTAMP_LTZ`(1700000000123) AS `f`, `TO_TIMESTAMP_LTZ`('2024-01-01 00:00:00') AS `g`, `TO_TIMESTAMP_LTZ`('2024-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss', 'Asia/Tokyo') AS `h`, `TO_TIMESTAMP_LTZ`(1.5, 0) AS `i`
--#
SELECT TO_TIMESTAMP_LTZ(1, 6)
--=
SELECT `TO_TIMESTAMP_LTZ`(1, 6)
--#
SELECT FROM_UNIXTIME(0) AS a, FROM_UNIXTIME(1700000000) AS b, FROM_UNIXTIME(1700000000, 'yyyy') AS c, UNIX_TIMESTAMP('1970-01-01 00:00:01') AS d, UNIX_TIMESTAMP('1970-01-02', 'yyyy-MM-dd') AS e, UNIX_TIMESTAMP('garbage') AS f, FROM_UNIXTIME(-1) AS g
--=
SELECT `FROM_UNIXTIME`(0) AS `a`, `FROM_UNIXTIME`(1700000000) AS `b`, `FROM_UNIXTIME`(1700000000, 'yyyy') AS `c`, `UNIX_TIMESTAMP`('1970-01-01 00:00:01') AS `d`, `UNIX_TIMESTAMP`('1970-01-02', 'yyyy-MM-dd') AS `e`, `UNIX_TIMESTAMP`('garbage') AS `f`, `FROM_UNIXTIME`(-1) AS `g`
--#
SELECT CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles') AS a, CONVERT_TZ('2024-07-01 12:00:00', 'Asia/Tokyo', 'UTC') AS b, CONVERT_TZ('garbage', 'UTC', 'Asia/Tokyo') AS c
--=
SELECT `CONVERT_TZ`('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles') AS `a`, `CONVERT_TZ`('2024-07-01 12:00:00', 'Asia/Tokyo', 'UTC') AS `b`, `CONVERT_TZ`('garbage', 'UTC', 'Asia/Tokyo') AS `c`
--#
SELECT d + INTERVAL '1' DAY AS a, d - INTERVAL '1' MONTH AS b, ts + INTERVAL '90' MINUTE AS c, ts - INTERVAL '1' YEAR AS e, t + INTERVAL '2' HOUR AS f FROM (VALUES (DATE '2024-03-31', TIMESTAMP '2024-02-29 23:00:00', TIME '23:30:00')) AS x(d, ts, t)
--=
SELECT `x`.`d` + INTERVAL '1' DAY AS `a`, `x`.`d` - INTERVAL '1' MONTH AS `b`, `x`.`ts` + INTERVAL '90' MINUTE AS `c`, `x`.`ts` - INTERVAL '1' YEAR AS `e`, `x`.`t` + INTERVAL '2' HOUR AS `f`
FROM (VALUES ROW(DATE '2024-03-31', TIMESTAMP '2024-02-29 23:00:00', TIME '23:30:00')) AS `x` (`d`, `ts`, `t`)
--#
SELECT ts, YEAR(ts) AS y, MONTH(ts) AS m, DAYOFMONTH(ts) AS d, HOUR(ts) AS h, FLOOR(ts TO HOUR) AS f, CEIL(ts TO DAY) AS c, CAST(ts AS DATE) AS dd, DATE_FORMAT(ts, 'yyyy-MM') AS df FROM (VALUES (TIMESTAMP '2024-02-29 23:59:59.999'), (TIMESTAMP '1969-12-31 23:59:59.001'), (CAST(NULL AS TIMESTAMP(3)))) AS t(ts)
--=
SELECT `t`.`ts`, YEAR(`t`.`ts`) AS `y`, MONTH(`t`.`ts`) AS `m`, DAYOFMONTH(`t`.`ts`) AS `d`, HOUR(`t`.`ts`) AS `h`, FLOOR(`t`.`ts` TO HOUR) AS `f`, CEIL(`t`.`ts` TO DAY) AS `c`, CAST(`t`.`ts` AS DATE) AS `dd`, `DATE_FORMAT`(`t`.`ts`, 'yyyy-MM') AS `df`
FROM (VALUES ROW(TIMESTAMP '2024-02-29 23:59:59.999'),
ROW(TIMESTAMP '1969-12-31 23:59:59.001'),
ROW(CAST(NULL AS TIMESTAMP(3)))) AS `t` (`ts`)
--#
SELECT CURRENT_DATE = CAST(CURRENT_TIMESTAMP AS DATE) AS a, TYPEOF(CURRENT_TIMESTAMP) AS b, TYPEOF(NOW()) AS c, TYPEOF(CURRENT_DATE) AS d, TYPEOF(CURRENT_TIME) AS e, TYPEOF(LOCALTIMESTAMP) AS f, TYPEOF(LOCALTIME) AS g, TYPEOF(CURRENT_ROW_TIMESTAMP()) AS h, TYPEOF(UNIX_TIMESTAMP()) AS i
--=
SELECT CURRENT_DATE = CAST(CURRENT_TIMESTAMP AS DATE) AS `a`, `TYPEOF`(CURRENT_TIMESTAMP) AS `b`, `TYPEOF`(`NOW`()) AS `c`, `TYPEOF`(CURRENT_DATE) AS `d`, `TYPEOF`(CURRENT_TIME) AS `e`, `TYPEOF`(LOCALTIMESTAMP) AS `f`, `TYPEOF`(LOCALTIME) AS `g`, `TYPEOF`(`CURRENT_ROW_TIMESTAMP`()) AS `h`, `TYPEOF`(`UNIX_TIMESTAMP`()) AS `i`
--#
SELECT `a``b` FROM (VALUES (1)) AS t(`a``b`)
--=
SELECT `t`.`a``b`
FROM (VALUES ROW(1)) AS `t` (`a``b`)
--#
SELECT ';' AS semi, '--not a comment' AS b, '/* nor this */' AS c
--=
SELECT ';' AS `semi`, '--not a comment' AS `b`, '/* nor this */' AS `c`
--#
SELECT /* nested /* comment */ 1 AS a
--=
SELECT 1 AS `a`
--#
SELECT 1
--=
SELECT 1
--#
SELECT 3
--=
SELECT 3
--#
SELECT 4
--=
SELECT 4
--#
SELECT CAST(NULL AS STRING) AS s
--=
SELECT CAST(NULL AS STRING) AS `s`
--#
SELECT DATE '2024-02-29' AS d, TIME '23:59:59' AS t, TIMESTAMP '2024-02-29 12:34:56.789' AS ts
--=
SELECT DATE '2024-02-29' AS `d`, TIME '23:59:59' AS `t`, TIMESTAMP '2024-02-29 12:34:56.789' AS `ts`
--#
SELECT TIMESTAMP '2024-01-01'
--=
SELECT TIMESTAMP '2024-01-01'
--#
SELECT DATE '2024-1-2' AS d
--=
SELECT DATE '2024-1-2' AS `d`
--#
SELECT 5 % 3 AS a, MOD(5, 3) AS b
--=
SELECT 5 % 3 AS `a`, MOD(5, 3) AS `b`
--#
SELECT 'a' || 'b' || 'c' AS s
--=
SELECT 'a' || 'b' || 'c' AS `s`
--#
SELECT NOT TRUE AS a, NOT FALSE AND FALSE AS b
--=
SELECT NOT TRUE AS `a`, NOT FALSE AND FALSE AS `b`
--#
SELECT CAST(NULL AS BOOLEAN) AND TRUE AS a, CAST(NULL AS BOOLEAN) AND FALSE AS b, CAST(NULL AS BOOLEAN) OR TRUE AS c, CAST(NULL AS BOOLEAN) OR FALSE AS d, NOT CAST(NULL AS BOOLEAN) AS e
--=
SELECT CAST(NULL AS BOOLEAN) AND TRUE AS `a`, CAST(NULL AS BOOLEAN) AND FALSE AS `b`, CAST(NULL AS BOOLEAN) OR TRUE AS `c`, CAST(NULL AS BOOLEAN) OR FALSE AS `d`, NOT CAST(NULL AS BOOLEAN) AS `e`
--#
SELECT (1 = 1) IS TRUE AS a, (CAST(NULL AS BOOLEAN)) IS UNKNOWN AS b, (CAST(NULL AS BOOLEAN)) IS NOT TRUE AS c, (CAST(NULL AS BOOLEAN)) IS FALSE AS d, TRUE IS NOT FALSE AS e, FALSE IS NOT UNKNOWN AS f
--=
SELECT 1 = 1 IS TRUE AS `a`, CAST(NULL AS BOOLEAN) IS UNKNOWN AS `b`, CAST(NULL AS BOOLEAN) IS NOT TRUE AS `c`, CAST(NULL AS BOOLEAN) IS FALSE AS `d`, TRUE IS NOT FALSE AS `e`, FALSE IS NOT UNKNOWN AS `f`
--#
SELECT 1 IN (2, CAST(NULL AS INT)) AS a, 1 NOT IN (2, CAST(NULL AS INT)) AS b, 1 IN (1, CAST(NULL AS INT)) AS c, CAST(NULL AS INT) IN (1, 2) AS d
--=
SELECT 1 IN (2, CAST(NULL AS INTEGER)) AS `a`, 1 NOT IN (2, CAST(NULL AS INTEGER)) AS `b`, 1 IN (1, CAST(NULL AS INTEGER)) AS `c`, CAST(NULL AS INTEGER) IN (1, 2) AS `d`
--#
SELECT x, x = 1 AS eq, x > 1 AS gt, x IN (1, 2) AS i, x NOT IN (1, 5) AS ni FROM (VALUES (1), (2), (CAST(NULL AS INT))) AS t(x) ORDER BY x
--=
SELECT `t`.`x`, `t`.`x` = 1 AS `eq`, `t`.`x` > 1 AS `gt`, `t`.`x` IN (1, 2) AS `i`, `t`.`x` NOT IN (1, 5) AS `ni`
FROM (VALUES ROW(1),
ROW(2),
ROW(CAST(NULL AS INTEGER))) AS `t` (`x`)
ORDER BY `x`
--#
SELECT x FROM (VALUES (1), (CAST(NULL AS INT)), (3)) AS t(x) WHERE x NOT IN (SELECT y FROM (VALUES (1), (CAST(NULL AS INT))) AS u(y))
--=
SELECT `t`.`x`
FROM (VALUES ROW(1),
ROW(CAST(NULL AS INTEGER)),
ROW(3)) AS `t` (`x`)
WHERE `t`.`x` NOT IN (SELECT `u`.`y`
FROM (VALUES ROW(1),
ROW(CAST(NULL AS INTEGER))) AS `u` (`y`))
--#
SELECT x FROM (VALUES (1), (CAST(NULL AS INT)), (3)) AS t(x) WHERE NOT EXISTS (SELECT 1 FROM (VALUES (1), (CAST(NULL AS INT))) AS u(y) WHERE u.y = t.x) ORDER BY x
--=
SELECT `t`.`x`
FROM (VALUES ROW(1),
ROW(CAST(NULL AS INTEGER)),
ROW(3)) AS `t` (`x`)
WHERE NOT EXISTS (SELECT 1
FROM (VALUES ROW(1),
ROW(CAST(NULL AS INTEGER))) AS `u` (`y`)
WHERE `u`.`y` = `t`.`x`)
ORDER BY `x`
--#
SELECT NULLIF(1, 1) AS a, NULLIF(1, 2) AS b, COALESCE(CAST(NULL AS INT), CAST(NULL AS INT)) AS c, IFNULL(CAST(NULL AS INT), 5) AS d, IFNULL(3, 5) AS e
--=
SELECT NULLIF(1, 1) AS `a`, NULLIF(1, 2) AS `b`, COALESCE(CAST(NULL AS INTEGER), CAST(NULL AS INTEGER)) AS `c`, `IFNULL`(CAST(NULL AS INTEGER), 5) AS `d`, `IFNULL`(3, 5) AS `e`
--#
SELECT GREATEST(1, CAST(NULL AS INT), 3) AS a, LEAST(1, CAST(NULL AS INT)) AS b, GREATEST(1, 2.5, 3) AS c, LEAST('b', 'a') AS d
--=
SELECT `GREATEST`(1, CAST(NULL AS INTEGER), 3) AS `a`, `LEAST`(1, CAST(NULL AS INTEGER)) AS `b`, `GREATEST`(1, 2.5, 3) AS `c`, `LEAST`('b', 'a') AS `d`
--#
SELECT CONCAT('a', CAST(NULL AS STRING)) AS a, CONCAT_WS('-', 'a', CAST(NULL AS STRING), 'b') AS b, UPPER(CAST(NULL AS STRING)) AS c, CHAR_LENGTH(CAST(NULL AS STRING)) AS d
--=
SELECT `CONCAT`('a', CAST(NULL AS STRING)) AS `a`, `CONCAT_WS`('-', 'a', CAST(NULL AS STRING), 'b') AS `b`, UPPER(CAST(NULL AS STRING)) AS `c`, CHAR_LENGTH(CAST(NULL AS STRING)) AS `d`
--#
SELECT COALESCE(NULL, 1) AS a
--=
SELECT COALESCE(NULL, 1) AS `a`
--#
SELECT IF(CAST(NULL AS BOOLEAN), 'yes', 'no') AS a, CASE CAST(NULL AS INT) WHEN NULL THEN 'n' ELSE 'e' END AS b
--=
SELECT `IF`(CAST(NULL AS BOOLEAN), 'yes', 'no') AS `a`, CASE WHEN CAST(NULL AS INTEGER) = NULL THEN 'n' ELSE 'e' END AS `b`
--#
SELECT CASE WHEN CAST(NULL AS BOOLEAN) THEN 1 ELSE 2 END AS a, CASE 3 WHEN 1 THEN 'one' WHEN 3 THEN 'three' END AS b, CASE 4 WHEN 1 THEN 'one' END AS c
--=
SELECT CASE WHEN CAST(NULL AS BOOLEAN) THEN 1 ELSE 2 END AS `a`, CASE WHEN 3 = 1 THEN 'one' WHEN 3 = 3 THEN 'three' ELSE NULL END AS `b`, CASE WHEN 4 = 1 THEN 'one' ELSE NULL END AS `c`
--#
SELECT NULL IS NULL AS a
--=
SELECT NULL IS NULL AS `a`
--#
SELECT NULL = NULL
--=
SELECT NULL = NULL
--#
SELECT ROW(1, CAST(NULL AS INT)) = ROW(1, 2) AS a, ROW(1, 2) = ROW(1, 2) AS b
--=
SELECT ROW(1, CAST(NULL AS INTEGER)) = ROW(1, 2) AS `a`, ROW(1, 2) = ROW(1, 2) AS `b`
--#
VALUES 1, 2
--=
VALUES ROW(1),
ROW(2)
--#
SELECT * FROM (VALUES (1, 'a'), (2, 'b'))
--=
SELECT *
FROM (VALUES ROW(1, 'a'),
ROW(2, 'b'))
--#
SELECT EXPR$0, EXPR$1 FROM (VALUES (1, 'a'))
--=
SELECT `EXPR$0`, `EXPR$1`
FROM (VALUES ROW(1, 'a'))
--#
SELECT 1, 2 + 3, 'x', UPPER('y')
--=
SELECT 1, 2 + 3, 'x', UPPER('y')
--#
SELECT COUNT(*), 1 FROM (VALUES (1), (2)) AS t(a)
--=
SELECT COUNT(*), 1
FROM (VALUES ROW(1),
ROW(2)) AS `t` (`a`)
--#
SELECT t.* FROM (VALUES (1, 2)) AS t(a, b)
--=
SELECT `t`.*
FROM (VALUES ROW(1, 2)) AS `t` (`a`, `b`)
--#
SELECT *, a + 1 AS c FROM (VALUES (1, 2)) AS t(a, b)
--=
SELECT *, `t`.`a` + 1 AS `c`
FROM (VALUES ROW(1, 2)) AS `t` (`a`, `b`)
--#
SELECT a.x FROM (SELECT 1 AS x) a
--=
SELECT `a`.`x`
FROM (SELECT 1 AS `x`) AS `a`
--#
SELECT ALL a FROM (VALUES (1), (1)) AS t(a)
--=
SELECT ALL `t`.`a`
FROM (VALUES ROW(1),
ROW(1)) AS `t` (`a`)
--#
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(id, n) WHERE id > 1 AND n <> 'x' OR FALSE
--=
SELECT *
FROM (VALUES ROW(1, 'a'),
ROW(2, 'b')) AS `t` (`id`, `n`)
WHERE `t`.`id` > 1 AND `t`.`n` <> 'x' OR FALSE
--#
SELECT t.id AS i, t.n FROM (VALUES (1, 'a'), (2, 'b')) AS t(id, n) WHERE NOT (id = 1)
--=
SELECT `t`.`id` AS `i`, `t`.`n`
FROM (VALUES ROW(1, 'a'),
ROW(2, 'b')) AS `t` (`id`, `n`)
WHERE NOT `t`.`id` = 1
--#
SELECT id x, n AS `y z` FROM (VALUES (1, 'a')) t(id, n)
--=
SELECT `t`.`id` AS `x`, `t`.`n` AS `y z`
FROM (VALUES ROW(1, 'a')) AS `t` (`id`, `n`)
--#
SELECT (SELECT 5) AS s, 1 AS n1
--=
SELECT (SELECT 5) AS `s`, 1 AS `n1`
--#
SELECT -id AS neg, +id AS pos, - - id AS dbl FROM (VALUES (3)) AS t(id)
--=
SELECT - `t`.`id` AS `neg`, + `t`.`id` AS `pos`, - (- `t`.`id`) AS `dbl`
FROM (VALUES ROW(3)) AS `t` (`id`)
--#
SELECT x, CASE WHEN x % 2 = 0 THEN 'even' ELSE 'odd' END AS p, COUNT(*) AS c FROM (VALUES (1), (2), (3)) AS t(x) GROUP BY x, CASE WHEN x % 2 = 0 THEN 'even' ELSE 'odd' END ORDER BY x
--=
SELECT `t`.`x`, CASE WHEN `t`.`x` % 2 = 0 THEN 'even' ELSE 'odd' END AS `p`, COUNT(*) AS `c`
FROM (VALUES ROW(1),
ROW(2),
ROW(3)) AS `t` (`x`)
GROUP BY `t`.`x`, CASE WHEN `t`.`x` % 2 = 0 THEN 'even' ELSE 'odd' END
ORDER BY `x`
--#
SELECT DISTINCT a, b FROM (VALUES (1, 'x'), (1, 'x'), (1, 'y')) AS t(a, b) ORDER BY a, b
--=
SELECT DISTINCT `t`.`a`, `t`.`b`
FROM (VALUES ROW(1, 'x'),
ROW(1, 'x'),
ROW(1, 'y')) AS `t` (`a`, `b`)
ORDER BY `a`, `b`
--#
SELECT a FROM (VALUES (1), (2)) AS t(a) WHERE a = 1 UNION ALL SELECT a FROM (VALUES (3)) AS t(a) WHERE a > 100
--=
SELECT `t`.`a`
FROM (VALUES ROW(1),
ROW(2)) AS `t` (`a`)
WHERE `t`.`a` = 1
UNION ALL
SELECT `t`.`a`
FROM (VALUES ROW(3)) AS `t` (`a`)
WHERE `t`.`a` > 100
--#
SELECT * FROM (VALUES (1, ROW(2, 'x'))) AS t(a, r)
--=
SELECT *
FROM (VALUES ROW(1, ROW(2, 'x'))) AS `t` (`a`, `r`)
--#
SELECT ALL 1 AS a
--=
SELECT ALL 1 AS `a`
--#
SELECT DISTINCT 1 AS a FROM (VALUES (1), (2)) AS t(x)
--=
SELECT DISTINCT 1 AS `a`
FROM (VALUES ROW(1),
ROW(2)) AS `t` (`x`)
--#
SELECT t.a, t.* FROM (VALUES (1, 2)) AS t(a, b)
--=
SELECT `t`.`a`, `t`.*
FROM (VALUES ROW(1, 2)) AS `t` (`a`, `b`)
--#
SELECT 'a' AS s UNION ALL SELECT 'bcd' ORDER BY s
--=
SELECT 'a' AS `s`
UNION ALL
SELECT 'bcd'
ORDER BY `s`
--#
SELECT id, e FROM (VALUES (1, ARRAY['a', 'b']), (2, ARRAY['c']), (3, CAST(NULL AS ARRAY<STRING>))) AS t(id, arr) CROSS JOIN UNNEST(arr) AS u(e) ORDER BY id, e
--=
SELECT `t`.`id`, `u`.`e`
FROM (VALUES ROW(1, ARRAY['a', 'b']),
ROW(2, ARRAY['c']),
ROW(3, CAST(NULL AS ARRAY< STRING >))) AS `t` (`id`, `arr`)
CROSS JOIN UNNEST(`t`.`arr`) AS `u` (`e`)
ORDER BY `id`, `e`
--#
SELECT id, e FROM (VALUES (1, ARRAY['a', 'b']), (3, CAST(NULL AS ARRAY<STRING>))) AS t(id, arr) LEFT JOIN UNNEST(arr) AS u(e) ON TRUE ORDER BY id, e
--=
SELECT `t`.`id`, `u`.`e`
FROM (VALUES ROW(1, ARRAY['a', 'b']),
ROW(3, CAST(NULL AS ARRAY< STRING >))) AS `t` (`id`, `arr`)
LEFT JOIN UNNEST(`t`.`arr`) AS `u` (`e`) ON TRUE
ORDER BY `id`, `e`
--#
SELECT id, k, v FROM (VALUES (1, MAP['a', 10, 'b', 20])) AS t(id, m) CROSS JOIN UNNEST(m) AS u(k, v) ORDER BY k
--=
SELECT `t`.`id`, `u`.`k`, `u`.`v`
FROM (VALUES ROW(1, MAP['a', 10, 'b', 20])) AS `t` (`id`, `m`)
CROSS JOIN UNNEST(`t`.`m`) AS `u` (`k`, `v`)
ORDER BY `k`
--#
SELECT id, e, o FROM (VALUES (1, ARRAY['a', 'b'])) AS t(id, arr) CROSS JOIN UNNEST(arr) WITH ORDINALITY AS u(e, o) ORDER BY o
--=
SELECT `t`.`id`, `u`.`e`, `u`.`o`
FROM (VALUES ROW(1, ARRAY['a', 'b'])) AS `t` (`id`, `arr`)
CROSS JOIN UNNEST(`t`.`arr`) WITH ORDINALITY AS `u` (`e`, `o`)
ORDER BY `o`
--#
SELECT id, a, b FROM (SELECT 1 AS id, ARRAY[CAST(ROW(1, 'x') AS ROW<a INT, b STRING>), CAST(ROW(2, 'y') AS ROW<a INT, b STRING>)] AS rs) AS t CROSS JOIN UNNEST(rs) AS u(a, b) ORDER BY a
--=
SELECT `t`.`id`, `u`.`a`, `u`.`b`
FROM (SELECT 1 AS `id`, ARRAY[CAST(ROW(1, 'x') AS ROW< `a` INTEGER, `b` STRING >), CAST(ROW(2, 'y') AS ROW< `a` INTEGER, `b` STRING >)] AS `rs`) AS `t`
CROSS JOIN UNNEST(`t`.`rs`) AS `u` (`a`, `b`)
ORDER BY `a`
--#
SELECT g, COUNT(*) AS c, SUM(x) AS s FROM (VALUES ('a', 1), ('b', 2), ('a', 3), ('a', 4)) AS t(g, x) GROUP BY g
--=
SELECT `t`.`g`, COUNT(*) AS `c`, SUM(`t`.`x`) AS `s`
FROM (VALUES ROW('a', 1),
ROW('b', 2),
ROW('a', 3),
ROW('a', 4)) AS `t` (`g`, `x`)
GROUP BY `t`.`g`
--#
SELECT COUNT(*) AS c FROM (VALUES (1), (2), (3)) AS t(x)
--=
SELECT COUNT(*) AS `c`
FROM (VALUES ROW(1),
ROW(2),
ROW(3)) AS `t` (`x`)
--#
SELECT MAX(x) AS m FROM (VALUES (1), (3), (2)) AS t(x)
--=
SELECT MAX(`t`.`x`) AS `m`
FROM (VALUES ROW(1),
ROW(3),
ROW(2)) AS `t` (`x`)
--#
SELECT DISTINCT x FROM (VALUES (1), (1), (2)) AS t(x)
--=
SELECT DISTINCT `t`.`x`
FROM (VALUES ROW(1),
ROW(1),
ROW(2)) AS `t` (`x`)
--#
SELECT g, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY x DESC) AS rn FROM (VALUES ('a', 1), ('a', 3), ('b', 2), ('a', 2)) AS t(g, x)) WHERE rn = 1
--=
SELECT `g`, `x`
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY `t`.`g` ORDER BY `t`.`x` DESC) AS `rn`
FROM (VALUES ROW('a', 1),
ROW('a', 3),
ROW('b', 2),
ROW('a', 2)) AS `t` (`g`, `x`))
WHERE `rn` = 1
--#
SELECT g, x, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY x DESC) AS rn FROM (VALUES ('a', 1), ('a', 3), ('a', 2)) AS t(g, x)) WHERE rn <= 2
--=
SELECT `g`, `x`, `rn`
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY `t`.`g` ORDER BY `t`.`x` DESC) AS `rn`
FROM (VALUES ROW('a', 1),
ROW('a', 3),
ROW('a', 2)) AS `t` (`g`, `x`))
WHERE `rn` <= 2
--#
SELECT x FROM (VALUES (3), (1), (2)) AS t(x) ORDER BY x LIMIT 2
--=
SELECT `t`.`x`
FROM (VALUES ROW(3),
ROW(1),
ROW(2)) AS `t` (`x`)
ORDER BY `x`
FETCH NEXT 2 ROWS ONLY
--#
SELECT c, COUNT(*) AS n FROM (SELECT g, COUNT(*) AS c FROM (VALUES ('a'), ('b'), ('a')) AS t(g) GROUP BY g) GROUP BY c
--=
SELECT `c`, COUNT(*) AS `n`
FROM (SELECT `t`.`g`, COUNT(*) AS `c`
FROM (VALUES ROW('a'),
ROW('b'),
ROW('a')) AS `t` (`g`)
GROUP BY `t`.`g`)
GROUP BY `c`
--#
SELECT a.k, a.v, b.w FROM (VALUES (1, 'x'), (2, 'y')) AS a(k, v) JOIN (VALUES (1, 'p'), (1, 'q')) AS b(k, w) ON a.k = b.k
--=
SELECT `a`.`k`, `a`.`v`, `b`.`w`
FROM (VALUES ROW(1, 'x'),
ROW(2, 'y')) AS `a` (`k`, `v`)
INNER JOIN (VALUES ROW(1, 'p'),
ROW(1, 'q')) AS `b` (`k`, `w`) ON `a`.`k` = `b`.`k`
--#
SELECT x FROM (VALUES (1), (2)) AS t(x) UNION ALL SELECT 3
--=
SELECT `t`.`x`
FROM (VALUES ROW(1),
ROW(2)) AS `t` (`x`)
UNION ALL
SELECT 3
--#
SELECT x FROM (VALUES (1), (2)) AS t(x) UNION SELECT 2
--=
SELECT `t`.`x`
FROM (VALUES ROW(1),
ROW(2)) AS `t` (`x`)
UNION
SELECT 2
--#
SELECT SUM(x) AS s FROM (VALUES (1), (2)) AS t(x) WHERE x > 10
--=
SELECT SUM(`t`.`x`) AS `s`
FROM (VALUES ROW(1),
ROW(2)) AS `t` (`x`)
WHERE `t`.`x` > 10
--#
SELECT 1 AS i, CAST(1 AS TINYINT) AS t, CAST(1 AS SMALLINT) AS s, CAST(1 AS BIGINT) AS b, CAST(1 AS FLOAT) AS f, CAST(1 AS DOUBLE) AS d, CAST(1 AS DECIMAL(10,3)) AS c
--=
SELECT 1 AS `i`, CAST(1 AS TINYINT) AS `t`, CAST(1 AS SMALLINT) AS `s`, CAST(1 AS BIGINT) AS `b`, CAST(1 AS FLOAT) AS `f`, CAST(1 AS DOUBLE) AS `d`, CAST(1 AS DECIMAL(10, 3)) AS `c`
--#
SELECT 1.0 AS a, 1.10 AS b, 100.001 AS c, 0.5 AS d, 1E0 AS e, 1.5E10 AS f, 1E-7 AS g, 123456789.123456789 AS h
--=
SELECT 1.0 AS `a`, 1.10 AS `b`, 100.001 AS `c`, 0.5 AS `d`, 1E0 AS `e`, 1.5E10 AS `f`, 1E-7 AS `g`, 123456789.123456789 AS `h`
--#
SELECT CAST(1.0E7 AS DOUBLE) AS a, CAST(12345678.9 AS DOUBLE) AS b, CAST(0.001 AS DOUBLE) AS c, CAST(0.0001 AS DOUBLE) AS d, CAST(1e21 AS DOUBLE) AS e, CAST(3.4e38 AS FLOAT) AS f, CAST(0.1 AS FLOAT) AS g, CAST(1.0 AS FLOAT) AS h
--=
SELECT CAST(1.0E7 AS DOUBLE) AS `a`, CAST(12345678.9 AS DOUBLE) AS `b`, CAST(0.001 AS DOUBLE) AS `c`, CAST(0.0001 AS DOUBLE) AS `d`, CAST(1E21 AS DOUBLE) AS `e`, CAST(3.4E38 AS FLOAT) AS `f`, CAST(0.1 AS FLOAT) AS `g`, CAST(1.0 AS FLOAT) AS `h`
--#
SELECT TYPEOF(1) AS a, TYPEOF(1.5) AS b, TYPEOF('x') AS c, TYPEOF(CAST(NULL AS STRING)) AS d, TYPEOF(TRUE) AS e, TYPEOF(X'00') AS f, TYPEOF(1e0) AS g, TYPEOF(DATE '2020-01-01') AS h, TYPEOF(TIME '00:00:00') AS i, TYPEOF(TIMESTAMP '2020-01-01 00:00:00.123') AS j, TYPEOF(INTERVAL '1' DAY) AS k, TYPEOF(ARRAY[1,2]) AS l, TYPEOF(MAP['a',1]) AS m, TYPEOF(ROW(1,'a')) AS n
--=
SELECT `TYPEOF`(1) AS `a`, `TYPEOF`(1.5) AS `b`, `TYPEOF`('x') AS `c`, `TYPEOF`(CAST(NULL AS STRING)) AS `d`, `TYPEOF`(TRUE) AS `e`, `TYPEOF`(X'00') AS `f`, `TYPEOF`(1E0) AS `g`, `TYPEOF`(DATE '2020-01-01') AS `h`, `TYPEOF`(TIME '00:00:00') AS `i`, `TYPEOF`(TIMESTAMP '2020-01-01 00:00:00.123') AS `j`, `TYPEOF`(INTERVAL '1' DAY) AS `k`, `TYPEOF`(ARRAY[1, 2]) AS `l`, `TYPEOF`(MAP['a', 1]) AS `m`, `TYPEOF`(ROW(1, 'a')) AS `n`
--#
SELECT TYPEOF(1, TRUE) AS a, TYPEOF('x', TRUE) AS b
--=
SELECT `TYPEOF`(1, TRUE) AS `a`, `TYPEOF`('x', TRUE) AS `b`
--#
SELECT DATE '2024-01-31' + INTERVAL '1' MONTH AS a, DATE '2024-02-29' + INTERVAL '1' YEAR AS b, DATE '2024-03-31' - INTERVAL '1' MONTH AS c, TIMESTAMP '2024-01-31 10:00:00' + INTERVAL '1 02:00:00' DAY TO SECOND AS d
--=
SELECT DATE '2024-01-31' + INTERVAL '1' MONTH AS `a`, DATE '2024-02-29' + INTERVAL '1' YEAR AS `b`, DATE '2024-03-31' - INTERVAL '1' MONTH AS `c`, TIMESTAMP '2024-01-31 10:00:00' + INTERVAL '1 02:00:00' DAY TO SECOND AS `d`
--#
SELECT INTERVAL '1' DAY + INTERVAL '2' HOUR AS a, INTERVAL '1' YEAR + INTERVAL '3' MONTH AS b, INTERVAL '1' DAY * 3 AS c, 2 * INTERVAL '1' HOUR AS d
--=
SELECT INTERVAL '1' DAY + INTERVAL '2' HOUR AS `a`, INTERVAL '1' YEAR + INTERVAL '3' MONTH AS `b`, INTERVAL '1' DAY * 3 AS `c`, 2 * INTERVAL '1' HOUR AS `d`
--#
SELECT TIMESTAMP '2024-01-01 00:00:00' AS a, TIMESTAMP '2024-01-01 00:00:00.1' AS b, TIMESTAMP '2024-01-01 00:00:00.123456789' AS c, TIMESTAMP '2024-01-01 00:00:00.000' AS d, TIMESTAMP '2024-01-01 00:00:00.1234567891' AS e
--=
SELECT TIMESTAMP '2024-01-01 00:00:00' AS `a`, TIMESTAMP '2024-01-01 00:00:00.1' AS `b`, TIMESTAMP '2024-01-01 00:00:00.123456789' AS `c`, TIMESTAMP '2024-01-01 00:00:00.000' AS `d`, TIMESTAMP '2024-01-01 00:00:00.1234567891' AS `e`
--#
SELECT TIMESTAMP '2024-1-1 1:2:3' AS a
--=
SELECT TIMESTAMP '2024-1-1 1:2:3' AS `a`
--#
SELECT TIME '1:2:3' AS a, TIME '01:02:03.456' AS b
--=
SELECT TIME '1:2:3' AS `a`, TIME '01:02:03.456' AS `b`
--#
SELECT DATE '0001-01-01' AS a, DATE '9999-12-31' AS b, TIMESTAMP '0001-01-01 00:00:00' AS c, TIMESTAMP '9999-12-31 23:59:59.999999999' AS d
--=
SELECT DATE '0001-01-01' AS `a`, DATE '9999-12-31' AS `b`, TIMESTAMP '0001-01-01 00:00:00' AS `c`, TIMESTAMP '9999-12-31 23:59:59.999999999' AS `d`
--#
SELECT CAST(1 AS TINYINT) = 1 AS a, CAST('12' AS CHAR(2)) = '12' AS b, X'0A' = X'0a' AS c, DATE '2024-01-01' = CAST('2024-01-01' AS DATE) AS d, TIMESTAMP '2024-01-01 00:00:00' = CAST(DATE '2024-01-01' AS TIMESTAMP(0)) AS e
--=
SELECT CAST(1 AS TINYINT) = 1 AS `a`, CAST('12' AS CHAR(2)) = '12' AS `b`, X'0A' = X'0A' AS `c`, DATE '2024-01-01' = CAST('2024-01-01' AS DATE) AS `d`, TIMESTAMP '2024-01-01 00:00:00' = CAST(DATE '2024-01-01' AS TIMESTAMP(0)) AS `e`
--#
SELECT CAST(5 AS INTERVAL DAY) AS a
--=
SELECT CAST(5 AS INTERVAL DAY) AS `a`
--#
SELECT CAST(INTERVAL '5' DAY AS INT) AS a
--=
SELECT CAST(INTERVAL '5' DAY AS INTEGER) AS `a`
--#
SELECT INTERVAL '1' YEAR > INTERVAL '11' MONTH AS a, INTERVAL '1' DAY = INTERVAL '24' HOUR AS b, ABS(INTERVAL '-1' DAY) AS c, -INTERVAL '1' DAY AS d
--=
SELECT INTERVAL '1' YEAR > INTERVAL '11' MONTH AS `a`, INTERVAL '1' DAY = INTERVAL '24' HOUR AS `b`, ABS(INTERVAL '-1' DAY) AS `c`, - INTERVAL '1' DAY AS `d`
--#
SELECT TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1' DAY * 2 AS a, TIME '23:00:00' + INTERVAL '2' HOUR AS b, DATE '2024-01-01' + INTERVAL '25' HOUR AS c, DATE '2024-01-01' - INTERVAL '1' SECOND AS d
--=
SELECT TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1' DAY * 2 AS `a`, TIME '23:00:00' + INTERVAL '2' HOUR AS `b`, DATE '2024-01-01' + INTERVAL '25' HOUR AS `c`, DATE '2024-01-01' - INTERVAL '1' SECOND AS `d`
--#
SELECT MAX(x) AS mx, MIN(x) AS mn, COUNT(DISTINCT x) AS c FROM (VALUES (DATE '2024-01-01'), (DATE '2023-06-30')) AS t(x)
--=
SELECT MAX(`t`.`x`) AS `mx`, MIN(`t`.`x`) AS `mn`, COUNT(DISTINCT `t`.`x`) AS `c`
FROM (VALUES ROW(DATE '2024-01-01'),
ROW(DATE '2023-06-30')) AS `t` (`x`)
--#
SELECT CAST(x AS STRING) AS s, CAST(x AS DOUBLE) AS d, CAST(x AS INT) AS i, CAST(x AS DECIMAL(4,1)) AS e FROM (VALUES (CAST(1.25 AS DECIMAL(10,2))), (CAST(-99.95 AS DECIMAL(10,2))), (CAST(0.05 AS DECIMAL(10,2)))) AS t(x)
--=
SELECT CAST(`t`.`x` AS STRING) AS `s`, CAST(`t`.`x` AS DOUBLE) AS `d`, CAST(`t`.`x` AS INTEGER) AS `i`, CAST(`t`.`x` AS DECIMAL(4, 1)) AS `e`
FROM (VALUES ROW(CAST(1.25 AS DECIMAL(10, 2))),
ROW(CAST(-99.95 AS DECIMAL(10, 2))),
ROW(CAST(0.05 AS DECIMAL(10, 2)))) AS `t` (`x`)
--#
SELECT CAST(x AS DECIMAL(3,1)) AS e FROM (VALUES (CAST(99.94 AS DECIMAL(10,2))), (CAST(NULL AS DECIMAL(10,2)))) AS t(x)
--=
SELECT CAST(`t`.`x` AS DECIMAL(3, 1)) AS `e`
FROM (VALUES ROW(CAST(99.94 AS DECIMAL(10, 2))),
ROW(CAST(NULL AS DECIMAL(10, 2)))) AS `t` (`x`)
--#
SELECT TRY_CAST(x AS DECIMAL(3,1)) AS e FROM (VALUES ('99.94'), ('99.96'), ('100'), ('x')) AS t(x)
--=
SELECT TRY_CAST(`t`.`x` AS DECIMAL(3, 1)) AS `e`
FROM (VALUES ROW('99.94'),
ROW('99.96'),
ROW('100'),
ROW('x')) AS `t` (`x`)
--#
SELECT CAST(x AS FLOAT) AS f, CAST(CAST(x AS FLOAT) AS DOUBLE) AS d, CAST(CAST(x AS FLOAT) AS STRING) AS s FROM (VALUES ('0.1'), ('1e10'), ('16777217'), ('3.4028235e38')) AS t(x)
--=
SELECT CAST(`t`.`x` AS FLOAT) AS `f`, CAST(CAST(`t`.`x` AS FLOAT) AS DOUBLE) AS `d`, CAST(CAST(`t`.`x` AS FLOAT) AS STRING) AS `s`
FROM (VALUES ROW('0.1'),
ROW('1e10'),
ROW('16777217'),
ROW('3.4028235e38')) AS `t` (`x`)
