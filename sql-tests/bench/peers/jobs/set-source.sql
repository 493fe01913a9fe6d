-- What reading the source takes.
CREATE TEMPORARY TABLE nowhere WITH ('connector' = 'blackhole') LIKE events (EXCLUDING OPTIONS);

INSERT INTO nowhere SELECT * FROM events;
