//! Which snapshot the options choose.

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
}

/// What a SELECT in this session is refused with; `None` if it is not.
fn refused_in(lake: &Lake, session: &[(&str, &str)], hints: &[(&str, &str)]) -> Option<(&'static str, String)> {
    let map = |of: &[(&str, &str)]| of.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let resolved = ScanOptions::resolve(&lake.table(), &map(hints), &map(session));
    resolved.err().map(|error| (error.code, error.detail.unwrap_or(error.message)))
}

#[tokio::test]
async fn streams_are_refused_for_flinks_reasons_first() {
    let lake = lake().await;
    let stream = |more: &[(&str, &str)]| {
        let hints: Vec<_> = [("streaming", "TRUE")].iter().chain(more).copied().collect();
        refused_in(&lake, &[], &hints).unwrap()
    };
    assert_eq!(stream(&[]), ("not-supported", "not supported: option 'streaming'".to_owned()));
    for (more, sentence) in [
        (&[("snapshot-id", "1")][..], "Cannot set snapshot-id option for streaming reader"),
        (&[("as-of-timestamp", "1")], "Cannot set as-of-timestamp option for streaming reader"),
        (&[("end-snapshot-id", "1")], "Cannot set end-snapshot-id option for streaming reader"),
        (&[("end-tag", "v1")], "Cannot set end-tag option for streaming reader"),
        (&[("tag", "v1")], "Cannot scan table using ref v1 configured for streaming reader"),
        (
            &[("starting-strategy", "INCREMENTAL_FROM_SNAPSHOT_ID")],
            "Invalid starting snapshot id for INCREMENTAL_FROM_SNAPSHOT_ID strategy: null",
        ),
        (
            &[("starting-strategy", "INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP")],
            "Invalid starting snapshot timestamp for INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP strategy: null",
        ),
    ] {
        assert_eq!(stream(more).1, sentence);
    }
    let batch = ("execution.runtime-mode", "BATCH");
    let unbounded = "Querying an unbounded table 'db.t' in batch mode is not allowed. The table source is unbounded.";
    assert_eq!(
        refused_in(&lake, &[batch], &[("streaming", "true"), ("tag", "x")]),
        Some(("unbounded-table", unbounded.to_owned()))
    );
    // Flink looks for boundedness in hints and table properties only
    let set = ("connector.iceberg.streaming", "true");
    let sentence = "Cannot set snapshot-id option for streaming reader".to_owned();
    assert_eq!(refused_in(&lake, &[batch, set], &[("snapshot-id", "1")]), Some(("invalid-option", sentence)));
    assert_eq!(refused_in(&lake, &[set], &[("streaming", "false")]), None);
    assert_eq!(refused_in(&lake, &[], &[("streaming", "maybe")]), None);
}

#[tokio::test]
async fn changes_between_snapshots() {
    let mut lake = lake().await;
    let columns = fields(&[(1, "id", PrimitiveType::Long)]);
    let rows = async |lake: &Lake, hints: &[(&str, &str)]| lake.rows_with(hints).await.join(" ");
    assert_eq!(rows(&lake, &[("start-snapshot-id", "1")]).await, "1 2");
    assert_eq!(rows(&lake, &[("end-snapshot-id", "2")]).await, "0 1");
    assert_eq!(rows(&lake, &[("start-snapshot-id", "1"), ("end-snapshot-id", "2")]).await, "1");
    assert_eq!(rows(&lake, &[("start-tag", "b1"), ("end-tag", "t2")]).await, "1");
    assert_eq!(rows(&lake, &[("end-tag", "main")]).await, "0 1 2");
    // what chooses a snapshot means nothing then
    let more =
        [("start-snapshot-id", "1"), ("snapshot-id", "9"), ("tag", "x"), ("branch", "x"), ("as-of-timestamp", "1")];
    assert_eq!(rows(&lake, &more).await, "1 2");
    assert_eq!(rows(&lake, &[("start-snapshot-id", "1"), ("limit", "1")]).await.len(), 1);
    let context = datafusion::prelude::SessionContext::new();
    let table = context.read_table(lake.provider(&[("start-snapshot-id", "1")])).unwrap();
    let id = datafusion::prelude::col("id").eq(datafusion::prelude::lit(2i64));
    assert_eq!(super::lake::lines(&table.filter(id).unwrap().collect().await.unwrap()), ["2"]);

    // deletes do not apply, and what was not appended is not there
    let delete = lake.key_deletes(&batch(&columns, vec![int64([Some(2)])]), &[1]);
    lake.operation = Operation::Delete;
    lake.commit(vec![delete]).await;
    let more = lake.data(&batch(&columns, vec![int64([Some(10)])]));
    lake.operation = Operation::Overwrite;
    lake.commit(vec![more]).await;
    assert_eq!(rows(&lake, &[]).await, "0 1 10");
    assert_eq!(rows(&lake, &[("start-snapshot-id", "1")]).await, "1 2");
    assert_eq!(rows(&lake, &[("start-snapshot-id", "3")]).await, "");
    // files whose entries another commit carried over are not added twice, and a start may have expired
    lake.operation = Operation::Append;
    let more = lake.data(&batch(&columns, vec![int64([Some(11)])]));
    lake.commit(vec![more]).await;
    lake.change(|b| b.remove_snapshots(&[1]).remove_ref("b1"));
    assert_eq!(rows(&lake, &[("start-snapshot-id", "1")]).await, "1 11 2");
    assert_eq!(rows(&lake, &[("end-snapshot-id", "6")]).await, "1 11 2");

    for (hints, sentence) in [
        (
            &[("start-snapshot-id", "2"), ("end-snapshot-id", "2")][..],
            "Starting snapshot (exclusive) 2 is not a parent ancestor of end snapshot 2",
        ),
        (
            &[("start-snapshot-id", "3"), ("end-snapshot-id", "2")],
            "Starting snapshot (exclusive) 3 is not a parent ancestor of end snapshot 2",
        ),
        (&[("start-snapshot-id", "9")], "Starting snapshot (exclusive) 9 is not a parent ancestor of end snapshot 6"),
        (&[("end-snapshot-id", "9")], "Cannot find the end snapshot: 9"),
        (&[("start-tag", "x")], "Cannot find snapshot with tag x"),
        (&[("end-tag", "x")], "Cannot find snapshot with tag x"),
        (&[("start-tag", "x"), ("start-snapshot-id", "1")], "START_SNAPSHOT_ID and START_TAG cannot both be set."),
        (&[("end-tag", "x"), ("end-snapshot-id", "1")], "END_SNAPSHOT_ID and END_TAG cannot both be set."),
        (&[("start-snapshot-id", "abc")], "For input string: \"abc\""),
    ] {
        assert_eq!(refused(&lake, hints).2, sentence);
    }
    let changes = lake.options(&[("start-snapshot-id", "1")]).unwrap();
    assert_eq!(changes.only_snapshot().unwrap_err().detail.unwrap(), "Incremental append scan is not supported");
    let empty = Lake::new(FormatVersion::V2, schema(columns), &[]);
    assert_eq!(
        refused(&empty, &[("start-snapshot-id", "1")]).2,
        "End snapshot is not set and table has no current snapshot"
    );
    assert_eq!(refused(&empty, &[("end-snapshot-id", "1")]).2, "Cannot find the end snapshot: 1");
}

#[tokio::test]
async fn values_of_options() {
    let mut lake = lake().await;
    for (name, value, sentence) in [
        ("split-size", "abc", "For input string: \"abc\""),
        ("split-size", "0", "Split size must be > 0: 0"),
        ("split-lookback", "0", "Split planning lookback must be > 0: 0"),
        ("split-lookback", "3000000000", "For input string: \"3000000000\""),
        ("split-file-open-cost", "-1", "File open cost must be >= 0: -1"),
        ("max-planning-snapshot-count", "abc", "For input string: \"abc\""),
        (
            "max-allowed-planning-failures",
            "-2",
            "Cannot set maxAllowedPlanningFailures to a negative number other than -1.",
        ),
        ("start-snapshot-timestamp", "abc", "For input string: \"abc\""),
        ("scan.parallelism", "abc", "For input string: \"abc\""),
        ("scan.parallelism", "0", "Invalid configured parallelism 0 for table 'db.t'."),
        ("table.exec.iceberg.worker-pool-size", "abc", "For input string: \"abc\""),
        (
            "monitor-interval",
            "abc",
            "text does not start with a number, and is not a valid ISO-8601 duration format: abc",
        ),
        (
            "starting-strategy",
            "nope",
            "No enum constant org.apache.iceberg.flink.source.StreamingStartingStrategy.nope",
        ),
        ("watermark-column-time-unit", "nope", "No enum constant java.util.concurrent.TimeUnit.nope"),
    ] {
        let (code, _, detail) = refused(&lake, &[(name, value)]);
        assert_eq!((code, detail.as_str()), ("invalid-option", sentence), "{name}");
        // the value in SET is refused by a read as well
        let key = format!("connector.iceberg.{name}");
        let known = calve_options::find(&key, calve_options::Place::Session).is_some();
        assert_eq!(refused_in(&lake, &[(&key, value)], &[]).is_some(), known, "{name}");
    }
    for (name, value) in [
        ("monitor-interval", "10 s"),
        ("case-sensitive", "true"),
        ("include-column-stats", "true"),
        ("max-planning-snapshot-count", "-1"),
        ("max-allowed-planning-failures", "-1"),
        ("start-snapshot-timestamp", "1"),
        ("watermark-column", "id"),
        ("scan.parallelism", "3"),
    ] {
        assert_eq!(chosen(&lake, &[(name, value)]), Some(3), "{name}");
    }
    assert_eq!(refused(&lake, &[("watermark-column", "nope")]).0, "unknown-column");
    lake.set_property("read.split.target-size", "abc");
    assert_eq!(refused(&lake, &[]).2, "For input string: \"abc\"");
    assert_eq!(chosen(&lake, &[("split-size", "1")]), Some(3));
}

#[tokio::test]
async fn limits_and_table_properties() {
    let mut lake = lake().await;
    assert_eq!(lake.rows_with(&[("limit", "2")]).await.len(), 2);
    assert_eq!(lake.rows_with(&[("limit", "-1")]).await.len(), 3);
    // Flink's readers know no limit below 1
    assert_eq!(lake.rows_with(&[("limit", "0")]).await.len(), 3);
    assert_eq!(lake.rows_with(&[("limit", "-2")]).await.len(), 3);
    assert_eq!(refused(&lake, &[("limit", "x")]).0, "invalid-option");
    lake.set_property("branch", "b1");
    assert_eq!(chosen(&lake, &[]), Some(1));
    assert_eq!(chosen(&lake, &[("branch", "main")]), Some(3));
    // a hint, the table property, SET
    lake.set_property("branch", "main");
    let rows = async |lake: &Lake, hints: &[(&str, &str)]| {
        let map = |of: &[(&str, &str)]| of.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let session = [("connector.iceberg.limit", "2"), ("connector.iceberg.snapshot-id", "1")];
        let options = ScanOptions::resolve(&lake.table(), &map(hints), &map(&session)).unwrap();
        let provider = crate::scan::provider(lake.table(), options).unwrap();
        let read = datafusion::prelude::SessionContext::new().read_table(provider).unwrap();
        read.collect().await.unwrap().iter().map(|b| b.num_rows()).sum::<usize>()
    };
    assert_eq!(rows(&lake, &[]).await, 2);
    lake.set_property("limit", "1");
    assert_eq!((rows(&lake, &[]).await, rows(&lake, &[("limit", "5")]).await), (1, 3));
}

#[tokio::test]
async fn an_empty_table_has_no_rows() {
    let lake = Lake::new(FormatVersion::V2, schema(fields(&[(1, "id", PrimitiveType::Long)])), &[]);
    assert!(lake.rows().await.is_empty());
    assert_eq!(chosen(&lake, &[("branch", "main")]), None);
    assert_eq!(refused(&lake, &[("as-of-timestamp", "5")]).0, "unknown-snapshot");
}
