SELECT e.a FROM t AS e SEMI JOIN u ON e.a = u.a
