-- plain and delimited identifiers keep case; unquoted names are not folded
SELECT a, A1 AS `Mixed Case`, `b c` FROM (VALUES (1, 2, 3)) AS T(a, A1, `b c`)
