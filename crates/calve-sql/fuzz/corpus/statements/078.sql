SELECT (r).f, r.* FROM t
