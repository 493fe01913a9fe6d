SELECT foo(id) FROM t
