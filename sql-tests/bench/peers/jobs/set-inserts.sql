-- The same in three jobs.
INSERT INTO lake.db.clicks SELECT * FROM events WHERE event_type = 'click';
INSERT INTO lake.db.logins SELECT * FROM events WHERE event_type = 'login';
INSERT INTO lake.db.purchases SELECT * FROM events WHERE event_type = 'purchase';
