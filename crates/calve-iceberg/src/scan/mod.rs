//! Reading a table: one pinned snapshot, pruned, with all delete files applied.
//!
//! * [`ScanOptions`] picks the snapshot (time travel, branches, tags).
//! * [`provider`] makes the DataFusion table; its `scan` plans: `plan` walks the manifests, `prune` skips what a
//!   filter rules out, `delete_index` finds the delete files of every data file.
//! * `source` reads: DataFusion's Parquet reader, fed by file with a field-id mapping (`layout`, `adapter`), with row
//!   selections for position deletes and deletion vectors (`access`) and a hash probe for equality deletes
//!   (`keytable`). `deletes` loads delete files, each once per query, when a data file first needs them.

mod access;
mod adapter;
mod context;
mod convert;
mod delete_index;
mod deletes;
mod keytable;
mod layout;
pub(crate) mod literal;
mod options;
mod plan;
mod predicate;
mod provider;
mod prune;
mod reader;
mod source;
#[cfg(test)]
mod tests;

pub use options::ScanOptions;
pub use provider::provider;

use calve_types::Error;
use datafusion::common::DataFusionError;

/// A calve error on its way through DataFusion.
fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
