SELECT COUNT(*), SUM(amount), SUM(id) FROM ${TABLE};
