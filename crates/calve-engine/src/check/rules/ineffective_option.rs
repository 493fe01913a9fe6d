//! `ineffective-option`: an option that is known, and does nothing where it stands, though its name sounds as if it did:
//! `write.delete.distribution-mode`, which only Spark reads, or a table property in SET. The option table says which ones;
//! of a read, the session warns as well.

use super::{Finding, Seen};
use crate::check::Severity;
use crate::result::Warning;

/// Tells of every such option of a statement.
pub(super) fn check(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    for given in seen.options() {
        let Some(why) = calve_options::ineffective(given.name, given.place) else { continue };
        let message = format!("option '{}' has no effect here", given.name);
        found.push(Finding::new(Severity::Warning, "ineffective-option", message, given.span).with_detail(why));
    }
}

/// Options of a read that choose what was appended between two snapshots.
const CHANGES: [&str; 4] = ["start-snapshot-id", "start-tag", "end-snapshot-id", "end-tag"];

/// Options of a read that choose one snapshot.
const SNAPSHOT: [&str; 5] = ["snapshot-id", "tag", "branch", "as-of-timestamp", "as-of-job-id"];

/// Warns of options in a hint that choose a snapshot where changes are read: they mean nothing then (Flink's
/// `FlinkSplitPlanner`). `is_given` says whether the hint or the table gives an option.
pub(crate) fn beside_changes(hint: &[&str], is_given: impl Fn(&str) -> bool) -> Vec<Warning> {
    let Some(changes) = CHANGES.into_iter().find(|name| is_given(name)) else { return vec![] };
    let ignored = hint.iter().filter(|name| SNAPSHOT.contains(*name));
    let warning = |name: &&str| {
        let message = format!("option '{name}' has no effect beside '{changes}': changes between snapshots are read");
        Warning::new("ineffective-option", message)
    };
    ignored.map(warning).collect()
}
