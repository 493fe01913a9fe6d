//! Literal values.

/// A literal of a primitive type. Which type it has stands beside it (an `Int` may be a `TINYINT` or a `BIGINT`).
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL of any type.
    Null,
    /// `TRUE` or `FALSE`.
    Boolean(bool),
    /// Any integer type.
    Int(i64),
    /// `FLOAT`.
    Float(f32),
    /// `DOUBLE`.
    Double(f64),
    /// `DECIMAL`: the unscaled value; the scale is the type's.
    Decimal(i128),
    /// `CHAR` and `VARCHAR`.
    String(String),
    /// `BINARY` and `VARBINARY`.
    Bytes(Vec<u8>),
    /// `DATE`: days since 1970-01-01.
    Date(i32),
    /// `TIME`: microseconds since midnight.
    Time(i64),
    /// `TIMESTAMP` (wall clock) and `TIMESTAMP_LTZ` (UTC): seconds since 1970-01-01T00:00:00 and the nanoseconds after it.
    Timestamp {
        /// Seconds, floored.
        seconds: i64,
        /// 0 to 999,999,999.
        nanos: u32,
    },
    /// `INTERVAL YEAR TO MONTH`: months.
    Months(i32),
    /// `INTERVAL DAY TO SECOND`: milliseconds.
    Millis(i64),
    /// A symbol (time unit, trim side, JSON behaviour).
    Symbol(String),
}
