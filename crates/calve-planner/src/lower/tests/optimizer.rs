//! The analyzer finds nothing to coerce, the optimizer keeps all types.

use std::sync::Arc;
use std::time::Instant;

use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::optimizer::analyzer::AnalyzerRule;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;

use super::super::session_state;
use super::build::*;
use super::db;
use crate::rel::{JoinKind, SetOpKind};

#[test]
fn there_is_nothing_to_coerce() {
    let counts =
        aggregate(r(), vec![col(0)], vec![agg("COUNT", vec![]), agg("SUM", vec![col(1)]), agg("AVG", vec![col(1)])]);
    let union = set_op(project(l(), vec![col(0)]), project(r(), vec![col(1)]), SetOpKind::Union, true);
    let queries = [
        filter(l(), call(">", vec![call("+", vec![col(0), int(1)]), int(2)])),
        counts,
        union,
        project(l(), vec![is_in(col(0), project(r(), vec![col(0)]), true)]),
        filter(l(), exists(filter(r(), eq(col(0), outer(1, 0))))),
        join(l(), r(), JoinKind::Full, Some(eq(col(0), col(2)))),
        set_op(project(l(), vec![col(0)]), project(r(), vec![col(0)]), SetOpKind::Intersect, true),
        values(vec![vec![int(1), null()], vec![int(2), int(3)]]),
    ];
    let state = session_state(2, Arc::new(RuntimeEnv::default()));
    for rel in queries {
        let plan = db().lower(&rel).unwrap();
        let coerced = TypeCoercion::new().analyze(plan.clone(), state.config_options()).unwrap();
        assert_eq!(coerced.display_indent_schema().to_string(), plan.display_indent_schema().to_string());
        let optimized = state.optimize(&plan).unwrap();
        for (before, after) in plan.schema().fields().iter().zip(optimized.schema().fields()) {
            assert_eq!((before.name(), before.data_type()), (after.name(), after.data_type()));
        }
    }
}

/// `cargo test -p calve-planner --lib start_up -- --nocapture` prints how long a first statement waits for its session.
#[test]
fn start_up_is_cheap() {
    let runtime = Arc::new(RuntimeEnv::default());
    let start = Instant::now();
    let state = session_state(2, runtime);
    let made = start.elapsed();
    let plan = db().lower(&project(one(), vec![int(1)])).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(state.create_physical_plan(&plan)).unwrap();
    println!("session {made:?}, planned after {:?}", start.elapsed());
    assert!(made.as_millis() < 500, "{made:?}");
}

#[test]
fn the_rules_that_are_guarded_exist() {
    let names = |name: &str| {
        let logical = datafusion::optimizer::Optimizer::new().rules.iter().any(|r| r.name() == name);
        let physical = datafusion::physical_optimizer::optimizer::PhysicalOptimizer::new().rules;
        logical || physical.iter().any(|r| r.name() == name)
    };
    for name in [
        "extract_equijoin_predicate",
        "simplify_expressions",
        "propagate_empty_relation",
        "optimize_unions",
        "push_down_filter",
        "eliminate_group_by_constant",
        "aggregate_statistics",
        "LimitPushdown",
    ] {
        assert!(names(name), "{name}");
    }
}
