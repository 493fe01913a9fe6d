use super::*;

const IGNORE: &[(&str, &str)] = &[("csv.ignore-parse-errors", "true")];

/// A column's value for each text, with `ignore-parse-errors`.
async fn values(logical: T, texts: &[&str]) -> Vec<String> {
    let lines: String = texts.iter().map(|t| format!("0,{t}\n")).collect();
    let columns = [("id", T::Int.nullable()), ("v", logical.nullable())];
    rows_of(lines.as_bytes(), "csv", &columns, IGNORE).await.unwrap().into_iter().map(|r| r[1].clone()).collect()
}

const N: &str = "<NULL>";

#[tokio::test]
async fn numbers() {
    let texts = ["1", " 2 ", "+3", "-4", "4.0", "1e2", "2147483648", "x", "", "\"5\"", "0x1", "\"\"", "007", "-"];
    assert_eq!(values(T::Int, &texts).await, ["1", "2", "3", "-4", N, N, N, N, N, "5", N, N, "7", N]);
    assert_eq!(values(T::TinyInt, &["127", "128", "-129", " 1", "+1", "1.0"]).await, ["127", N, N, "1", "1", N]);
    assert_eq!(values(T::BigInt, &["9223372036854775807", "9223372036854775808"]).await, ["9223372036854775807", N]);
    let texts = ["1", "1.5", "1e400", "-1e-400", "NaN", "Infinity", "1d", "x", "", " 2 ", "inf"];
    let expected = ["1.0", "1.5", "Infinity", "-0.0", "NaN", "Infinity", "1.0", N, N, "2.0", N];
    assert_eq!(values(T::Double, &texts).await, expected);
    assert_eq!(values(T::Float, &["1e40", "16777217"]).await, ["Infinity", "1.6777216E7"]);
    let texts = ["1", "1.005", "999.994", "999.995", "1234.5", "x", "", " 1.5 ", "1e2", "-0.005", "1.", "."];
    let expected = ["1.00", "1.01", "999.99", N, N, N, N, N, "100.00", "-0.01", "1.00", N];
    assert_eq!(values(decimal(5, 2), &texts).await, expected);
    let texts = ["true", "TRUE", "t", "1", "", " true "];
    assert_eq!(values(T::Boolean, &texts).await, ["TRUE", "TRUE", "FALSE", "FALSE", "FALSE", "TRUE"]);
}

#[tokio::test]
async fn texts_and_times() {
    assert_eq!(values(T::Char(3), &["a", "abcd", ""]).await, ["a", "abcd", ""]);
    assert_eq!(values(T::BYTES, &["aGk=", "aGk", "!!", "", "YQ=="]).await, ["x'6869'", N, N, "x''", "x'61'"]);
    assert_eq!(values(T::Binary(2), &["YWJj"]).await, ["x'616263'"]);
    assert_eq!(values(T::Date, &["2024-1-5", "2024-02-30", "x"]).await, ["2024-01-05", "2024-03-01", N]);
    assert_eq!(values(T::Time(0), &["10:11:12.345", "10:11", "24:00:00"]).await, ["10:11:12", "10:11:00", N]);
    let texts = ["2024-01-05 10:11:12.123456789", "2024-01-05T10:11:12", " 2024-01-05 24:00:00 ", ""];
    let expected = ["2024-01-05 10:11:12.123", N, "2024-01-06 00:00:00.000", N];
    assert_eq!(values(T::Timestamp(3), &texts).await, expected);
    let texts = ["2024-01-05 10:11:12Z", "2024-01-05 10:11:12"];
    assert_eq!(values(T::TimestampLtz(3), &texts).await, ["2024-01-05 10:11:12.000", N]);
}

#[tokio::test]
async fn nested() {
    let texts = ["1;2;3", "1;x;3", "", "1;;3", " 1 ; 2 ", "\"1;2\"", ";"];
    let expected = ["[1, 2, 3]", "[1, NULL, 3]", "[]", "[1, NULL, 3]", "[1, 2]", "[1, 2]", "[NULL, NULL]"];
    assert_eq!(values(array(T::Int), &texts).await, expected);
    assert_eq!(values(array(T::STRING), &["a;b", "a;;b", "a;"]).await, ["[a, b]", "[a, , b]", "[a, ]"]);
    let texts = ["1;x", "1", "1;x;y", "", "x;y", ";"];
    let expected = ["(1, x)", "(1, NULL)", "(1, x)", N, "(NULL, y)", "(NULL, )"];
    assert_eq!(values(row(&[("a", T::Int), ("b", T::STRING)]), &texts).await, expected);
    let map = T::Map(Box::new(T::STRING.nullable()), Box::new(T::Int.nullable()));
    for (logical, words) in [
        (map, "Unsupported type 'MAP<STRING, INT>' for field 'v'."),
        (
            array(row(&[("a", T::Int)])),
            "Only simple types are supported in the second level nesting of fields 'v' but was: ROW<`a` INT>",
        ),
    ] {
        let error = rows_of(b"", "csv", &[("v", logical.nullable())], &[]).await.unwrap_err();
        assert_eq!(error.detail.as_deref(), Some(words));
    }
}

fn a_b() -> [(&'static str, DataType); 2] {
    [("a", T::STRING.nullable()), ("b", T::STRING.nullable())]
}

#[tokio::test]
async fn quotes_and_lines() {
    for (content, options, expected) in [
        ("1,x\r\n2,y\r\n3,z\r4,q\n", &[][..], &[["1", "x"], ["2", "y"], ["3", "z"], ["4", "q"]][..]),
        ("# c\n1,x\n #d,1\n", &[("csv.allow-comments", "true")], &[["1", "x"]]),
        ("2;\"y;z\"\n", &[("csv.field-delimiter", ";")], &[["2", "y;z"]]),
        ("1\tx\n2\t\"y\tz\"\n", &[("csv.field-delimiter", "\\t")], &[["1", "x"], ["2", "y\tz"]]),
        ("1|x\n2|'y|z'\n", &[("csv.field-delimiter", "|"), ("csv.quote-character", "'")], &[["1", "x"], ["2", "y|z"]]),
        ("1,\"x\"\n2,y\"\n", &[("csv.disable-quote-character", "true")], &[["1", "\"x\""], ["2", "y\""]]),
        ("1,x\\,y\n2,\\\"y\n3,\\n\n", &[("csv.escape-character", "\\")], &[["1", "x,y"], ["2", "\"y"], ["3", "\n"]]),
        ("n/a,1\n\"n/a\",x", &[("csv.null-literal", "n/a")], &[[N, "1"], [N, "x"]]),
        ("\u{feff}a,b\n", &[], &[["a", "b"]]),
        ("1,\"multi\nline\"\n2,\"a\"\"b\"\n", &[], &[["1", "multi\nline"], ["2", "a\"b"]]),
        ("c ,\" d \"  \n1,x,\n2,y, \n", &[], &[["c ", " d "], ["1", "x"], ["2", "y"]]),
        ("1\u{1}é\u{1}", &[("csv.field-delimiter", "\u{1}")], &[["1", "é"]]),
        ("1·x\n", &[("csv.field-delimiter", "·")], &[["1", "x"]]),
    ] {
        let rows = rows_of(content.as_bytes(), "csv", &a_b(), options).await.unwrap();
        assert_eq!(rows, expected, "{content:?}");
    }
    let one = [("a", T::STRING.nullable())];
    assert_eq!(rows_of(b"x\n\n  \n\"\"\n", "csv", &one, &[]).await.unwrap(), [["x"], [""], ["  "], [""]]);
}

#[tokio::test]
async fn malformed_rows_are_left_out_or_filled_up() {
    let columns = [("a", T::Int.nullable()), ("b", T::STRING.nullable())];
    for (content, expected) in [
        ("1,x\n2\n3,y,z\n\n4,w\n", &[["1", "x"], ["2", N], [N, N], ["4", "w"]][..]),
        ("1,x\n,\n4,w", &[["1", "x"], [N, ""], ["4", "w"]]),
        ("1,\"x\"trail\n2,d\n", &[["2", "d"]]),
        ("1, \"x,y\"\n2,d\n", &[["2", "d"]]),
        ("1,\"unterminated\n2,d\n", &[]),
    ] {
        let rows = rows_of(content.as_bytes(), "csv", &columns, IGNORE).await.unwrap();
        assert_eq!(rows, expected, "{content:?}");
    }
}

#[tokio::test]
async fn malformed_rows_are_errors_with_file_and_line() {
    let columns = [("a", T::Int.nullable()), ("b", T::STRING.nullable())];
    for (content, line, words) in [
        (&b"1,x\n2\n"[..], 2, "Row length mismatch. 2 fields expected but was 1."),
        (b"1,x\n\n", 2, "Row length mismatch."),
        (b"1,\"x\ny\"\n3,y,z\n", 3, "Too many entries: expected at most 2 (value #2 \"z\")"),
        (b"1,x\nz,y\n", 2, "For input string: \"z\""),
        (b"1,x\n2,\"a\"x\n", 2, "Expected column separator character (',' (code 44)) or end-of-line"),
        (b"1,x\n2,\"a\n", 2, "Missing closing quote for value"),
        (b"1,x\n2,\xffbad\n", 2, "Invalid UTF-8 start byte 0xff"),
    ] {
        let error = rows_of(content, "csv", &columns, &[]).await.unwrap_err();
        assert!(error.message.starts_with(&format!("line {line} of file '")), "{error}");
        assert!(error.message.contains("/data' has "), "{error}");
        assert!(error.detail.clone().unwrap().contains(words), "{error:?}");
    }
    // Flink's parser gives up at what is no UTF-8 in any case.
    let error = rows_of(b"1,\xff\n", "csv", &columns, IGNORE).await.unwrap_err();
    assert_eq!(error.code, "invalid-encoding");
}

#[tokio::test]
async fn only_columns_that_are_read_are_looked_at() {
    let dir = folder();
    fs::write(dir.path().join("data"), "1,x\n2,3\n3\n").unwrap();
    let table = files_table(dir.path(), "csv", &[("a", T::Int.nullable()), ("b", T::Int.nullable())], &[]);
    let batches = crate::testing::read_batches(&table, Some(vec![0])).await.unwrap();
    assert_eq!(batches.iter().map(|b| b.num_rows()).sum::<usize>(), 3);
    let batches = crate::testing::read_batches(&table, Some(vec![])).await.unwrap();
    assert_eq!(batches.iter().map(|b| b.num_rows()).sum::<usize>(), 3);
    assert!(crate::testing::read_batches(&table, Some(vec![1])).await.is_err());
    let not_null = files_table(dir.path(), "csv", &[("a", T::Int.not_null()), ("b", T::Int.not_null())], IGNORE);
    assert_eq!(read(&not_null).await.unwrap_err().code, "null-in-not-null");
}

#[tokio::test]
async fn many_rows_come_in_batches() {
    let content: String = (0..20_000).map(|i| format!("{i},{}\n", "x".repeat(i % 50))).collect();
    let dir = folder();
    fs::write(dir.path().join("data"), content).unwrap();
    let table = files_table(dir.path(), "csv", &[("a", T::Int.nullable()), ("b", T::STRING.nullable())], &[]);
    let batches = crate::testing::read_batches(&table, None).await.unwrap();
    assert_eq!(batches.iter().map(|b| b.num_rows()).collect::<Vec<_>>(), [8192, 8192, 3616]);
    let rows = read(&table).await.unwrap();
    assert!(rows.iter().enumerate().all(|(i, r)| r[0] == i.to_string() && r[1].len() == i % 50));
}
