//! `streaming-upsert-read`: a streaming read of a table that is upserted. Flink's source reads the files that appends
//! add; the commits of upserts are skipped in silence, so that rows are missing.

use super::{Finding, Seen};
use crate::check::{Severity, insert_of, names};

/// Tells of each use of a table.
pub(super) fn check(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    let target = insert_of(seen.statement).map(|insert| insert.table.span);
    for reference in seen.named.iter().filter(|reference| Some(reference.span) != target) {
        let Some(table) = seen.iceberg(reference) else { continue };
        let is_true = |value: &str| value.trim().eq_ignore_ascii_case("true");
        let hint = reference.hints.iter().find(|(name, _)| name == "streaming").map(|(_, value)| value.as_str());
        let is_upserted =
            ["write.upsert.enabled", "upsert-enabled"].into_iter().any(|p| table.property(p).is_some_and(is_true));
        if !is_upserted || !hint.or_else(|| table.property("streaming")).is_some_and(is_true) {
            continue;
        }
        let name = reference.parts.join(".");
        let message = format!("a streaming read of '{name}', which is upserted, misses rows");
        let place = if hint.is_some() { names::hint_place(seen.statement, reference) } else { reference.span };
        found.push(
            Finding::new(Severity::Warning, "streaming-upsert-read", message, place)
                .with_detail("Flink reads the files that appends add to a table, and skips the commits of upserts.")
                .with_hint("read a snapshot of the table: leave out 'streaming'"),
        );
    }
}
