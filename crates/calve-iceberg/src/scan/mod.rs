//! Reading a table: one pinned snapshot, pruned, with all delete files applied.
//!
//! * [`ScanOptions`] picks the snapshot (time travel, branches, tags), or what was appended between two (`appends`).
//! * [`provider`] makes the DataFusion table; its `scan` plans: `plan` walks the manifests, `prune` skips what a
//!   filter rules out, `delete_index` finds the delete files of every data file.
//! * `source` reads: DataFusion's Parquet reader, fed by file with a field-id mapping (`layout`, `adapter`), with row
//!   selections for position deletes and deletion vectors (`access`) and a hash probe for equality deletes
//!   (`keytable`). Other formats (`avro`, `orc`) are read by `formats` with the same mapping and deletes. `rows` numbers
//!   rows. `deletes` loads delete files, each once per query, when a data file first needs them.

mod access;
mod adapter;
mod appends;
pub(crate) mod avro;
mod chosen;
mod context;
mod convert;
pub mod counters;
mod delete_index;
mod deletes;
mod formats;
mod guard;
mod key_rows;
mod keytable;
mod layout;
pub(crate) mod literal;
mod options;
mod orc;
mod plan;
mod predicate;
mod provider;
mod prune;
mod reader;
mod rows;
mod source;
mod statistics;
#[cfg(test)]
mod tests;

pub(crate) use chosen::ChosenFiles;
pub(crate) use context::ScanContext;
pub(crate) use convert::in_millis;
pub(crate) use delete_index::only_data_file;
pub(crate) use formats::columns_of;
pub(crate) use guard::caught;
pub(crate) use key_rows::KeyRows;
pub use options::ScanOptions;
pub(crate) use plan::{FileTask, plan_files};
pub use provider::provider;
pub(crate) use prune::Pruner;
pub(crate) use reader::{open as open_parquet, unreadable_because};
pub(crate) use rows::row_fields;
pub use rows::{RowColumn, provider_with};

/// What only `crate::fuzzing` sees.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzed {
    pub(crate) use super::avro::AvroFile;
    pub(crate) use super::deletes::{parse_vector, position_fields};
    pub(crate) use super::formats::Rows;
    pub(crate) use super::guard::guarded;
    pub(crate) use super::orc::OrcFile;
}

use crate::error::external;
