//! `BEGIN STATEMENT SET`: the INSERTs up to END.

use calve_sql::{Insert, Statement};
use calve_types::{Error, Result, Span};

/// The statement set that is open, if one is.
#[derive(Debug, Default)]
pub(crate) struct OpenSet {
    inserts: Option<Vec<Insert>>,
    /// A statement of the set failed, and nobody will write it anew.
    is_spoilt: bool,
}

impl OpenSet {
    /// Whether a set is open.
    pub fn is_open(&self) -> bool {
        self.inserts.is_some()
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
        *self = Self { inserts: Some(vec![]), is_spoilt: false };
    }

    /// Has END refuse the set, if one is open.
    pub fn spoil(&mut self) {
        self.is_spoilt = self.is_open();
    }

    /// Keeps an INSERT for END.
    pub fn add(&mut self, insert: Insert) {
        if let Some(inserts) = &mut self.inserts {
            inserts.push(insert);
        }
    }

    /// END: the INSERTs. The set is over, whatever becomes of them.
    ///
    /// # Errors
    /// `statement-set` if the set is spoilt.
    pub fn end(&mut self, span: Span) -> Result<Vec<Insert>> {
        let Self { inserts, is_spoilt } = std::mem::take(self);
        if is_spoilt {
            return Err(Error::new("statement-set", "the statement set has a failed statement and was not run")
                .with_detail("A statement set is all or nothing: none of its INSERTs was run.")
                .with_hint("correct the statement that failed, and run the whole set again")
                .at(span));
        }
        Ok(inserts.unwrap_or_default())
    }
}
