//! `blackhole`: takes rows and keeps none.

use async_trait::async_trait;
use calve_types::Result;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use crate::{Pending, Sink, Visible, from_datafusion};

/// The sink of a blackhole table.
pub(crate) struct BlackholeSink;

#[async_trait]
impl Sink for BlackholeSink {
    async fn write(self: Box<Self>, mut rows: SendableRecordBatchStream) -> Result<Box<dyn Pending>> {
        let mut count = 0;
        while let Some(batch) = rows.next().await {
            count += batch.map_err(from_datafusion)?.num_rows() as u64;
        }
        Ok(Box::new(Visible(count)))
    }
}
