SELECT a.x FROM ice.db.t /*+ OPTIONS('snapshot-id'='1') */ AS a JOIN s /*+ OPTIONS('k'='v') */ b ON a.x = b.x
