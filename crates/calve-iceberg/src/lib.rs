//! What an engine needs of Iceberg: catalogs, commits, writers, delete-aware scans, metadata tables.
