CREATE TABLE e19 (id INT) WITH ("connector"='blackhole')
