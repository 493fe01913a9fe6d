//! What reaches a table's provider.

use std::any::Any;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field as ArrowField, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result as DfResult;
use datafusion::datasource::MemTable;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::{Expr as DfExpr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::{ExecutionPlan, displayable};

use super::super::session_state;
use super::Db;
use super::build::*;
use crate::rel::Rel;

#[derive(Debug)]
struct Spy {
    table: MemTable,
    seen: Mutex<Vec<String>>,
}

#[async_trait]
impl TableProvider for Spy {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&DfExpr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[DfExpr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let filters: Vec<_> = filters.iter().map(ToString::to_string).collect();
        self.seen.lock().unwrap().push(format!("{projection:?} {filters:?} {limit:?}"));
        self.table.scan(state, projection, &[], limit).await
    }
}

/// What the scan of `t (a, b, c)` was asked for, and the physical plan.
fn seen(rel: &Rel) -> (String, String) {
    let fields: Vec<_> = ["a", "b", "c"].iter().map(|n| ArrowField::new(*n, ArrowType::Int32, true)).collect();
    let table = MemTable::try_new(Arc::new(Schema::new(fields)), vec![vec![]]).unwrap();
    let spy = Arc::new(Spy { table, seen: Mutex::default() });
    let plan = Db::default().provider("t", spy.clone()).lower(rel).unwrap();
    let state = session_state(2, Arc::new(RuntimeEnv::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let physical = runtime.block_on(state.create_physical_plan(&plan)).unwrap();
    let text = displayable(physical.as_ref()).indent(false).to_string();
    (spy.seen.lock().unwrap().join("; "), text)
}

fn t() -> Rel {
    scan("t", &["a", "b", "c"])
}

#[test]
fn filters_and_projections_reach_the_provider() {
    let predicate = and(call(">", vec![col(0), int(5)]), call("IS NOT NULL", vec![col(2)]));
    let rel = project(filter(t(), predicate), vec![col(1)]);
    let (scan, _) = seen(&rel);
    assert_eq!(scan, r#"Some([0, 1, 2]) ["a > Int32(5)", "c IS NOT NULL"] None"#);
    let rel = project(filter(project(t(), vec![col(2), col(0)]), eq(col(1), int(1))), vec![col(0)]);
    assert_eq!(seen(&rel).0, r#"Some([0, 2]) ["a = Int32(1)"] None"#);
    assert_eq!(seen(&limit(project(t(), vec![col(1)]), 0, Some(3))).0, "Some([1]) [] Some(3)");
}

/// As in TPC-H's query 19.
#[test]
fn what_all_branches_of_an_or_ask_reaches_the_provider() {
    let branch = |a: i64, list: [i64; 2]| {
        let listed = call("IN", [col(1)].into_iter().chain([1, 2, 3, 4].map(int)).collect());
        let other = call("IN", [col(2)].into_iter().chain(list.map(int)).collect());
        and(and(eq(col(0), int(a)), listed), other)
    };
    let rel = filter(t(), call("OR", vec![branch(1, [1, 2]), branch(2, [3, 4])]));
    let (scan, _) = seen(&rel);
    assert!(scan.contains(r#""b IN ([Int32(1), Int32(2), Int32(3), Int32(4)])""#), "{scan}");
}

#[test]
fn order_by_and_limit_are_one_top_k() {
    let rel = limit(sort(t(), vec![(0, false, true)]), 1, Some(3));
    let (_, plan) = seen(&rel);
    assert!(plan.contains("SortExec: TopK(fetch=4)"), "{plan}");
}

#[test]
fn equal_columns_are_hash_join_keys() {
    let joined = crate::rel::JoinKind::Inner;
    let rel = join(t(), t(), joined, Some(and(eq(col(0), col(3)), call("<", vec![col(1), col(4)]))));
    let (_, plan) = seen(&rel);
    assert!(plan.contains("HashJoinExec"), "{plan}");
    let rel = join(t(), t(), joined, Some(call("IS NOT DISTINCT FROM", vec![col(0), col(3)])));
    assert!(seen(&rel).1.contains("HashJoinExec"));
    let rel = filter(t(), exists(filter(t(), eq(col(0), outer(1, 0)))));
    let (scans, plan) = seen(&rel);
    assert!(plan.contains("Semi"), "{plan}");
    assert_eq!(scans.split(';').count(), 2, "the enclosing query is read once: {scans}");
}

#[test]
fn counting_a_table_reads_its_statistics() {
    let (_, plan) = seen(&aggregate(t(), vec![], vec![agg("COUNT", vec![])]));
    assert!(plan.contains("PlaceholderRowExec"), "{plan}");
}

/// Flink's hash joins compare DOUBLEs by bits, as DataFusion's do; one row it loops over, and compares as elsewhere.
#[test]
fn equal_doubles_are_hash_join_keys() {
    use calve_types::LogicalType::Double;
    let double = |index| cast(col(index), Double);
    let (left, inner) = (crate::rel::JoinKind::Left, crate::rel::JoinKind::Inner);
    for symbol in ["=", "IS NOT DISTINCT FROM"] {
        let equal = call(symbol, vec![double(0), double(3)]);
        let (_, plan) = seen(&join(t(), t(), left, Some(and(equal.clone(), call("<", vec![col(1), col(4)])))));
        assert!(plan.contains("HashJoinExec"), "{plan}");
        let (_, plan) = seen(&filter(join(t(), t(), inner, None), equal));
        assert!(plan.contains("HashJoinExec"), "{plan}");
    }
    let one = aggregate(t(), vec![], vec![agg("MAX", vec![col(0)])]);
    let (_, plan) = seen(&join(t(), one, inner, Some(eq(double(0), double(3)))));
    assert!(!plan.contains("HashJoinExec"), "{plan}");
}
