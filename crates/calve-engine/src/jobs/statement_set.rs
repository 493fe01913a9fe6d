//! `BEGIN STATEMENT SET`: the INSERTs up to END.

use calve_sql::{Insert, Statement};
use calve_types::{Error, Result};

/// The statement set that is open, if one is.
#[derive(Debug, Default)]
pub(crate) struct OpenSet(Option<Vec<Insert>>);

impl OpenSet {
    /// Whether a set is open.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Checks that a statement may come now: an open set takes INSERT and END only, as in Flink.
    ///
    /// # Errors
    /// `statement-set`.
    pub fn admit(&self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::EndStatementSet { span } if !self.is_open() => {
                Err(Error::new("statement-set", "no statement set to end")
                    .with_detail(
                        "No Statement Set to submit. \"END;\" command should be used after \"BEGIN STATEMENT SET;\".",
                    )
                    .with_hint("begin one with BEGIN STATEMENT SET")
                    .at(*span))
            }
            Statement::Insert(_) | Statement::EndStatementSet { .. } => Ok(()),
            _ if !self.is_open() => Ok(()),
            _ => Err(Error::new("statement-set", "a statement set is open: it takes INSERT statements only")
                .with_detail("Only INSERT/UPDATE/DELETE statement is allowed in Statement Set.")
                .with_hint("finish the set with END")),
        }
    }

    /// BEGIN.
    pub fn begin(&mut self) {
        self.0 = Some(vec![]);
    }

    /// Keeps an INSERT for END.
    pub fn add(&mut self, insert: Insert) {
        if let Some(inserts) = &mut self.0 {
            inserts.push(insert);
        }
    }

    /// END: the INSERTs. The set is over, whatever becomes of them.
    pub fn end(&mut self) -> Vec<Insert> {
        self.0.take().unwrap_or_default()
    }
}
