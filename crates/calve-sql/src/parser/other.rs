//! Statements that are read and have no syntax tree.

use calve_types::Result;

use super::Parser;
use crate::statement::Statement;

impl Parser {
    /// `UPSERT INTO t ..`, which is an INSERT to Flink's parser.
    pub(super) fn upsert(&mut self) -> Result<Statement> {
        let span = self.span();
        self.insert()?;
        Ok(Statement::Other { feature: "UPSERT INTO", span })
    }
}
