//! Scans of tables whose files and manifests are written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod damage;
mod deletes;
mod errors;
mod evolution;
mod filters;
mod lake;
mod model;
mod options;
mod planning;
mod pruning;
mod rows;
mod times;
