SELECT /* nested /* comment */ 1 AS a
