#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

//! Lowered plans run on DataFusion over tables in memory.

mod build;
mod explain;
mod naive;
mod optimizer;
mod pushdown;
mod random;
mod relations;
mod subqueries;
mod values;

use std::collections::HashMap;
use std::sync::Arc;

use calve_functions::{EvalContext, cast_to_string};
use calve_types::{Error, Result};
use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType as ArrowType, Field as ArrowField, Schema};
use datafusion::catalog::TableProvider;
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use datafusion::physical_plan::collect;

use super::{LowerContext, failed, plan, session_state};
use crate::catalog::TableEntry;
use crate::rel::Rel;

/// Rows of nullable INT columns.
type Ints = Vec<Vec<Option<i64>>>;

/// Tables in memory by name.
#[derive(Default)]
struct Db {
    tables: HashMap<String, Arc<dyn TableProvider>>,
}

impl Db {
    /// With a table of nullable INT columns, its rows in two partitions of two batches.
    fn ints(mut self, name: &str, columns: &[&str], rows: &Ints) -> Self {
        let fields: Vec<_> = columns.iter().map(|c| ArrowField::new(*c, ArrowType::Int32, true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = |rows: &[Vec<Option<i64>>]| {
            let column = |i: usize| -> ArrayRef {
                Arc::new(rows.iter().map(|row| row[i].map(|v| v as i32)).collect::<Int32Array>())
            };
            RecordBatch::try_new(schema.clone(), (0..columns.len()).map(column).collect()).unwrap()
        };
        let (a, b) = rows.split_at(rows.len() / 2);
        let (b, c) = b.split_at(b.len() / 2);
        let table = MemTable::try_new(schema.clone(), vec![vec![batch(a), batch(b)], vec![batch(c)]]).unwrap();
        self.tables.insert(name.to_owned(), Arc::new(table));
        self
    }

    fn provider(mut self, name: &str, provider: Arc<dyn TableProvider>) -> Self {
        self.tables.insert(name.to_owned(), provider);
        self
    }

    fn lower(&self, rel: &Rel) -> Result<LogicalPlan> {
        let source = |entry: &TableEntry| -> Result<Arc<dyn TableSource>> {
            Ok(provider_as_source(self.tables[&entry.path.table].clone()))
        };
        plan(rel, &LowerContext { eval: EvalContext::default(), source: &source })
    }

    fn batches(&self, rel: &Rel) -> Result<Vec<RecordBatch>> {
        let plan = self.lower(rel)?;
        let state = session_state(3, Arc::new(RuntimeEnv::default()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let physical = state.create_physical_plan(&plan).await.map_err(failed)?;
            collect(physical, state.task_ctx()).await.map_err(failed)
        })
    }

    /// The rows as Flink prints them, in order.
    fn ordered(&self, rel: &Rel) -> Result<Vec<String>> {
        let mut rows = vec![];
        for batch in self.batches(rel)? {
            assert_eq!(batch.num_columns(), rel.fields.len());
            let columns: Vec<_> = batch
                .columns()
                .iter()
                .zip(&rel.fields)
                .map(|(array, field)| cast_to_string(array, &field.data_type, &EvalContext::default()).unwrap())
                .collect();
            for row in 0..batch.num_rows() {
                use datafusion::arrow::array::Array;
                let cells: Vec<_> =
                    columns.iter().map(|c| if c.is_null(row) { "NULL" } else { c.value(row) }).collect();
                rows.push(cells.join(" "));
            }
        }
        Ok(rows)
    }

    /// The rows as Flink prints them, sorted.
    fn rows(&self, rel: &Rel) -> Vec<String> {
        let mut rows = self.ordered(rel).unwrap();
        rows.sort();
        rows
    }

    fn error(&self, rel: &Rel) -> Error {
        self.ordered(rel).expect_err("an error")
    }
}

/// `l` and `r`: small tables with NULLs and duplicates.
fn db() -> Db {
    Db::default()
        .ints(
            "l",
            &["id", "v"],
            &vec![vec![Some(1), Some(10)], vec![Some(2), Some(20)], vec![Some(3), None], vec![None, Some(40)]],
        )
        .ints(
            "r",
            &["id", "w"],
            &vec![
                vec![Some(1), Some(5)],
                vec![Some(1), Some(6)],
                vec![Some(3), Some(7)],
                vec![Some(4), None],
                vec![None, Some(9)],
            ],
        )
        .ints("empty", &["id", "v"], &vec![])
}
