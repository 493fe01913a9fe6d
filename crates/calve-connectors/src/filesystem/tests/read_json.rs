use super::*;

const IGNORE: &[(&str, &str)] = &[("json.ignore-parse-errors", "true")];
const N: &str = "<NULL>";

/// A column's value for each JSON text, with `ignore-parse-errors`.
async fn values_with(logical: T, texts: &[&str], options: &[(&str, &str)]) -> Vec<String> {
    let lines: String = texts.iter().map(|t| format!("{{\"id\":0,\"v\":{t}}}\n")).collect();
    let columns = [("id", T::Int.nullable()), ("v", logical.nullable())];
    let all = [IGNORE, options].concat();
    rows_of(lines.as_bytes(), "json", &columns, &all).await.unwrap().into_iter().map(|r| r[1].clone()).collect()
}

async fn values(logical: T, texts: &[&str]) -> Vec<String> {
    values_with(logical, texts, &[]).await
}

#[tokio::test]
async fn simple_values() {
    let texts = ["\"a\"", "1", "1.50", "1e2", "true", "null", r#"{"b": 1, "a":[1, 2]}"#, r#"[1, {"x":null}]"#];
    let expected = ["a", "1", "1.50", "1e2", "true", N, r#"{"b":1,"a":[1,2]}"#, r#"[1,{"x":null}]"#];
    assert_eq!(values(T::STRING, &texts).await, expected);
    let slow = [("json.decode.json-parser.enabled", "false")];
    let expected = ["1", "1.5", "100.0", "1.2345678901234568E29"];
    let texts = ["1", "1.50", "1e2", "123456789012345678901234567890.5"];
    assert_eq!(values_with(T::STRING, &texts, &slow).await, expected);

    let texts =
        ["1", "\"2\"", "\" 3 \"", "4.0", "4.7", "\"4.7\"", "2147483648", "true", "\"\"", "{}", "[1]", "1e2", "\"+5\""];
    assert_eq!(values(T::Int, &texts).await, ["1", "2", "3", "4", "4", N, N, N, N, N, N, "100", "5"]);
    assert_eq!(values(T::TinyInt, &["127", "128", "1.5", "true"]).await, ["127", N, N, N]);
    let texts = ["9223372036854775807", "9223372036854775808", "1.9", "1e3"];
    assert_eq!(values(T::BigInt, &texts).await, ["9223372036854775807", N, "1", "1000"]);
    let texts = ["true", "\"TRUE\"", "\"t\"", "1", "\" true \"", "{}"];
    assert_eq!(values(T::Boolean, &texts).await, ["TRUE", "TRUE", "FALSE", "FALSE", "TRUE", "FALSE"]);
    let texts = ["1", "\"1.5\"", "1e400", "\"NaN\"", "true", "\"\"", "{}"];
    assert_eq!(values(T::Double, &texts).await, ["1.0", "1.5", "Infinity", "NaN", N, N, N]);
    let texts = ["1", "1.005", "999.995", "1234.5", "\" 1.5 \"", "\"x\"", "1e2", "true"];
    assert_eq!(values(decimal(5, 2), &texts).await, ["1.00", "1.01", N, N, "1.50", N, "100.00", N]);
    assert_eq!(values(T::BYTES, &["\"aGk=\"", "\"aGk\"", "1", "\"\""]).await, ["x'6869'", N, N, "x''"]);
}

#[tokio::test]
async fn times() {
    let texts = ["\"2024-01-05\"", "\"2024-1-5\"", "\"2024-02-30\"", "19727"];
    assert_eq!(values(T::Date, &texts).await, ["2024-01-05", N, N, N]);
    let texts = ["\"10:11:12.345\"", "\"10:11\"", "\"24:00:00\"", "3600000"];
    assert_eq!(values(T::Time(0), &texts).await, ["10:11:12", N, "00:00:00", N]);
    let texts = ["\"2024-01-05 10:11:12.123456789\"", "\"2024-01-05T10:11\"", "\"2024-02-30 00:00:00\""];
    let expected = ["2024-01-05 10:11:12.123", N, "2024-02-29 00:00:00.000"];
    assert_eq!(values(T::Timestamp(3), &texts).await, expected);
    let iso = [("json.timestamp-format.standard", "ISO-8601")];
    assert_eq!(values_with(T::Timestamp(3), &texts, &iso).await, [N, "2024-01-05 10:11:00.000", N]);
    let texts = ["\"2024-01-05 10:11:12Z\"", "\"2024-01-05T10:11:12Z\"", "\"2024-01-05 10:11:12\""];
    assert_eq!(values(T::TimestampLtz(3), &texts).await, ["2024-01-05 10:11:12.000", N, N]);
}

#[tokio::test]
async fn nested() {
    let texts = ["[1,2]", "[1,null]", "[1,\"x\",3]", "[]", "1", "{}"];
    assert_eq!(values(array(T::Int), &texts).await, ["[1, 2]", "[1, NULL]", "[1, NULL, 3]", "[]", N, N]);
    let rows = array(row(&[("a", T::Int)]));
    assert_eq!(values(rows, &[r#"[{"a":1},{"b":2},null]"#]).await, ["[(1), (NULL), NULL]"]);
    let map = T::Map(Box::new(T::STRING.nullable()), Box::new(T::Int.nullable()));
    let texts = [r#"{"a":1,"b":null}"#, r#"{"a":1,"a":2}"#, "{}", r#"{"a":"x"}"#, "[]"];
    assert_eq!(values(map.clone(), &texts).await, ["{a=1, b=NULL}", "{a=2}", "{}", "{a=NULL}", N]);
    let slow = [("json.decode.json-parser.enabled", "false")];
    assert_eq!(values_with(map, &["[]", "1"], &slow).await, ["{}", "{}"]);
    let multiset = T::Multiset(Box::new(T::STRING.nullable()));
    assert_eq!(values(multiset, &[r#"{"a":1,"b":3}"#]).await, ["{a=1, b=3}"]);
    let inner = row(&[("c", T::STRING), ("d", T::Boolean)]);
    let texts = [r#"{"a":1,"b":{"c":"x","d":true}}"#, r#"{"a":"x","b":{"d":"x"}}"#, "{}", "[]", "null", "\"x\""];
    let expected = ["(1, (x, TRUE))", "(NULL, (NULL, FALSE))", "(NULL, NULL)", N, N, N];
    assert_eq!(values(row(&[("a", T::Int), ("b", inner)]), &texts).await, expected);
    let bad = T::Map(Box::new(T::Int.nullable()), Box::new(T::Int.nullable()));
    let error = rows_of(b"", "json", &[("v", bad.nullable())], &[]).await.unwrap_err();
    assert!(error.detail.unwrap().contains("JSON format doesn't support non-string as key type of map."));
}

fn a_b() -> [(&'static str, DataType); 2] {
    [("a", T::Int.nullable()), ("b", T::STRING.nullable())]
}

#[tokio::test]
async fn lines() {
    for (content, expected) in [
        (&b"{\"a\":1,\"b\":\"x\"}\n\n{\"a\":2}\n"[..], &[["1", "x"], ["2", N]][..]),
        (b"{\"a\":1}\r\n   {\"a\":3} \n", &[["1", N], ["3", N]]),
        (b"{\"a\":1,\"b\":\"x\"}{\"a\":7}\n{\"a\":2} trailing\n", &[["1", "x"], ["2", N]]),
        (b"{\"a\":1}\n[{\"a\":8},{\"a\":9}]\n[]\n", &[["1", N], ["8", N], ["9", N]]),
        (b"\xef\xbb\xbf{\"a\":1}\n", &[["1", N]]),
        (b"{\"a\":1,\"b\":\"x\ty\",\"c\":{\"deep\":[1,{}]}}\n", &[["1", "x\ty"]]),
    ] {
        assert_eq!(rows_of(content, "json", &a_b(), &[]).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn malformed_lines() {
    for (content, words, ignored) in [
        (&b"{\"a\":1}\nnot json\n"[..], "Failed to deserialize JSON 'not json'.", &[["1", N]][..]),
        (b"{\"a\":1}\n{\"a\":5,\"b\":\"y\"\n", "Failed to deserialize JSON", &[["1", N]]),
        (b"{\"a\":1}\n[1,2]\n", "Illegal JSON object data...", &[["1", N]]),
        (b"{\"a\":1}\n\"s\"\n", "Illegal JSON object data...", &[["1", N]]),
        (b"{\"a\":1}\nnull\n", "Illegal JSON object data...", &[["1", N]]),
        (b"{\"a\":1}\n{\"a\":2,\"b\":\"\xff\"}\n", "Failed to deserialize JSON", &[["1", N]]),
        (b"{\"a\":1}\n{\"a\":\"x\"}\n", "Fail to deserialize at field: a.", &[["1", N], [N, N]]),
    ] {
        let error = rows_of(content, "json", &a_b(), &[]).await.unwrap_err();
        assert!(error.message.starts_with("line 2 of file '"), "{error}");
        assert!(error.detail.clone().unwrap().contains(words), "{error:?}");
        assert_eq!(rows_of(content, "json", &a_b(), IGNORE).await.unwrap(), ignored);
    }
    let missing = [("json.fail-on-missing-field", "true")];
    let error = rows_of(b"{\"a\":1}\n", "json", &a_b(), &missing).await.unwrap_err();
    assert!(error.message.ends_with("has no field 'b'"), "{error}");
    assert!(error.detail.unwrap().contains("Some field is missing in the JSON data."));
}

#[tokio::test]
async fn raw_lines() {
    let columns = [("line", T::STRING.nullable())];
    let rows = rows_of(b"a,b\n\n{}\r\nlast", "raw", &columns, &[]).await.unwrap();
    assert_eq!(rows, [["a,b"], [""], ["{}"], ["last"]]);
}
