//! Times that are finer than milliseconds: Flink's connector cuts them when it reads them.

use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray, Time64MicrosecondArray};
use arrow::datatypes::{DataType as ArrowType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::prelude::{Expr, cast, col, lit};
use iceberg::spec::*;

use super::lake::{Lake, batch, fields, int64, schema};

const SECOND: i64 = 1_000_000;

fn times(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Time64MicrosecondArray::from_iter_values(values))
}

fn at(micros: i64) -> Expr {
    lit(ScalarValue::Time64Microsecond(Some(micros)))
}

async fn ids(lake: &Lake, filter: Expr) -> Vec<String> {
    lake.rows_of(|df| df.filter(filter)?.select(vec![col("id")])).await
}

#[tokio::test]
async fn are_cut_and_never_pruned_by_what_is_cut_off() {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "tm", PrimitiveType::Time)]);
    for partition in [vec![], vec![(2, "tm", Transform::Identity)], vec![(2, "tm_bucket", Transform::Bucket(64))]] {
        let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &partition);
        lake.row_group_rows = 1;
        let mut files = Vec::new();
        // a file for every row, so that its bounds and its partition say it exactly
        for (id, time) in [SECOND, SECOND + 1, SECOND + 999, SECOND + 1_000, 2 * SECOND - 1].into_iter().enumerate() {
            let mut file = lake.file(&batch(&columns, vec![int64([Some(id as i64)]), times([time])]));
            if let Some((_, _, transform)) = partition.first() {
                let function = iceberg::transform::create_transform_function(transform).unwrap();
                let value = function.transform_literal(&Datum::time_micros(time).unwrap()).unwrap();
                let value = value.map(|v| Literal::Primitive(v.literal().clone()));
                file.partition(Struct::from_iter([value]));
            }
            files.push(file.build().unwrap());
        }
        lake.commit(files).await;
        assert_eq!(ids(&lake, col("tm").eq(at(SECOND))).await, ["0", "1", "2"], "{partition:?}");
        assert_eq!(ids(&lake, col("tm").gt(at(SECOND))).await, ["3", "4"]);
        assert_eq!(ids(&lake, col("tm").lt_eq(at(SECOND))).await, ["0", "1", "2"]);
        assert_eq!(ids(&lake, col("tm").eq(at(2 * SECOND - 1_000))).await, ["4"]);
        assert_eq!(ids(&lake, col("tm").in_list(vec![at(SECOND), at(0)], false)).await, ["0", "1", "2"]);
        let distinct = lake.rows_of(|df| {
            df.select(vec![cast(col("tm"), ArrowType::Time64(TimeUnit::Microsecond)).alias("t")])?.distinct()
        });
        assert_eq!(distinct.await, ["00:00:01", "00:00:01.001", "00:00:01.999"]);
    }
}

#[tokio::test]
async fn keys_of_deletes_are_compared_in_full() {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "tm", PrimitiveType::Time)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let rows = batch(&columns, vec![int64((0..3).map(Some)), times([SECOND, SECOND + 1, SECOND + 2])]);
    let data = lake.data(&rows);
    lake.commit(vec![data]).await;
    let keys = lake.key_deletes(&batch(&columns[1..], vec![times([SECOND + 1])]), &[2]);
    lake.commit(vec![keys]).await;
    assert_eq!(lake.rows().await, ["0,00:00:01", "2,00:00:01"]);
    assert_eq!(ids(&lake, col("tm").eq(at(SECOND))).await, ["0", "2"]);
}

#[tokio::test]
async fn are_cut_inside_of_rows() {
    let inner = Arc::new(NestedField::optional(3, "tm", Type::Primitive(PrimitiveType::Time)));
    let row = NestedField::optional(2, "r", Type::Struct(StructType::new(vec![inner])));
    let columns = vec![fields(&[(1, "id", PrimitiveType::Long)])[0].clone(), Arc::new(row)];
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let arrow = crate::schema::to_arrow(&schema(columns.clone())).unwrap();
    let ArrowType::Struct(parts) = arrow.field(1).data_type() else { panic!() };
    let rows = Arc::new(StructArray::new(parts.clone(), vec![times([SECOND + 1])], None)) as ArrayRef;
    let data = lake.data(&batch(&columns, vec![int64([Some(1)]), rows]));
    lake.commit(vec![data]).await;
    assert_eq!(lake.rows().await, ["1,{tm: 00:00:01}"]);
}
