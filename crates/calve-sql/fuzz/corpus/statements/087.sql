SELECT a <> b, a != b, a % b, a || b FROM t
