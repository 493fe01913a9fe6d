-- Several INSERTs as one job: a shared source is read once, every INSERT makes its own snapshot
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${TMP}/warehouse');
CREATE DATABASE ice.shop;
CREATE TABLE events (kind STRING, id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '${TMP}/events', 'format' = 'json');
INSERT INTO events VALUES ('order', 1, 'a'), ('user', 2, 'b'), ('click', 3, 'c'), ('order', 4, 'd');
CREATE TABLE ice.shop.orders (id INT);
CREATE TABLE ice.shop.users (id INT, name STRING);
CREATE TABLE ice.shop.clicks (n BIGINT);
-- a COUNT changes while it is made; a table without a key takes only the row that is left in the end
SET 'execution.runtime-mode' = 'batch';
EXECUTE STATEMENT SET BEGIN
INSERT INTO ice.shop.orders SELECT id FROM events WHERE kind = 'order';
INSERT INTO ice.shop.users SELECT id, name FROM events WHERE kind = 'user';
INSERT INTO ice.shop.clicks SELECT COUNT(*) FROM events WHERE kind = 'click';
END;
SELECT * FROM ice.shop.orders;
SELECT * FROM ice.shop.users;
SELECT * FROM ice.shop.clicks;
SELECT COUNT(DISTINCT job) AS jobs, COUNT(*) AS snapshots FROM (
  SELECT summary['flink.job-id'] AS job FROM ice.shop.`orders$snapshots`
  UNION ALL SELECT summary['flink.job-id'] FROM ice.shop.`users$snapshots`
  UNION ALL SELECT summary['flink.job-id'] FROM ice.shop.`clicks$snapshots`);
-- two INSERTs into one table: two snapshots
BEGIN STATEMENT SET;
INSERT INTO ice.shop.orders VALUES (5);
INSERT INTO ice.shop.orders VALUES (6), (7);
END;
SELECT COUNT(*) AS n FROM ice.shop.orders;
SELECT COUNT(*) AS n FROM ice.shop.`orders$snapshots`;
-- one that fails: none is committed
EXECUTE STATEMENT SET BEGIN
INSERT INTO ice.shop.orders SELECT id FROM events;
INSERT INTO ice.shop.clicks SELECT CAST(name AS BIGINT) FROM events;
END;
SELECT COUNT(*) AS n FROM ice.shop.`orders$snapshots`;
-- what a set takes
END;
BEGIN STATEMENT SET;
SELECT 1;
SET 'a' = 'b';
BEGIN STATEMENT SET;
INSERT INTO ice.shop.orders VALUES ('x');
INSERT INTO ice.shop.nowhere VALUES (1);
END;
EXECUTE STATEMENT SET BEGIN END;
