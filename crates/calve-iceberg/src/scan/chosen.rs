//! A scan of some data files of a snapshot.

use std::collections::HashSet;
use std::sync::Arc;

use crate::write::WholeFiles;

/// Which data files a scan reads.
#[derive(Clone, Debug, Default)]
pub(crate) enum ChosenFiles {
    /// All that its filters leave.
    #[default]
    All,
    /// Those of these locations.
    Only(Arc<HashSet<String>>),
    /// All but those that a statement takes away unread, as known when the scan is planned.
    Without(Arc<WholeFiles>),
}

impl ChosenFiles {
    /// Whether the file at that location is read.
    pub(crate) fn has(&self, path: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(files) => files.contains(path),
            Self::Without(whole) => !whole.is_unread(path),
        }
    }
}
