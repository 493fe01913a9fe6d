CALL `ice`.`system`.compact('db.t')
