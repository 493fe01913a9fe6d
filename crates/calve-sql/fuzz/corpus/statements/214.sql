CREATE TABLE e9 (id INT REFERENCES other(id)) WITH ('connector'='blackhole')
