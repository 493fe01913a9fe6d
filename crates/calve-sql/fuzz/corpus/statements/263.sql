SELECT * FROM nosuch_db.nosuch_table
