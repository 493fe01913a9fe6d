USE MODULES core, hive
