//! What an engine needs of Iceberg: catalogs, commits, writers, delete-aware scans, metadata tables.
//!
//! * [`catalog::open`] turns the options of `CREATE CATALOG` into a [`catalog::Catalog`], which creates and loads tables;
//!   the changes of a [`catalog::open_image`] stay in memory.
//! * [`catalog::alter::alter`] changes a table's schema, partition fields and properties; [`catalog::Replacement`] puts
//!   another table, with other rows, in its place.
//! * [`Table`] is one loaded, immutable version of a table; [`TableIo`] is its one door to storage; `manifest` decodes the
//!   lists of its files.
//! * [`schema`] maps types between Flink, Iceberg and Arrow.
//! * [`write::prepare`] and [`write::Writer`] turn rows into files that nothing refers to yet.
//! * [`commit::commit`] makes files part of a table: it re-applies an operation on the newest version until it is in.
//! * [`metadata::metadata_table`] serves `t$snapshots` and its siblings.

pub mod catalog;
mod codec;
pub mod commit;
pub mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod io;
mod manifest;
pub mod metadata;
mod partition_key;
pub mod scan;
pub mod schema;
pub mod table;
pub mod write;

pub use io::TableIo;
pub use table::{ManifestCache, Table};
