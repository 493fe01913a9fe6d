CREATE CATALOG cc WITH ('type'='generic_in_memory')
