//! Flink's data types and how Flink prints them.

use std::fmt;

/// A logical type with its nullability, as in a column's declaration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataType {
    /// The type without nullability.
    pub logical: LogicalType,
    /// Whether NULL is a value of the type; `false` prints as `NOT NULL`.
    pub nullable: bool,
}

/// Flink's logical types (`org.apache.flink.table.types.logical`), without nullability.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LogicalType {
    /// The type of a bare `NULL`.
    Null,
    /// `BOOLEAN`
    Boolean,
    /// `TINYINT`, 8 bits
    TinyInt,
    /// `SMALLINT`, 16 bits
    SmallInt,
    /// `INT`, 32 bits
    Int,
    /// `BIGINT`, 64 bits
    BigInt,
    /// `FLOAT`, 32 bits
    Float,
    /// `DOUBLE`, 64 bits
    Double,
    /// `DECIMAL(precision, scale)`; precision 1 to 38, scale 0 to precision
    Decimal {
        /// Number of digits, 1 to 38.
        precision: u8,
        /// Digits after the point, 0 to precision.
        scale: u8,
    },
    /// `CHAR(n)`, n in code points; 0 only for the empty literal
    Char(u32),
    /// `VARCHAR(n)`; [`LogicalType::MAX_LENGTH`] is `STRING`
    Varchar(u32),
    /// `BINARY(n)`, n in bytes; 0 only for the empty literal
    Binary(u32),
    /// `VARBINARY(n)`; [`LogicalType::MAX_LENGTH`] is `BYTES`
    Varbinary(u32),
    /// `DATE`
    Date,
    /// `TIME(p)`
    Time(u8),
    /// `TIMESTAMP(p)`, 0 to 9
    Timestamp(u8),
    /// `TIMESTAMP(p) WITH TIME ZONE`: Flink parses it and supports it nowhere
    TimestampTz(u8),
    /// `TIMESTAMP_LTZ(p)`, 0 to 9
    TimestampLtz(u8),
    /// `INTERVAL YEAR TO MONTH` and its parts; values are months
    IntervalYearMonth {
        /// First and last field, equal for a single one.
        from: IntervalField,
        /// Last field.
        to: IntervalField,
        /// Digits of the year, 1 to 4; Flink's default is 2.
        precision: u8,
    },
    /// `INTERVAL DAY TO SECOND` and its parts; values are milliseconds
    IntervalDayTime {
        /// First field.
        from: IntervalField,
        /// Last field.
        to: IntervalField,
        /// Digits of the day, 1 to 6; Flink's default is 2.
        day_precision: u8,
        /// Digits of the fraction of a second, 0 to 9; Flink's default is 6.
        fraction: u8,
    },
    /// `ARRAY<element>`
    Array(Box<DataType>),
    /// `MAP<key, value>`
    Map(Box<DataType>, Box<DataType>),
    /// `MULTISET<element>`
    Multiset(Box<DataType>),
    /// `ROW<name type, ...>`
    Row(Vec<RowField>),
    /// `RAW('class', 'serializer')`
    Raw {
        /// The Java class.
        class: String,
        /// The serializer's snapshot, base64.
        serializer: String,
    },
    /// `VARIANT`
    Variant,
    /// A symbol such as a time unit; appears only as an argument's type
    Symbol,
}

/// A unit of an interval type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntervalField {
    /// `YEAR`
    Year,
    /// `MONTH`
    Month,
    /// `DAY`
    Day,
    /// `HOUR`
    Hour,
    /// `MINUTE`
    Minute,
    /// `SECOND`
    Second,
}

/// A field of a `ROW` type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowField {
    /// The field's name, case-sensitive.
    pub name: String,
    /// The field's type.
    pub data_type: DataType,
    /// The field's comment, `'...'` after the type.
    pub comment: Option<String>,
}

impl RowField {
    /// A field without a comment.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, comment: None }
    }
}

impl LogicalType {
    /// The length of `STRING` and `BYTES` (Flink: `Integer.MAX_VALUE`).
    pub const MAX_LENGTH: u32 = i32::MAX as u32;
    /// `STRING`.
    pub const STRING: Self = Self::Varchar(Self::MAX_LENGTH);
    /// `BYTES`.
    pub const BYTES: Self = Self::Varbinary(Self::MAX_LENGTH);

    /// The type with NULL among its values.
    pub fn nullable(self) -> DataType {
        DataType { logical: self, nullable: true }
    }

    /// The type without NULL.
    pub fn not_null(self) -> DataType {
        DataType { logical: self, nullable: false }
    }

    /// The type with the given nullability.
    pub fn with_nullable(self, nullable: bool) -> DataType {
        DataType { logical: self, nullable }
    }

    /// `TINYINT`, `SMALLINT`, `INT` or `BIGINT`.
    pub fn is_integer(&self) -> bool {
        matches!(self, Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt)
    }

    /// `FLOAT` or `DOUBLE`.
    pub fn is_approximate(&self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    /// Any number.
    pub fn is_numeric(&self) -> bool {
        self.is_integer() || self.is_approximate() || matches!(self, Self::Decimal { .. })
    }

    /// `CHAR` or `VARCHAR`.
    pub fn is_character(&self) -> bool {
        matches!(self, Self::Char(_) | Self::Varchar(_))
    }

    /// `BINARY` or `VARBINARY`.
    pub fn is_binary(&self) -> bool {
        matches!(self, Self::Binary(_) | Self::Varbinary(_))
    }

    /// `TIMESTAMP` or `TIMESTAMP_LTZ`.
    pub fn is_timestamp(&self) -> bool {
        matches!(self, Self::Timestamp(_) | Self::TimestampLtz(_) | Self::TimestampTz(_))
    }

    /// `DATE`, `TIME` or a timestamp.
    pub fn is_datetime(&self) -> bool {
        matches!(self, Self::Date | Self::Time(_)) || self.is_timestamp()
    }

    /// An interval of either family.
    pub fn is_interval(&self) -> bool {
        matches!(self, Self::IntervalYearMonth { .. } | Self::IntervalDayTime { .. })
    }

    /// `ARRAY`, `MAP`, `MULTISET` or `ROW`.
    pub fn is_constructed(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Map(..) | Self::Multiset(_) | Self::Row(_))
    }
}

impl DataType {
    /// The same type with the given nullability.
    pub fn with_nullable(&self, nullable: bool) -> Self {
        Self { logical: self.logical.clone(), nullable }
    }
}

impl fmt::Display for IntervalField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Year => "YEAR",
            Self::Month => "MONTH",
            Self::Day => "DAY",
            Self::Hour => "HOUR",
            Self::Minute => "MINUTE",
            Self::Second => "SECOND",
        })
    }
}

/// Quotes an identifier as Flink does: in backticks, backticks doubled.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Flink's `asSummaryString`.
impl fmt::Display for LogicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INT"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::Char(n) => write!(f, "CHAR({n})"),
            Self::Varchar(Self::MAX_LENGTH) => f.write_str("STRING"),
            Self::Varchar(n) => write!(f, "VARCHAR({n})"),
            Self::Binary(n) => write!(f, "BINARY({n})"),
            Self::Varbinary(Self::MAX_LENGTH) => f.write_str("BYTES"),
            Self::Varbinary(n) => write!(f, "VARBINARY({n})"),
            Self::Date => f.write_str("DATE"),
            Self::Time(p) => write!(f, "TIME({p})"),
            Self::Timestamp(p) => write!(f, "TIMESTAMP({p})"),
            Self::TimestampTz(p) => write!(f, "TIMESTAMP({p}) WITH TIME ZONE"),
            Self::TimestampLtz(p) => write!(f, "TIMESTAMP_LTZ({p})"),
            Self::IntervalYearMonth { from, to, precision } => match (from, to) {
                (IntervalField::Month, _) => f.write_str("INTERVAL MONTH"),
                (from, to) if from == to => write!(f, "INTERVAL {from}({precision})"),
                (from, to) => write!(f, "INTERVAL {from}({precision}) TO {to}"),
            },
            Self::IntervalDayTime { from, to, day_precision, fraction } => {
                write!(f, "INTERVAL {from}")?;
                if *from == IntervalField::Day {
                    write!(f, "({day_precision})")?;
                }
                if from != to {
                    write!(f, " TO {to}")?;
                }
                if *to == IntervalField::Second {
                    write!(f, "({fraction})")?;
                }
                Ok(())
            }
            Self::Array(e) => write!(f, "ARRAY<{e}>"),
            Self::Map(k, v) => write!(f, "MAP<{k}, {v}>"),
            Self::Multiset(e) => write!(f, "MULTISET<{e}>"),
            Self::Row(fields) => {
                f.write_str("ROW<")?;
                for (i, field) in fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{} {}", quoted(&field.name), field.data_type)?;
                    if let Some(comment) = &field.comment {
                        write!(f, " '{}'", comment.replace('\'', "''"))?;
                    }
                }
                f.write_str(">")
            }
            Self::Raw { class, serializer } => write!(f, "RAW('{class}', '{serializer}')"),
            Self::Variant => f.write_str("VARIANT"),
            Self::Symbol => f.write_str("SYMBOL"),
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.logical)?;
        if !self.nullable {
            f.write_str(" NOT NULL")?;
        }
        Ok(())
    }
}
