-- The same rows as Iceberg tables: Flink's Parquet format for files is not to be had, and it reads these instead.
CREATE TABLE lake.db.events AS SELECT * FROM events;

CREATE TABLE lake.db.changes AS SELECT * FROM changes;

CREATE TABLE lake.db.corrections AS SELECT * FROM corrections;
