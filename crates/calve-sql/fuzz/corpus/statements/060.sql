SELECT * FROM t /*+ OPTIONS('streaming'='true', 'monitor-interval'='1s') */
