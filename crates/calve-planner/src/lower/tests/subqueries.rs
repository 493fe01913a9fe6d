//! Subqueries, what Flink says of them and what SQL says where Flink gives up.

use super::build::*;
use super::db;
use crate::expr::Expr;
use crate::rel::{JoinKind, Rel, SetOpKind};

/// `SELECT id FROM r WHERE r.id = l.id`
fn r_of_l() -> Rel {
    filter(r(), eq(col(0), outer(1, 0)))
}

fn ids(rel: Rel) -> Rel {
    project(rel, vec![col(0)])
}

fn ints(values_: &[Option<i64>]) -> Rel {
    if values_.is_empty() {
        return ids(scan("empty", &["id", "v"]));
    }
    values(values_.iter().map(|v| vec![v.map_or_else(null, int)]).collect())
}

#[test]
fn exists_and_in_of_a_filter() {
    let where_ = |predicate: Expr| db().rows(&ids(filter(l(), predicate)));
    assert_eq!(where_(exists(r_of_l())), ["1", "3"]);
    assert_eq!(where_(not(exists(r_of_l()))), ["2", "NULL"]);
    assert_eq!(where_(is_in(col(0), ids(r()), false)), ["1", "3"]);
    assert_eq!(where_(is_in(col(0), ids(r()), true)), Vec::<String>::new());
    let known = || filter(ids(r()), call("IS NOT NULL", vec![col(0)]));
    assert_eq!(where_(is_in(col(0), known(), true)), ["2"]);
    assert_eq!(where_(exists(r())), ["1", "2", "3", "NULL"]);
    assert_eq!(where_(not(exists(scan("empty", &["id", "v"])))), ["1", "2", "3", "NULL"]);
}

#[test]
fn in_as_a_value_has_three_truths() {
    for negated in [false, true] {
        for (list, expected) in [
            (ints(&[]), ["1 FALSE", "2 FALSE", "3 FALSE", "NULL FALSE"]),
            (ints(&[Some(1), Some(9)]), ["1 TRUE", "2 FALSE", "3 FALSE", "NULL NULL"]),
            (ints(&[Some(1), None]), ["1 TRUE", "2 NULL", "3 NULL", "NULL NULL"]),
            (ints(&[None]), ["1 NULL", "2 NULL", "3 NULL", "NULL NULL"]),
        ] {
            let rel = project(l(), vec![col(0), is_in(col(0), list.clone(), negated)]);
            let expected: Vec<_> = expected
                .iter()
                .map(|row| match (negated, row.split_once(' ').unwrap()) {
                    (true, (id, "TRUE")) => format!("{id} FALSE"),
                    (true, (id, "FALSE")) => format!("{id} TRUE"),
                    _ => (*row).to_owned(),
                })
                .collect();
            assert_eq!(db().rows(&rel), expected, "negated {negated} {list:?}");
            let kept = db().rows(&ids(filter(l(), is_in(col(0), list, negated))));
            let expected: Vec<_> = expected.iter().filter_map(|row| row.strip_suffix(" TRUE")).collect();
            assert_eq!(kept, expected);
        }
    }
}

#[test]
fn scalar_subqueries_have_one_row_or_null() {
    let max = |rel| aggregate(rel, vec![], vec![agg("MAX", vec![col(1)])]);
    assert_eq!(db().rows(&project(one(), vec![scalar_query(max(r()))])), ["9"]);
    assert_eq!(db().rows(&project(one(), vec![scalar_query(ids(scan("empty", &["id", "v"])))])), ["NULL"]);
    let two = project(one(), vec![scalar_query(ids(r()))]);
    let error = db().error(&two);
    assert_eq!(error.code, "too-many-rows");
    assert_eq!(error.detail.as_deref(), Some("SingleValueAggFunction received more than one element."));
    let rel = project(l(), vec![col(0), scalar_query(max(r_of_l()))]);
    assert_eq!(db().rows(&rel), ["1 6", "2 NULL", "3 7", "NULL NULL"]);
    let rel = project(l(), vec![col(0), scalar_query(project(r_of_l(), vec![col(1)]))]);
    assert_eq!(db().error(&rel).code, "too-many-rows");
    let without_1 = filter(l(), call("<>", vec![col(0), int(1)]));
    let rel = project(without_1, vec![col(0), scalar_query(project(r_of_l(), vec![col(1)]))]);
    assert_eq!(db().rows(&rel), ["2 NULL", "3 7"], "rows that nobody asks for do not count");
}

#[test]
fn the_count_of_no_rows_is_zero() {
    let count = |rel| aggregate(rel, vec![], vec![agg("COUNT", vec![])]);
    let rel = project(l(), vec![col(0), scalar_query(count(r_of_l()))]);
    assert_eq!(db().rows(&rel), ["1 2", "2 0", "3 1", "NULL 0"]);
    let bigint = |v| cast(int(v), calve_types::LogicalType::BigInt);
    let none = filter(l(), eq(scalar_query(count(r_of_l())), bigint(0)));
    assert_eq!(db().rows(&ids(none)), ["2", "NULL"]);
    // Not for equal keys only.
    let below = || filter(r(), call("<", vec![col(0), outer(1, 0)]));
    let rel = project(l(), vec![col(0), scalar_query(count(below()))]);
    assert_eq!(db().rows(&rel), ["1 0", "2 2", "3 2", "NULL 0"]);
    // HAVING sees the zero too.
    let bigint_column = expr(crate::expr::ExprKind::Column(0), calve_types::LogicalType::BigInt.not_null());
    let having = filter(count(r_of_l()), eq(bigint_column, bigint(0)));
    let rel = ids(filter(l(), exists(having)));
    assert_eq!(db().rows(&rel), ["2", "NULL"]);
}

#[test]
fn correlated_limits_set_operations_and_joins() {
    let top = limit(sort(project(r_of_l(), vec![col(1)]), vec![(0, true, false)]), 0, Some(1));
    let rel = project(l(), vec![col(0), scalar_query(top)]);
    assert_eq!(db().rows(&rel), ["1 6", "2 NULL", "3 7", "NULL NULL"]);
    let minus = set_op(ids(r_of_l()), ints(&[Some(3)]), SetOpKind::Except, false);
    assert_eq!(db().rows(&ids(filter(l(), exists(minus)))), ["1"]);
    let outer_join = join(ints(&[Some(1), Some(2)]), r(), JoinKind::Left, Some(eq(col(1), outer(1, 0))));
    let rel = project(l(), vec![col(0), scalar_query(aggregate(outer_join, vec![], vec![agg("COUNT", vec![col(1)])]))]);
    assert_eq!(db().rows(&rel), ["1 4", "2 0", "3 2", "NULL 0"]);
}

#[test]
fn what_cannot_be_read_twice_is_refused() {
    let some = limit(l(), 0, Some(2));
    let below = filter(r(), call("<", vec![col(0), outer(1, 0)]));
    let rel = project(some.clone(), vec![scalar_query(aggregate(below, vec![], vec![agg("COUNT", vec![])]))]);
    assert_eq!(db().error(&rel).code, "not-supported");
    // Equal keys need no second reading.
    let rel = project(some, vec![scalar_query(aggregate(r_of_l(), vec![], vec![agg("COUNT", vec![])]))]);
    assert_eq!(db().rows(&rel).len(), 2);
}

#[test]
fn subqueries_in_joins() {
    let on = and(eq(col(0), col(2)), exists(filter(r(), eq(col(1), outer(1, 3)))));
    let rel = join(l(), r(), JoinKind::Inner, Some(on.clone()));
    assert_eq!(db().rows(&rel), ["1 10 1 5", "1 10 1 6", "3 NULL 3 7"]);
    assert_eq!(db().error(&join(l(), r(), JoinKind::Left, Some(on))).code, "not-supported");
}

/// A plan that holds what came before each of its subqueries twice doubles with every one of them.
#[test]
fn many_subqueries_are_planned_in_no_time() {
    let start = std::time::Instant::now();
    // w + n > l.v; no r has the id of l's rows 2 and NULL, and v of row 3 is NULL
    let above = |n: i64| filter(r(), call(">", vec![call("+", vec![col(1), int(n)]), outer(1, 1)]));
    let count = |n: i64| aggregate(above(n), vec![], vec![agg("COUNT", vec![])]);
    let with_id = |rows: Vec<Expr>| project(l(), [vec![col(0)], rows].concat());
    let is_above = |n: i64| exists(filter(above(n), eq(col(0), outer(1, 0))));
    let rel = with_id((0..12).map(is_above).collect());
    let none = ["FALSE"; 12].join(" ");
    let first = [vec!["FALSE"; 5], vec!["TRUE"; 7]].concat().join(" ");
    let expected = [format!("1 {first}"), format!("2 {none}"), format!("3 {none}"), format!("NULL {none}")];
    assert_eq!(db().rows(&rel), expected);

    let rel = with_id((0..12).map(|n| scalar_query(count(n))).collect());
    let none = ["0"; 12].join(" ");
    let expected =
        ["1 0 0 1 1 2 3 4 4 4 4 4 4".to_owned(), format!("2 {none}"), format!("3 {none}"), format!("NULL {none}")];
    assert_eq!(db().rows(&rel), expected);

    let bigint = |v| cast(int(v), calve_types::LogicalType::BigInt);
    let counted = expr(crate::expr::ExprKind::Column(0), calve_types::LogicalType::BigInt.not_null());
    let no_row = |n: i64| exists(filter(count(n), eq(counted.clone(), bigint(0))));
    let all = (0..12).map(no_row).reduce(and).unwrap();
    assert_eq!(db().rows(&ids(filter(l(), all))), ["2", "3", "NULL"]);

    let value = |n: i64| is_in(int(9), project(above(n), vec![col(1)]), false);
    let rel = with_id((0..12).map(value).collect());
    let nine = [vec!["FALSE"; 2], vec!["TRUE"; 10]].concat().join(" ");
    let none = ["FALSE"; 12].join(" ");
    let expected = [format!("1 {nine}"), format!("2 {none}"), format!("3 {none}"), format!("NULL {none}")];
    assert_eq!(db().rows(&rel), expected);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
