ALTER TABLE t SET ('k'='v', 'l'='w')
