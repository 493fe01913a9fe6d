-- Copies the tables of tables.sql, which runs before, into Iceberg tables of the same columns, in the warehouse ${WAREHOUSE}.
CREATE CATALOG tpch WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '${WAREHOUSE}');
CREATE DATABASE tpch.tpch;
CREATE TABLE tpch.tpch.lineitem LIKE default_catalog.default_database.lineitem (EXCLUDING OPTIONS);
INSERT INTO tpch.tpch.lineitem SELECT * FROM default_catalog.default_database.lineitem;
CREATE TABLE tpch.tpch.orders LIKE default_catalog.default_database.orders (EXCLUDING OPTIONS);
INSERT INTO tpch.tpch.orders SELECT * FROM default_catalog.default_database.orders;
CREATE TABLE tpch.tpch.customer LIKE default_catalog.default_database.customer (EXCLUDING OPTIONS);
INSERT INTO tpch.tpch.customer SELECT * FROM default_catalog.default_database.customer;
CREATE TABLE tpch.tpch.part LIKE default_catalog.default_database.part (EXCLUDING OPTIONS);
INSERT INTO tpch.tpch.part SELECT * FROM default_catalog.default_database.part;
CREATE TABLE tpch.tpch.partsupp LIKE default_catalog.default_database.partsupp (EXCLUDING OPTIONS);
INSERT INTO tpch.tpch.partsupp SELECT * FROM default_catalog.default_database.partsupp;
CREATE TABLE tpch.tpch.supplier LIKE default_catalog.default_database.supplier (EXCLUDING OPTIONS);
INSERT INTO tpch.tpch.supplier SELECT * FROM default_catalog.default_database.supplier;
CREATE TABLE tpch.tpch.nation LIKE default_catalog.default_database.nation (EXCLUDING OPTIONS);
INSERT INTO tpch.tpch.nation SELECT * FROM default_catalog.default_database.nation;
CREATE TABLE tpch.tpch.region LIKE default_catalog.default_database.region (EXCLUDING OPTIONS);
INSERT INTO tpch.tpch.region SELECT * FROM default_catalog.default_database.region;
