//! The algebra as Flink prints it.

use super::build::*;
use crate::catalog::TablePath;
use crate::explain::{sink_tree, tree};
use crate::rel::{JoinKind, SetOpKind, Sink};

#[test]
fn relations_in_calcites_notation() {
    let filtered = project(filter(l(), call(">", vec![col(1), int(10)])), vec![col(0)]);
    assert_eq!(
        tree(&filtered),
        "LogicalProject(EXPR$0=[$0])\n\
         +- LogicalFilter(condition=[>($1, 10)])\n   \
            +- LogicalTableScan(table=[[c, d, l]])\n"
    );
    let joined = join(l(), r(), JoinKind::Left, Some(eq(col(0), col(2))));
    assert_eq!(
        tree(&limit(sort(joined, vec![(0, false, true), (1, true, false)]), 2, Some(3))),
        "LogicalSort(sort0=[$0], sort1=[$1], dir0=[ASC-nulls-first], dir1=[DESC-nulls-last], offset=[2], fetch=[3])\n\
         +- LogicalJoin(condition=[=($0, $2)], joinType=[left])\n   \
            :- LogicalTableScan(table=[[c, d, l]])\n   \
            +- LogicalTableScan(table=[[c, d, r]])\n"
    );
    let union = set_op(values(vec![vec![int(1)]]), project(r(), vec![null()]), SetOpKind::Union, true);
    assert_eq!(
        tree(&distinct(union)),
        "LogicalAggregate(group=[{0}])\n\
         +- LogicalUnion(all=[true])\n   \
            :- LogicalValues(tuples=[[{ 1 }]])\n   \
            +- LogicalProject(EXPR$0=[null:INTEGER])\n      \
               +- LogicalTableScan(table=[[c, d, r]])\n"
    );
}

#[test]
fn aggregates_read_columns_of_a_projection() {
    let counts =
        aggregate(r(), vec![col(0)], vec![agg("COUNT", vec![]), agg("SUM", vec![call("+", vec![col(1), int(1)])])]);
    assert_eq!(
        tree(&counts),
        "LogicalAggregate(group=[{0}], A0=[COUNT()], A1=[SUM($1)])\n\
         +- LogicalProject(EXPR$0=[$0], $f1=[+($1, 1)])\n   \
            +- LogicalTableScan(table=[[c, d, r]])\n"
    );
}

#[test]
fn subqueries_stand_in_their_expression() {
    let rel = filter(l(), not(exists(filter(r(), eq(col(0), outer(1, 0))))));
    assert_eq!(
        tree(&rel),
        "LogicalFilter(condition=[NOT(EXISTS({\n\
         LogicalFilter(condition=[=($0, $cor0.$0)])\n\
         +- LogicalTableScan(table=[[c, d, r]])\n\
         }))])\n\
         +- LogicalTableScan(table=[[c, d, l]])\n"
    );
}

#[test]
fn sinks() {
    let table = entry("t", &[("a", int_type()), ("b", int_type())]);
    assert_eq!(table.path, TablePath { catalog: "c".into(), database: "d".into(), table: "t".into() });
    let sink = Sink {
        table,
        hints: vec![],
        overwrite: false,
        static_partition: vec![],
        input: l(),
        not_null: vec![],
        span: Default::default(),
    };
    assert_eq!(sink_tree(&sink), "LogicalSink(table=[c.d.t], fields=[a, b])\n+- LogicalTableScan(table=[[c, d, l]])\n");
}
