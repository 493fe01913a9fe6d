SELECT a <=> b
