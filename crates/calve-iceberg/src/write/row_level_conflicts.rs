//! Which files that others add while a DELETE or UPDATE runs may have rows that it would have had to change: those that
//! its condition does not rule out by partition values and column bounds (the conflict detection filter of the Java
//! library's row-level operations).

use std::fmt;
use std::sync::Arc;

use calve_types::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::conjunction;
use datafusion::physical_expr::create_physical_expr;
use iceberg::spec::DataFile;

use super::route::from_input;
use crate::commit::ConflictFilter;
use crate::scan::{Pruner, row_fields};
use crate::table::Table;

/// The condition of a statement.
pub(super) struct Condition {
    text: String,
    pruner: Pruner,
    /// The schema that its columns are of.
    schema_id: i32,
}

impl Condition {
    /// All of the filters together, over columns of the table; `None` if they rule out nothing.
    ///
    /// # Errors
    /// As [`row_fields`].
    pub(super) fn new(table: &Table, filters: &[Expr], state: &SessionState) -> Result<Option<Self>> {
        let schema = Arc::new(row_fields(table, &[])?);
        let named = DFSchema::try_from(schema.as_ref().clone()).map_err(from_input)?;
        let Some(filter) = conjunction(filters.iter().cloned()) else { return Ok(None) };
        let plain = filter.transform(|expr| {
            Ok(match expr {
                Expr::Column(column) => Transformed::yes(Expr::Column(Column::new_unqualified(column.name))),
                other => Transformed::no(other),
            })
        });
        // a condition that is about something else than columns of the table rules out nothing
        let Ok(plain) = plain.map(|plain| plain.data) else { return Ok(None) };
        let Ok(physical) = create_physical_expr(&plain, &named, state.execution_props()) else { return Ok(None) };
        let pruner = Pruner::new(&physical, &schema, table.metadata());
        let schema_id = table.metadata().current_schema_id();
        Ok(pruner.map(|pruner| Self { text: plain.to_string(), pruner, schema_id }))
    }
}

impl ConflictFilter for Condition {
    fn may_match(&self, base: &Table, files: &[(&DataFile, i32)]) -> Vec<bool> {
        // bounds of a column that has another type by now are not compared
        if base.metadata().current_schema_id() != self.schema_id {
            return vec![true; files.len()];
        }
        self.pruner.files(files)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").field("text", &self.text).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use arrow::array::{Int32Array, Int64Array};
    use calve_types::LogicalType;
    use datafusion::logical_expr::{col, lit};
    use datafusion::prelude::SessionContext;
    use iceberg::TableUpdate;
    use iceberg::spec::{NestedField, PrimitiveType, Schema, Transform, Type};

    use super::*;
    use crate::write::tests::{Fixture, Shape};

    #[tokio::test]
    async fn files_are_ruled_out_by_partition_and_by_bounds() {
        let columns = vec![("id", LogicalType::BigInt.nullable()), ("p", LogicalType::Int.nullable())];
        let shape = Shape { columns, key: &[], partition: &[("p", Transform::Identity)], with: &[] };
        let fixture = Fixture::new(shape).await;
        for (ids, p) in [([1, 2], 1), ([10, 20], 2), ([100, 200], 1)] {
            let columns =
                vec![Arc::new(Int64Array::from(ids.to_vec())) as _, Arc::new(Int32Array::from(vec![p, p])) as _];
            fixture.insert(vec![fixture.batch(columns).await]).await;
        }
        let table = fixture.table().await;
        let live = fixture.live().await;
        let mut files: Vec<(&DataFile, i32)> = live.iter().map(|(new, _)| (&new.file, new.spec_id)).collect();
        files.sort_by_key(|(file, _)| file.lower_bounds()[&1].to_string().parse::<i64>().unwrap());
        let state = SessionContext::new().state();
        let matches = |filters: &[Expr]| {
            Condition::new(&table, filters, &state).unwrap().map(|condition| condition.may_match(&table, &files))
        };
        assert_eq!(matches(&[col("p").eq(lit(1))]).unwrap(), [true, false, true]);
        assert_eq!(matches(&[col("t.id").lt(lit(50_i64))]).unwrap(), [true, true, false]);
        assert_eq!(matches(&[col("p").eq(lit(1)), col("id").gt(lit(50_i64))]).unwrap(), [false, false, true]);
        assert!(matches(&[]).is_none());
        assert!(matches(&[col("nothing").eq(lit(1))]).is_none());

        // a column may have another type by now
        let condition = Condition::new(&table, &[col("p").eq(lit(1))], &state).unwrap().unwrap();
        assert_eq!(condition.to_string(), "p = Int32(1)");
        let mut fields = table.metadata().current_schema().as_struct().fields().to_vec();
        fields.push(Arc::new(NestedField::optional(3, "c", Type::Primitive(PrimitiveType::Int))));
        let schema = Schema::builder().with_fields(fields).build().unwrap();
        let updates = vec![TableUpdate::AddSchema { schema }, TableUpdate::SetCurrentSchema { schema_id: -1 }];
        let built = crate::catalog::apply(&table, updates).unwrap();
        let changed = crate::catalog::staged(&table, built.metadata);
        assert_eq!(condition.may_match(&changed, &files), [true; 3]);
    }
}
