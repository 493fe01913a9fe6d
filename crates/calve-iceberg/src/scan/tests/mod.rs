//! Scans of tables whose files and manifests are written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod deletes;
mod errors;
mod evolution;
mod lake;
mod model;
mod options;
mod pruning;
