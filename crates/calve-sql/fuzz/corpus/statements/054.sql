INSERT INTO t /*+ OPTIONS('upsert-enabled'='true', 'a'='b') */ SELECT * FROM s
