CREATE TABLE lake.db.t (id BIGINT, amount DECIMAL(18, 2)) WITH ('format-version' = '2');
