CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='rest','uri'='http://x')
