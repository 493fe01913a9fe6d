SHOW FUNCTIONS IN default_catalog.default_database NOT LIKE '%'
