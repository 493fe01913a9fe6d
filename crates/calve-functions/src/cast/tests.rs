//! Casts and their results, copied from a real Flink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Float64Array};
use calve_types::{LogicalType as T, RowField, Value};
use proptest::prelude::*;

use super::{CastKind, cast_to_string};
use crate::testing::*;
use crate::{EvalContext, TimeZone};

const fn decimal(precision: u8, scale: u8) -> T {
    T::Decimal { precision, scale }
}

#[track_caller]
fn is(value: V, to: T, expected: &str) {
    assert_eq!(cast_value(&value, &to, CastKind::Cast, &context()).unwrap(), expected, "{value:?} to {to}");
}

#[track_caller]
fn fails(text_value: &str, to: T, detail: &str) {
    let error = cast_value(&text(text_value), &to, CastKind::Cast, &context()).unwrap_err();
    assert_eq!((error.code, error.detail.as_deref()), ("cast-failed", Some(detail)));
    assert_eq!(cast_value(&text(text_value), &to, CastKind::TryCast, &context()).unwrap(), "NULL");
}

#[test]
fn text_to_number() {
    for (from, to, expected) in [
        ("1", T::Int, "1"),
        (" 12 ", T::Int, "12"),
        ("+5", T::Int, "5"),
        ("-5", T::BigInt, "-5"),
        ("1.9", T::Int, "1"),
        ("-0", T::Int, "0"),
        ("-9223372036854775808", T::BigInt, "-9223372036854775808"),
        ("1e3", T::Double, "1000.0"),
        ("99999999999", T::Double, "9.9999999999E10"),
        ("NaN", T::Double, "NaN"),
        ("Infinity", T::Double, "Infinity"),
        ("16777217", T::Float, "1.6777216E7"),
        ("3.4028235e38", T::Float, "3.4028235E38"),
        ("  1.5", decimal(5, 2), "1.50"),
        ("1.555", decimal(5, 2), "1.56"),
        ("1e2", decimal(6, 2), "100.00"),
        ("-0.005", decimal(6, 2), "-0.01"),
        ("0.004", decimal(6, 2), "0.00"),
        ("99.94", decimal(3, 1), "99.9"),
        ("99999999999999999999999999999999999999", decimal(38, 0), "99999999999999999999999999999999999999"),
    ] {
        is(text(from), to, expected);
    }
    fails("abc", T::Int, "For input string: 'abc'. Invalid character found.");
    fails("", T::Int, "For input string: ''. Input is empty.");
    fails("128", T::TinyInt, "For input string: '128'. Overflow.");
    fails("99999999999", T::Int, "For input string: '99999999999'. Overflow.");
    fails("9223372036854775808", T::BigInt, "For input string: '9223372036854775808'. Overflow.");
    fails("1e3", T::Int, "For input string: '1e3'. Invalid character found.");
    fails("12345.6", decimal(4, 1), "For input string: '12345.6'. Overflow.");
    for bad in ["x", "0x10", "", "true", "e5", ".", "1e", "inf", "nan", "é"] {
        assert_eq!(cast_value(&text(bad), &T::Double, CastKind::TryCast, &context()).unwrap(), "NULL", "{bad}");
        assert_eq!(cast_value(&text(bad), &decimal(6, 2), CastKind::TryCast, &context()).unwrap(), "NULL", "{bad}");
    }
}

#[test]
fn text_to_boolean() {
    for yes in ["true", "t", "yes", "1", "T", "Y"] {
        is(text(yes), T::Boolean, "TRUE");
    }
    for no in ["FALSE", "0", "n", "no"] {
        is(text(no), T::Boolean, "FALSE");
    }
    fails(" true ", T::Boolean, "Cannot parse ' true ' as BOOLEAN.");
    fails("on", T::Boolean, "Cannot parse 'on' as BOOLEAN.");
}

#[test]
fn text_to_time() {
    for (from, expected) in [
        ("2024-01-05", "2024-01-05"),
        ("2024-1-5", "2024-01-05"),
        (" 2024-01-05 ", "2024-01-05"),
        ("2024-01-05 10:00:00", "2024-01-05"),
        ("2024", "2024-01-01"),
        ("2024-03", "2024-03-01"),
    ] {
        is(text(from), T::Date, expected);
    }
    for bad in ["2024-02-30", "garbage", "20240105", "05/01/2024", "2024-01-05T10:11:12", ""] {
        fails(bad, T::Date, &format!("For input string: '{bad}'."));
    }
    for (from, expected) in [
        ("10:11:12", "10:11:12"),
        ("10:11", "10:11:00"),
        ("10", "10:00:00"),
        ("1:2:3", "01:02:03"),
        ("10:11:12.5", "10:11:12"),
        ("12:99:00", "13:39:00"),
    ] {
        is(text(from), T::Time(0), expected);
    }
    fails("25:00:00", T::Time(0), "For input string: '25:00:00'.");
    is(text("2024-01-05 10:11:12"), T::Timestamp(6), "2024-01-05 10:11:12.000000");
    is(text("2024-01-05 10:11:12.123456789"), T::Timestamp(9), "2024-01-05 10:11:12.123456789");
    is(text("2024-01-05 10:11:12.123456789"), T::Timestamp(3), "2024-01-05 10:11:12.123");
    is(text("2024-1-5"), T::Timestamp(3), "2024-01-05 00:00:00.000");
    is(text("2024-02-30"), T::Timestamp(3), "2024-02-29 00:00:00.000");
    for bad in ["2024-01-05T10:11:12", "2024-01-05 10:11:12Z", "garbage", "2024", "", "2024-01-05 10:11"] {
        fails(bad, T::Timestamp(3), &format!("Text '{bad}' could not be parsed"));
        fails(bad, T::TimestampLtz(3), &format!("Text '{bad}' could not be parsed"));
    }
}

#[test]
fn numbers() {
    is(dec("1.9"), T::Int, "1");
    is(dec("-1.9"), T::Int, "-1");
    is(double(1.9), T::Int, "1");
    is(int(300), T::TinyInt, "44");
    is(of(3_000_000_000, T::BigInt), T::Int, "-1294967296");
    is(double(3e9), T::Int, "2147483647");
    is(double(f64::NAN), T::Int, "0");
    is(double(1e30), T::BigInt, "9223372036854775807");
    is(int(70_000), T::SmallInt, "4464");
    is(double(300.7), T::TinyInt, "44");
    is(dec("123.455"), decimal(5, 2), "123.46");
    is(dec("-123.455"), decimal(5, 2), "-123.46");
    is(double(0.125), decimal(5, 2), "0.13");
    is(double(1.239), decimal(5, 2), "1.24");
    is(int(12_345), decimal(3, 0), "NULL");
    is(dec("1234.5"), decimal(5, 2), "NULL");
    is(dec("2.5"), decimal(1, 0), "3");
    is(dec("-99.95"), T::Double, "-99.95");
    is(boolean(true), T::Int, "1");
    is(boolean(true), decimal(3, 1), "1.0");
    is(boolean(true), T::Double, "1.0");
    is(int(-5), T::Boolean, "TRUE");
    is(dec("1.5"), T::Boolean, "TRUE");
    is(double(0.0), T::Boolean, "FALSE");
    is(double(1e308), T::Float, "Infinity");
    is(int(7), T::BigInt, "7");
    is(int(7), decimal(12, 2), "7.00");
    let error = cast_value(&double(f64::NAN), &decimal(5, 2), CastKind::Cast, &context()).unwrap_err();
    assert_eq!(error.code, "cast-failed");
}

#[test]
fn to_text() {
    for (from, expected) in [
        (boolean(true), "TRUE"),
        (double(1e10), "1.0E10"),
        (double(1e-5), "1.0E-5"),
        (double(0.001), "0.001"),
        (double(12_345_678.9), "1.23456789E7"),
        (double(1_234_567.0), "1234567.0"),
        (double(1e7), "1.0E7"),
        (double(100.0), "100.0"),
        (double(-0.0), "-0.0"),
        (double(1e-320), "1.0E-320"),
        (double(f64::from_bits(1)), "4.9E-324"),
        (double(f64::MAX), "1.7976931348623157E308"),
        (double(1e21), "1.0E21"),
        (V(Value::Float(0.1), T::Float.not_null()), "0.1"),
        (V(Value::Float(3.4e38), T::Float.not_null()), "3.4E38"),
        (dec("-0.05"), "-0.05"),
        (date("2024-01-05"), "2024-01-05"),
        (timestamp("2020-01-01 10:00:00.123"), "2020-01-01 10:00:00.123"),
        (timestamp("2020-01-01 10:00:00"), "2020-01-01 10:00:00"),
        (V(Value::Bytes(b"Hello".to_vec()), T::Binary(5).not_null()), "Hello"),
        (
            V(
                Value::Millis(93_784_000),
                T::IntervalDayTime {
                    from: calve_types::IntervalField::Day,
                    to: calve_types::IntervalField::Second,
                    day_precision: 2,
                    fraction: 6,
                }
                .not_null(),
            ),
            "+1 02:03:04.000",
        ),
        (V(Value::Date(i32::MIN), T::Date.not_null()), "-5877641-06-23"),
    ] {
        is(from, T::STRING, expected);
    }
    is(boolean(false), T::Char(5), "FALSE");
    is(boolean(true), T::Varchar(2), "TR");
    is(text("ab"), T::Char(5), "ab   ");
    is(text("abcdef"), T::Char(3), "abc");
    is(text("äöüx"), T::Varchar(3), "äöü");
    is(text("äö"), T::Char(3), "äö ");
    is(text("ab"), T::Binary(4), "x'61620000'");
    is(text("abc"), T::Varbinary(2), "x'6162'");
}

#[test]
fn between_times() {
    let stamp = || timestamp("2024-01-05 10:11:12.987654");
    is(stamp(), T::Date, "2024-01-05");
    is(stamp(), T::Time(0), "10:11:12");
    is(stamp(), T::Timestamp(3), "2024-01-05 10:11:12.987");
    is(stamp(), T::Timestamp(0), "2024-01-05 10:11:12");
    is(stamp(), T::Timestamp(9), "2024-01-05 10:11:12.987654000");
    is(date("2024-01-05"), T::Timestamp(3), "2024-01-05 00:00:00.000");
    is(time("10:11:12"), T::Timestamp(3), "1970-01-01 10:11:12.000");
    is(timestamp("1969-12-31 23:59:59.999"), T::Date, "1969-12-31");
    let error = cast_value(&timestamp("9999-01-01 00:00:00"), &T::Timestamp(9), CastKind::Cast, &context());
    assert_eq!(error.unwrap_err().code, "out-of-range");
}

#[test]
fn session_zone() {
    let context = EvalContext { time_zone: TimeZone::parse("America/New_York").unwrap(), ..context() };
    let cast = |v: &V, to: &T| cast_value(v, to, CastKind::Cast, &context).unwrap();
    let noon = timestamp("2020-01-01 10:00:00");
    assert_eq!(cast(&noon, &T::TimestampLtz(3)), "2020-01-01 10:00:00.000");
    let ltz = V(Value::Timestamp { seconds: 1_577_890_800, nanos: 0 }, T::TimestampLtz(3).not_null());
    assert_eq!(cast(&ltz, &T::STRING), "2020-01-01 10:00:00.000");
    assert_eq!(cast(&ltz, &T::Timestamp(3)), "2020-01-01 10:00:00.000");
    assert_eq!(cast(&text("2020-01-01 10:00:00"), &T::TimestampLtz(3)), "2020-01-01 10:00:00.000");
}

/// A constructed value cast and printed.
fn nested(function: &str, values: &[V], to: T) -> Result<String, calve_types::Error> {
    use crate::{Arg, cast, literal, scalar};
    let function = scalar(function).unwrap();
    let args: Vec<Arg> = values.iter().map(|v| Arg::of(v.1.clone())).collect();
    let signature = function.infer(&args).unwrap();
    let exprs = values
        .iter()
        .zip(&signature.args)
        .map(|(v, to)| cast(literal(&v.0, &v.1).unwrap(), &v.1, to, CastKind::Cast, &context()).unwrap())
        .collect();
    let expr = function.call(exprs, &signature.args, &signature.returns, &context()).unwrap();
    let to = to.nullable();
    let batch = arrow::array::RecordBatch::try_new_with_options(
        Arc::new(arrow::datatypes::Schema::empty()),
        vec![],
        &arrow::array::RecordBatchOptions::new().with_row_count(Some(1)),
    )
    .unwrap();
    let print = |kind| {
        let expr = cast(expr.clone(), &signature.returns, &to, kind, &context())?;
        let array = run(&expr, &batch).map_err(unwrap_error)?;
        let text = cast_to_string(&array, &to, &context())?;
        Ok(if arrow::array::Array::is_null(&text, 0) { "NULL".to_owned() } else { text.value(0).to_owned() })
    };
    print(CastKind::Cast).or_else(|error| if print(CastKind::TryCast)? == "NULL" { Err(error) } else { panic!() })
}

#[test]
fn constructed() {
    let array = |t: T| T::Array(Box::new(t.nullable()));
    let row = |fields: &[(&str, T)]| {
        T::Row(fields.iter().map(|(name, t)| RowField::new(*name, t.clone().nullable())).collect())
    };
    assert_eq!(nested("ARRAY", &[int(1), int(2)], array(T::BigInt)).unwrap(), "[1, 2]");
    assert_eq!(nested("ARRAY", &[text("1"), text("2")], array(T::Int)).unwrap(), "[1, 2]");
    assert_eq!(nested("ARRAY", &[int(1), null(T::Null)], array(T::Int)).unwrap(), "[1, NULL]");
    assert_eq!(nested("ARRAY", &[int(1), null(T::Null)], T::STRING).unwrap(), "[1, NULL]");
    assert_eq!(
        nested("ARRAY", &[text("1"), text("x")], array(T::Int)).unwrap_err().detail.unwrap(),
        "For input string: 'x'. Invalid character found."
    );
    let map = T::Map(Box::new(T::STRING.nullable()), Box::new(T::Int.nullable()));
    assert_eq!(nested("MAP", &[text("a"), text("1")], map).unwrap(), "{a=1}");
    assert_eq!(nested("MAP", &[text("a"), int(1), text("a"), int(2)], T::STRING).unwrap(), "{a=2}");
    let fields = row(&[("x", T::BigInt), ("x", T::Int)]);
    assert_eq!(nested("ROW", &[int(1), text("2")], fields).unwrap(), "(1, 2)");
    assert_eq!(nested("ROW", &[int(1), text("x")], T::STRING).unwrap(), "(1, x)");
    let error = nested("ROW", &[int(1), int(2)], row(&[("a", T::Int)])).unwrap_err();
    assert_eq!(
        error.detail.unwrap(),
        "Cast function cannot convert value of type RecordType(INTEGER EXPR$0, INTEGER EXPR$1) to type RecordType(INTEGER a)"
    );
}

#[test]
fn native_where_nothing_is_lost() {
    use datafusion_expr::{Expr, col};
    let is_native = |from: T, to: T| {
        let expr = super::cast(col("c"), &from.nullable(), &to.nullable(), CastKind::Cast, &context()).unwrap();
        matches!(expr, Expr::Cast(_) | Expr::Column(_))
    };
    assert!(
        is_native(T::Int, T::BigInt) && is_native(T::Int, decimal(11, 1)) && is_native(decimal(5, 1), decimal(7, 2))
    );
    assert!(is_native(T::Char(3), T::STRING) && is_native(T::Timestamp(3), T::Timestamp(6)));
    assert!(!is_native(T::BigInt, T::Int) && !is_native(T::Int, decimal(10, 1)) && !is_native(T::STRING, T::Char(3)));
}

proptest! {
    /// Java's text of a number reads back as the number.
    #[test]
    fn floats_round_trip(bits in any::<u64>()) {
        let (wide, narrow) = (f64::from_bits(bits), f32::from_bits(bits as u32));
        let mut out = String::new();
        if wide.is_finite() {
            super::string::push_double(wide, &mut out);
            prop_assert_eq!(out.parse::<f64>().unwrap(), wide);
            prop_assert!(out.contains('.'));
        }
        if narrow.is_finite() {
            out.clear();
            super::string::push_float(narrow, &mut out);
            prop_assert_eq!(out.parse::<f32>().unwrap(), narrow);
        }
        let arrays: [(ArrayRef, T); 2] = [
            (Arc::new(Float64Array::from(vec![wide])), T::Double),
            (Arc::new(Float32Array::from(vec![narrow])), T::Float),
        ];
        for (array, logical) in arrays {
            cast_to_string(&array, &logical.nullable(), &context()).unwrap();
        }
    }

    /// No text makes a parser panic.
    #[test]
    fn parsers_never_panic(text in "\\PC{0,30}|[0-9:. eE+-]{0,24}") {
        let _ = super::parse::parse_long(&text);
        let _ = super::parse::parse_float::<f64>(&text);
        let _ = super::parse::parse_decimal(&text, 10, 3);
        let _ = super::parse_date(&text);
        let _ = super::parse_time(&text);
        let _ = super::parse_stamp(&text);
    }

    /// Padding and cutting give exactly n characters, or at most n.
    #[test]
    fn lengths_hold(value in "\\PC{0,12}", n in 1u32..10) {
        let texts = arrow::array::StringArray::from(vec![value.as_str()]);
        let fixed = super::string::fit(texts.clone(), &T::Char(n));
        prop_assert_eq!(fixed.value(0).chars().count(), n as usize);
        let varying = super::string::fit(texts, &T::Varchar(n));
        prop_assert!(varying.value(0).chars().count() <= n as usize);
        prop_assert!(value.starts_with(varying.value(0)));
    }

    /// Narrowing wraps like Java.
    #[test]
    fn narrowing_wraps(value in any::<i64>()) {
        let value_of = |to: T| cast_value(&of(value, T::BigInt), &to, CastKind::Cast, &context()).unwrap();
        prop_assert_eq!(value_of(T::Int), (value as i32).to_string());
        prop_assert_eq!(value_of(T::TinyInt), (value as i8).to_string());
    }
}

/// Results of Java 17's `Float.toString` and `Double.toString`, which may have a digit more than needed.
#[test]
#[allow(clippy::excessive_precision)]
fn large_whole_numbers() {
    for (value, expected) in [
        (-6.3853767E15_f32, "-6.3853767E15"),
        (-2.52662645E12_f32, "-2.52662645E12"),
        (-6.9665817E10_f32, "-6.9665817E10"),
        (-8.4206346E10_f32, "-8.4206346E10"),
        (-8.9416589E14_f32, "-8.9416589E14"),
        (9.5686438E15_f32, "9.5686438E15"),
        (1.1618108E14_f32, "1.1618108E14"),
        (1.52981592E16_f32, "1.52981592E16"),
        (-7.1862842E8_f32, "-7.1862842E8"),
        (1.64255505E14_f32, "1.64255505E14"),
        (9.9027501E10_f32, "9.9027501E10"),
        (4.604957E16_f32, "4.604957E16"),
        (33_554_432f32, "3.3554432E7"),
        (-2_147_483_648f32, "-2.14748365E9"),
        (1_234_567_890_123.25f32, "1.23456795E12"),
    ] {
        let mut out = String::new();
        crate::push_float(value, &mut out);
        assert_eq!(out, expected);
    }
    for (value, expected) in [
        (8.202310647883648E16_f64, "8.202310647883648E16"),
        (3.958485464418135E17_f64, "3.958485464418135E17"),
        (1.727449005485128E17_f64, "1.727449005485128E17"),
        (2.7433553231042068E18_f64, "2.7433553231042068E18"),
        (4.4653437381957299E17_f64, "4.4653437381957299E17"),
        (5.5667190790496072E16_f64, "5.5667190790496072E16"),
        (5.3151543306881894E17_f64, "5.3151543306881894E17"),
        (1.66298020488753869E18_f64, "1.66298020488753869E18"),
        (6.7374626768935731E17_f64, "6.7374626768935731E17"),
        (3.8755926534655258E17_f64, "3.8755926534655258E17"),
        (2.62161218646094336E17_f64, "2.62161218646094336E17"),
        (9.6880627005262336E17_f64, "9.6880627005262336E17"),
        (18_014_398_509_481_984f64, "1.8014398509481984E16"),
    ] {
        let mut out = String::new();
        crate::push_double(value, &mut out);
        assert_eq!(out, expected);
    }
}
