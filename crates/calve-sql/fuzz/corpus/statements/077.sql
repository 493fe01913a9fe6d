SELECT arr[1], m['k'], r.f, r.f.g, arr[1].x FROM t
