CREATE TABLE w3 (a INT, c ROW<x INT NOT NULL 'yy'> NOT NULL, d ARRAY<INT NOT NULL>, e RAW('java.lang.Integer', 'AEdvcmc'), f VARIANT) WITH ('connector'='blackhole')
