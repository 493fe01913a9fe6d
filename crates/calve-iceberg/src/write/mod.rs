//! Rows to files that nothing refers to yet.
//!
//! 1. [`WriteOptions::resolve`] settles hint > SET > table property > default.
//! 2. [`prepare`] refuses what cannot be written, before any row is read, and finds out which live rows an upsert may
//!    replace (`live`).
//! 3. [`Writer::write`] spreads the rows over writer tasks (`route`). Each keeps a file open per partition
//!    (`fanout`); `append` writes rows as they come, `delta` one row per primary key.
//! 4. [`Written`] is what a commit takes over. Until then every file is on a list (`upload`), and is deleted if
//!    anything goes wrong.

mod append;
mod delta;
mod encode;
mod fanout;
mod file;
mod job;
mod keys;
mod live;
mod location;
pub(crate) mod metrics;
mod omitted;
mod options;
mod output;
mod parquet_schema;
mod partition;
mod position_deletes;
mod prepare;
mod route;
#[cfg(test)]
mod tests;
mod transform;
mod upload;
mod upsert;

pub use job::WriteProgress;
pub use omitted::OmittedDeletes;
pub use options::{DistributionMode, EqualityDeletes, WriteOptions};
pub use output::Written;
pub use prepare::{Writer, check, prepare};
