//! A DataFusion table whose rows are made when it is scanned.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use calve_types::{DataType, Result};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DataFusionError;
use datafusion::datasource::{MemTable, TableType};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use iceberg::spec::SnapshotRef;

use super::{Kind, files, log};
use crate::error::Context;
use crate::table::Table;

#[derive(Debug)]
pub(super) struct LazyTable {
    table: Table,
    kind: Kind,
    snapshot: Option<SnapshotRef>,
    schema: SchemaRef,
}

impl LazyTable {
    pub(super) fn new(
        table: Table,
        kind: Kind,
        snapshot: Option<SnapshotRef>,
        columns: &[(String, DataType)],
    ) -> Result<Self> {
        let fields = columns.iter().map(|(name, t)| calve_types::arrow::field(name, t)).collect::<Result<Vec<_>>>()?;
        Ok(Self { table, kind, snapshot, schema: Arc::new(Schema::new(fields)) })
    }

    async fn rows(&self) -> Result<RecordBatch> {
        let columns = match self.kind {
            Kind::Snapshots => log::snapshots(&self.table, &self.schema)?,
            Kind::History => log::history(&self.table),
            Kind::Refs => log::refs(&self.table)?,
            Kind::MetadataLogEntries => log::metadata_log(&self.table),
            Kind::Files(content) => files::rows(&self.table, self.snapshot.as_deref(), content, &self.schema).await?,
        };
        RecordBatch::try_new(self.schema.clone(), columns).context(|| "read a metadata table")
    }
}

#[async_trait]
impl TableProvider for LazyTable {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
        let rows = self.rows().await.map_err(|e| DataFusionError::External(Box::new(e)))?;
        MemTable::try_new(self.schema.clone(), vec![vec![rows]])?.scan(state, projection, filters, limit).await
    }
}
