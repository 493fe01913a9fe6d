SELECT 1 -- trailing comment
 + 1 AS a
