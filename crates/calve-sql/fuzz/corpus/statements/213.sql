CREATE TABLE e8 (id INT CHECK (id > 0)) WITH ('connector'='blackhole')
