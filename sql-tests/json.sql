-- JSON functions: paths, clauses and constructors.
SET 'execution.runtime-mode' = 'batch';

SELECT JSON_VALUE('{"a":1,"b":"x","c":true,"d":null}', '$.b') AS text_of, JSON_VALUE('{"a":1}', '$.a' RETURNING INT) AS number_of,
  JSON_VALUE('{"a":1.50}', '$.a') AS digits, JSON_VALUE('not json', '$.a') AS nothing;

SELECT JSON_VALUE('{"a":1}', 'lax $.b' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR) AS a,
  JSON_VALUE('{"a":1}', '$.b' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR) AS b;

SELECT j, j IS JSON AS a, j IS JSON OBJECT AS b, JSON_VALUE(j, '$.x') AS c, JSON_QUERY(j, '$.x') AS d, JSON_EXISTS(j, '$.x') AS e
FROM (VALUES ('{"x":1}'), ('{"x":{"y":2}}'), ('[1,2]'), ('5'), ('bad'), (CAST(NULL AS STRING))) AS t(j) ORDER BY j;

SELECT JSON_QUERY('{"a":[{"b":1},{"b":2}]}', '$.a[*].b') AS a, JSON_QUERY('{"a":"x"}', '$.a' WITH WRAPPER) AS b,
  JSON_QUERY('{"a":1}', 'lax $.b' EMPTY OBJECT ON EMPTY) AS c, JSON_QUERY('{"a":["x",1,null]}', '$.a' RETURNING ARRAY<STRING>) AS d;

SELECT JSON_QUERY('{"a":[{"p":10,"n":"A"},{"p":5.5,"n":"B"}]}', '$.a[?(@.p > 6 && @.n =~ /[a-z]/i)].n') AS a;

SELECT JSON_OBJECT('b' VALUE 1, 'a' VALUE JSON_ARRAY(1, 'x', TRUE), 'n' VALUE CAST(NULL AS INT)) AS a,
  JSON_OBJECT(KEY 'k' VALUE CAST(NULL AS INT) ABSENT ON NULL) AS b, JSON_OBJECT('j' VALUE JSON('{"q": 1}')) AS c;

SELECT JSON_STRING(ROW(1, 'x')) AS a, JSON_STRING(MAP['b', 1, 'a', 2]) AS b, JSON_STRING(TIMESTAMP '2024-01-01 10:00:00.120') AS c,
  JSON_QUOTE('a/b') AS d, JSON_UNQUOTE('"a\u00e9"') AS e;

SELECT JSON_OBJECTAGG(KEY k VALUE v) AS o, JSON_ARRAYAGG(NULLIF(v, 2)) AS a, JSON_ARRAYAGG(NULLIF(v, 2) NULL ON NULL) AS b
FROM (VALUES ('b', 1), ('a', 2)) AS t(k, v);

-- Refused, each with its reason.
SELECT JSON_VALUE('{"a":[1]}', '$.a' ERROR ON ERROR);
SELECT JSON_VALUE('{"a":1}', '$.a' RETURNING BIGINT);
SELECT JSON_VALUE('{"a":"x"}', '$.a' RETURNING INT);
SELECT JSON_QUERY('[1, 2]', '$.sum()');
SELECT JSON_OBJECT('d' VALUE DATE '2024-01-01');
SELECT JSON('{}');
SELECT JSON_OBJECTAGG(KEY k VALUE v) FROM (VALUES ('a', 1), ('a', 2)) AS t(k, v);
