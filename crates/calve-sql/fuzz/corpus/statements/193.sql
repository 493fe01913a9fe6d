CREATE TABLE nowith (a INT)
