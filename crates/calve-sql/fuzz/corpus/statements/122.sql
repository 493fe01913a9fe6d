SET execution.checkpointing.interval = 10s
