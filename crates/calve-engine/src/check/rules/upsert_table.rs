//! `upsert-without-key`, `partition-not-in-key`, `upsert-format-v1`: a table whose properties ask for upserts that its
//! INSERTs will be refused. Flink creates it, and fails at the first INSERT: it is an error there and a warning here.

use std::collections::BTreeMap;

use calve_iceberg::write::{WriteOptions, check as check_write};

use super::{Finding, Seen};
use crate::check::Severity;

/// Tells of a table at its definition what an INSERT would be refused for.
pub(super) fn check(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    let Some((table, properties)) = seen.defined() else { return };
    let session = seen.session.options.all();
    let Ok(options) = WriteOptions::resolve(&table, &BTreeMap::new(), session, false) else { return };
    if !options.is_upsert() {
        return;
    }
    if let Err(error) = check_write(&table, &options) {
        let switch = |p: &&calve_sql::Property| matches!(p.key.as_str(), "write.upsert.enabled" | "upsert-enabled");
        let place = properties.iter().find(switch).map_or(seen.place, |property| property.span);
        found.push(Finding { severity: Severity::Warning, ..Finding::of_error(error, place) });
    }
}
