//! A metadata table as a table of DataFusion.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use calve_types::{DataType, Result};
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::TableType;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::streaming::StreamingTableExec;

use super::files::FileColumns;
use super::partition_stats::{self, Lines};
use super::source::{Rows, Source};
use super::{Kind, Scope, log};
use crate::error::external;
use crate::table::Table;

/// Reads a metadata table when it is scanned.
#[derive(Debug)]
pub(super) struct LazyTable {
    table: Table,
    kind: Kind,
    scope: Scope,
    schema: SchemaRef,
}

impl LazyTable {
    pub(super) fn new(table: Table, kind: Kind, scope: Scope, columns: &[(String, DataType)]) -> Result<Self> {
        let fields = columns.iter().map(|(name, t)| calve_types::arrow::field(name, t)).collect::<Result<Vec<_>>>()?;
        Ok(Self { table, kind, scope, schema: Arc::new(Schema::new(fields)) })
    }

    async fn rows(&self, state: &dyn Session) -> datafusion::common::Result<Rows> {
        let scope = self.scope.clone();
        let columns = || FileColumns::new(&self.table).map(Arc::new).map_err(external);
        Ok(match self.kind {
            Kind::Snapshots => Rows::Log(log::snapshots),
            Kind::History => Rows::Log(log::history),
            Kind::Refs => Rows::Log(log::refs),
            Kind::MetadataLogEntries => Rows::Log(log::metadata_log),
            Kind::Files(content) | Kind::AllFiles(content) => Rows::Files(scope, content, columns()?),
            Kind::Entries | Kind::AllEntries => Rows::Entries(scope, columns()?),
            Kind::Manifests | Kind::AllManifests => Rows::Manifests(scope),
            Kind::Partitions => {
                let lines = Arc::new(Lines::new(&self.table).map_err(external)?);
                let table = LinesTable { table: self.table.clone(), scope, lines: lines.clone() };
                Rows::Partitions(lines, partition_stats::plan(state, Arc::new(table)).await?)
            }
            Kind::PositionDeletes => return Err(external(super::no_scan())),
        })
    }
}

/// A plan of the columns that are asked for.
fn plan(
    table: &Table,
    rows: Rows,
    schema: &SchemaRef,
    projection: Option<&Vec<usize>>,
    limit: Option<usize>,
) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    // what comes from the table's metadata is little
    if matches!(rows, Rows::Log(_)) {
        let source = Source::new(table.clone(), rows, schema.clone());
        let plan = StreamingTableExec::try_new(schema.clone(), vec![Arc::new(source)], projection, [], false, limit)?;
        return Ok(Arc::new(plan));
    }
    let schema = match projection {
        Some(columns) => Arc::new(schema.project(columns)?),
        None => schema.clone(),
    };
    let source = Source::new(table.clone(), rows, schema.clone());
    Ok(Arc::new(StreamingTableExec::try_new(schema, vec![Arc::new(source)], None, [], false, limit)?))
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
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
        plan(&self.table, self.rows(state).await?, &self.schema, projection, limit)
    }
}

/// The lines that `$partitions` adds up.
#[derive(Debug)]
struct LinesTable {
    table: Table,
    scope: Scope,
    lines: Arc<Lines>,
}

#[async_trait]
impl TableProvider for LinesTable {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.lines.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
        let rows = Rows::Lines(self.scope.clone(), self.lines.clone());
        plan(&self.table, rows, &self.lines.schema(), projection, limit)
    }
}
