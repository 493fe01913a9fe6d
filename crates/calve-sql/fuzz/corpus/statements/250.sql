SELECT ';' AS semi, '--not a comment' AS b, '/* nor this */' AS c
