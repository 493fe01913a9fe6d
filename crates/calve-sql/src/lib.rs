//! Flink SQL text to syntax tree and back: script splitting, statements, queries, spans.
