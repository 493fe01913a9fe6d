//! Clocks of several machines differ. A version may be a minute older than the one before it, not more: nobody reads such a
//! table. Rows are never refused because of a clock.

use super::*;

/// The table's only version, as if a machine had written it whose clock was ahead by so many milliseconds.
async fn written_ahead(w: &Warehouse, millis: i64) -> Table {
    let table = w.table(&QUICK).await;
    let file = w.dir.path().join("db/t/metadata/v1.metadata.json");
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    json["last-updated-ms"] = (chrono::Utc::now().timestamp_millis() + millis).into();
    std::fs::write(&file, json.to_string()).unwrap();
    Warehouse::open(&w.dir).load_table(table.ident()).await.unwrap().unwrap()
}

fn property(value: &str) -> Vec<TableUpdate> {
    vec![TableUpdate::SetProperties { updates: HashMap::from([("p".to_owned(), value.to_owned())]) }]
}

/// What another process reads.
async fn reread(w: &Warehouse, table: &Table) -> Table {
    Warehouse::open(&w.dir).load_table(table.ident()).await.unwrap().unwrap()
}

#[tokio::test]
async fn small_differences_are_allowed() {
    let w = Warehouse::new();
    let base = written_ahead(&w, 30_000).await;
    let changed = change(&*w.catalog, &base, |_| Ok(property("1"))).await.unwrap();
    assert!(changed.metadata().last_updated_ms() < base.metadata().last_updated_ms());
    assert_eq!(reread(&w, &base).await.property("p"), Some("1"));
    let appended = w.commit(&changed, append("a", 1)).await;
    let appended = w.commit(&appended, append("b", 1)).await;
    change(&*w.catalog, &appended, |_| Ok(property("2"))).await.unwrap();
    assert_eq!(names(&live(&reread(&w, &base).await, "main").await), ["a", "b"]);
}

#[tokio::test]
async fn rows_get_in_with_a_clock_that_is_behind_and_changes_of_the_table_do_not() {
    const HOUR: i64 = 3_600_000;
    let w = Warehouse::new();
    let base = written_ahead(&w, HOUR).await;
    let version = base.metadata_location().to_owned();
    let refused = async || {
        let table = w.catalog.load_table(base.ident()).await.unwrap().unwrap();
        change(&*w.catalog, &table, |_| Ok(property("1"))).await.unwrap_err()
    };
    let error = refused().await;
    let ahead = base.metadata().last_updated_ms();
    assert_eq!(error.code, "clock-behind");
    let start = format!("table 'db.t' was changed at {}, and it is only ", utc(ahead));
    assert!(error.message.starts_with(&start), "{error}");
    let detail = error.detail.unwrap();
    let end = format!(": before the latest metadata log entry timestamp {ahead}");
    assert!(detail.starts_with("Invalid update timestamp ") && detail.ends_with(&end), "{detail}");
    let newest = reread(&w, &base).await;
    assert_eq!((newest.metadata_location(), newest.property("p")), (version.as_str(), None));

    let appended = w.commit(&base, append("a", 1)).await;
    let snapshot = appended.metadata().current_snapshot().unwrap();
    assert_eq!((snapshot.timestamp_ms(), appended.metadata().last_updated_ms()), (ahead, ahead));
    assert_eq!(refused().await.code, "clock-behind");
    let branch = TableUpdate::SetSnapshotRef {
        ref_name: "b".to_owned(),
        reference: SnapshotReference::new(snapshot.snapshot_id(), SnapshotRetention::branch(None, None, None)),
    };
    let error = change(&*w.catalog, &appended, |_| Ok(vec![branch.clone()])).await.unwrap_err();
    assert_eq!(error.code, "clock-behind");
    w.commit(&appended, append("b", 1)).await;
    assert_eq!(names(&live(&reread(&w, &base).await, "main").await), ["a", "b"]);
}
