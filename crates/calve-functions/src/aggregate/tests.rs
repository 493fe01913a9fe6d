//! Results of a real Flink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_types::{LogicalType as T, Value};

use crate::testing::*;

#[test]
fn aggregates() {
    let x = || vec![int(10), int(20), null(T::Int), int(40), int(50)];
    for (name, expected) in [
        ("COUNT", "4 :: BIGINT NOT NULL"),
        ("SUM", "120 :: INT"),
        ("AVG", "30 :: INT"),
        ("MIN", "10 :: INT"),
        ("MAX", "50 :: INT"),
        ("STDDEV_POP", "15 :: INT"),
        ("STDDEV_SAMP", "18 :: INT"),
        ("VAR_POP", "250 :: INT"),
        ("VARIANCE", "333 :: INT"),
        ("FIRST_VALUE", "10 :: INT"),
        ("LAST_VALUE", "50 :: INT"),
        ("APPROX_COUNT_DISTINCT", "4 :: BIGINT NOT NULL"),
        ("ARRAY_AGG", "[10, 20, NULL, 40, 50] :: ARRAY<INT>"),
    ] {
        assert_eq!(aggregate(name, &x(), false), expected, "{name}");
    }
    let one = || vec![int(7)];
    assert_eq!(aggregate("VAR_SAMP", &one(), false), "NULL :: INT");
    assert_eq!(aggregate("STDDEV_POP", &one(), false), "0 :: INT");
    assert_eq!(aggregate("SUM", &[int(2_147_483_647), int(1)], false), "-2147483648 :: INT");
    assert_eq!(aggregate("SUM", &[of(i64::MAX, T::BigInt), of(1, T::BigInt)], false), "-9223372036854775808 :: BIGINT");
    assert_eq!(aggregate("AVG", &[int(1), int(2)], false), "1 :: INT");
    assert_eq!(aggregate("SUM", &[int(1), int(1), int(2)], true), "3 :: INT");
    assert_eq!(aggregate("COUNT", &[int(1), int(1), int(2)], true), "2 :: BIGINT NOT NULL");
    assert_eq!(
        aggregate("AVG", &[cast_dec("1.10", 10, 2), cast_dec("2.25", 10, 2)], false),
        "1.675000 :: DECIMAL(38, 6)"
    );
    assert_eq!(aggregate("SUM", &[cast_dec("1.10", 10, 2), cast_dec("2.25", 10, 2)], false), "3.35 :: DECIMAL(38, 2)");
    let most = || V(Value::Decimal(10i128.pow(38) - 1), T::Decimal { precision: 38, scale: 0 }.not_null());
    assert_eq!(aggregate("SUM", &[most(), most()], false), "NULL :: DECIMAL(38, 0)");
    assert_eq!(aggregate("AVG", &[double(1.0), double(2.0), double(4.5)], false), "2.5 :: DOUBLE");
    assert_eq!(aggregate("VAR_SAMP", &[double(1.0), double(2.0), double(4.0)], false), "2.333333333333334 :: DOUBLE");
    assert_eq!(
        aggregate("STDDEV_POP", &[double(1.0), double(2.0), double(4.0)], false),
        "1.2472191289246473 :: DOUBLE"
    );
    assert_eq!(aggregate("SUM", &[of(1, T::TinyInt), of(2, T::TinyInt)], false), "3 :: TINYINT");
    assert_eq!(aggregate("COLLECT", &[int(1), int(2), int(2)], false), "{1=1, 2=2} :: MULTISET<INT NOT NULL> NOT NULL");
    assert_eq!(aggregate("LISTAGG", &[text("a"), text("a"), text("b")], false), "a,a,b :: CHAR(1) NOT NULL");
    // The order of distinct values is open.
    let distinct = aggregate("LISTAGG", &[text("a"), text("a")], true);
    assert_eq!(distinct, "a :: CHAR(1) NOT NULL");
    for name in ["SUM", "MIN", "AVG", "LISTAGG", "ARRAY_AGG"] {
        let value = if name == "LISTAGG" { null(T::STRING) } else { null(T::Int) };
        let expected = if name == "ARRAY_AGG" { "[NULL] :: " } else { "NULL :: " };
        assert!(aggregate(name, &[value], false).starts_with(expected), "{name}");
    }
    let cents = |v: &str| cast_dec(v, 5, 2);
    let decimals = || [cents("1.5"), cents("3.0"), cents("3.25")];
    for (name, expected) in
        [("VAR_POP", "0.597222"), ("VAR_SAMP", "0.895834"), ("STDDEV_POP", "0.772801"), ("STDDEV_SAMP", "0.946485")]
    {
        assert_eq!(aggregate(name, &decimals(), false), format!("{expected} :: DECIMAL(38, 6)"));
    }
    assert_eq!(aggregate("VAR_SAMP", &[cents("1.5")], false), "NULL :: DECIMAL(38, 6)");
    assert_eq!(aggregate("VAR_POP", &[cents("1.5")], false), "0.000000 :: DECIMAL(38, 6)");
    let fine = || [cast_dec("1.12345678", 20, 10), cast_dec("3.0", 20, 10), cast_dec("7.0", 20, 10)];
    assert_eq!(aggregate("VAR_SAMP", &fine(), false), "9.0091960000 :: DECIMAL(38, 10)");
    assert_eq!(aggregate("STDDEV_POP", &fine(), false), "2.4507407044 :: DECIMAL(38, 10)");
    assert_eq!(aggregate("SINGLE_VALUE", &[int(7)], false), "7 :: INT");
    let error = aggregate_with("SINGLE_VALUE", &[int(1), int(2)], &[], false).unwrap_err();
    assert_eq!(error.detail.unwrap(), "SingleValueAggFunction received more than one element.");
    let percentile = |values: &[V], more: &[V], distinct| aggregate_with("PERCENTILE", values, more, distinct);
    let some = || [int(1), int(2), int(10), null(T::Int)];
    for (share, expected) in [("0.5", "2.0"), ("0.3", "1.6"), ("1.0", "10.0"), ("0.0", "1.0")] {
        assert_eq!(percentile(&some(), &[dec(share)], false).unwrap(), format!("{expected} :: DOUBLE"));
    }
    assert_eq!(percentile(&[int(1), int(1), int(1), int(5)], &[dec("0.5")], true).unwrap(), "3.0 :: DOUBLE");
    assert_eq!(percentile(&[int(1), int(2)], &[dec("0.5"), int(0)], false).unwrap(), "NULL :: DOUBLE");
    assert_eq!(percentile(&[int(1)], &[dec("1.5")], false).unwrap_err().detail.unwrap(), "Invalid input arguments.");
    assert_eq!(
        aggregate_with("LISTAGG", &[text("a"), text("b")], &[text("|")], false).unwrap(),
        "a|b :: CHAR(1) NOT NULL"
    );
    assert_eq!(
        aggregate("JSON_ARRAYAGG", &[text("1"), null(T::STRING), text("[2]")], false),
        "[1,[2]] :: VARCHAR(2000) NOT NULL"
    );
    assert_eq!(
        aggregate("JSON_ARRAYAGG_NULL_ON_NULL", &[text("1"), null(T::STRING)], false),
        "[1,null] :: VARCHAR(2000) NOT NULL"
    );
    let object = |keys: &[V], value: V| aggregate_with("JSON_OBJECTAGG", keys, &[value], false);
    assert_eq!(object(&[text("b"), text("a")], text("1")).unwrap(), "{\"a\":1,\"b\":1} :: VARCHAR(2000) NOT NULL");
    assert!(object(&[text("a"), text("a")], text("1")).unwrap_err().detail.unwrap().starts_with("Key 'a' is already"));
    let sum = crate::aggregate("SUM").unwrap();
    let error = sum.infer(&[crate::Arg::of(T::Char(1).not_null())], false, true).unwrap_err();
    assert_eq!(
        error.detail.unwrap(),
        "Cannot apply 'SUM' to arguments of type 'SUM(<CHAR(1)>)'. Supported form(s): 'SUM(<NUMERIC>)'"
    );
}
