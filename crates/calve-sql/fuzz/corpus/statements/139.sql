CALL ice.sys.rollback_to_snapshot(table => 'db.t', snapshot_id => 1)
