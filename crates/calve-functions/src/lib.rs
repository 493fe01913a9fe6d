//! Flink's built-in functions, operators and casts, as DataFusion functions with Flink's exact results.
