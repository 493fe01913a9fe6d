//! What an operator is.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use calve_types::Error;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;

/// An operator of a plan: what it does, without its state.
pub trait Operator: fmt::Debug + Send + Sync {
    /// Its name in EXPLAIN, as Flink's: `GroupAggregate`.
    fn name(&self) -> &'static str;

    /// What EXPLAIN shows behind the name; one line, without the inputs.
    fn describe(&self) -> String {
        String::new()
    }

    /// The columns it gives.
    fn schema(&self) -> SchemaRef;

    /// The order in which it wants the rows of its first input; the order of arrival without one.
    fn order(&self) -> &[(usize, SortOptions)] {
        &[]
    }

    /// Whether the inputs are read in turn beginning with the last one, not with the first. The changelog is right in any
    /// order; it is shorter if a join knows the rows of its right side early, as it does in Flink more often than not.
    fn reads_last_first(&self) -> bool {
        false
    }

    /// Its state before the first row.
    ///
    /// # Errors
    /// What it needs and cannot have.
    fn start(&self, task: &Arc<TaskContext>) -> Result<Box<dyn Running>>;
}

/// An operator at work. Its inputs are numbered from 0.
pub trait Running: Send {
    /// Takes the next rows of an input, and says how many of the batch's it took, at least one: an operator that makes
    /// many rows of few stops after some of them, and gets the rest of the batch again when its output is gone.
    ///
    /// # Errors
    /// What evaluating them gave.
    fn rows(&mut self, input: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize>;

    /// An input has no more rows. Called once for each.
    ///
    /// # Errors
    /// As [`Self::rows`].
    fn end(&mut self, _input: usize, _out: &mut Vec<RecordBatch>) -> Result<()> {
        Ok(())
    }

    /// Whether nothing that comes can change the output any more.
    fn is_done(&self) -> bool {
        false
    }

    /// The bytes of its state.
    fn size(&self) -> usize;
}

/// A calve error on its way through DataFusion.
pub fn failure(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A fault of the plan.
pub fn internal(what: impl fmt::Display) -> DataFusionError {
    failure(Error::internal(what))
}
