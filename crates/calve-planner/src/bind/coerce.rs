//! Casts that the binder inserts.

use calve_types::{DataType, LogicalType, Value};

use crate::expr::{Expr, ExprKind};

/// `expr` with the logical type of `target`; its own nullability stays. A literal is converted here where that loses
/// nothing, so that a comparison of a column with it stays one.
pub(super) fn to(expr: Expr, target: &DataType) -> Expr {
    if expr.data_type.logical == target.logical {
        return expr;
    }
    let data_type = target.with_nullable(expr.data_type.nullable);
    let span = expr.span;
    if let ExprKind::Literal(value) = &expr.kind
        && let Some(value) = lossless(value, &expr.data_type.logical, &target.logical)
    {
        return Expr { kind: ExprKind::Literal(value), data_type, span };
    }
    Expr { kind: ExprKind::Cast { expr: Box::new(expr), safe: false }, data_type, span }
}

fn lossless(value: &Value, from: &LogicalType, to: &LogicalType) -> Option<Value> {
    use LogicalType as T;
    Some(match (value, from, to) {
        (Value::Null, ..) => Value::Null,
        (Value::Int(v), _, T::BigInt) => Value::Int(*v),
        (Value::Int(v), _, T::Int) => Value::Int(i32::try_from(*v).ok()?.into()),
        (Value::Int(v), _, T::SmallInt) => Value::Int(i16::try_from(*v).ok()?.into()),
        (Value::Int(v), _, T::TinyInt) => Value::Int(i8::try_from(*v).ok()?.into()),
        // Below 2^53 every integer is a DOUBLE.
        (Value::Int(v), _, T::Double) if v.unsigned_abs() < 1 << 53 => Value::Double(*v as f64),
        (Value::Int(v), _, T::Decimal { precision, scale }) => scaled((*v).into(), *scale, *precision)?,
        (Value::Decimal(v), T::Decimal { scale: from, .. }, T::Decimal { precision, scale }) => {
            scaled(*v, scale.checked_sub(*from)?, *precision)?
        }
        (Value::String(s), T::Char(m) | T::Varchar(m), T::Varchar(n)) if m <= n => Value::String(s.clone()),
        (Value::Bytes(b), T::Binary(m) | T::Varbinary(m), T::Varbinary(n)) if m <= n => Value::Bytes(b.clone()),
        _ => return None,
    })
}

fn scaled(unscaled: i128, by: u8, precision: u8) -> Option<Value> {
    let value = unscaled.checked_mul(10i128.checked_pow(by.into())?)?;
    let limit = 10u128.checked_pow(precision.into())?;
    (value.unsigned_abs() < limit).then_some(Value::Decimal(value))
}
