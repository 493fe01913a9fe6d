//! Flink's rules between types: casts allowed, casts inserted, common types, decimal arithmetic.
//!
//! The sources are Flink's `LogicalTypeCasts` (casts), `LogicalTypeMerging` (decimal results) and Calcite's
//! `leastRestrictive` with Flink's type system (common types).

use crate::{DataType, LogicalType, RowField};

/// The most digits of a `DECIMAL`.
pub const MAX_DECIMAL_PRECISION: u8 = 38;

/// Digits after the point that arithmetic keeps when its result has more than 38 digits.
const MIN_ADJUSTED_SCALE: i32 = 6;

/// Whether Flink casts `from` to `to` by itself (`LogicalTypeCasts.supportsImplicitCast`).
///
/// Lengths and precisions do not matter; a nullable type never goes into a `NOT NULL` one.
pub fn supports_implicit_cast(from: &DataType, to: &DataType) -> bool {
    supports_cast(from, to, false)
}

/// Whether `CAST(from AS to)` is allowed (`LogicalTypeCasts.supportsExplicitCast`).
///
/// Between numbers and timestamps Flink's table says yes and its code says no; here the answer is no.
pub fn supports_explicit_cast(from: &DataType, to: &DataType) -> bool {
    supports_cast(from, to, true)
}

/// Whether a query's column may be inserted into a table's column of type `to`: an implicit cast that leaves
/// the NULLs of the column itself to the run-time check (`table.exec.sink.not-null-enforcer`).
pub fn supports_sink_cast(from: &DataType, to: &DataType) -> bool {
    supports_implicit_cast(from, &to.with_nullable(true))
}

fn supports_cast(from: &DataType, to: &DataType, explicit: bool) -> bool {
    if from.nullable && !to.nullable && !explicit {
        return false;
    }
    if from.logical == to.logical || from.logical == LogicalType::Null {
        return true;
    }
    match (&from.logical, &to.logical) {
        (LogicalType::Array(f), LogicalType::Array(t)) | (LogicalType::Multiset(f), LogicalType::Multiset(t)) => {
            supports_cast(f, t, explicit)
        }
        (LogicalType::Map(fk, fv), LogicalType::Map(tk, tv)) => {
            supports_cast(fk, tk, explicit) && supports_cast(fv, tv, explicit)
        }
        (LogicalType::Row(f), LogicalType::Row(t)) => {
            f.len() == t.len() && f.iter().zip(t).all(|(f, t)| supports_cast(&f.data_type, &t.data_type, explicit))
        }
        (f, t) => implicit(f, t) || (explicit && self::explicit(f, t)),
    }
}

fn implicit(from: &LogicalType, to: &LogicalType) -> bool {
    use LogicalType as T;
    match to {
        T::Char(_) => matches!(from, T::Char(_)),
        T::Varchar(_) => from.is_character(),
        T::Binary(_) => matches!(from, T::Binary(_)),
        T::Varbinary(_) => from.is_binary(),
        T::Decimal { .. } | T::Double => from.is_numeric(),
        T::SmallInt => matches!(from, T::TinyInt),
        T::Int => matches!(from, T::TinyInt | T::SmallInt),
        T::BigInt => from.is_integer(),
        T::Float => from.is_integer() || matches!(from, T::Decimal { .. }),
        T::Date | T::Time(_) => matches!((from, to), (T::Timestamp(_), _) | (T::Time(_), T::Time(_))),
        T::Timestamp(_) | T::TimestampLtz(_) => matches!(from, T::Timestamp(_) | T::TimestampLtz(_)),
        T::IntervalYearMonth { .. } => matches!(from, T::IntervalYearMonth { .. }),
        T::IntervalDayTime { .. } => matches!(from, T::IntervalDayTime { .. }),
        _ => false,
    }
}

fn explicit(from: &LogicalType, to: &LogicalType) -> bool {
    use LogicalType as T;
    match to {
        T::Char(_) | T::Varchar(_) => !matches!(from, T::Raw { .. } | T::Variant | T::Symbol | T::TimestampTz(_)),
        T::Boolean => from.is_character() || from.is_numeric(),
        T::Binary(_) | T::Varbinary(_) => from.is_character() || from.is_binary(),
        T::Decimal { .. } | T::TinyInt | T::SmallInt | T::Int | T::BigInt | T::Float | T::Double => {
            from.is_numeric()
                || from.is_character()
                || *from == T::Boolean
                || (is_single_unit(from) && matches!(to, T::Int | T::BigInt | T::Decimal { .. }))
        }
        T::Date => from.is_character() || matches!(from, T::Timestamp(_) | T::TimestampLtz(_)),
        T::Time(_) => from.is_character() || matches!(from, T::Timestamp(_) | T::TimestampLtz(_)),
        T::Timestamp(_) | T::TimestampLtz(_) => from.is_character() || matches!(from, T::Date | T::Time(_)),
        T::IntervalYearMonth { .. } | T::IntervalDayTime { .. } => decimal_of(from).is_some() && is_single_unit(to),
        _ => false,
    }
}

/// Whether it is an interval of one unit, such as INTERVAL DAY.
fn is_single_unit(logical: &LogicalType) -> bool {
    matches!(
        logical,
        LogicalType::IntervalYearMonth { from, to, .. } | LogicalType::IntervalDayTime { from, to, .. } if from == to
    )
}

/// The type that holds the values of all types given: of the branches of a CASE, the elements of an ARRAY, the
/// columns of a UNION. `None` if there is none (Flink then refuses) or no type was given.
///
/// NULL takes any type; a ROW keeps the names of the first.
pub fn common_type(types: &[DataType]) -> Option<DataType> {
    let (first, rest) = types.split_first()?;
    rest.iter().try_fold(first.clone(), |common, next| common_of_two(&common, next))
}

fn common_of_two(a: &DataType, b: &DataType) -> Option<DataType> {
    let nullable = a.nullable || b.nullable;
    Some(
        common_logical(&a.logical, &b.logical)?
            .with_nullable(nullable || a.logical == LogicalType::Null || b.logical == LogicalType::Null),
    )
}

fn common_logical(a: &LogicalType, b: &LogicalType) -> Option<LogicalType> {
    use LogicalType as T;
    if a == b {
        return Some(a.clone());
    }
    Some(match (a, b) {
        (T::Null, other) | (other, T::Null) => other.clone(),
        (T::Char(m) | T::Varchar(m), T::Char(n) | T::Varchar(n)) => T::Varchar(*m.max(n)),
        (T::Binary(m) | T::Varbinary(m), T::Binary(n) | T::Varbinary(n)) => T::Varbinary(*m.max(n)),
        (a, b) if a.is_numeric() && b.is_numeric() => common_numeric(a, b)?,
        (T::Time(p), T::Time(q)) => T::Time(*p.max(q)),
        // Calcite takes them for one kind of type, and of two the one with more digits.
        (T::TimestampLtz(p) | T::Timestamp(p), T::TimestampLtz(q) | T::Timestamp(q)) => {
            if q > p {
                b.clone()
            } else {
                a.clone()
            }
        }
        (
            T::IntervalYearMonth { from: f1, to: t1, precision: p1 },
            T::IntervalYearMonth { from: f2, to: t2, precision: p2 },
        ) => T::IntervalYearMonth { from: *f1.min(f2), to: *t1.max(t2), precision: *p1.max(p2) },
        (
            T::IntervalDayTime { from: f1, to: t1, day_precision: d1, fraction: s1 },
            T::IntervalDayTime { from: f2, to: t2, day_precision: d2, fraction: s2 },
        ) => {
            T::IntervalDayTime { from: *f1.min(f2), to: *t1.max(t2), day_precision: *d1.max(d2), fraction: *s1.max(s2) }
        }
        (T::Array(a), T::Array(b)) => T::Array(Box::new(common_of_two(a, b)?)),
        (T::Multiset(a), T::Multiset(b)) => T::Multiset(Box::new(common_of_two(a, b)?)),
        (T::Map(ak, av), T::Map(bk, bv)) => T::Map(Box::new(common_of_two(ak, bk)?), Box::new(common_of_two(av, bv)?)),
        (T::Row(a), T::Row(b)) if a.len() == b.len() => T::Row(
            a.iter()
                .zip(b)
                .map(|(a, b)| Some(RowField::new(&a.name, common_of_two(&a.data_type, &b.data_type)?)))
                .collect::<Option<_>>()?,
        ),
        _ => return None,
    })
}

fn integer_rank(logical: &LogicalType) -> u8 {
    match logical {
        LogicalType::TinyInt => 1,
        LogicalType::SmallInt => 2,
        LogicalType::Int => 3,
        _ => 4,
    }
}

fn common_numeric(a: &LogicalType, b: &LogicalType) -> Option<LogicalType> {
    use LogicalType as T;
    if a.is_integer() && b.is_integer() {
        return Some(if integer_rank(a) >= integer_rank(b) { a.clone() } else { b.clone() });
    }
    // Calcite gives FLOAT and DOUBLE the same precision, so of the two the first stays.
    match (a.is_approximate(), b.is_approximate()) {
        (true, true) => return Some(a.clone()),
        (true, false) => return Some(if b.is_integer() { a.clone() } else { T::Double }),
        (false, true) => return Some(if a.is_integer() { b.clone() } else { T::Double }),
        (false, false) => {}
    }
    common_exact(a, b)
}

fn common_exact(a: &LogicalType, b: &LogicalType) -> Option<LogicalType> {
    let (p1, s1) = decimal_of(a)?;
    let (p2, s2) = decimal_of(b)?;
    let digits = (p1 - s1).max(p2 - s2);
    let scale = s1.max(s2).min(MAX_DECIMAL_PRECISION - digits);
    Some(LogicalType::Decimal { precision: digits + scale, scale })
}

/// The common type of the arguments of COALESCE, IFNULL, GREATEST, LEAST and the functions of ARRAYs and MAPs
/// (`LogicalTypeMerging.findCommonType`), which differs from [`common_type`] in mixes: fixed lengths that are equal
/// stay, DOUBLE wins over FLOAT, an exact number beside a point in time is taken for days, and types without a common
/// one give that of them to which Flink casts the others by itself.
///
/// `None` if there is none, or if all are NULL.
pub fn merged_type(types: &[DataType]) -> Option<DataType> {
    let nullable = types.iter().any(|t| t.nullable || t.logical == LogicalType::Null);
    let known: Vec<&LogicalType> = types.iter().map(|t| &t.logical).filter(|t| **t != LogicalType::Null).collect();
    let (first, rest) = known.split_first()?;
    let merged = rest.iter().try_fold((*first).clone(), |merged, next| merged_logical(&merged, next));
    merged.or_else(|| castable(&known)).map(|logical| logical.with_nullable(nullable))
}

/// Of several types the one to which the others are cast without being asked.
fn castable(types: &[&LogicalType]) -> Option<LogicalType> {
    let (first, rest) = types.split_first()?;
    let casts = |from: &LogicalType, to: &LogicalType| {
        supports_implicit_cast(&from.clone().nullable(), &to.clone().nullable())
            || (is_single_unit(from)
                && matches!(to, LogicalType::Int | LogicalType::BigInt | LogicalType::Decimal { .. }))
    };
    rest.iter()
        .try_fold(
            *first,
            |result, next| {
                if casts(result, next) { Some(*next) } else { casts(next, result).then_some(result) }
            },
        )
        .cloned()
}

fn merged_logical(a: &LogicalType, b: &LogicalType) -> Option<LogicalType> {
    use LogicalType as T;
    let is_point = |t: &T| *t == T::Date || t.is_timestamp();
    let is_exact = |t: &T| decimal_of(t).is_some();
    Some(match (a, b) {
        (a, b) if a.is_datetime() && b.is_interval() || is_point(a) && is_exact(b) => a.clone(),
        (a, b) if a.is_interval() && b.is_datetime() || is_exact(a) && is_point(b) => b.clone(),
        (T::Varchar(m), T::Char(n) | T::Varchar(n)) => T::Varchar(*m.max(n)),
        (T::Char(m), T::Char(n) | T::Varchar(n)) => {
            if m == n {
                b.clone()
            } else {
                T::Varchar(*m.max(n))
            }
        }
        (T::Varbinary(m), T::Binary(n) | T::Varbinary(n)) => T::Varbinary(*m.max(n)),
        (T::Binary(m), T::Binary(n) | T::Varbinary(n)) => {
            if m == n {
                b.clone()
            } else {
                T::Varbinary(*m.max(n))
            }
        }
        (T::Double, T::Float) | (T::Float, T::Double) => T::Double,
        (T::TimestampLtz(p), T::Timestamp(q)) | (T::Timestamp(p), T::TimestampLtz(q)) => T::TimestampLtz(*p.max(q)),
        // Only a DECIMAL behind the approximate number makes it a DOUBLE.
        (a, b) if is_exact(a) && b.is_approximate() => b.clone(),
        (T::Array(a), T::Array(b)) => T::Array(Box::new(merged_of_two(a, b)?)),
        (T::Multiset(a), T::Multiset(b)) => T::Multiset(Box::new(merged_of_two(a, b)?)),
        (T::Map(ak, av), T::Map(bk, bv)) => T::Map(Box::new(merged_of_two(ak, bk)?), Box::new(merged_of_two(av, bv)?)),
        (T::Row(a), T::Row(b)) if a.len() == b.len() => T::Row(
            a.iter()
                .zip(b)
                .map(|(a, b)| Some(RowField::new(&a.name, merged_of_two(&a.data_type, &b.data_type)?)))
                .collect::<Option<_>>()?,
        ),
        _ => common_logical(a, b)?,
    })
}

fn merged_of_two(a: &DataType, b: &DataType) -> Option<DataType> {
    merged_type(&[a.clone(), b.clone()])
}

/// Precision and scale of an exact number as a `DECIMAL` (`BIGINT` is `DECIMAL(19, 0)`); `None` for other types.
pub fn decimal_of(logical: &LogicalType) -> Option<(u8, u8)> {
    Some(match logical {
        LogicalType::TinyInt => (3, 0),
        LogicalType::SmallInt => (5, 0),
        LogicalType::Int => (10, 0),
        LogicalType::BigInt => (19, 0),
        LogicalType::Decimal { precision, scale } => (*precision, (*scale).min(*precision)),
        _ => return None,
    })
}

/// `DECIMAL(precision, scale)` cut to 38 digits as Flink does: first the digits after the point go, down to six.
fn adjusted(precision: i32, scale: i32) -> LogicalType {
    let max = i32::from(MAX_DECIMAL_PRECISION);
    let (precision, scale) = if precision <= max {
        (precision, scale)
    } else {
        (max, (max - (precision - scale)).max(scale.min(MIN_ADJUSTED_SCALE)))
    };
    LogicalType::Decimal { precision: precision.clamp(1, max) as u8, scale: scale.clamp(0, max) as u8 }
}

/// An arithmetic operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

/// The type of `a op b` for numbers; `None` if one is no number.
///
/// Integers give the larger type (and wrap), with FLOAT or DOUBLE the result is approximate, else it is a DECIMAL by
/// Flink's rules.
pub fn arithmetic_type(op: Arithmetic, a: &LogicalType, b: &LogicalType) -> Option<LogicalType> {
    if !a.is_numeric() || !b.is_numeric() {
        return None;
    }
    if (a.is_integer() && b.is_integer()) || a.is_approximate() || b.is_approximate() {
        return common_numeric(a, b);
    }
    let wide = |(p, s): (u8, u8)| (i32::from(p), i32::from(s));
    let (p1, s1) = wide(decimal_of(a)?);
    let (p2, s2) = wide(decimal_of(b)?);
    Some(match op {
        Arithmetic::Plus | Arithmetic::Minus => {
            let scale = s1.max(s2);
            adjusted((p1 - s1).max(p2 - s2) + scale + 1, scale)
        }
        Arithmetic::Times => adjusted(p1 + p2 + 1, s1 + s2),
        Arithmetic::Divide => {
            let scale = MIN_ADJUSTED_SCALE.max(s1 + p2 + 1);
            adjusted(p1 - s1 + s2 + scale, scale)
        }
        Arithmetic::Modulo => {
            let scale = s1.max(s2);
            adjusted((p1 - s1).min(p2 - s2) + scale, scale)
        }
    })
}

/// The type of `SUM(x)`: the argument's, `DECIMAL(38, s)` for a DECIMAL. `None` if it is no number.
pub fn sum_type(argument: &LogicalType) -> Option<LogicalType> {
    match argument {
        LogicalType::Decimal { scale, .. } => {
            Some(LogicalType::Decimal { precision: MAX_DECIMAL_PRECISION, scale: *scale })
        }
        other => other.is_numeric().then(|| other.clone()),
    }
}

/// The type of `AVG(x)`: the argument's, `DECIMAL(38, max(6, s))` for a DECIMAL. `None` if it is no number.
pub fn avg_type(argument: &LogicalType) -> Option<LogicalType> {
    match argument {
        LogicalType::Decimal { scale, .. } => {
            Some(LogicalType::Decimal { precision: MAX_DECIMAL_PRECISION, scale: (*scale).max(6) })
        }
        other => other.is_numeric().then(|| other.clone()),
    }
}

/// The type of `ROUND(x, digits)` and `TRUNCATE(x, digits)` for a `DECIMAL(precision, scale)`.
pub fn round_type(precision: u8, scale: u8, digits: i32) -> LogicalType {
    let (p, s) = (i32::from(precision), i32::from(scale));
    if digits >= s {
        LogicalType::Decimal { precision, scale }
    } else if digits < 0 {
        adjusted((1 + p - s).min(38), 0)
    } else {
        adjusted(1 + p - s + digits, digits)
    }
}

/// Whether values of the two types can be compared with `=` (and, if neither is constructed, with `<`).
///
/// Numbers with numbers, strings with strings, and so on. DATE does not compare with TIMESTAMP. Comparisons between a
/// string and another type are not here: the operators say which of them Flink casts and which it refuses.
pub fn is_comparable(a: &DataType, b: &DataType) -> bool {
    common_logical(&a.logical, &b.logical).is_some_and(|common| !matches!(common, LogicalType::Symbol))
}

/// The name Calcite prints for a type in messages: `INTEGER`, `CHAR(1)`, `INTEGER ARRAY`.
pub fn sql_name(logical: &LogicalType) -> String {
    use LogicalType as T;
    match logical {
        T::Int => "INTEGER".into(),
        T::Varchar(n) => format!("VARCHAR({n})"),
        T::Varbinary(n) => format!("VARBINARY({n})"),
        T::TimestampLtz(p) => format!("TIMESTAMP_WITH_LOCAL_TIME_ZONE({p})"),
        T::Array(e) => format!("{} ARRAY", sql_name(&e.logical)),
        T::Multiset(e) => format!("{} MULTISET", sql_name(&e.logical)),
        T::Map(k, v) => format!("({}, {}) MAP", sql_name(&k.logical), sql_name(&v.logical)),
        T::Row(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|f| format!("{} {}", sql_name(&f.data_type.logical), f.name)).collect();
            format!("RecordType({})", fields.join(", "))
        }
        T::IntervalYearMonth { from, to, .. } | T::IntervalDayTime { from, to, .. } => {
            if from == to {
                format!("INTERVAL {from}")
            } else {
                format!("INTERVAL {from} TO {to}")
            }
        }
        other => other.to_string(),
    }
}

/// The family Calcite prints in `No match found for function signature F(<NUMERIC>)`.
pub fn family_name(logical: &LogicalType) -> String {
    use LogicalType as T;
    match logical {
        t if t.is_numeric() => "NUMERIC".into(),
        t if t.is_character() => "CHARACTER".into(),
        t if t.is_binary() => "BINARY".into(),
        T::Time(_) => "TIME".into(),
        T::Timestamp(_) | T::TimestampTz(_) | T::TimestampLtz(_) => "TIMESTAMP".into(),
        other => sql_name(other),
    }
}

/// The root of a type as Flink names it: `INTEGER`, `CHAR`, `TIMESTAMP_WITHOUT_TIME_ZONE`.
pub fn root_name(logical: &LogicalType) -> &'static str {
    use LogicalType as T;
    match logical {
        T::Null => "NULL",
        T::Boolean => "BOOLEAN",
        T::TinyInt => "TINYINT",
        T::SmallInt => "SMALLINT",
        T::Int => "INTEGER",
        T::BigInt => "BIGINT",
        T::Float => "FLOAT",
        T::Double => "DOUBLE",
        T::Decimal { .. } => "DECIMAL",
        T::Char(_) => "CHAR",
        T::Varchar(_) => "VARCHAR",
        T::Binary(_) => "BINARY",
        T::Varbinary(_) => "VARBINARY",
        T::Date => "DATE",
        T::Time(_) => "TIME_WITHOUT_TIME_ZONE",
        T::Timestamp(_) => "TIMESTAMP_WITHOUT_TIME_ZONE",
        T::TimestampTz(_) => "TIMESTAMP_WITH_TIME_ZONE",
        T::TimestampLtz(_) => "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
        T::IntervalYearMonth { .. } => "INTERVAL_YEAR_MONTH",
        T::IntervalDayTime { .. } => "INTERVAL_DAY_TIME",
        T::Array(_) => "ARRAY",
        T::Map(..) => "MAP",
        T::Multiset(_) => "MULTISET",
        T::Row(_) => "ROW",
        T::Raw { .. } => "RAW",
        T::Variant => "VARIANT",
        T::Symbol => "SYMBOL",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use LogicalType as T;

    fn dec(precision: u8, scale: u8) -> T {
        T::Decimal { precision, scale }
    }

    fn sink(from: T, to: T) -> bool {
        supports_sink_cast(&from.not_null(), &to.nullable())
    }

    /// What a real Flink accepts and refuses in INSERT.
    #[test]
    fn sink_casts() {
        for (from, to) in [
            (T::Int, T::BigInt),
            (T::SmallInt, T::BigInt),
            (T::Int, T::Float),
            (T::Int, T::Double),
            (T::Int, dec(5, 2)),
            (dec(2, 1), T::Float),
            (dec(2, 1), T::Double),
            (dec(5, 1), dec(5, 2)),
            (T::Double, dec(5, 2)),
            (T::Float, T::Double),
            (T::Timestamp(0), T::Date),
            (T::Timestamp(9), T::Timestamp(3)),
            (T::Timestamp(0), T::TimestampLtz(3)),
            (T::TimestampLtz(3), T::Timestamp(3)),
            (T::Timestamp(0), T::Time(0)),
            (T::Char(3), T::STRING),
            (T::STRING, T::Varchar(5)),
            (T::Char(2), T::Char(5)),
            (T::Binary(2), T::BYTES),
        ] {
            assert!(sink(from.clone(), to.clone()), "{from} into {to}");
        }
        for (from, to) in [
            (T::Int, T::TinyInt),
            (T::BigInt, T::Int),
            (dec(2, 1), T::Int),
            (T::Double, T::Float),
            (T::Double, T::Int),
            (T::Char(1), T::Int),
            (T::Char(3), T::Double),
            (T::Int, T::STRING),
            (T::Boolean, T::Int),
            (T::Date, T::Timestamp(3)),
            (T::Char(10), T::Date),
            (T::Date, T::STRING),
            (T::Char(2), T::BYTES),
            (T::Binary(2), T::STRING),
        ] {
            assert!(!sink(from.clone(), to.clone()), "{from} into {to}");
        }
    }

    #[test]
    fn explicit_casts() {
        let ok = |from: T, to: T| supports_explicit_cast(&from.not_null(), &to.not_null());
        assert!(ok(T::Double, T::Boolean) && ok(T::Char(1), T::Time(0)) && ok(T::Time(0), T::Timestamp(3)));
        assert!(ok(T::Array(Box::new(T::Char(1).not_null())), T::Array(Box::new(T::Int.nullable()))));
        assert!(!ok(T::Boolean, T::Date) && !ok(T::Date, T::Time(0)) && !ok(T::Int, T::Date) && !ok(T::Date, T::Int));
        assert!(!ok(T::Int, T::Timestamp(3)) && !ok(T::Char(6), T::Array(Box::new(T::Int.nullable()))));
        let row = |n: usize| T::Row((0..n).map(|i| RowField::new(format!("f{i}"), T::Int.nullable())).collect());
        assert!(!ok(row(2), row(1)) && ok(row(2), row(2)));
    }

    #[test]
    fn common_types() {
        let common = |a: T, b: T| common_type(&[a.not_null(), b.not_null()]).map(|t| t.to_string());
        let is = |t: &str| Some(format!("{t} NOT NULL"));
        assert_eq!(common(T::Int, dec(2, 1)), is("DECIMAL(11, 1)"));
        assert_eq!(common(T::Int, T::BigInt), is("BIGINT"));
        assert_eq!(common(T::Char(1), T::Char(3)), is("VARCHAR(3)"));
        assert_eq!(common(T::Char(1), T::Char(1)), is("CHAR(1)"));
        assert_eq!(common(T::Float, dec(3, 1)), is("DOUBLE"));
        assert_eq!(common(T::BigInt, T::Float), is("FLOAT"));
        assert_eq!(common(dec(38, 0), dec(38, 10)), is("DECIMAL(38, 0)"));
        assert_eq!(common(T::Int, T::Char(1)), None);
        assert_eq!(common(T::Date, T::Timestamp(0)), None);
        assert_eq!(common_type(&[T::Null.nullable(), T::Int.not_null()]), Some(T::Int.nullable()));
        assert_eq!(common_type(&[]), None);
    }

    /// Types printed by a real Flink.
    #[test]
    fn decimal_arithmetic() {
        use Arithmetic::{Divide, Minus, Modulo, Plus, Times};
        for (op, a, b, result) in [
            (Divide, dec(2, 1), T::Int, dec(13, 12)),
            (Divide, T::Int, dec(2, 1), dec(17, 6)),
            (Divide, dec(4, 2), dec(3, 2), dec(10, 6)),
            (Divide, dec(10, 2), dec(10, 2), dec(23, 13)),
            (Divide, dec(38, 10), dec(38, 10), dec(38, 6)),
            (Divide, dec(10, 2), dec(5, 1), dec(17, 8)),
            (Divide, dec(10, 2), T::Int, dec(21, 13)),
            (Times, dec(20, 5), dec(20, 5), dec(38, 7)),
            (Times, dec(38, 18), dec(38, 18), dec(38, 6)),
            (Times, dec(10, 2), T::Int, dec(21, 2)),
            (Plus, dec(38, 10), dec(38, 5), dec(38, 6)),
            (Plus, dec(38, 18), dec(38, 10), dec(38, 9)),
            (Plus, dec(10, 2), T::Int, dec(13, 2)),
            (Minus, dec(10, 2), T::BigInt, dec(22, 2)),
            (Modulo, dec(10, 2), T::Int, dec(10, 2)),
            (Modulo, dec(2, 1), T::Int, dec(2, 1)),
            (Modulo, dec(10, 2), dec(5, 1), dec(6, 2)),
            (Modulo, dec(10, 2), dec(10, 3), dec(10, 3)),
            (Times, dec(10, 2), T::Double, T::Double),
            (Plus, T::TinyInt, T::Int, T::Int),
            (Plus, T::BigInt, T::Float, T::Float),
        ] {
            assert_eq!(arithmetic_type(op, &a, &b), Some(result), "{a} {op:?} {b}");
        }
        assert_eq!(round_type(7, 3, -2), dec(5, 0));
        assert_eq!(round_type(4, 3, 2), dec(4, 2));
        assert_eq!(round_type(2, 1, 5), dec(2, 1));
    }
}
