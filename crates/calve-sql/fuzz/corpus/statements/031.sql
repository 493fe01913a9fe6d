CREATE TABLE `ice`.`db`.`t` (`id` BIGINT, `data` STRING) WITH ('connector'='iceberg', 'catalog-name'='c', 'catalog-type'='hadoop')
