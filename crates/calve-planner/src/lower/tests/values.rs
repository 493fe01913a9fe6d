//! Literals of every type and what DataFusion's constant folding must not change.

use std::sync::Arc;

use calve_types::{DataType, IntervalField, LogicalType as T, RowField, Value, arrow as mapping};
use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch, StructArray};
use datafusion::arrow::datatypes::{DataType as ArrowType, Field as ArrowField, Schema};
use datafusion::datasource::MemTable;

use super::build::*;
use super::{Db, db};
use crate::expr::ExprKind;

fn literal(value: Value, logical: T) -> crate::expr::Expr {
    expr(ExprKind::Literal(value), logical.nullable())
}

fn all_types() -> Vec<(Value, T, &'static str)> {
    let stamp = |nanos| Value::Timestamp { seconds: 1_704_067_200, nanos };
    let months = T::IntervalYearMonth { from: IntervalField::Year, to: IntervalField::Month, precision: 2 };
    let days =
        T::IntervalDayTime { from: IntervalField::Day, to: IntervalField::Second, day_precision: 2, fraction: 6 };
    vec![
        (Value::Boolean(true), T::Boolean, "TRUE"),
        (Value::Int(-1), T::TinyInt, "-1"),
        (Value::Int(-1), T::SmallInt, "-1"),
        (Value::Int(-1), T::Int, "-1"),
        (Value::Int(1 << 40), T::BigInt, "1099511627776"),
        (Value::Float(1.5), T::Float, "1.5"),
        (Value::Double(1.5), T::Double, "1.5"),
        (Value::Decimal(-150), T::Decimal { precision: 5, scale: 2 }, "-1.50"),
        (Value::String("it's".into()), T::STRING, "it's"),
        (Value::String("ab".into()), T::Char(2), "ab"),
        (Value::Date(19_723), T::Date, "2024-01-01"),
        (Value::Time(3_600_000_000), T::Time(0), "01:00:00"),
        (stamp(123_456_000), T::Timestamp(6), "2024-01-01 00:00:00.123456"),
        (stamp(123_456_789), T::Timestamp(9), "2024-01-01 00:00:00.123456789"),
        (stamp(0), T::TimestampLtz(3), "2024-01-01 00:00:00.000"),
        (stamp(1), T::TimestampLtz(9), "2024-01-01 00:00:00.000000001"),
        (Value::Months(14), months, "+1-02"),
        (Value::Millis(1_500), days, "+0 00:00:01.500"),
    ]
}

#[test]
fn literals_have_their_types() {
    for (value, logical, text) in all_types() {
        let rel =
            values(vec![vec![literal(value.clone(), logical.clone())], vec![literal(Value::Null, logical.clone())]]);
        assert_eq!(db().ordered(&rel).unwrap(), [text, "NULL"], "{logical}");
        let batch = &db().batches(&rel).unwrap()[0];
        assert_eq!(batch.column(0).data_type(), &mapping::to_arrow(&logical).unwrap());
        // The same in a projection, which is folded, and with a filter on it.
        let rel = project(one(), vec![literal(value, logical)]);
        assert_eq!(db().ordered(&rel).unwrap(), [text]);
    }
}

#[test]
fn folding_constants_keeps_flinks_results() {
    let constant = |e| db().ordered(&project(one(), vec![e]));
    assert_eq!(constant(call("+", vec![int(i64::from(i32::MAX)), int(1)])).unwrap(), ["-2147483648"]);
    let by_zero = || call("/", vec![int(1), call("+", vec![int(0), int(0)])]);
    assert_eq!(constant(by_zero()).unwrap_err().code, "division-by-zero");
    let untaken = case(boolean(Some(false)), by_zero(), int(7));
    assert_eq!(constant(untaken).unwrap(), ["7"]);
    let untaken = case(eq(col(0), int(-1)), by_zero(), col(0));
    assert_eq!(db().rows(&project(l(), vec![untaken])), ["1", "2", "3", "NULL"]);
    assert_eq!(db().rows(&filter(l(), boolean(None))), Vec::<String>::new());
    assert_eq!(db().rows(&filter(l(), boolean(Some(true)))).len(), 4);
}

#[test]
fn rows_keep_their_fields_by_position() {
    // The source's fields have other names and other nullability than the table's type.
    let inner = vec![ArrowField::new("y", ArrowType::Int32, true), ArrowField::new("x", ArrowType::Int32, true)];
    let int = |v| Arc::new(Int32Array::from(vec![v])) as ArrayRef;
    let rows = StructArray::new(inner.clone().into(), vec![int(1), int(2)], None);
    let schema = Arc::new(Schema::new(vec![ArrowField::new("s", ArrowType::Struct(inner.into()), true)]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(rows)]).unwrap();
    let db = Db::default().provider("t", Arc::new(MemTable::try_new(schema, vec![vec![batch]]).unwrap()));
    let field = |name: &str| RowField::new(name, T::Int.nullable());
    let row: DataType = T::Row(vec![field("x"), field("y")]).nullable();
    let rel = typed_scan("t", &[("s", row.clone())]);
    assert_eq!(db.rows(&rel), ["(1, 2)"]);
    let row_column = expr(ExprKind::Column(0), row);
    let kind = ExprKind::Field { expr: Box::new(row_column), index: 1 };
    assert_eq!(db.rows(&project(rel, vec![expr(kind, int_type())])), ["2"]);
}

#[test]
fn other_types_than_declared_are_an_internal_error() {
    let rel = typed_scan("l", &[("id", T::BigInt.nullable()), ("v", int_type())]);
    assert_eq!(db().error(&rel).code, "internal");
    let mut rel = project(l(), vec![col(0)]);
    rel.fields[0].data_type = T::STRING.nullable();
    assert_eq!(db().error(&rel).code, "internal");
}
