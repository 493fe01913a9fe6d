//! Calls and their results, copied from a real Flink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_types::LogicalType as T;
use calve_types::{IntervalField, Value};

use crate::testing::*;

#[track_caller]
fn refused(name: &str, values: &[V], sentence: &str) {
    assert_eq!(refusal(name, values), sentence);
}

fn days(n: i64) -> V {
    let logical =
        T::IntervalDayTime { from: IntervalField::Day, to: IntervalField::Day, day_precision: 2, fraction: 6 };
    V(Value::Millis(n * 86_400_000), logical.not_null())
}

fn hours(n: i64) -> V {
    let logical =
        T::IntervalDayTime { from: IntervalField::Hour, to: IntervalField::Hour, day_precision: 2, fraction: 6 };
    V(Value::Millis(n * 3_600_000), logical.not_null())
}

fn months(n: i32) -> V {
    let logical = T::IntervalYearMonth { from: IntervalField::Month, to: IntervalField::Month, precision: 2 };
    V(Value::Months(n), logical.not_null())
}

#[test]
fn integer_arithmetic() {
    is("/", &[int(-7), int(2)], "-3 :: INT NOT NULL");
    is("%", &[int(-7), int(3)], "-1 :: INT NOT NULL");
    is("MOD", &[int(7), int(-3)], "1 :: INT NOT NULL");
    is("+", &[int(2_147_483_647), int(1)], "-2147483648 :: INT NOT NULL");
    is("-", &[int(-2_147_483_648), int(1)], "2147483647 :: INT NOT NULL");
    is("*", &[int(2_147_483_647), int(2)], "-2 :: INT NOT NULL");
    is("+", &[of(127, T::TinyInt), of(1, T::TinyInt)], "-128 :: TINYINT NOT NULL");
    is("+", &[of(127, T::TinyInt), int(1)], "128 :: INT NOT NULL");
    is("+", &[of(i64::MAX, T::BigInt), of(1, T::BigInt)], "-9223372036854775808 :: BIGINT NOT NULL");
    is("/", &[of(i64::MIN, T::BigInt), of(-1, T::BigInt)], "-9223372036854775808 :: BIGINT NOT NULL");
    is("%", &[of(i64::MIN, T::BigInt), of(-1, T::BigInt)], "0 :: BIGINT NOT NULL");
    is("-", &[of(-128, T::TinyInt)], "-128 :: TINYINT NOT NULL");
    is("ABS", &[int(-2_147_483_648)], "-2147483648 :: INT NOT NULL");
    is("*", &[of(10, T::BigInt), of(4, T::SmallInt)], "40 :: BIGINT NOT NULL");
    refused("/", &[int(1), int(0)], "Division by zero");
    assert_eq!(call("%", &[int(1), int(0)]).unwrap_err().code, "division-by-zero");
}

#[test]
fn decimal_arithmetic() {
    is("/", &[dec("7.0"), int(2)], "3.500000000000 :: DECIMAL(13, 12) NOT NULL");
    is("/", &[int(1), dec("3.0")], "0.333333 :: DECIMAL(17, 6) NOT NULL");
    is("/", &[dec("10.00"), dec("3.00")], "3.333333 :: DECIMAL(10, 6) NOT NULL");
    is("+", &[dec("0.1"), dec("0.2")], "0.3 :: DECIMAL(3, 1) NOT NULL");
    is("*", &[dec("1.1"), dec("1.1")], "1.21 :: DECIMAL(5, 2) NOT NULL");
    is("%", &[dec("5.5"), int(2)], "1.5 :: DECIMAL(2, 1) NOT NULL");
    is("%", &[cast_dec("10.50", 10, 2), cast_dec("3.3", 5, 1)], "0.60 :: DECIMAL(6, 2) NOT NULL");
    is("*", &[cast_dec("1", 38, 18), cast_dec("3", 38, 18)], "3.000000 :: DECIMAL(38, 6) NOT NULL");
    is("/", &[cast_dec("1", 38, 10), cast_dec("3", 38, 10)], "0.333333 :: DECIMAL(38, 6) NOT NULL");
    is("-", &[cast_dec("1", 10, 2), of(2, T::BigInt)], "-1.00 :: DECIMAL(22, 2) NOT NULL");
    let big = V(Value::Decimal(10i128.pow(38) - 1), T::Decimal { precision: 38, scale: 0 }.not_null());
    is("+", &[big.clone(), int(1)], "NULL :: DECIMAL(38, 0) NOT NULL");
    is("*", &[big, int(10)], "NULL :: DECIMAL(38, 0) NOT NULL");
    is("*", &[cast_dec("1", 10, 2), double(1.5)], "1.5 :: DOUBLE NOT NULL");
    is("+", &[double(0.1), double(0.2)], "0.30000000000000004 :: DOUBLE NOT NULL");
    is("*", &[double(1e308), int(10)], "Infinity :: DOUBLE NOT NULL");
}

#[test]
fn refusals() {
    refused(
        "||",
        &[text("a"), int(1)],
        "Cannot apply '||' to arguments of type '<CHAR(1)> || <INTEGER>'. Supported form(s): '<STRING> || <STRING>'\n'<EQUIVALENT_TYPE> || <EQUIVALENT_TYPE>'",
    );
    refused(
        "-",
        &[text("5")],
        "Cannot apply '-' to arguments of type '-<CHAR(1)>'. Supported form(s): '-<NUMERIC>'\n'-<DATETIME_INTERVAL>'",
    );
    refused(
        "NOT",
        &[int(1)],
        "Cannot apply 'NOT' to arguments of type 'NOT<INTEGER>'. Supported form(s): 'NOT<BOOLEAN>'",
    );
    refused("=", &[int(1), text("1")], "implicit type conversion between INTEGER and CHAR is not supported now");
    refused("=", &[text("1"), int(1)], "implicit type conversion between CHAR and INTEGER is not supported now");
    refused(
        "=",
        &[boolean(true), int(1)],
        "Cannot apply '=' to arguments of type '<BOOLEAN> = <INTEGER>'. Supported form(s): '<COMPARABLE_TYPE> = <COMPARABLE_TYPE>'",
    );
    refused(
        "<",
        &[date("2024-01-01"), timestamp("2024-01-01 00:00:01")],
        "Cannot apply '<' to arguments of type '<DATE> < <TIMESTAMP(0)>'. Supported form(s): '<COMPARABLE_TYPE> < <COMPARABLE_TYPE>'",
    );
    refused(
        "+",
        &[days(1), months(1)],
        "Cannot apply '+' to arguments of type '<INTERVAL DAY> + <INTERVAL MONTH>'. Supported form(s): '<NUMERIC> + <NUMERIC>'\n'<DATETIME_INTERVAL> + <DATETIME_INTERVAL>'\n'<DATETIME> + <DATETIME_INTERVAL>'\n'<DATETIME_INTERVAL> + <DATETIME>'",
    );
    refused("NOT", &[null(T::Null)], "Illegal use of 'NULL'");
    refused("ARRAY", &[int(1), text("a")], "Parameters must be of the same type");
    refused("ARRAY", &[], "Require at least 1 argument");
    refused("MAP", &[text("a"), int(1), text("b")], "Map requires an even number of arguments");
    refused("COALESCE", &[null(T::Null), null(T::Null)], "Illegal use of 'NULL'");
    refused("IF", &[boolean(true), int(1)], "Invalid number of arguments to function 'IF'. Was expecting 3 arguments");
    refused(
        "CONCAT",
        &[text("a"), int(1)],
        "Cannot apply 'CONCAT' to arguments of type 'CONCAT(<CHAR(1)>, <INTEGER>)'. Supported form(s): 'CONCAT(<CHARACTER>)'",
    );
}

#[test]
fn comparisons() {
    let yes = "TRUE :: BOOLEAN NOT NULL";
    let no = "FALSE :: BOOLEAN NOT NULL";
    is("=", &[int(1), dec("1.0")], yes);
    is("=", &[of(1, T::BigInt), double(1.0)], yes);
    is("=", &[double(0.0), double(-0.0)], yes);
    is("=", &[double(f64::NAN), double(f64::NAN)], no);
    is("<", &[double(f64::NAN), double(1.0)], no);
    is(">", &[double(f64::NAN), double(1.0)], no);
    is("BETWEEN", &[double(f64::NAN), int(0), int(1)], no);
    is("NOT BETWEEN", &[double(f64::NAN), int(0), int(1)], no);
    is("NOT BETWEEN SYMMETRIC", &[double(f64::NAN), int(1), int(0)], no);
    is("NOT IN", &[double(f64::NAN), double(0.0), double(1.5)], yes);
    is("IN", &[double(-0.0), double(0.0)], yes);
    is("<", &[int(1), text("10")], yes);
    is(">", &[dec("1.5"), text("1")], yes);
    is("=", &[date("2024-01-01"), text("2024-01-01")], yes);
    is("=", &[timestamp("2024-01-01 00:00:00"), text("2024-01-01 00:00:00")], yes);
    is("=", &[timestamp("2024-01-01 00:00:00.123456789"), timestamp("2024-01-01 00:00:00.123456")], no);
    is("<", &[timestamp("9999-01-01 00:00:00"), timestamp("2024-01-01 00:00:00.123456789")], no);
    is("=", &[V(Value::String("a  ".into()), T::Char(3).not_null()), text("a")], no);
    is("<", &[text("a"), text("B")], no);
    is(">", &[text("é"), text("z")], yes);
    is("=", &[null(T::Int), int(1)], "NULL :: BOOLEAN");
    is("=", &[null(T::Null), null(T::Null)], "NULL :: BOOLEAN");
    is("IS DISTINCT FROM", &[null(T::Int), int(1)], yes);
    is("IS NOT DISTINCT FROM", &[null(T::Double), null(T::Double)], yes);
    is("IS DISTINCT FROM", &[null(T::Double), double(1.0)], yes);
    is("IS UNKNOWN", &[null(T::Boolean)], yes);
    is("AND", &[null(T::Boolean), boolean(false)], "FALSE :: BOOLEAN");
    is("IN", &[int(1), dec("1.0"), int(2)], yes);
    is("IN", &[int(1), text("1"), text("2")], yes);
    is("IN", &[int(1), int(2), null(T::Int)], "NULL :: BOOLEAN");
    is("NOT IN", &[int(1), int(2), null(T::Int)], "NULL :: BOOLEAN");
    is("IN", &[double(0.5), double(0.5), int(3)], yes);
    is("BETWEEN", &[int(1), int(2), int(0)], no);
    is("BETWEEN SYMMETRIC", &[int(1), int(2), int(0)], yes);
    is("NOT BETWEEN", &[double(5.0), int(1), int(3)], yes);
    let wide = V(Value::Decimal(10i128.pow(37)), T::Decimal { precision: 38, scale: 0 }.not_null());
    is(">", &[wide, V(Value::Decimal(5), T::Decimal { precision: 38, scale: 38 }.not_null())], yes);
    is("LIKE", &[text("a%c"), text("a\\%c")], no);
    is("LIKE", &[text("abc"), text("_b_")], yes);
    is("NOT LIKE", &[text("abc"), text("%z%")], yes);
    is("LIKE", &[text("a%c"), text("a!%c"), text("!")], yes);
    is("SIMILAR TO", &[text("abc"), text("(a|b)%")], yes);
    refused("LIKE", &[text("abc"), text("a!"), text("!")], "Invalid escape sequence 'a!', 1");
}

#[test]
fn conditionals() {
    is("COALESCE", &[null(T::Null), int(1)], "1 :: INT NOT NULL");
    is("COALESCE", &[null(T::Int), dec("2.5")], "2.5 :: DECIMAL(11, 1) NOT NULL");
    is("IFNULL", &[null(T::Int), int(5)], "5 :: INT NOT NULL");
    is("NULLIF", &[int(1), int(1)], "NULL :: INT");
    is("NULLIF", &[int(1), dec("2.5")], "1 :: INT");
    is("IF", &[null(T::Boolean), text("yes"), text("no")], "no :: VARCHAR(3)");
    is("GREATEST", &[int(1), dec("2.5"), int(3)], "3.0 :: DECIMAL(11, 1) NOT NULL");
    is("GREATEST", &[int(1), null(T::Int), int(3)], "NULL :: INT");
    is("LEAST", &[text("b"), text("a")], "a :: CHAR(1) NOT NULL");
    is("TYPEOF", &[days(1)], "INTERVAL SECOND(3) NOT NULL :: STRING");
    is("TYPEOF", &[dec("1.5")], "DECIMAL(2, 1) NOT NULL :: STRING");
}

#[test]
fn strings() {
    is("||", &[text("a"), text("bc")], "abc :: CHAR(3) NOT NULL");
    is("||", &[text("a"), null(T::STRING)], "NULL :: STRING");
    is("UPPER", &[text("aBc")], "ABC :: CHAR(3) NOT NULL");
    is("INITCAP", &[text("hello wORLD-foo bar")], "Hello World-Foo Bar :: CHAR(19) NOT NULL");
    is("CHAR_LENGTH", &[text("héllo")], "5 :: INT NOT NULL");
    is("POSITION", &[text("l"), text("hello")], "3 :: INT NOT NULL");
    is("POSITION", &[text(""), text("abc")], "1 :: INT NOT NULL");
    is("INSTR", &[text("hello"), text("l")], "3 :: INT NOT NULL");
    is("LOCATE", &[text("l"), text("hello"), int(4)], "4 :: INT NOT NULL");
    for (part, start, expected) in
        [("b", -5, 2), ("b", 0, 2), ("b", 1, 2), ("", 3, 1), ("b", 9, 0), ("", 9, 1), ("", 0, 1)]
    {
        is("LOCATE", &[text(part), text("abab"), int(start)], &format!("{expected} :: INT NOT NULL"));
    }
    is("LOCATE", &[text("b"), text("ébab"), int(3)], "4 :: INT NOT NULL");
    is("INITCAP", &[text("straße éa 1a a1B x_y")], "StraßE éA 1a A1b X_Y :: CHAR(20) NOT NULL");
    is("TRIM", &[text("  x  ")], "x :: VARCHAR(5) NOT NULL");
    is("TRIM", &[symbol("LEADING"), text("x"), text("xxaxx")], "axx :: VARCHAR(5) NOT NULL");
    is("TRIM", &[symbol("BOTH"), text("xy"), text("xyaxy")], "a :: VARCHAR(5) NOT NULL");
    is("LTRIM", &[text("xxab"), text("x")], "ab :: VARCHAR(4) NOT NULL");
    is("RTRIM", &[text(" a  ")], " a :: VARCHAR(4) NOT NULL");
    is("BTRIM", &[text("  a  ")], "a :: STRING NOT NULL");
    for (args, expected) in [
        (vec![int(2)], "ello"),
        (vec![int(2), int(3)], "ell"),
        (vec![int(0)], "hello"),
        (vec![int(-3)], "llo"),
        (vec![int(-3), int(2)], "ll"),
        (vec![int(10)], ""),
        (vec![int(2), int(0)], ""),
        (vec![int(2), int(100)], "ello"),
        (vec![int(0), int(2)], "he"),
        (vec![int(2), int(-1)], "NULL"),
        (vec![int(-2_147_483_648)], ""),
        (vec![int(2_147_483_647), int(2_147_483_647)], ""),
    ] {
        let values: Vec<V> = std::iter::once(text("hello")).chain(args).collect();
        is("SUBSTRING", &values, &format!("{expected} :: VARCHAR(5)"));
    }
    is("SUBSTR", &[text("日本語テキスト"), int(2), int(2)], "本語 :: VARCHAR(7)");
    is("LEFT", &[text("hi"), int(-1)], " :: VARCHAR(2)");
    is("RIGHT", &[text("hello"), int(2)], "lo :: VARCHAR(5)");
    is("LPAD", &[text("hi"), int(5), text("xy")], "xyxhi :: STRING NOT NULL");
    is("RPAD", &[text("hi"), int(5), text("xy")], "hixyx :: STRING NOT NULL");
    is("LPAD", &[text("hello"), int(3), text("x")], "hel :: STRING NOT NULL");
    is("LPAD", &[text("hi"), int(-1), text("x")], "NULL :: STRING NOT NULL");
    is("LPAD", &[text("hi"), int(2), text("")], "NULL :: STRING NOT NULL");
    is("CONCAT", &[text("a"), null(T::STRING)], "NULL :: STRING");
    is("CONCAT_WS", &[text("-"), text("a"), null(T::STRING), text("b")], "a-b :: STRING");
    is("REPLACE", &[text("hello"), text("l"), text("L")], "heLLo :: STRING NOT NULL");
    is("REVERSE", &[text("abc")], "cba :: STRING");
    is("REGEXP_REPLACE", &[text("foobar"), text("(o)"), text("$1$1")], "f$1$1$1$1bar :: STRING NOT NULL");
    is("REGEXP_REPLACE", &[text("abc"), text("("), text("x")], "NULL :: STRING NOT NULL");
    is("REGEXP_EXTRACT", &[text("foothebar"), text("foo(.*?)(bar)"), int(2)], "bar :: STRING");
    is("REGEXP_EXTRACT", &[text("abc"), text("(b)"), int(5)], "NULL :: STRING");
    is("REGEXP", &[text("abc"), text("^b")], "FALSE :: BOOLEAN NOT NULL");
    is("SPLIT_INDEX", &[text("a,b,c"), text(","), int(1)], "b :: STRING");
    is("ASCII", &[text("é")], "-61 :: INT NOT NULL");
    is("REGEXP", &[text("abc"), text("a(?=b)")], "TRUE :: BOOLEAN NOT NULL");
    let costly = call("REGEXP", &[text(&"a".repeat(40)), text("(a+)+(?=b)b")]);
    assert_eq!(costly.unwrap_err().code, "invalid-argument");
    assert_eq!(call("REPEAT", &[text("ab"), int(2_147_483_647)]).unwrap_err().code, "out-of-range");
}

#[test]
fn mathematics() {
    is("ABS", &[dec("-1.5")], "1.5 :: DECIMAL(2, 1) NOT NULL");
    is("SIGN", &[int(-3)], "-1 :: INT NOT NULL");
    is("SIGN", &[dec("-5.5")], "-1.0 :: DECIMAL(2, 1) NOT NULL");
    is("CEIL", &[dec("-1.2")], "-1 :: DECIMAL(2, 0) NOT NULL");
    is("FLOOR", &[dec("-1.9")], "-2 :: DECIMAL(2, 0) NOT NULL");
    is("FLOOR", &[int(5)], "5 :: INT NOT NULL");
    is("CEILING", &[double(1.5)], "2.0 :: DOUBLE NOT NULL");
    for (values, expected) in [
        (vec![dec("1.5")], "2 :: DECIMAL(2, 0) NOT NULL"),
        (vec![dec("-1.5")], "-2 :: DECIMAL(2, 0) NOT NULL"),
        (vec![dec("1.235"), int(2)], "1.24 :: DECIMAL(4, 2) NOT NULL"),
        (vec![dec("1.5"), int(5)], "1.5 :: DECIMAL(2, 1) NOT NULL"),
        (vec![dec("1234.567"), int(-2)], "1200 :: DECIMAL(5, 0) NOT NULL"),
        (vec![int(1250), int(-2)], "1300 :: INT NOT NULL"),
        (vec![double(2.675), int(2)], "2.68 :: DOUBLE NOT NULL"),
        (vec![double(-12.355), int(1)], "-12.4 :: DOUBLE NOT NULL"),
        (vec![double(0.05), int(-1)], "0.0 :: DOUBLE NOT NULL"),
    ] {
        is("ROUND", &values, expected);
    }
    is("TRUNCATE", &[dec("-1.987"), int(1)], "-1.9 :: DECIMAL(3, 1) NOT NULL");
    is("TRUNCATE", &[double(42.345), int(2)], "42.34 :: DOUBLE NOT NULL");
    is("POWER", &[int(2), int(10)], "1024.0 :: DOUBLE NOT NULL");
    is("SQRT", &[int(2)], "1.4142135623730951 :: DOUBLE NOT NULL");
    is("LOG", &[int(10)], "2.302585092994046 :: DOUBLE NOT NULL");
    is("LOG", &[int(2), int(8)], "3.0 :: DOUBLE NOT NULL");
    is("LN", &[int(0)], "-Infinity :: DOUBLE NOT NULL");
    is("PI", &[], "3.141592653589793 :: DOUBLE NOT NULL");
}

#[test]
fn times() {
    is("+", &[date("2024-01-31"), months(1)], "2024-02-29 :: DATE NOT NULL");
    is("-", &[date("2024-03-31"), months(1)], "2024-02-29 :: DATE NOT NULL");
    is("+", &[date("2024-01-01"), hours(25)], "2024-01-02 :: DATE NOT NULL");
    is("-", &[date("2024-01-01"), hours(1)], "2024-01-01 :: DATE NOT NULL");
    is("+", &[time("23:00:00"), hours(2)], "01:00:00 :: TIME(0) NOT NULL");
    is("+", &[timestamp("2024-01-31 10:00:00"), days(1)], "2024-02-01 10:00:00 :: TIMESTAMP(0) NOT NULL");
    is("-", &[timestamp("2024-02-29 23:00:00"), months(12)], "2023-02-28 23:00:00 :: TIMESTAMP(0) NOT NULL");
    assert!(call("*", &[days(1), int(3)]).unwrap().starts_with("+3 00:00:00.000"));
    assert!(call("+", &[days(1), hours(2)]).unwrap().starts_with("+1 02:00:00.000"));
    assert!(call("+", &[months(12), months(3)]).unwrap().starts_with("+1-03"));
    assert!(call("-", &[days(1)]).unwrap().starts_with("-1 00:00:00.000"));
    let minus = |unit, a, b| call("MINUS_DATE", &[symbol(unit), a, b]).unwrap();
    assert!(minus("DAY", timestamp("2024-01-10 00:00:00"), timestamp("2024-01-01 00:00:00")).starts_with("+9 00:00"));
    assert!(minus("MONTH", date("2024-03-01"), date("2024-01-01")).starts_with("+0-02"));
    for (unit, expected) in [
        ("YEAR", 2024),
        ("MONTH", 2),
        ("DAY", 29),
        ("QUARTER", 1),
        ("WEEK", 9),
        ("DOY", 60),
        ("DOW", 5),
        ("DECADE", 202),
        ("CENTURY", 21),
        ("MILLENNIUM", 3),
        ("ISODOW", 4),
    ] {
        is("EXTRACT", &[symbol(unit), date("2024-02-29")], &format!("{expected} :: BIGINT NOT NULL"));
    }
    let stamp = || timestamp("2024-01-01 13:14:15.678");
    for (unit, expected) in [("HOUR", 13), ("SECOND", 15), ("MILLISECOND", 678), ("MICROSECOND", 678_000)] {
        is("EXTRACT", &[symbol(unit), stamp()], &format!("{expected} :: BIGINT NOT NULL"));
    }
    is("WEEK", &[date("2021-01-01")], "53 :: BIGINT NOT NULL");
    is("DAYOFWEEK", &[date("2024-02-25")], "1 :: BIGINT NOT NULL");
    is("TO_DATE", &[text("07/05/2024"), text("dd/MM/yyyy")], "2024-05-07 :: DATE");
    is("TO_DATE", &[text("2024-13-01")], "NULL :: DATE");
    is("TO_TIMESTAMP", &[text("2024-05-07 13:04:05.123456")], "2024-05-07 13:04:05.123 :: TIMESTAMP(3)");
    is("TO_TIMESTAMP", &[text("2024-05-07")], "2024-05-07 00:00:00.000 :: TIMESTAMP(3)");
    is("TO_TIMESTAMP", &[text("garbage")], "NULL :: TIMESTAMP(3)");
    is("TO_TIMESTAMP_LTZ", &[int(1_700_000_000), int(0)], "2023-11-14 22:13:20.000 :: TIMESTAMP_LTZ(3)");
    is("TO_TIMESTAMP_LTZ", &[of(1_700_000_000_123, T::BigInt), int(3)], "2023-11-14 22:13:20.123 :: TIMESTAMP_LTZ(3)");
    is("TO_TIMESTAMP_LTZ", &[int(-1), int(3)], "1969-12-31 23:59:59.999 :: TIMESTAMP_LTZ(3)");
    is("TO_TIMESTAMP_LTZ", &[dec("1.5"), int(0)], "1970-01-01 00:00:01.000 :: TIMESTAMP_LTZ(3)");
    is("TO_TIMESTAMP_LTZ", &[dec("1.5"), int(3)], "1970-01-01 00:00:00.001 :: TIMESTAMP_LTZ(3)");
    is("TO_TIMESTAMP_LTZ", &[double(1.9996), int(0)], "1970-01-01 00:00:01.999 :: TIMESTAMP_LTZ(3)");
    is("TO_TIMESTAMP_LTZ", &[double(-1.5), int(0)], "1969-12-31 23:59:58.500 :: TIMESTAMP_LTZ(3)");
    is("TO_TIMESTAMP_LTZ", &[double(2500.7)], "1970-01-01 00:00:02.500 :: TIMESTAMP_LTZ(3)");
    is(
        "TO_TIMESTAMP_LTZ",
        &[text("2024-01-01 00:00:00"), text("yyyy-MM-dd HH:mm:ss"), text("Asia/Tokyo")],
        "2023-12-31 15:00:00.000 :: TIMESTAMP_LTZ(3)",
    );
    assert_eq!(call("TO_TIMESTAMP_LTZ", &[int(1), int(6)]).unwrap_err().code, "invalid-argument");
    is("DATE_FORMAT", &[timestamp("2024-05-07 13:04:05.678"), text("EEE, d MMM yyyy")], "Tue, 7 May 2024 :: STRING");
    is("DATE_FORMAT", &[text("garbage"), text("yyyy")], "NULL :: STRING");
    is("FROM_UNIXTIME", &[int(-1)], "1969-12-31 23:59:59 :: STRING");
    is("UNIX_TIMESTAMP", &[text("garbage")], "-9223372036854775808 :: BIGINT NOT NULL");
    is("UNIX_TIMESTAMP", &[text("1970-01-02"), text("yyyy-MM-dd")], "86400 :: BIGINT NOT NULL");
    is(
        "CONVERT_TZ",
        &[text("1970-01-01 00:00:00"), text("UTC"), text("America/Los_Angeles")],
        "1969-12-31 16:00:00 :: STRING",
    );
    is(
        "TIMESTAMPADD",
        &[symbol("HOUR"), int(1), date("2020-01-31")],
        "2020-01-31 01:00:00.000000 :: TIMESTAMP(6) NOT NULL",
    );
    let diff = |unit, a, b| call("TIMESTAMPDIFF", &[symbol(unit), timestamp(a), timestamp(b)]).unwrap();
    assert_eq!(diff("DAY", "2020-01-01 00:00:00", "2020-01-02 23:00:00"), "1 :: INT NOT NULL");
    assert_eq!(diff("MONTH", "2020-01-31 00:00:00", "2020-02-29 00:00:00"), "1 :: INT NOT NULL");
    assert_eq!(diff("SECOND", "2020-01-02 00:00:00", "2020-01-01 00:00:00"), "-86400 :: INT NOT NULL");
    is(
        "FLOOR",
        &[timestamp("2024-02-29 23:59:59.999"), symbol("HOUR")],
        "2024-02-29 23:00:00.000 :: TIMESTAMP(3) NOT NULL",
    );
    is(
        "CEIL",
        &[timestamp("2024-02-29 23:59:59.999"), symbol("DAY")],
        "2024-03-01 00:00:00.000 :: TIMESTAMP(3) NOT NULL",
    );
    is("CURRENT_TIMESTAMP", &[], "2023-11-14 22:13:20.123 :: TIMESTAMP_LTZ(3) NOT NULL");
    is("CURRENT_DATE", &[], "2023-11-14 :: DATE NOT NULL");
    is("PROCTIME", &[], "2023-11-14 22:13:20.123 :: TIMESTAMP_LTZ(3) NOT NULL");
}

#[test]
fn interval_overflow_is_an_error() {
    for months_of in [i32::MAX, i32::MIN] {
        assert_eq!(call("+", &[date("2024-01-31"), months(months_of)]).unwrap_err().code, "out-of-range");
    }
    assert_eq!(
        call("+", &[timestamp("2024-01-31 00:00:00"), days(100_000_000_000 / 86_400 * 86_400)]).unwrap_err().code,
        "out-of-range"
    );
}

/// Whatever a value is, a call gives a result or an error.
#[test]
fn extremes_never_panic() {
    let stamp = |seconds, p| V(Value::Timestamp { seconds, nanos: 0 }, T::Timestamp(p).not_null());
    let ltz = |seconds| V(Value::Timestamp { seconds, nanos: 0 }, T::TimestampLtz(6).not_null());
    let mut values = vec![];
    for sign in [-1, 1] {
        values.extend([
            stamp(sign * 9_223_372_036_854, 6),
            stamp(sign * 9_223_372_036, 9),
            ltz(sign * 9_223_372_036_854),
        ]);
        values.push(V(Value::Date(if sign < 0 { i32::MIN } else { i32::MAX }), T::Date.not_null()));
    }
    for value in &values {
        for unit in
            ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "ISOYEAR", "HOUR", "EPOCH", "CENTURY", "MILLENNIUM"]
        {
            let _ = call("EXTRACT", &[symbol(unit), value.clone()]).unwrap();
            let _ = call("FLOOR", &[value.clone(), symbol(unit)]);
            let _ = call("CEIL", &[value.clone(), symbol(unit)]);
            let _ = call("TIMESTAMPADD", &[symbol(unit), of(i64::MAX, T::BigInt), value.clone()]);
            for other in &values {
                let _ = call("TIMESTAMPDIFF", &[symbol(unit), value.clone(), other.clone()]);
            }
        }
        for interval in [months(i32::MIN), months(i32::MAX), days(i64::MAX / 86_400_000), days(i64::MIN / 86_400_000)] {
            let _ = call("+", &[value.clone(), interval.clone()]);
            let _ = call("-", &[value.clone(), interval.clone()]);
            let _ = call("*", &[interval, of(i64::MIN, T::BigInt)]);
        }
        let _ = call("DATE_FORMAT", &[value.clone(), text("yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSS a EEE")]);
        for to in
            [T::STRING, T::Date, T::Time(0), T::Timestamp(9), T::Timestamp(3), T::TimestampLtz(3), T::TimestampLtz(9)]
        {
            for zone in ["UTC", "America/New_York", "+18:00"] {
                let context = crate::EvalContext { time_zone: crate::TimeZone::parse(zone).unwrap(), ..context() };
                let _ = cast_value(value, &to, crate::CastKind::Cast, &context);
            }
        }
    }
    for digits in [i32::MIN, -40, -1, 0, 1, 40, i32::MAX] {
        for value in [int(5), double(f64::MAX), double(f64::MIN_POSITIVE), dec("12.345"), of(i64::MIN, T::BigInt)] {
            let _ = call("ROUND", &[value.clone(), int(i64::from(digits))]);
            let _ = call("TRUNCATE", &[value, int(i64::from(digits))]);
        }
        let _ = call("SUBSTRING", &[text("añb"), int(i64::from(digits)), int(i64::from(digits))]);
        let _ = call("LOCATE", &[text("b"), text("añb"), int(i64::from(digits))]);
        let _ = call("RIGHT", &[text("añb"), int(i64::from(digits))]);
    }
    let _ = call("FROM_UNIXTIME", &[of(i64::MIN, T::BigInt)]);
    let _ = call("TO_TIMESTAMP_LTZ", &[of(i64::MAX, T::BigInt), int(0)]);
}
