UPDATE t SET a = 1, b = 'x' WHERE c = 2
