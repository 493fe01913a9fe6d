-- A small INSERT; peers.py puts many of them into one script.
INSERT INTO lake.db.t VALUES (${NUMBER}, ${NUMBER}.25);
