CREATE TABLE e7 (id INT AUTO_INCREMENT) WITH ('connector'='blackhole')
