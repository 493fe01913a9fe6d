//! What a session does with a statement instead of running it.

use std::sync::Arc;

use calve_planner::lower::{self, LowerContext};
use calve_planner::{Rel, Sink, TableEntry};
use calve_types::Result;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::TableSource;

use crate::jobs;
use crate::resolve::Resolved;
use crate::session::Session;

impl Session {
    /// Opens what a bound query reads, for options of tables that are wrong and for tables that cannot be read. No row is
    /// read.
    ///
    /// # Errors
    /// What the tables refuse, and what calve does not run.
    pub(crate) fn check_query(&self, rel: &Rel) -> Result<()> {
        let connectors = self.connectors()?;
        let source = |entry: &TableEntry| -> Result<Arc<dyn TableSource>> {
            Ok(provider_as_source(Resolved::provider(&self.options, entry, &connectors)?))
        };
        lower::plan(rel, &LowerContext { eval: connectors.eval, source: &source })?;
        Ok(())
    }

    /// As [`Self::check_query`], of a bound INSERT and its target.
    ///
    /// # Errors
    /// What the query or the target refuse.
    pub(crate) fn check_insert(&self, sink: &Sink) -> Result<()> {
        jobs::check(&self.runner()?, sink)?;
        self.check_query(&sink.input)
    }
}
