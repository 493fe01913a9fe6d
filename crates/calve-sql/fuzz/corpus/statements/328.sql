SELECT f(*, a) FROM t
