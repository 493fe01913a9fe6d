//! `ineffective-option`: an option that is known, and does nothing where it stands, though its name sounds as if it did:
//! `write.delete.distribution-mode`, which only Spark reads, or a table property in SET. The option table says which ones.

use super::{Finding, Seen};
use crate::check::Severity;

/// Tells of every such option of a statement.
pub(super) fn check(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    for given in seen.options() {
        let Some(why) = calve_options::ineffective(given.name, given.place) else { continue };
        let message = format!("option '{}' has no effect here", given.name);
        found.push(Finding::new(Severity::Warning, "ineffective-option", message, given.span).with_detail(why));
    }
}
