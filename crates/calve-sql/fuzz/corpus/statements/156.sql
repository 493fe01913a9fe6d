SHOW CREATE DATABASE default_database
