//! Which snapshot the options choose.

use std::collections::BTreeMap;

use iceberg::spec::*;

use super::lake::{Lake, batch, fields, int64, schema};
use crate::scan::ScanOptions;

async fn lake() -> Lake {
    let columns = fields(&[(1, "id", PrimitiveType::Long)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    for i in 0..3 {
        let file = lake.data(&batch(&columns, vec![int64([Some(i)])]));
        lake.commit(vec![file]).await;
    }
    let reference = |id, retention| SnapshotReference { snapshot_id: id, retention };
    let branch =
        SnapshotRetention::Branch { min_snapshots_to_keep: None, max_snapshot_age_ms: None, max_ref_age_ms: None };
    lake.change(|b| b.set_ref("b1", reference(1, branch)).unwrap());
    lake.change(|b| b.set_ref("t2", reference(2, SnapshotRetention::Tag { max_ref_age_ms: None })).unwrap());
    lake
}

fn chosen(lake: &Lake, hints: &[(&str, &str)]) -> Option<i64> {
    lake.options(hints).unwrap().snapshot().map(|s| s.snapshot_id())
}

fn refused(lake: &Lake, hints: &[(&str, &str)]) -> (&'static str, String, String) {
    let error = lake.options(hints).unwrap_err();
    (error.code, error.message, error.detail.unwrap_or_default())
}

#[tokio::test]
async fn snapshots_branches_tags_and_times() {
    let lake = lake().await;
    assert_eq!(chosen(&lake, &[]), Some(3));
    assert_eq!(chosen(&lake, &[("snapshot-id", "1")]), Some(1));
    assert_eq!(chosen(&lake, &[("branch", "b1")]), Some(1));
    assert_eq!(chosen(&lake, &[("branch", "main")]), Some(3));
    assert_eq!(chosen(&lake, &[("tag", "t2")]), Some(2));
    assert_eq!(chosen(&lake, &[("tag", "t2"), ("branch", "b1")]), Some(2));
    assert_eq!(chosen(&lake, &[("tag", "t2"), ("snapshot-id", "1")]), Some(1));
    let at = |id: i64| lake.metadata.snapshot_by_id(id).unwrap().timestamp_ms();
    assert_eq!(chosen(&lake, &[("as-of-timestamp", &at(2).to_string())]), Some(2));
    assert_eq!(chosen(&lake, &[("as-of-timestamp", &(at(2) - 1).to_string())]), Some(1));
    assert_eq!(chosen(&lake, &[("as-of-timestamp", &i64::MAX.to_string()), ("branch", "main")]), Some(3));
    assert_eq!(lake.rows_with(&[("tag", "t2")]).await, ["0", "1"]);
}

#[tokio::test]
async fn what_is_not_there_is_refused_with_flinks_words() {
    let lake = lake().await;
    assert_eq!(refused(&lake, &[("snapshot-id", "9")]).2, "Cannot find snapshot with ID 9");
    assert_eq!(refused(&lake, &[("tag", "x")]).2, "Cannot find ref x");
    assert_eq!(refused(&lake, &[("branch", "x")]).2, "Cannot find ref x");
    assert_eq!(
        refused(&lake, &[("as-of-timestamp", "0")]).2,
        "Cannot find a snapshot older than 1970-01-01T00:00:00+00:00"
    );
    assert_eq!(refused(&lake, &[("snapshot-id", "x")]).0, "invalid-option");
    let both = refused(&lake, &[("tag", "t2"), ("as-of-timestamp", "1")]);
    assert_eq!(both.0, "invalid-option");
    assert_eq!(both.2, "Cannot override snapshot, already set snapshot id=2");
    assert_eq!(refused(&lake, &[("streaming", "true")]).1, "not supported: option 'streaming'");
    assert_eq!(refused(&lake, &[("start-tag", "t2")]).1, "not supported: option 'start-tag'");
    assert_eq!(chosen(&lake, &[("streaming", "false")]), Some(3));
    let session = BTreeMap::from([("connector.iceberg.streaming".to_owned(), "true".to_owned())]);
    assert!(ScanOptions::resolve(&lake.table(), &BTreeMap::new(), &session).is_err());
}

#[tokio::test]
async fn limits_and_table_properties() {
    let mut lake = lake().await;
    assert_eq!(lake.rows_with(&[("limit", "2")]).await.len(), 2);
    assert_eq!(lake.rows_with(&[("limit", "-1")]).await.len(), 3);
    assert_eq!(lake.rows_with(&[("limit", "0")]).await.len(), 0);
    assert_eq!(refused(&lake, &[("limit", "-2")]).0, "invalid-option");
    lake.set_property("branch", "b1");
    assert_eq!(chosen(&lake, &[]), Some(1));
    assert_eq!(chosen(&lake, &[("branch", "main")]), Some(3));
}

#[tokio::test]
async fn an_empty_table_has_no_rows() {
    let lake = Lake::new(FormatVersion::V2, schema(fields(&[(1, "id", PrimitiveType::Long)])), &[]);
    assert!(lake.rows().await.is_empty());
    assert_eq!(chosen(&lake, &[("branch", "main")]), None);
    assert_eq!(refused(&lake, &[("as-of-timestamp", "5")]).0, "unknown-snapshot");
}
