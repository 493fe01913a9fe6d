SELECT 2 .a, (2).b AS o
