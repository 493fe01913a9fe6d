//! Files that a filter rules out are not opened.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType as ArrowType, TimeUnit};
use datafusion::common::ScalarValue;
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
