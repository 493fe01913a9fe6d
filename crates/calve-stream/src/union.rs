//! `UNION ALL`.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::operator::{Operator, Running};

/// All rows of all inputs, which have the same columns; if one of them changes rows, all have a column of changes.
#[derive(Debug)]
pub struct UnionAll {
    /// The columns of every input.
    pub schema: SchemaRef,
}

impl Operator for UnionAll {
    fn name(&self) -> &'static str {
        "Union"
    }

    fn describe(&self) -> String {
        "all=[true]".to_owned()
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        Ok(Box::new(Passing(self.schema.clone())))
    }
}

struct Passing(SchemaRef);

impl Running for Passing {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        out.push(RecordBatch::try_new_with_options(self.0.clone(), batch.columns().to_vec(), &options)?);
        Ok(batch.num_rows())
    }

    fn size(&self) -> usize {
        0
    }
}
