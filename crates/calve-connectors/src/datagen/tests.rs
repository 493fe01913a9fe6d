#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use calve_types::LogicalType as T;

use crate::testing::{read, table};

#[tokio::test]
async fn a_sequence_ends_the_table() {
    let table = table(
        "datagen",
        &[("id", T::Int.nullable()), ("s", T::STRING.nullable())],
        &[
            ("fields.id.kind", "sequence"),
            ("fields.id.start", "5"),
            ("fields.id.end", "7"),
            ("fields.s.length", "4"),
            ("number-of-rows", "10"),
            ("calve.seed", "1"),
        ],
    );
    let rows = read(&table).await.unwrap();
    assert_eq!(rows.iter().map(|r| r[0].as_str()).collect::<Vec<_>>(), ["5", "6", "7"]);
    assert!(rows.iter().all(|r| r[1].len() == 4), "{rows:?}");
    assert_eq!(read(&table).await.unwrap(), rows, "the same seed gives the same rows");
}

#[tokio::test]
async fn values_of_all_types() {
    let map = T::Map(Box::new(T::STRING.nullable()), Box::new(T::Int.nullable()));
    let columns = [
        ("bo", T::Boolean.nullable()),
        ("c", T::Char(3).nullable()),
        ("v", T::Varchar(5).nullable()),
        ("s", T::STRING.nullable()),
        ("b", T::Binary(3).nullable()),
        ("ti", T::TinyInt.nullable()),
        ("bi", T::BigInt.nullable()),
        ("d", T::Double.nullable()),
        ("de", T::Decimal { precision: 5, scale: 2 }.nullable()),
        ("da", T::Date.nullable()),
        ("ts", T::Timestamp(3).nullable()),
        ("ar", T::Array(Box::new(T::Int.nullable())).nullable()),
        ("ma", map.nullable()),
        ("ro", T::Row(vec![calve_types::RowField::new("x", T::Int.nullable())]).nullable()),
        ("n", T::Int.nullable()),
    ];
    let options = [
        ("number-of-rows", "1000"),
        ("fields.ti.min", "1"),
        ("fields.ti.max", "2"),
        ("fields.d.min", "2.5"),
        ("fields.d.max", "3.5"),
        ("fields.ar.length", "2"),
        ("fields.ar.element.min", "1"),
        ("fields.ar.element.max", "3"),
        ("fields.ro.x.null-rate", "1"),
        ("fields.n.null-rate", "0.5"),
    ];
    let rows = read(&table("datagen", &columns, &options)).await.unwrap();
    assert_eq!(rows.len(), 1000);
    for row in &rows {
        assert_eq!((row[1].len(), row[2].len(), row[3].len(), row[4].len()), (3, 5, 100, 9), "{row:?}");
        assert!(row[1].bytes().all(|b| b.is_ascii_hexdigit()));
        assert!(matches!(row[5].as_str(), "1" | "2"));
        assert!((2.5..=3.5).contains(&row[7].parse::<f64>().unwrap()));
        assert_eq!((row[9].as_str(), row[10].as_str()), ("1970-01-01", "1970-01-01 00:00:00.000"));
        assert_eq!(row[11].matches(", ").count(), 1);
        assert_eq!(row[13], "(NULL)");
    }
    let share = |index: usize, value: &str| rows.iter().filter(|r| r[index] == value).count();
    assert!((400..600).contains(&share(5, "1")) && (400..600).contains(&share(0, "TRUE")));
    assert!((400..600).contains(&share(14, "<NULL>")));
}

#[tokio::test]
async fn options_that_flink_refuses() {
    let columns = [("i", T::Int.nullable()), ("c", T::Char(3).nullable()), ("b", T::BigInt.nullable())];
    for (options, code, words) in [
        (
            &[("number-of-rows", "2"), ("fields.nope.min", "1")][..],
            "unknown-option",
            "Unsupported options found for 'datagen'.\n\nUnsupported options:\n\nfields.nope.min\n\nSupported options:\n\n\
             connector\nfields.b.kind\nfields.b.max\nfields.b.min\nfields.b.null-rate\nfields.c.kind\nfields.c.null-rate\nfields.i.kind\nfields.i.max\nfields.i.min\n\
             fields.i.null-rate\nnumber-of-rows\nrows-per-second\nscan.parallelism",
        ),
        (
            &[("fields.i.kind", "sequence")],
            "missing-option",
            "Could not find required property 'fields.i.start' for sequence generator.",
        ),
        (&[("fields.i.kind", "nosuch")], "invalid-option", "Unsupported generator kind: nosuch"),
        (&[("number-of-rows", "abc")], "invalid-option", "For input string: \"abc\""),
        (&[("number-of-rows", "1"), ("fields.i.min", "5"), ("fields.i.max", "3")], "invalid-option", "lower bound (5)"),
        (&[("fields.b.min", "5"), ("fields.b.max", "5")], "invalid-option", "lower bound (5)"),
        (&[("fields.c.length", "2")], "invalid-option", "Custom length for fixed-length type (CHAR/BINARY) field 'c'"),
        (&[], "not-supported", ""),
    ] {
        let error = read(&table("datagen", &columns, options)).await.unwrap_err();
        assert_eq!(error.code, code, "{error:?}");
        assert!(error.detail.clone().unwrap_or_default().contains(words), "{error:?}");
    }
}

#[tokio::test]
async fn one_value_between_equal_bounds_of_a_small_integer() {
    for data_type in [T::TinyInt, T::SmallInt, T::Int] {
        let options = [("number-of-rows", "2"), ("fields.a.min", "7"), ("fields.a.max", "7")];
        let rows = read(&table("datagen", &[("a", data_type.nullable())], &options)).await.unwrap();
        assert_eq!(rows, [["7"], ["7"]]);
    }
}

#[test]
fn a_sequence_is_unbounded_in_batch_mode_alone() {
    let sequence = [("fields.a.kind", "sequence"), ("fields.a.start", "1"), ("fields.a.end", "3")];
    let table = table("datagen", &[("a", T::Int.nullable())], &sequence);
    let mut context = crate::testing::context().0;
    assert!(crate::source(&table, &context).is_ok());
    context.batch = true;
    let error = crate::source(&table, &context).err().unwrap();
    assert_eq!(error.code, "unbounded-table");
    let flink = "in batch mode is not allowed. The table source is unbounded.";
    assert!(error.detail.unwrap().ends_with(flink));
}

#[tokio::test]
async fn columns_and_partitions_do_not_change_values() {
    let columns = [("a", T::BigInt.nullable()), ("b", T::STRING.nullable())];
    let table =
        table("datagen", &columns, &[("number-of-rows", "250000"), ("calve.seed", "7"), ("fields.b.length", "3")]);
    let all = read(&table).await.unwrap();
    let only_b = crate::testing::read_batches(&table, Some(vec![1])).await.unwrap();
    let types = [T::STRING.nullable()];
    let mut b: Vec<_> =
        only_b.iter().flat_map(|batch| crate::testing::texts(batch, &types)).map(|r| r[0].clone()).collect();
    let mut expected: Vec<_> = all.iter().map(|r| r[1].clone()).collect();
    b.sort();
    expected.sort();
    assert_eq!(b, expected);
    assert_eq!(b.len(), 250_000);
}
