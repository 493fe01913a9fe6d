SELECT COUNT(*), SUM(amount), SUM(id)
FROM (SELECT * FROM lake.db.clicks UNION ALL SELECT * FROM lake.db.logins UNION ALL SELECT * FROM lake.db.purchases);
