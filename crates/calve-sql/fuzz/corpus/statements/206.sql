SELECT * FROM nocat.db.t
