SELECT COUNT(*) FROM nosuch_table
