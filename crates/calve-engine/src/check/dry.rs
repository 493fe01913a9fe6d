//! What a session does with a statement instead of running it.

use calve_planner::{Rel, Sink};
use calve_types::Result;

use crate::jobs;
use crate::query::Query;
use crate::session::Session;

impl Session {
    /// Opens what a bound query reads, for options of tables that are wrong and for tables that cannot be read. No row is
    /// read.
    ///
    /// # Errors
    /// What the tables refuse, and what calve does not run.
    pub(crate) fn open_sources(&self, rel: &Rel) -> Result<()> {
        self.runner()?.check(&Query::of_rows(rel, 1))
    }

    /// Checks a bound query as it would be run in the session's mode.
    ///
    /// # Errors
    /// As [`Self::open_sources`]; what is refused of a query whose rows change.
    pub(crate) fn check_query(&self, rel: &Rel) -> Result<()> {
        let runner = self.runner()?;
        let node = runner.changelog(rel)?;
        runner.check(&Query { changes: node.as_ref(), ..Query::of_rows(rel, 1) })
    }

    /// As [`Self::check_query`], of a bound INSERT and its target.
    ///
    /// # Errors
    /// What the query or the target refuse.
    pub(crate) fn check_insert(&self, sink: &Sink) -> Result<()> {
        jobs::check(&self.runner()?, sink)
    }
}
