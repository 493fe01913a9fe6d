SELECT a -> b
