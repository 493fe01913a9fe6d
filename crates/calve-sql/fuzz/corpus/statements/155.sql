SHOW CREATE CATALOG default_catalog
