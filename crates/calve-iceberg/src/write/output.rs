//! What writers leave, one by one and together.

use std::sync::Arc;

use super::find::{PositionUpsert, WrittenKeys};
use super::omitted::OmittedDeletes;
use super::upload::Uncommitted;
use crate::commit::{Append, CompleteDeletes, FileId, NewFile, Operation, ReplacePartitions, RowDelta};
use crate::table::Table;

/// The files of one writer.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) data: Vec<NewFile>,
    pub(crate) deletes: Vec<NewFile>,
    pub(crate) rows: u64,
    pub(crate) equality_deletes: u64,
    pub(crate) position_deletes: u64,
    /// The keys of an upsert by position.
    pub(crate) keys: WrittenKeys,
    /// Data files with keys that may need equality deletes if the table changes before the commit.
    pub(crate) omitted: Vec<NewFile>,
}

impl Output {
    pub(crate) fn extend(&mut self, other: Self) {
        self.data.extend(other.data);
        self.deletes.extend(other.deletes);
        self.rows += other.rows;
        self.equality_deletes += other.equality_deletes;
        self.position_deletes += other.position_deletes;
        self.omitted.extend(other.omitted);
        self.keys.extend(other.keys);
    }
}

/// The files of an INSERT. Nothing refers to them yet: dropped without [`Written::to_operation`], they are deleted.
#[derive(Debug)]
pub struct Written {
    /// Data files.
    pub data: Vec<NewFile>,
    /// Equality delete files, position delete files, deletion vectors.
    pub deletes: Vec<NewFile>,
    /// Rows taken from the input.
    pub rows: u64,
    /// Rows of equality delete files.
    pub equality_deletes: u64,
    /// Rows of this INSERT that later rows of it replaced.
    pub position_deletes: u64,
    /// Equality deletes that were not needed when the writer was prepared.
    pub omitted: Option<Arc<OmittedDeletes>>,
    /// Of an upsert by position: what finds its deletes again.
    pub(crate) found: Option<Arc<PositionUpsert>>,
    /// Delete files that `deletes` replace.
    pub(crate) removed: Vec<FileId>,
    /// Whether the partitions of the data files are replaced.
    pub(crate) overwrite: bool,
    pub(crate) files: Uncommitted,
}

impl Written {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.deletes.is_empty()
    }

    /// Whether the partitions of the data files are replaced.
    pub fn is_overwrite(&self) -> bool {
        self.overwrite
    }

    /// The change to commit. From now on the files belong to the commit: if it is definitely rejected, call
    /// [`Written::discard`].
    pub fn to_operation(&self) -> Operation {
        self.files.keep();
        if self.overwrite {
            return Operation::ReplacePartitions(ReplacePartitions { data: self.data.clone() });
        }
        let omitted = self.omitted.clone().map(|omitted| omitted as Arc<dyn CompleteDeletes>);
        let omitted = omitted.or_else(|| Some(self.found.clone()? as Arc<dyn CompleteDeletes>));
        if self.deletes.is_empty() && omitted.is_none() {
            return Operation::Append(Append { data: self.data.clone() });
        }
        Operation::RowDelta(RowDelta {
            data: self.data.clone(),
            deletes: self.deletes.clone(),
            removed: self.removed.clone(),
            omitted,
        })
    }

    /// Deletes the files after their commit was definitely rejected. [`crate::TableIo::take_left`] has what cannot be
    /// deleted.
    pub async fn discard(self, table: &Table) {
        tracing::debug!(table = %table.ident(), files = self.data.len() + self.deletes.len(), "discarding files");
        self.files.delete().await;
    }
}
