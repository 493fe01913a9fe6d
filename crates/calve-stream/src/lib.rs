//! Flink's streaming operators: changelogs and watermarks as nodes of DataFusion plans.
