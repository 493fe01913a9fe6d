-- a ; inside a comment does not end the statement
SELECT 3 AS a
