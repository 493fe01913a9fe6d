-- Functions with results of their own kind: notations, hashes, URLs, patterns, formats, sets, percentiles.

SELECT HEX(255) AS a, HEX('é') AS b, UNHEX('616263') AS c, TO_BASE64('flink') AS d, FROM_BASE64('Zmxpbms') AS e, BIN(4) AS f, CHR(353) AS g,
  DECODE(ENCODE('é', 'UTF-16BE'), 'UTF-16BE') AS h;

SELECT MD5('hello') AS a, SHA1('hello') AS b, SHA2('hello', 256) AS c;

SELECT PARSE_URL('http://u:p@h.com:80/a/b?q=1&r=2#f', 'HOST') AS a, PARSE_URL('http://h/p?q=1&r=2', 'QUERY', 'r') AS b,
  URL_ENCODE('a b&c=é') AS c, URL_DECODE('a+b%26c') AS d, URL_DECODE('%zz') AS e;

SELECT SPLIT('a,b,,c', ',') AS a, STR_TO_MAP('k1=v1,k2') AS b, OVERLAY('abcdef' PLACING 'XY' FROM 3 FOR 1) AS c,
  TRANSLATE('abcabc', 'ab', 'x') AS d, ELT(2, 'a', 'b') AS e, IS_DECIMAL('1.5') AS f;

SELECT REGEXP_COUNT('abcabc', 'b') AS a, REGEXP_INSTR('abcabc', 'ca') AS b, REGEXP_SUBSTR('abc123', '[0-9]+') AS c,
  REGEXP_EXTRACT_ALL('a1b2', '([a-z])([0-9])', 2) AS d, REGEXP_REPLACE('price 5 EUR', '(?<=price )[0-9]+', '#') AS e;

SELECT PRINTF('%05d|%,d|%.2f|%-5s|%x', 42, 1234567, CAST(1.005 AS DOUBLE), 'ab', 255) AS a, PRINTF('%d', 'x') AS b;

SELECT ARRAY_UNION(ARRAY[1, 2, 2], ARRAY[3]) AS a, ARRAY_INTERSECT(ARRAY[1, 1, 2], ARRAY[1]) AS b, ARRAY_EXCEPT(ARRAY[1, 1, 2], ARRAY[2]) AS c,
  MAP_UNION(MAP['a', 1], MAP['a', 9, 'b', 2]) AS d;

SELECT (DATE '2024-01-01', DATE '2024-01-05') OVERLAPS (DATE '2024-01-05', INTERVAL '1' DAY) AS a, CURRENT_DATABASE() AS b, RAND_INTEGER(7, 1000) AS c;

SELECT PERCENTILE(x, 0.5) AS a, PERCENTILE(x, ARRAY[0.25, 0.75]) AS b, STDDEV_POP(CAST(x AS DECIMAL(5,2))) AS c, LISTAGG(CAST(x AS STRING), '|') AS d
FROM (VALUES (10), (20), (40), (50)) AS t(x);

-- Refused, each with its reason.
SELECT SHA2('hello', 128);
SELECT FROM_BASE64('!!!');
SELECT ENCODE('a', 'NOSUCH');
SELECT HEX(1.5);
SELECT LISTAGG(g, h) FROM (VALUES ('a', 'b')) AS t(g, h);
SELECT PERCENTILE(x, 1.5) FROM (VALUES (1)) AS t(x);
SELECT ELT(-1, 'a');
SELECT REGEXP('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '(a+)+(?=b)b');
