//! Session: executes Flink SQL statements over catalogs, jobs and results.
