use calve_types::{Error, LogicalType as T};

use super::*;

fn columns() -> Vec<(&'static str, DataType)> {
    vec![("id", T::BigInt.not_null()), ("p", T::Int.not_null()), ("d", T::Double.nullable())]
}

async fn refused(
    key: &[&str],
    partition: &[(&str, Transform)],
    with: &[(&str, &str)],
    hints: &[(&str, &str)],
) -> Error {
    let mut f = Fixture::new(Shape { columns: columns(), key, partition, with }).await;
    f.hints = owned(hints);
    f.prepare().await.err().unwrap()
}

#[tokio::test]
async fn what_flink_refuses_before_the_first_row() {
    let by_p = [("p", Transform::Identity)];
    let upsert = [("upsert-enabled", "TRUE")];
    let detail = |e: Error| e.detail.unwrap();
    assert_eq!(
        detail(refused(&[], &[], &[], &upsert).await),
        "Equality field columns shouldn't be empty when configuring to use UPSERT data stream."
    );
    assert_eq!(
        detail(refused(&["id"], &[], &[], &[("upsert-enabled", "true"), ("overwrite-enabled", "true")]).await),
        "OVERWRITE mode shouldn't be enable when configuring to use UPSERT data stream."
    );
    assert_eq!(
        detail(refused(&["id"], &by_p, &[("write.upsert.enabled", "true")], &[]).await),
        "In UPSERT mode, source column 'p' of partition field '1000: p: identity(2)', should be included in equality \
         fields: '[id]'"
    );
    assert_eq!(
        detail(refused(&["id"], &by_p, &[], &[("distribution-mode", "HASH")]).await),
        "In 'hash' distribution mode with equality fields set, source column 'p' of partition field '1000: p: \
         identity(2)' should be included in equality fields: '[id]'"
    );
    // distribution comes before upsert
    assert_eq!(
        detail(refused(&[], &[], &[], &[("distribution-mode", "range"), ("upsert-enabled", "true")]).await),
        "Invalid write distribution mode: range. Need to define sort order or partition spec."
    );
    assert_eq!(detail(refused(&[], &[], &[], &[("distribution-mode", "x")]).await), "Invalid distribution mode: x");
    let v1 = refused(&["id"], &[], &[("format-version", "1")], &upsert).await;
    assert_eq!(v1.code, "upsert-format-v1");
    assert!(detail(v1).contains("Cannot write delete files in a v1 table"));
    assert_eq!(detail(refused(&[], &[], &[], &[("write-format", "csv")]).await), "Invalid file format: csv");
    assert_eq!(
        refused(&[], &[], &[], &[("target-file-size-bytes", "12k")]).await.message,
        "invalid value '12k' for option 'target-file-size-bytes': expected a whole number from 1"
    );
    assert_eq!(refused(&[], &[], &[], &[("compression-codec", "zip")]).await.code, "invalid-option");
    assert_eq!(refused(&[], &[], &[], &[("compression-level", "99")]).await.code, "invalid-option");
}

#[tokio::test]
async fn hints_outrank_the_session_and_that_outranks_the_table() {
    let with = [("write.upsert.enabled", "true"), ("write.target-file-size-bytes", "7")];
    let mut f = Fixture::new(Shape { columns: columns(), key: &["id"], partition: &[], with: &with }).await;
    let table = f.table().await;
    assert!(f.options(&table).unwrap().is_upsert());
    assert_eq!(f.options(&table).unwrap().target_file_size, 7);
    f.session.insert("upsert-enabled".to_owned(), "yes".to_owned());
    f.session.insert("target-file-size-bytes".to_owned(), "8".to_owned());
    assert!(!f.options(&table).unwrap().is_upsert(), "only 'true' is true");
    assert_eq!(f.options(&table).unwrap().target_file_size, 8);
    f.hints = owned(&[
        ("upsert-enabled", "True"),
        ("target-file-size-bytes", "9"),
        ("branch", "b"),
        ("write-parallelism", "2"),
    ]);
    let options = f.options(&table).unwrap();
    assert!(options.is_upsert() && options.is_keyed());
    assert_eq!((options.target_file_size, options.branch(), options.writers), (9, "b", 2));
    f.session.insert("parallelism.default".to_owned(), "x".to_owned());
    f.hints.remove("write-parallelism");
    assert_eq!(f.options(&table).unwrap_err().code, "invalid-option");
}

/// Flink's connector cannot tell a table's properties from hints.
#[tokio::test]
async fn an_option_among_the_table_properties_outranks_the_session() {
    let with = [("target-file-size-bytes", "6"), ("write.target-file-size-bytes", "7"), ("overwrite-enabled", "true")];
    let mut f = Fixture::new(Shape { columns: columns(), key: &[], partition: &[], with: &with }).await;
    f.session.insert("target-file-size-bytes".to_owned(), "8".to_owned());
    let options = f.options(&f.table().await).unwrap();
    assert_eq!((options.target_file_size, options.is_overwrite()), (6, true));
    f.hints = owned(&[("target-file-size-bytes", "9"), ("overwrite-enabled", "false")]);
    let options = f.options(&f.table().await).unwrap();
    assert_eq!((options.target_file_size, options.is_overwrite()), (9, false));
}

#[tokio::test]
async fn partitions_that_could_not_be_read_back() {
    let columns = vec![("t", T::Timestamp(9).nullable())];
    let (partition, with) = ([("t", Transform::Identity)], [("format-version", "3")]);
    let f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &with }).await;
    assert_eq!(f.prepare().await.err().unwrap().code, "not-supported");
}
