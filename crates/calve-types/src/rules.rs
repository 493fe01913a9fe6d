//! Flink's rules between types: casts allowed, casts inserted, common types, decimal arithmetic.
