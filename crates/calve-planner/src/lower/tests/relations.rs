//! Each kind of relation.

use super::build::*;
use super::db;
use crate::rel::{JoinKind, SetOpKind};

#[test]
fn duplicate_names_are_columns_of_their_own() {
    let twice = join(l(), l(), JoinKind::Inner, Some(eq(col(0), col(2))));
    assert_eq!(db().rows(&twice), ["1 10 1 10", "2 20 2 20", "3 NULL 3 NULL"]);
    let mut named = project(twice, vec![col(0), col(3), col(0)]);
    for field in &mut named.fields {
        field.name = "a".into();
    }
    assert_eq!(db().rows(&named), ["1 10 1", "2 20 2", "3 NULL 3"]);
    let names: Vec<_> = db().lower(&named).unwrap().schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["a", "a0", "a1"]);
}

#[test]
fn joins_of_all_kinds() {
    let on = || Some(eq(col(0), col(2)));
    let pairs = ["1 10 1 5", "1 10 1 6", "3 NULL 3 7"];
    assert_eq!(db().rows(&join(l(), r(), JoinKind::Inner, on())), pairs);
    assert_eq!(
        db().rows(&join(l(), r(), JoinKind::Left, on())),
        ["1 10 1 5", "1 10 1 6", "2 20 NULL NULL", "3 NULL 3 7", "NULL 40 NULL NULL"]
    );
    assert_eq!(
        db().rows(&join(l(), r(), JoinKind::Right, on())),
        ["1 10 1 5", "1 10 1 6", "3 NULL 3 7", "NULL NULL 4 NULL", "NULL NULL NULL 9"]
    );
    assert_eq!(db().rows(&join(l(), r(), JoinKind::Full, on())).len(), 7);
    assert_eq!(db().rows(&join(l(), r(), JoinKind::Inner, None)).len(), 20);
    assert_eq!(db().rows(&join(l(), r(), JoinKind::Left, None)).len(), 20);
    assert_eq!(db().rows(&join(l(), scan("empty", &["id", "v"]), JoinKind::Left, None)).len(), 4);
}

#[test]
fn null_safe_join_keys_stay_null_safe_beside_others() {
    // DataFusion alone makes NULL = NULL of the second condition too.
    let same = call("IS NOT DISTINCT FROM", vec![col(0), col(2)]);
    let joined = join(l(), r(), JoinKind::Inner, Some(same));
    assert_eq!(db().rows(&joined), ["1 10 1 5", "1 10 1 6", "3 NULL 3 7", "NULL 40 NULL 9"]);
    let both = filter(joined, eq(col(1), col(3)));
    assert_eq!(db().rows(&both), Vec::<String>::new());
}

#[test]
fn aggregates_with_and_without_groups() {
    let by_id = aggregate(r(), vec![col(0)], vec![agg("COUNT", vec![]), agg("SUM", vec![col(1)])]);
    assert_eq!(db().rows(&by_id), ["1 2 11", "3 1 7", "4 1 NULL", "NULL 1 9"]);
    let empty = || scan("empty", &["id", "v"]);
    let all = aggregate(empty(), vec![], vec![agg("COUNT", vec![]), agg("MAX", vec![col(1)])]);
    assert_eq!(db().rows(&all), ["0 NULL"]);
    assert_eq!(db().rows(&aggregate(empty(), vec![col(0)], vec![agg("COUNT", vec![])])), Vec::<String>::new());
    let twice = aggregate(r(), vec![col(0), col(0)], vec![agg("COUNT", vec![]), agg("COUNT", vec![])]);
    assert_eq!(db().rows(&twice), ["1 1 2 2", "3 3 1 1", "4 4 1 1", "NULL NULL 1 1"]);
    let same = call("IS NOT DISTINCT FROM", vec![col(0), col(1)]);
    assert_eq!(db().rows(&aggregate(r(), vec![same], vec![agg("COUNT", vec![])])), ["FALSE 5"]);
    let constant = aggregate(r(), vec![int(7)], vec![agg("COUNT", vec![])]);
    assert_eq!(db().rows(&constant), ["7 5"]);
    assert_eq!(db().rows(&project(aggregate(r(), vec![], vec![]), vec![int(1)])), ["1"]);
    let mut distinct = agg("COUNT", vec![col(0)]);
    distinct.distinct = true;
    let mut filtered = agg("COUNT", vec![]);
    filtered.filter = Some(call("IS NULL", vec![col(0)]));
    assert_eq!(db().rows(&aggregate(r(), vec![], vec![distinct, filtered])), ["3 1"]);
    let mut unknown = agg("COUNT", vec![]);
    unknown.filter = Some(call("<", vec![col(1), int(100)]));
    assert_eq!(db().rows(&aggregate(r(), vec![col(0)], vec![unknown])), ["1 2", "3 1", "4 0", "NULL 1"]);
}

#[test]
fn set_operations_are_of_multisets() {
    let ids = |rel| project(rel, vec![col(0)]);
    let left = || {
        let twice = set_op(ids(r()), ids(r()), SetOpKind::Union, true);
        set_op(twice, ids(l()), SetOpKind::Union, true)
    };
    let rows = |kind, all| db().rows(&set_op(left(), ids(r()), kind, all));
    assert_eq!(rows(SetOpKind::Union, true).len(), 19);
    assert_eq!(rows(SetOpKind::Union, false), ["1", "2", "3", "4", "NULL"]);
    assert_eq!(rows(SetOpKind::Intersect, true), ["1", "1", "3", "4", "NULL"]);
    assert_eq!(rows(SetOpKind::Intersect, false), ["1", "3", "4", "NULL"]);
    assert_eq!(rows(SetOpKind::Except, true), ["1", "1", "1", "2", "3", "3", "4", "NULL", "NULL"]);
    assert_eq!(rows(SetOpKind::Except, false), ["2"]);
    assert_eq!(db().rows(&distinct(left())), ["1", "2", "3", "4", "NULL"]);
}

#[test]
fn sorting_puts_nulls_where_the_key_says() {
    let sorted =
        |descending, first| db().ordered(&sort(project(l(), vec![col(0)]), vec![(0, descending, first)])).unwrap();
    assert_eq!(sorted(false, true), ["NULL", "1", "2", "3"]);
    assert_eq!(sorted(false, false), ["1", "2", "3", "NULL"]);
    assert_eq!(sorted(true, false), ["3", "2", "1", "NULL"]);
    assert_eq!(sorted(true, true), ["NULL", "3", "2", "1"]);
}

#[test]
fn limits() {
    let ids = || sort(project(l(), vec![col(0)]), vec![(0, false, true)]);
    let rows = |offset, fetch| db().ordered(&limit(ids(), offset, fetch)).unwrap();
    assert_eq!(rows(1, Some(2)), ["1", "2"]);
    assert_eq!(rows(0, Some(0)), Vec::<String>::new());
    assert_eq!(rows(3, None), ["3"]);
    assert_eq!(rows(9, Some(u64::MAX)), Vec::<String>::new());
    // ORDER BY a column that is not selected.
    let hidden = project(limit(sort(l(), vec![(1, true, false)]), 0, Some(2)), vec![col(0)]);
    assert_eq!(db().ordered(&hidden).unwrap(), ["NULL", "2"]);
}

#[test]
fn a_filtered_aggregate_of_an_aggregate_is_its_own() {
    // DataFusion alone answers with the inner aggregate's value.
    let count = project(aggregate(l(), vec![], vec![agg("COUNT", vec![])]), vec![int(1)]);
    let mut outer = agg("COUNT", vec![]);
    outer.filter = Some(eq(col(0), int(1)));
    assert_eq!(db().rows(&aggregate(count, vec![], vec![outer])), ["1"]);
}

#[test]
fn unions_match_by_position_beside_empty_inputs() {
    let swapped = || project(l(), vec![col(1), col(0)]);
    let none = || filter(l(), boolean(Some(false)));
    let union = |a, b| set_op(a, b, SetOpKind::Union, true);
    assert_eq!(db().rows(&union(none(), swapped())), ["10 1", "20 2", "40 NULL", "NULL 3"]);
    let nested = union(project(union(l(), swapped()), vec![col(1), col(0)]), none());
    assert_eq!(db().rows(&nested), ["1 10", "10 1", "2 20", "20 2", "3 NULL", "40 NULL", "NULL 3", "NULL 40"]);
}

#[test]
fn the_first_of_the_distinct_may_be_null() {
    let first = |rel| limit(sort(rel, vec![(0, false, true)]), 0, Some(1));
    let v = || project(filter(l(), eq(col(0), int(3))), vec![col(1)]);
    assert_eq!(db().rows(&first(distinct(v()))), ["NULL"]);
    let max = aggregate(l(), vec![col(0)], vec![agg("MAX", vec![col(1)])]);
    assert_eq!(db().rows(&limit(sort(max, vec![(1, true, true)]), 0, Some(1))), ["3 NULL"]);
}

#[test]
fn what_is_false_of_an_aggregate_leaves_no_row() {
    let max = aggregate(l(), vec![], vec![agg("MAX", vec![col(1)])]);
    assert_eq!(db().rows(&filter(max, not(eq(col(0), col(0))))), Vec::<String>::new());
    let same = filter(l(), call("OR", vec![eq(col(0), col(0)), call("<", vec![col(1), col(0)])]));
    assert_eq!(db().rows(&aggregate(same, vec![], vec![agg("COUNT", vec![])])), ["3"]);
    let none = || filter(l(), boolean(Some(false)));
    assert_eq!(db().rows(&aggregate(none(), vec![int(1)], vec![agg("COUNT", vec![])])), Vec::<String>::new());
}

#[test]
fn a_constant_of_an_outer_join_is_sorted() {
    let flagged = project(r(), vec![col(0), int(1)]);
    let joined = join(l(), flagged, JoinKind::Left, Some(eq(col(0), col(2))));
    let sorted = sort(project(joined, vec![col(3), col(0)]), vec![(0, false, true), (1, true, false)]);
    assert_eq!(db().ordered(&sorted).unwrap(), ["NULL 2", "NULL NULL", "1 3", "1 1", "1 1"]);
    let fives = filter(r(), eq(col(1), int(5)));
    let joined = join(l(), fives, JoinKind::Left, Some(eq(col(0), col(2))));
    let sorted = sort(project(joined, vec![col(3), col(0)]), vec![(0, false, true), (1, true, false)]);
    assert_eq!(db().ordered(&sorted).unwrap(), ["NULL 3", "NULL 2", "NULL NULL", "5 1"]);
}

#[test]
fn constants_of_a_unions_inputs_are_sorted() {
    let flagged = |flag| project(l(), vec![int(flag), col(0)]);
    let union = set_op(flagged(2), flagged(1), SetOpKind::Union, true);
    let top =
        |fetch| db().ordered(&limit(sort(union.clone(), vec![(0, true, false), (1, false, true)]), 0, Some(fetch)));
    assert_eq!(top(1).unwrap(), ["2 NULL"]);
    assert_eq!(top(5).unwrap(), ["2 NULL", "2 1", "2 2", "2 3", "1 NULL"]);
}

#[test]
fn a_limit_of_rows_in_memory_holds_where_no_column_is_read() {
    let three = limit(values(vec![vec![int(1)], vec![int(2)], vec![int(3)]]), 0, Some(2));
    assert_eq!(db().rows(&aggregate(three.clone(), vec![], vec![agg("COUNT", vec![])])), ["2"]);
    let constant = project(three, vec![int(7)]);
    assert_eq!(db().rows(&constant), ["7", "7"]);
}
