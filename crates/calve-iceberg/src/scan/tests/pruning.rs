//! Files that a filter rules out are not opened.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType as ArrowType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::common::stats::Precision;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::prelude::{Expr, SessionContext, cast, col, lit};
use iceberg::spec::*;

use super::lake::{Lake, batch, fields, int64, schema};

async fn opened(lake: &Lake, filter: Expr) -> usize {
    let context = SessionContext::new();
    let plan = lake.provider(&[]).scan(&context.state(), None, &[filter], None).await.unwrap();
    let Some(source) = plan.as_any().downcast_ref::<DataSourceExec>() else { return 0 };
    let config = source.data_source().as_any().downcast_ref::<FileScanConfig>().unwrap();
    config.file_groups.iter().map(|g| g.len()).sum()
}

#[tokio::test]
async fn by_column_bounds() {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "name", PrimitiveType::String)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let mut files = Vec::new();
    for i in 0..10i64 {
        let names: ArrayRef =
            Arc::new(StringArray::from_iter_values((0..10).map(|j| format!("a name of file {i} {j}"))));
        files.push(lake.data(&batch(&columns, vec![int64((0..10).map(|j| Some(i * 10 + j))), names])));
    }
    lake.commit(files).await;
    assert_eq!(opened(&lake, col("id").eq(lit(55i64))).await, 1);
    assert_eq!(opened(&lake, col("id").gt_eq(lit(80i64))).await, 2);
    assert_eq!(opened(&lake, col("id").in_list(vec![lit(1i64), lit(99i64)], false)).await, 2);
    assert_eq!(opened(&lake, col("id").is_null()).await, 0);
    // 16 characters of bounds are enough
    assert_eq!(opened(&lake, col("name").eq(lit("a name of file 7 3"))).await, 1);
    assert_eq!(opened(&lake, col("name").like(lit("a name of file 4 %"))).await, 1);
    // a filter nobody can decide keeps all
    assert_eq!(opened(&lake, cast(col("id"), ArrowType::Utf8).eq(lit("5"))).await, 10);
    assert_eq!(lake.rows_of(|df| df.filter(col("id").eq(lit(55i64)))).await, ["55,a name of file 5 5"]);
}

#[tokio::test]
async fn by_partitions_of_every_transform() {
    for (transform, expected) in
        [(Transform::Identity, 1), (Transform::Bucket(100), 1), (Transform::Truncate(10), 1), (Transform::Void, 20)]
    {
        let columns = fields(&[(1, "id", PrimitiveType::Long)]);
        let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[(1, "p", transform)]);
        lake.metrics = false;
        let function = iceberg::transform::create_transform_function(&transform).unwrap();
        for i in 0..20i64 {
            let id = i * 10 - 50;
            let value = function.transform_literal(&Datum::long(id)).unwrap();
            let partition = Struct::from_iter([value.map(|v| Literal::Primitive(v.literal().clone()))]);
            let rows = batch(&columns, vec![int64([Some(id)])]);
            let file = lake.file(&rows).partition(partition).build().unwrap();
            lake.commit(vec![file]).await;
        }
        for i in 0..20i64 {
            let id = i * 10 - 50;
            let filter = col("id").eq(lit(id));
            let files = opened(&lake, filter.clone()).await;
            // two ids may share a bucket
            assert!(
                files == expected || (matches!(transform, Transform::Bucket(_)) && files <= 3),
                "{transform} {id}: {files}"
            );
            assert_eq!(lake.rows_of(|df| df.filter(filter)).await, [id.to_string()], "{transform}");
        }
    }
}

#[tokio::test]
async fn by_partitions_of_time() {
    let day = 86_400_000_000i64;
    for transform in [Transform::Hour, Transform::Day, Transform::Month, Transform::Year] {
        let columns = fields(&[(1, "ts", PrimitiveType::Timestamp)]);
        let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[(1, "p", transform)]);
        lake.metrics = false;
        let function = iceberg::transform::create_transform_function(&transform).unwrap();
        let times: Vec<i64> = (-5..15).map(|i| i * 400 * day + 12_345_678).collect();
        for time in &times {
            let value = function.transform_literal(&Datum::timestamp_micros(*time)).unwrap().unwrap();
            let partition = Struct::from_iter([Some(Literal::Primitive(value.literal().clone()))]);
            let column: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![*time]));
            let file = lake.file(&batch(&columns, vec![column])).partition(partition).build().unwrap();
            lake.commit(vec![file]).await;
        }
        for time in &times {
            let value = ScalarValue::TimestampMicrosecond(Some(*time), None);
            let filter = col("ts").eq(Expr::Literal(value, None));
            assert!(opened(&lake, filter.clone()).await <= 2, "{transform} {time}");
            assert_eq!(lake.rows_of(|df| df.filter(filter)).await.len(), 1, "{transform} {time}");
        }
    }
}

#[tokio::test]
async fn escaped_patterns_do_not_lose_rows() {
    let columns = fields(&[(1, "s", PrimitiveType::String)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let column: ArrayRef = Arc::new(StringArray::from(vec!["a%b"]));
    let file = lake.data(&batch(&columns, vec![column]));
    lake.commit(vec![file]).await;
    assert_eq!(lake.rows_of(|df| df.filter(col("s").like(lit("a\\%%")))).await, ["a%b"]);
}

#[tokio::test]
async fn casts_that_round_do_not_lose_rows() {
    let columns = fields(&[(1, "ts", PrimitiveType::Timestamp)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let column: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![123_456, 123_789]));
    let file = lake.data(&batch(&columns, vec![column]));
    lake.commit(vec![file]).await;
    let millis = cast(col("ts"), ArrowType::Timestamp(TimeUnit::Millisecond, None));
    let filter = millis.lt_eq(Expr::Literal(ScalarValue::TimestampMillisecond(Some(123), None), None));
    assert_eq!(opened(&lake, filter).await, 1);
}

#[tokio::test]
async fn by_many_values_prefixes_nulls_and_nan() {
    let columns =
        fields(&[(1, "id", PrimitiveType::Long), (2, "s", PrimitiveType::String), (3, "x", PrimitiveType::Double)]);
    let spec = [(2, "s_trunc", Transform::Truncate(2))];
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &spec);
    for i in 0..10i64 {
        let name = (i > 0).then(|| format!("{}z{i}", ["ab", "cd", "ef"][i as usize % 3]));
        let names: ArrayRef = Arc::new(StringArray::from(vec![name.clone(); 3]));
        let x: ArrayRef = Arc::new(Float64Array::from(match i {
            1 => vec![None; 3],
            2 => vec![Some(f64::NAN), Some(2.0), None],
            _ => vec![Some(i as f64); 3],
        }));
        let rows = batch(&columns, vec![int64((0..3).map(|j| Some(i * 10 + j))), names, x]);
        let partition = Struct::from_iter([name.map(|n| Literal::string(&n[..2]))]);
        let file = lake.file(&rows).partition(partition).build().unwrap();
        lake.commit(vec![file]).await;
    }
    // more values than a chain of comparisons is made of
    let many = (0..40).map(|i| lit(if i == 7 { 51i64 } else { 1_000 + i })).collect();
    assert_eq!(opened(&lake, col("id").in_list(many, false)).await, 1);
    assert_eq!(opened(&lake, col("id").in_list(vec![lit(3i64), lit(95i64)], false)).await, 0);
    assert_eq!(opened(&lake, col("id").between(lit(41i64), lit(60i64))).await, 3);
    // NULL
    assert_eq!(opened(&lake, col("s").is_null()).await, 1);
    assert_eq!(opened(&lake, col("s").is_not_null()).await, 9);
    assert_eq!(opened(&lake, col("x").is_not_null()).await, 9);
    // NaN is above all numbers, and files without any say so
    assert_eq!(opened(&lake, col("x").eq(lit(f64::NAN))).await, 1);
    assert_eq!(opened(&lake, col("x").gt(lit(8.5))).await, 2);
    // what a file does not tell, its partition does
    lake.metrics = false;
    let rows = batch(
        &columns,
        vec![int64([Some(7)]), Arc::new(StringArray::from(vec!["cdz"])), Arc::new(Float64Array::from(vec![1.0]))],
    );
    let file = lake.file(&rows).partition(Struct::from_iter([Some(Literal::string("cd"))])).build().unwrap();
    lake.commit(vec![file]).await;
    assert_eq!(opened(&lake, col("s").like(lit("ab%"))).await, 3);
    assert_eq!(opened(&lake, col("s").like(lit("c%"))).await, 4);
    assert_eq!(opened(&lake, col("s").lt(lit("ab"))).await, 0);
    // which has an end, too
    assert_eq!(opened(&lake, col("s").gt(lit("ce"))).await, 3);
    assert_eq!(opened(&lake, col("s").gt_eq(lit("cdz"))).await, 7);
}

#[tokio::test]
async fn limits_open_no_more_files_than_they_need() {
    let columns = fields(&[(1, "id", PrimitiveType::Long)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    for i in 0..10i64 {
        let file = lake.data(&batch(&columns, vec![int64((0..5).map(|j| Some(i * 5 + j)))]));
        lake.commit(vec![file]).await;
    }
    let context = SessionContext::new();
    let files = async |lake: &Lake, filters: &[Expr], limit| {
        let plan = lake.provider(&[]).scan(&context.state(), None, filters, Some(limit)).await.unwrap();
        let source = plan.as_any().downcast_ref::<DataSourceExec>().unwrap();
        let config = source.data_source().as_any().downcast_ref::<FileScanConfig>().unwrap();
        config.file_groups.iter().map(|g| g.len()).sum::<usize>()
    };
    assert_eq!(files(&lake, &[], 1).await, 1);
    assert_eq!(files(&lake, &[], 11).await, 3);
    assert_eq!(files(&lake, &[], 1_000).await, 10);
    assert_eq!(files(&lake, &[col("id").gt(lit(-1i64))], 1).await, 10);
    assert_eq!(lake.rows_of(|df| df.limit(2, Some(7))).await.len(), 7);
    // a file that rows were deleted from may have none left
    let delete = lake.key_deletes(&batch(&columns, vec![int64((0..48).map(Some))]), &[1]);
    lake.commit(vec![delete]).await;
    assert_eq!(files(&lake, &[], 1).await, 10);
    assert_eq!(lake.rows_of(|df| df.limit(0, Some(7))).await, ["48", "49"]);
}

#[tokio::test]
async fn joins_know_how_many_rows_there_are_and_between_which_bounds() {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "x", PrimitiveType::Double)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let add = async |lake: &mut Lake, ids: &[Option<i64>]| {
        let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0; ids.len()]));
        let file = lake.data(&batch(&columns, vec![int64(ids.iter().copied()), x]));
        lake.commit(vec![file]).await;
    };
    add(&mut lake, &[Some(3), None]).await;
    add(&mut lake, &[None]).await;
    add(&mut lake, &[Some(-1), Some(9)]).await;
    let context = SessionContext::new();
    let statistics = async |lake: &Lake| {
        let plan = lake.provider(&[]).scan(&context.state(), None, &[], None).await.unwrap();
        plan.partition_statistics(None).unwrap()
    };
    let told = statistics(&lake).await;
    assert_eq!(told.num_rows, Precision::Exact(5));
    let [id, x] = told.column_statistics.as_slice() else { panic!("two columns") };
    assert_eq!(id.min_value, Precision::Inexact(ScalarValue::Int64(Some(-1))));
    assert_eq!(id.max_value, Precision::Inexact(ScalarValue::Int64(Some(9))));
    assert_eq!(id.null_count, Precision::Inexact(2));
    assert_eq!((&x.min_value, &x.null_count), (&Precision::Absent, &Precision::Inexact(0)));
    // an estimate of no rows is none
    let none = lake.rows_of(|df| df.filter(col("id").gt(lit(50i64)))).await;
    assert!(none.is_empty());
    add(&mut lake, &[Some(i64::MIN), Some(i64::MAX)]).await;
    assert_eq!(statistics(&lake).await.column_statistics[0].min_value, Precision::Absent);
    assert_eq!(lake.rows_of(|df| df.filter(col("id").gt(lit(50i64)))).await, [format!("{},1.0", i64::MAX)]);
    lake.metrics = false;
    add(&mut lake, &[Some(60)]).await;
    let told = statistics(&lake).await;
    assert_eq!((told.num_rows, &told.column_statistics[0].min_value), (Precision::Exact(8), &Precision::Absent));
    assert_eq!(lake.rows_of(|df| df.filter(col("id").between(lit(50i64), lit(70i64)))).await, ["60,1.0"]);
}
