//! What a write did, in one line.

use std::fmt;

use calve_iceberg::commit::utc;

use crate::result::WriteSummary;

/// Rows, files, deletes by kind, snapshot, time: `3 rows written to ice.db.t: 1 data file, snapshot 42 (0.06 seconds)`.
impl fmt::Display for WriteSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(self))
    }
}

fn describe(summary: &WriteSummary) -> String {
    if let (Some(at), Some(id)) = (summary.committed_before, summary.snapshot_id) {
        let (rows, table) = (count(summary.rows, "row"), &summary.table);
        return format!(
            "nothing written to {table}: an earlier run of the job committed it, {rows} added, snapshot {id} of {}",
            utc(at)
        );
    }
    let mut line = match summary.rows {
        _ if summary.changed.is_some() => changed(summary),
        0 => format!("no rows written to {}", summary.table),
        rows => format!("{} written to {}", count(rows, "row"), summary.table),
    };
    if summary.data_files > 0 || summary.delete_files > 0 {
        line += &format!(": {}", count(summary.data_files as u64, "data file"));
    }
    if summary.delete_files > 0 {
        let kinds = [(summary.equality_deletes, "equality delete"), (summary.position_deletes, "position delete")];
        let kinds: Vec<_> = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| count(*n, kind)).collect();
        line += &format!(", {}", count(summary.delete_files as u64, "delete file"));
        if !kinds.is_empty() {
            line += &format!(" ({})", kinds.join(", "));
        }
    }
    if let Some(replaced) = summary.replaced_files.filter(|_| summary.snapshot_id.is_some()) {
        let verb = if summary.changed.is_some() { "removed" } else { "replaced" };
        line += &format!(", {} {verb}", count(replaced, "data file"));
    }
    if summary.dropped_rows > 0 {
        line += &format!(", {} with NULL in a NOT NULL column dropped", count(summary.dropped_rows, "row"));
    }
    if let Some(id) = summary.snapshot_id {
        line += &format!(", snapshot {id}");
    }
    line + &format!(" ({:.2} seconds)", summary.elapsed.as_secs_f64())
}

/// Of a DELETE, UPDATE or MERGE.
fn changed(summary: &WriteSummary) -> String {
    let rows = summary.changed.unwrap_or_default();
    let kinds = [(rows.deleted, "deleted"), (rows.updated, "updated"), (rows.inserted, "inserted")];
    let kinds: Vec<_> =
        kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{} {kind}", count(*n, "row"))).collect();
    match kinds.as_slice() {
        [] => format!("no rows changed in {}", summary.table),
        kinds => format!("{} in {}", kinds.join(", "), summary.table),
    }
}

fn count(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::result::RowCounts;

    #[test]
    fn a_write_is_one_line() {
        let mut summary = WriteSummary {
            table: "ice.shop.orders".to_owned(),
            rows: 3,
            data_files: 1,
            delete_files: 2,
            equality_deletes: 2,
            position_deletes: 1,
            replaced_files: None,
            changed: None,
            dropped_rows: 0,
            snapshot_id: Some(42),
            committed_before: None,
            elapsed: Duration::from_millis(56),
        };
        assert_eq!(
            describe(&summary),
            "3 rows written to ice.shop.orders: 1 data file, 2 delete files (2 equality deletes, 1 position delete), \
             snapshot 42 (0.06 seconds)"
        );
        let overwrite = WriteSummary { delete_files: 0, replaced_files: Some(2), ..summary.clone() };
        assert_eq!(
            describe(&overwrite),
            "3 rows written to ice.shop.orders: 1 data file, 2 data files replaced, snapshot 42 (0.06 seconds)"
        );
        let changed = Some(RowCounts { deleted: 1, updated: 2, inserted: 0 });
        let merge = WriteSummary { delete_files: 0, replaced_files: Some(1), changed, ..summary.clone() };
        assert_eq!(
            describe(&merge),
            "1 row deleted, 2 rows updated in ice.shop.orders: 1 data file, 1 data file removed, snapshot 42 (0.06 seconds)"
        );
        let before = WriteSummary { committed_before: Some(1_769_860_800_000), ..summary.clone() };
        assert_eq!(
            describe(&before),
            "nothing written to ice.shop.orders: an earlier run of the job committed it, 3 rows added, snapshot 42 of \
             2026-01-31T12:00:00Z"
        );
        summary =
            WriteSummary { rows: 0, data_files: 0, delete_files: 0, dropped_rows: 1, snapshot_id: None, ..summary };
        assert_eq!(
            describe(&summary),
            "no rows written to ice.shop.orders, 1 row with NULL in a NOT NULL column dropped (0.06 seconds)"
        );
    }
}
