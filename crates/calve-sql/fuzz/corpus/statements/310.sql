SELECT a[1], a.b[2].c, a[1][2], (a).b, (a).b.c, f(x).y, m['k'].z FROM t
