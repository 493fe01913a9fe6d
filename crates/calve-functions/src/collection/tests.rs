//! Results of a real Flink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_types::LogicalType as T;

use crate::testing::*;

#[test]
fn collections() {
    let one = "ARRAY<INT NOT NULL> NOT NULL";
    assert_eq!(call("ARRAY", &[int(1), int(2)]).unwrap(), format!("[1, 2] :: {one}"));
    for (name, more, expected) in [
        ("ITEM", vec![int(1)], "3 :: INT"),
        ("ITEM", vec![int(4)], "NULL :: INT"),
        ("CARDINALITY", vec![], "3 :: INT NOT NULL"),
        ("ARRAY_CONTAINS", vec![int(2)], "TRUE :: BOOLEAN NOT NULL"),
        ("ARRAY_CONTAINS", vec![null(T::Int)], "FALSE :: BOOLEAN NOT NULL"),
        ("ARRAY_POSITION", vec![int(9)], "0 :: INT NOT NULL"),
        ("ARRAY_APPEND", vec![int(9)], "[3, 1, 2, 9] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_PREPEND", vec![int(0)], "[0, 3, 1, 2] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_REMOVE", vec![int(1)], "[3, 2] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_REVERSE", vec![], "[2, 1, 3] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_DISTINCT", vec![], "[3, 1, 2] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_SORT", vec![], "[1, 2, 3] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_SORT", vec![boolean(false)], "[3, 2, 1] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_MAX", vec![], "3 :: INT"),
        ("ARRAY_SLICE", vec![int(-2)], "[1, 2] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_SLICE", vec![int(5), int(6)], "[] :: ARRAY<INT NOT NULL> NOT NULL"),
        ("ARRAY_SLICE", vec![int(0), int(1)], "[3] :: ARRAY<INT NOT NULL> NOT NULL"),
    ] {
        assert_eq!(call_on("ARRAY", &[int(3), int(1), int(2)], name, &more).unwrap(), expected, "{name}");
    }
    let map = [text("a"), int(1), text("b"), int(2)];
    for (name, more, expected) in [
        ("ITEM", vec![text("b")], "2 :: INT"),
        ("ITEM", vec![text("zz")], "NULL :: INT"),
        ("CARDINALITY", vec![], "2 :: INT NOT NULL"),
        ("MAP_KEYS", vec![], "[a, b] :: ARRAY<CHAR(1) NOT NULL> NOT NULL"),
        ("MAP_VALUES", vec![], "[1, 2] :: ARRAY<INT NOT NULL> NOT NULL"),
        (
            "MAP_ENTRIES",
            vec![],
            "[(a, 1), (b, 2)] :: ARRAY<ROW<`key` CHAR(1) NOT NULL, `value` INT NOT NULL>> NOT NULL",
        ),
    ] {
        assert_eq!(call_on("MAP", &map, name, &more).unwrap(), expected, "{name}");
    }
    // Few elements are compared one by one, many by their keys.
    for count in [3, 40] {
        let twice: Vec<V> = (0..count).chain(0..count).map(int).collect();
        let all: Vec<String> = (0..count).map(|i| i.to_string()).collect();
        let expected = format!("[{}] :: {one}", all.join(", "));
        assert_eq!(call_on("ARRAY", &twice, "ARRAY_DISTINCT", &[]).unwrap(), expected);
    }
    let error = call_on("ARRAY", &[int(1)], "ITEM", &[int(0)]).unwrap_err();
    assert_eq!(error.detail.unwrap(), "Array element access needs an index starting at 1 but was 0.");
}

#[test]
fn sets() {
    let set = |name: &str, more: &[V]| {
        let other = constructed("ARRAY", more);
        call_with("ARRAY", &[int(1), int(1), int(2), null(T::Int), int(3)], name, other)
    };
    let type_of = "ARRAY<INT> NOT NULL";
    assert_eq!(set("ARRAY_UNION", &[int(3), int(4)]), format!("[1, 2, NULL, 3, 4] :: {type_of}"));
    assert_eq!(set("ARRAY_INTERSECT", &[null(T::Int), int(2), int(1)]), format!("[1, 2, NULL] :: {type_of}"));
    assert_eq!(set("ARRAY_EXCEPT", &[int(2)]), format!("[1, NULL, 3] :: {type_of}"));
    let map = [text("a"), int(1)];
    let other = constructed("MAP", &[text("a"), int(9), text("b"), int(2)]);
    assert_eq!(
        call_with("MAP", &map, "MAP_UNION", other),
        "{a=9, b=2} :: MAP<CHAR(1) NOT NULL, INT NOT NULL> NOT NULL"
    );
}

#[test]
fn overlaps() {
    let period = |start: V, end: V| constructed("ROW", &[start, end]);
    let overlap = |a: [V; 2], b: [V; 2]| {
        let [start, end] = b;
        call_with("ROW", &a, "OVERLAPS", period(start, end))
    };
    let hour = || {
        let field = calve_types::IntervalField::Hour;
        let logical = T::IntervalDayTime { from: field, to: field, day_precision: 2, fraction: 6 };
        V(calve_types::Value::Millis(3_600_000), logical.not_null())
    };
    let (yes, no) = ("TRUE :: BOOLEAN NOT NULL", "FALSE :: BOOLEAN NOT NULL");
    assert_eq!(overlap([time("10:00:00"), hour()], [time("10:30:00"), hour()]), yes);
    assert_eq!(overlap([date("2024-01-01"), date("2024-01-05")], [date("2024-01-05"), date("2024-01-06")]), yes);
    assert_eq!(overlap([date("2024-01-05"), date("2024-01-01")], [date("2024-01-02"), date("2024-01-03")]), yes);
    assert_eq!(overlap([time("10:00:00"), hour()], [time("11:00:01"), hour()]), no);
}
