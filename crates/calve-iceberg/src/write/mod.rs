//! Rows to files that nothing refers to yet.
//!
//! 1. [`WriteOptions::resolve`] settles hint > SET > table property > default.
//! 2. [`prepare`] refuses what cannot be written, before any row is read, and finds out which live rows an upsert may
//!    replace (`live`).
//! 3. [`Writer::write`] spreads the rows over writer tasks (`route`). Each keeps a file open per partition
//!    (`fanout`); `append` writes rows as they come, `delta` one row per primary key, and takes rows
//!    back (`change`). In an upsert by position `replace` does, and in the end `find` looks for the older rows,
//!    which `positions` deletes.
//! 4. [`Written`] is what a commit takes over. Until then every file is on a list (`upload`), and is deleted if
//!    anything goes wrong.
//!
//! DELETE, UPDATE and MERGE change rows that were read: [`RowLevel`] and the modules `row_level*`.

mod append;
mod avro;
mod change;
mod commit_keys;
mod delta;
mod encode;
mod fanout;
mod file;
mod file_options;
mod find;
mod job;
mod key_map;
mod key_runs;
mod key_values;
mod keys;
mod last_of_key;
mod live;
mod location;
mod lookup;
mod memory;
pub(crate) mod metrics;
mod omitted;
mod options;
mod orc;
mod output;
mod overflow;
mod parquet_schema;
pub(crate) mod partition;
mod position_deletes;
mod positions;
mod prepare;
mod ranges;
mod replace;
mod route;
mod row_groups;
mod row_level;
mod row_level_carried;
mod row_level_changes;
mod row_level_conflicts;
mod row_level_files;
mod row_level_whole;
mod sort_key;
mod sorted;
#[cfg(test)]
mod tests;
mod transform;
mod upload;
mod upsert;

pub(crate) use avro::avro_name;
#[cfg(test)]
pub(crate) use avro::write_avro_header;
pub use job::WriteProgress;
pub use omitted::OmittedDeletes;
pub use options::{DistributionMode, EqualityDeletes, UpsertMode, WriteOptions};
pub use output::Written;
pub(crate) use partition::human;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use position_deletes::vector;
pub use prepare::{Writer, check, prepare};
pub use row_level::{RowLevel, RowLevelCommand, RowLevelMode, RowLevelOptions, RowLevelWritten};
pub(crate) use row_level_whole::WholeFiles;
