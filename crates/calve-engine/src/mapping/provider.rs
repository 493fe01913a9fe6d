//! The columns that a definition declares, out of those of the Iceberg table.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use calve_planner::TablePath;
use calve_types::{DataType, Error, Result, Span, arrow as arrow_types};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;

/// Reads columns by name.
#[derive(Debug)]
pub(super) struct Declared {
    inner: Arc<dyn TableProvider>,
    /// For each declared column, where the Iceberg table has it.
    places: Vec<Option<usize>>,
    schema: SchemaRef,
    path: TablePath,
    /// Where a statement names the table.
    place: Span,
}

impl Declared {
    /// `columns` of `inner`. One that is not there is missed when it is read, as in Flink.
    ///
    /// # Errors
    /// `not-supported` for types without an Arrow type.
    pub fn wrap(
        path: &TablePath,
        place: Span,
        columns: &[(String, DataType)],
        inner: Arc<dyn TableProvider>,
    ) -> Result<Arc<dyn TableProvider>> {
        let actual = inner.schema();
        let places: Vec<Option<usize>> = columns.iter().map(|(name, _)| actual.index_of(name).ok()).collect();
        let fields = columns.iter().zip(&places).map(|((name, data_type), place)| {
            // a NULL in a column that is declared without is read as what it is
            let nullable = place.is_none_or(|place| actual.field(place).is_nullable());
            Ok(Field::new(name, arrow_types::to_arrow(&data_type.logical)?, nullable))
        });
        let schema = Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?));
        if schema == actual {
            return Ok(inner);
        }
        Ok(Arc::new(Self { inner, places, schema, path: path.clone(), place }))
    }

    /// Whether the columns have the types of the Iceberg table, so that filters mean the same there.
    fn same_types(&self) -> bool {
        let actual = self.inner.schema();
        let same = |(field, place): (&Arc<Field>, &Option<usize>)| {
            place.is_some_and(|place| actual.field(place).data_type() == field.data_type())
        };
        self.schema.fields().iter().zip(&self.places).all(same)
    }

    fn missing(&self, column: &str) -> DataFusionError {
        let error =
            Error::new("unknown-column", format!("the Iceberg table of '{}' has no column '{column}'", self.path))
                .with_detail(format!("Field {column} not found in source schema"))
                .at(self.place);
        let schema = self.inner.schema();
        let known = schema.fields().iter().map(|field| field.name().as_str());
        DataFusionError::External(Box::new(error.did_you_mean(column, known)))
    }
}

#[async_trait]
impl TableProvider for Declared {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        self.inner.table_type()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        match self.same_types() {
            true => self.inner.supports_filters_pushdown(filters),
            false => Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()]),
        }
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let all: Vec<usize> = (0..self.places.len()).collect();
        let wanted = projection.unwrap_or(&all);
        let mut places = Vec::with_capacity(wanted.len());
        for at in wanted {
            match self.places.get(*at).copied().flatten() {
                Some(place) => places.push(place),
                None => return Err(self.missing(self.schema.field(*at).name())),
            }
        }
        let plan = self.inner.scan(state, Some(&places), filters, limit).await?;
        let schema = self.schema.project(wanted)?;
        if plan.schema().as_ref() == &schema {
            return Ok(plan);
        }
        let exprs = schema.fields().iter().enumerate().map(|(at, field)| {
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), at));
            let same = plan.schema().field(at).data_type() == field.data_type();
            let expr = if same { column } else { Arc::new(CastExpr::new(column, field.data_type().clone(), None)) };
            (expr, field.name().clone())
        });
        Ok(Arc::new(ProjectionExec::try_new(exprs.collect::<Vec<_>>(), plan)?))
    }
}
