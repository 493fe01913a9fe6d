SELECT a.*, b AS `c d` FROM t a NATURAL JOIN u
