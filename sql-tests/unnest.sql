-- UNNEST.
SET 'execution.runtime-mode' = 'batch';
CREATE TEMPORARY VIEW t AS SELECT * FROM (VALUES (1, ARRAY[1, 2], MAP['a', 1]), (2, CAST(NULL AS ARRAY<INT>), CAST(NULL AS MAP<STRING, INT>)), (3, ARRAY[CAST(NULL AS INT), 5], MAP['b', 2, 'c', 3])) AS v(id, a, m);
SELECT id, u FROM t CROSS JOIN UNNEST(a) AS u;
SELECT id, k, v FROM t LEFT JOIN UNNEST(m) AS u(k, v) ON TRUE;
SELECT * FROM UNNEST(ARRAY[1, 2]) WITH ORDINALITY;
SELECT * FROM UNNEST(ARRAY[1, 2]);
SELECT * FROM UNNEST(MAP['a', 1]);
SELECT id, x FROM t JOIN UNNEST(a) AS u(x) ON x > 1;
SELECT id, x FROM t, UNNEST(id) AS u(x);
SELECT id, x FROM t, UNNEST(a) AS u(x, y);
SELECT id, x, y FROM t, UNNEST(a) AS u(x), UNNEST(a) AS w(y) WHERE x < y;
SELECT g, e FROM (SELECT g, COLLECT(x) AS c FROM (VALUES ('a', 1), ('a', 1), ('b', 2)) AS q(g, x) GROUP BY g) AS s CROSS JOIN UNNEST(c) AS u(e);
SELECT r.id, u.* FROM (VALUES (1, ARRAY[ROW(1, 'x'), CAST(NULL AS ROW<a INT, b STRING>)])) AS r(id, rs) CROSS JOIN UNNEST(rs) AS u;
SELECT id, x FROM t CROSS JOIN UNNEST(ARRAY[id, id + 1]) AS u(x);
SELECT id, x FROM t RIGHT JOIN UNNEST(a) AS u(x) ON TRUE;
SELECT id, x FROM UNNEST(ARRAY[7, 8]) AS u(x), t;
SELECT id, x FROM t, UNNEST(a) AS u(x) ORDER BY x DESC LIMIT 2;
SELECT COUNT(*) FROM t, UNNEST(a);
-- Elements that are NULL, out of a file.
CREATE TABLE jlines (line STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/rows', 'format' = 'raw');
INSERT INTO jlines VALUES ('{"id":4,"ar":[null,{"y":"z"}]}'), ('{"id":5,"ar":[{"x":1,"y":"q"},null]}'), ('{"id":6}'), ('{"id":7,"ar":[]}'), ('{"id":8,"ar":[null]}');
CREATE TABLE j (id INT, ar ARRAY<ROW<x INT, y STRING>>) WITH ('connector' = 'filesystem', 'path' = '${TMP}/rows', 'format' = 'json');
SELECT id, x, y FROM j CROSS JOIN UNNEST(ar) AS u(x, y) ORDER BY id;
SELECT id, x, y FROM j LEFT JOIN UNNEST(ar) AS u(x, y) ON TRUE ORDER BY id;
SELECT COUNT(*) FROM j, UNNEST(ar) AS u(x, y);
