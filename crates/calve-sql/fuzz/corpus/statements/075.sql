SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (id, n)
