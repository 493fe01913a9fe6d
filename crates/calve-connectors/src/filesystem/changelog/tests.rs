#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_types::{DataType, LogicalType as T};

use crate::testing::{context, read_batches, table, texts};
use crate::{SinkMode, TableDefinition, sink, source};

fn columns() -> Vec<(&'static str, DataType)> {
    vec![("id", T::Int.nullable()), ("name", T::STRING.nullable()), ("w", T::Double.nullable())]
}

fn definition(format: &str, folder: &std::path::Path, options: &[(&str, &str)]) -> TableDefinition {
    let path = folder.to_str().unwrap();
    let mut all = vec![("path", path), ("format", format)];
    all.extend(options);
    table("filesystem", &columns(), &all)
}

/// The changes of a file, as `+I(1, a, 1.5)`, or the error.
async fn changes(format: &str, text: &str, options: &[(&str, &str)]) -> Result<Vec<String>, calve_types::Error> {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("t");
    std::fs::create_dir(&table).unwrap();
    std::fs::write(table.join("f"), text).unwrap();
    let definition = definition(format, &table, options);
    let mut types: Vec<DataType> = columns().into_iter().map(|(_, t)| t).collect();
    types.push(T::TinyInt.not_null());
    let mut all = vec![];
    for batch in read_batches(&definition, None).await? {
        for mut row in texts(&batch, &types) {
            let op = ["+I", "-U", "+U", "-D"][row.pop().unwrap().parse::<usize>().unwrap()];
            all.push(format!("{op}({})", row.join(", ").replace("<NULL>", "")));
        }
    }
    Ok(all)
}

#[tokio::test]
async fn debezium() {
    let text = "{\"before\":null,\"after\":{\"id\":1,\"name\":\"a\",\"w\":1.5},\"op\":\"c\"}\n\n\
                {\"before\":{\"id\":1,\"name\":\"a\"},\"after\":{\"id\":1,\"name\":\"b\"},\"op\":\"u\",\"ts_ms\":5}\n\
                {\"before\":{\"id\":1},\"after\":null,\"op\":\"d\"}\n{\"op\":\"r\",\"after\":{\"id\":\"7\"}}\n";
    let expected = ["+I(1, a, 1.5)", "-U(1, a, )", "+U(1, b, )", "-D(1, , )", "+I(7, , )"];
    assert_eq!(changes("debezium-json", text, &[]).await.unwrap(), expected);
    let wrapped: String =
        text.lines().filter(|l| !l.is_empty()).map(|l| format!("{{\"schema\":{{}},\"payload\":{l}}}\n")).collect();
    let with = [("debezium-json.schema-include", "true")];
    assert_eq!(changes("debezium-json", &wrapped, &with).await.unwrap(), expected);
}

#[tokio::test]
async fn canal_takes_unchanged_fields_from_the_new_row() {
    let text = "{\"type\":\"CREATE\",\"data\":null}\n\
                {\"type\":\"UPDATE\",\"data\":[{\"id\":\"1\",\"name\":\"A\",\"w\":\"2\"},{\"id\":\"2\",\"name\":\"B\",\"w\":\"3\"}],\
                \"old\":[{\"name\":\"a\"},{\"w\":null}]}\n";
    // `name` stands somewhere in `old`, and is no copy in the second row
    let expected = ["-U(1, a, )", "+U(1, A, 2.0)", "-U(2, , )", "+U(2, B, 3.0)"];
    assert_eq!(changes("canal-json", text, &[]).await.unwrap(), expected);
    let text = "{\"type\":\"INSERT\",\"database\":\"d1\",\"table\":\"t\",\"data\":[{\"id\":1}]}\n\
                {\"type\":\"INSERT\",\"database\":\"xd1\",\"table\":\"t\",\"data\":[{\"id\":2}]}\n";
    let with = [("canal-json.database.include", "d.*")];
    assert_eq!(changes("canal-json", text, &with).await.unwrap(), ["+I(1, , )"]);
}

#[tokio::test]
async fn maxwell_and_ogg() {
    let text = "{\"type\":\"insert\",\"data\":{\"id\":1,\"name\":\"a\",\"w\":1}}\n\
                {\"type\":\"update\",\"data\":{\"id\":1,\"name\":\"b\",\"w\":1},\"old\":{\"name\":\"a\"}}\n\
                {\"type\":\"delete\",\"data\":{\"id\":1,\"name\":\"b\",\"w\":1}}\n";
    let expected = ["+I(1, a, 1.0)", "-U(1, a, 1.0)", "+U(1, b, 1.0)", "-D(1, b, 1.0)"];
    assert_eq!(changes("maxwell-json", text, &[]).await.unwrap(), expected);
    let text = "{\"op_type\":\"I\",\"after\":{\"id\":1}}\n{\"op_type\":\"D\",\"before\":{\"id\":1}}\n";
    assert_eq!(changes("ogg-json", text, &[]).await.unwrap(), ["+I(1, , )", "-D(1, , )"]);
}

#[tokio::test]
async fn what_is_no_message_is_told_with_file_and_line() {
    let cases = [
        ("debezium-json", "{\"op\":\"u\",\"after\":{\"id\":1}}", "no row 'before'"),
        ("debezium-json", "{\"op\":\"x\",\"after\":{\"id\":1}}", "'x' in field 'op', which is no change"),
        ("debezium-json", "{\"after\":{\"id\":1}}", "no field 'op'"),
        ("debezium-json", "nonsense", "text that is no JSON"),
        ("debezium-json", "5", "a value that is no JSON object"),
        (
            "debezium-json",
            "{\"op\":\"c\",\"before\":{\"id\":\"x\"},\"after\":{\"id\":1}}",
            "'x' in column 'id' of type INT",
        ),
        ("canal-json", "{\"type\":\"UPDATE\",\"data\":[{\"id\":1}]}", "no rows 'old'"),
        ("canal-json", "{\"type\":\"INSERT\",\"data\":{\"id\":1}}", "which is an array"),
        ("maxwell-json", "{\"type\":\"bootstrap-insert\",\"data\":{\"id\":1}}", "which is no change"),
        ("ogg-json", "{\"op_type\":\"T\"}", "'T' in field 'op_type'"),
    ];
    for (format, message, expected) in cases {
        let error = changes(format, &format!("\n{message}\n"), &[]).await.unwrap_err();
        assert_eq!(error.code, "malformed-row", "{message}");
        assert!(error.message.starts_with("line 2 of file '"), "{}", error.message);
        assert!(error.message.contains(expected), "{message}: {}", error.message);
        assert!(error.detail.unwrap().contains(" JSON message '"), "{message}");
        let option = format!("{format}.ignore-parse-errors");
        let ignored = changes(format, &format!("\n{message}\n"), &[(&option, "true")]).await.unwrap();
        assert!(ignored.len() < 2, "{message}: {ignored:?}");
    }
}

#[tokio::test]
async fn changes_are_not_read_in_batch_mode() {
    let folder = tempfile::tempdir().unwrap();
    let (mut context, _) = context();
    context.batch = true;
    let definition = definition("ogg-json", &folder.path().join("t"), &[]);
    let error = source(&definition, &context).unwrap_err();
    assert_eq!(error.code, "changelog-in-batch");
    assert!(error.detail.unwrap().contains("only possible for INSERT-only table sources"));
    // they are written there
    assert!(sink(&definition, SinkMode::default(), &context).is_ok());
}
