SELECT a = ANY (1, 2), a < ALL (SELECT 1), a = SOME (ARRAY[1])
