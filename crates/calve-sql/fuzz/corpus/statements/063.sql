SELECT * FROM `db`.`t$snapshots`
