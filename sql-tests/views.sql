-- Views: a name for a query, with the columns it had when it was made.
SET 'execution.runtime-mode' = 'batch';
CREATE VIEW people AS SELECT * FROM (VALUES (1, 'Noor'), (2, 'Timo')) AS t(id, name);
CREATE VIEW named (who, n) COMMENT 'the people''s names' AS SELECT name, id + 10 FROM people;
SELECT * FROM named ORDER BY n;
DESCRIBE named;
SHOW CREATE VIEW named;
SHOW COLUMNS FROM named LIKE 'w%';
SHOW VIEWS;
SHOW VIEWS LIKE 'p%';
SHOW TABLES;

-- short names mean what they meant when the view was made
CREATE DATABASE other;
USE other;
CREATE VIEW people AS SELECT 'other' AS a;
SELECT * FROM default_database.named ORDER BY n;
SELECT * FROM people;
USE default_database;

-- new names, new queries
ALTER VIEW named RENAME TO persons;
SHOW VIEWS;
ALTER VIEW persons AS SELECT 42 AS answer;
SELECT * FROM persons;
SHOW CREATE VIEW persons;
ALTER VIEW persons RENAME TO people;
ALTER VIEW persons RENAME TO other.folk;
SHOW VIEWS;
ALTER VIEW nothing RENAME TO something;
ALTER VIEW folk AS SELECT nope FROM people;

-- a view that reads itself
ALTER VIEW people AS SELECT * FROM people;
CREATE VIEW a AS SELECT 1 AS x;
CREATE VIEW b AS SELECT * FROM a;
CREATE VIEW c AS SELECT * FROM b;
ALTER VIEW a AS SELECT * FROM c;
DROP VIEW a;
ALTER VIEW c RENAME TO a;
CREATE VIEW a AS WITH a AS (SELECT 5 AS x) SELECT * FROM a;
SELECT * FROM c;

-- what a view read has changed, or is gone
ALTER VIEW a AS SELECT 'text' AS x;
SELECT * FROM c;
ALTER VIEW a AS SELECT 1 AS x, 2 AS y;
SELECT * FROM c;
DROP VIEW a;
SELECT * FROM c;
DESCRIBE c;

-- refused
CREATE VIEW people AS SELECT 1 AS a;
CREATE VIEW IF NOT EXISTS people AS SELECT 1 AS a;
CREATE VIEW bad (x) AS SELECT 1, 2;
CREATE VIEW bad AS SELECT 1 AS a, 2 AS a;
CREATE VIEW bad AS SELECT * FROM nosuch;
CREATE TABLE sink (a INT) WITH ('connector' = 'blackhole');
CREATE VIEW bad AS SELECT * FROM sink;
CREATE VIEW sink AS SELECT 1 AS a;
CREATE TABLE people (a INT);
INSERT INTO people VALUES (1, 'a');
SELECT * FROM people /*+ OPTIONS('a' = 'b') */;
DROP TABLE people;
DROP VIEW sink;
DROP VIEW nothing;
DROP VIEW IF EXISTS nothing;
SHOW CREATE TABLE people;
SHOW CREATE VIEW sink;
SHOW CREATE VIEW nothing;
DROP VIEW people;
SHOW VIEWS;
