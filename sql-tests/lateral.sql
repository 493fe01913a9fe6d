-- LATERAL, and queries compared with rows.
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE l (id INT, lv STRING)
WITH ('connector' = 'filesystem', 'path' = '${TMP}/l', 'format' = 'csv', 'csv.null-literal' = 'NULL');
CREATE TABLE r (id INT, rv STRING)
WITH ('connector' = 'filesystem', 'path' = '${TMP}/r', 'format' = 'csv', 'csv.null-literal' = 'NULL');
INSERT INTO l VALUES (1, 'a'), (2, 'b'), (3, 'c'), (CAST(NULL AS INT), 'n');
INSERT INTO r VALUES (1, 'x'), (1, 'y'), (3, 'z'), (4, 'w'), (CAST(NULL AS INT), 'm');

-- a query for each row
SELECT * FROM l, LATERAL (SELECT rv FROM r WHERE r.id = l.id) AS t(q) ORDER BY lv, q;
SELECT l.id, t.rv FROM l CROSS JOIN LATERAL (SELECT rv FROM r WHERE r.id < l.id) AS t ORDER BY id, rv;
SELECT l.id, t.c FROM l LEFT JOIN LATERAL (SELECT COUNT(*) AS c FROM r WHERE r.id = l.id) AS t ON TRUE ORDER BY id;
SELECT l.id, t.rv FROM l LEFT JOIN LATERAL (SELECT rv FROM r WHERE r.id = l.id) AS t ON t.rv <> 'x' ORDER BY id, rv;
SELECT l.id, t.rv FROM l JOIN LATERAL (SELECT rv FROM r WHERE r.id = l.id) AS t ON t.rv <> 'x' ORDER BY id;
SELECT l.id, t.m FROM l, LATERAL (SELECT MAX(rv) AS m FROM r WHERE r.id = l.id GROUP BY r.id) AS t ORDER BY id;
SELECT COUNT(*) AS c FROM l, LATERAL (SELECT l.lv || rv AS e FROM r) AS t;
SELECT l.id, t.rv, u.rv FROM l, LATERAL (SELECT * FROM r WHERE r.id = l.id) AS t,
  LATERAL (SELECT rv FROM r WHERE r.id = t.id) AS u ORDER BY 1, 2, 3;
SELECT COUNT(*) AS c FROM l, LATERAL (SELECT * FROM r) AS t;
SELECT * FROM LATERAL (SELECT * FROM r) AS t ORDER BY rv;
SELECT l.id, (SELECT COUNT(*) FROM r, LATERAL (SELECT 1 FROM l AS k WHERE k.id = r.id) AS q WHERE r.id = l.id) AS c
FROM l ORDER BY id;

-- what Flink has no plan for
SELECT l.id, t.rv FROM l, LATERAL (SELECT rv FROM r WHERE r.id = l.id ORDER BY rv LIMIT 1) AS t ORDER BY id;
SELECT l.id, t.e FROM l, LATERAL (VALUES (l.id), (l.id + 1)) AS t(e) ORDER BY id, e;

-- refused
SELECT * FROM l, (SELECT rv FROM r WHERE r.id = l.id) AS t;
SELECT l.id FROM l RIGHT JOIN LATERAL (SELECT rv FROM r WHERE r.id = l.id) AS t ON TRUE;
SELECT * FROM l, LATERAL TABLE(nosuch(id)) AS t(a);
SELECT l.id, t.c FROM l, LATERAL (SELECT COUNT(*) AS c FROM r WHERE r.id = l.id) AS t;
SELECT l.id, t.n FROM l, LATERAL (SELECT ROW_NUMBER() OVER (ORDER BY rv) AS n FROM r WHERE r.id = l.id) AS t;
SELECT * FROM l, l;

-- rows IN a query: in a condition each pair of rows is compared, as a value the counts of rows with a NULL decide
SELECT lv FROM l WHERE (id, lv) IN (SELECT id, 'a' FROM r) ORDER BY lv;
SELECT lv FROM l WHERE ROW(id, lv) IN (SELECT CAST(id AS BIGINT), 'a' FROM r) ORDER BY lv;
SELECT lv FROM l WHERE (id, lv) NOT IN (SELECT id, 'a' FROM r) ORDER BY lv;
SELECT lv FROM l WHERE (id, lv) NOT IN (SELECT id, rv FROM r) ORDER BY lv;
SELECT lv, (id, lv) IN (SELECT id, 'a' FROM r) AS i FROM l ORDER BY lv;
SELECT lv, (id, lv) NOT IN (SELECT id, 'a' FROM r WHERE id IS NOT NULL) AS i FROM l ORDER BY lv;
SELECT lv, (id, lv) IN ((1, 'a'), (2, 'x')) AS i FROM l ORDER BY lv;
SELECT lv FROM l WHERE (id, lv) = (1, 'a');
SELECT lv FROM l WHERE (id, lv) IN (SELECT id FROM r);
SELECT lv FROM l WHERE id IN (SELECT id, rv FROM r);

-- ANY and ALL
SELECT lv FROM l WHERE id = ANY (SELECT id FROM r) ORDER BY lv;
SELECT lv FROM l WHERE id <> ALL (SELECT id FROM r WHERE id IS NOT NULL) ORDER BY lv;
SELECT lv FROM l WHERE id >= ALL (SELECT id FROM r WHERE id < 4) ORDER BY lv;
SELECT lv FROM l WHERE id < SOME (SELECT id FROM r) ORDER BY lv;
SELECT lv, id > ANY (SELECT id FROM r) AS a FROM l ORDER BY lv;
SELECT lv, id > ALL (SELECT id FROM r WHERE id IS NOT NULL) AS a FROM l ORDER BY lv;
SELECT lv FROM l WHERE id = ANY (1, 2) ORDER BY lv;
SELECT lv FROM l WHERE id > ALL (1, 2) ORDER BY lv;
