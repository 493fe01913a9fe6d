SELECT a / b AS q FROM (VALUES (10, 0)) AS t(a, b)
