CREATE TABLE t (a RAW('java.lang.Void','AA=='))
