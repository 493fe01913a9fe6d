ALTER CATALOG ice SET ('k'='v')
