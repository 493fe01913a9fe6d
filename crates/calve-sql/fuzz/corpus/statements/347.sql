SELECT a ~ b
