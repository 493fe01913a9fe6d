SELECT /*+ BROADCAST(s), STATE_TTL('a'='1d') */ * FROM a JOIN s ON a.x = s.x
