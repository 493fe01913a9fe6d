SELECT `year`, `value`, `timestamp` FROM t
