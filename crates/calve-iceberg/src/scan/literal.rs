//! Iceberg's single values as DataFusion's.

use std::collections::HashMap;

use arrow::datatypes::{DataType as ArrowType, TimeUnit};
use datafusion::common::ScalarValue;
use iceberg::spec::{Datum, Literal, PrimitiveLiteral, PrimitiveType};

use super::convert::in_millis;

const MICROS_PER_DAY: i64 = 86_400_000_000;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// `literal`, a value of the Iceberg type `from`, as a value of `to`, the Arrow type of the same or of a promoted type.
/// `None` if the two do not fit. Times are cut as those of rows.
pub(crate) fn scalar(literal: &PrimitiveLiteral, from: &PrimitiveType, to: &ArrowType) -> Option<ScalarValue> {
    use PrimitiveLiteral as L;
    Some(match (to, literal) {
        (ArrowType::Boolean, L::Boolean(v)) => ScalarValue::Boolean(Some(*v)),
        (ArrowType::Int32, L::Int(v)) => ScalarValue::Int32(Some(*v)),
        (ArrowType::Int64, L::Int(v)) => ScalarValue::Int64(Some(i64::from(*v))),
        (ArrowType::Int64, L::Long(v)) => ScalarValue::Int64(Some(*v)),
        (ArrowType::Float32, L::Float(v)) => ScalarValue::Float32(Some(v.0)),
        (ArrowType::Float64, L::Float(v)) => ScalarValue::Float64(Some(f64::from(v.0))),
        (ArrowType::Float64, L::Double(v)) => ScalarValue::Float64(Some(v.0)),
        (ArrowType::Date32, L::Int(v)) => ScalarValue::Date32(Some(*v)),
        (ArrowType::Time64(TimeUnit::Microsecond), L::Long(v)) => ScalarValue::Time64Microsecond(Some(in_millis(*v))),
        (ArrowType::Timestamp(unit, zone), value) => timestamp(value, from, *unit, zone)?,
        (ArrowType::Utf8, L::String(v)) => ScalarValue::Utf8(Some(v.clone())),
        (ArrowType::Binary, L::Binary(v)) => ScalarValue::Binary(Some(v.clone())),
        (ArrowType::Binary, L::UInt128(v)) => ScalarValue::Binary(Some(v.to_be_bytes().to_vec())),
        (ArrowType::Decimal128(precision, scale), L::Int128(v)) => match from {
            PrimitiveType::Decimal { scale: s, .. } if i64::from(*s) == i64::from(*scale) => {
                ScalarValue::Decimal128(Some(*v), *precision, *scale)
            }
            _ => return None,
        },
        _ => return None,
    })
}

fn timestamp(
    literal: &PrimitiveLiteral,
    from: &PrimitiveType,
    unit: TimeUnit,
    zone: &Option<std::sync::Arc<str>>,
) -> Option<ScalarValue> {
    let nanos = matches!(from, PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs);
    let value = match (literal, unit) {
        (PrimitiveLiteral::Long(v), TimeUnit::Microsecond) if !nanos => *v,
        (PrimitiveLiteral::Long(v), TimeUnit::Nanosecond) if nanos => *v,
        // dates are promoted to timestamps
        (PrimitiveLiteral::Int(days), TimeUnit::Microsecond) => i64::from(*days).checked_mul(MICROS_PER_DAY)?,
        (PrimitiveLiteral::Int(days), TimeUnit::Nanosecond) => i64::from(*days).checked_mul(NANOS_PER_DAY)?,
        _ => return None,
    };
    Some(match unit {
        TimeUnit::Microsecond => ScalarValue::TimestampMicrosecond(Some(value), zone.clone()),
        _ => ScalarValue::TimestampNanosecond(Some(value), zone.clone()),
    })
}

/// A file's bound of a column as a value of `to`; `None` if it has none that fits.
pub(crate) fn bound(bounds: &HashMap<i32, Datum>, id: i32, to: &ArrowType) -> Option<ScalarValue> {
    let datum = bounds.get(&id)?;
    scalar(datum.literal(), datum.data_type(), to)
}

/// The primitive inside a literal.
pub(crate) fn primitive(literal: &Literal) -> Option<&PrimitiveLiteral> {
    match literal {
        Literal::Primitive(primitive) => Some(primitive),
        _ => None,
    }
}
