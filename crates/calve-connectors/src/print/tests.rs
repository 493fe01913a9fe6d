#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Int32Array, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use calve_types::{DataType, LogicalType as T, arrow as mapping};

use crate::SinkMode;
use crate::testing::{context, table, write};

fn batch(columns: &[(&str, DataType)], arrays: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<_> = columns.iter().map(|(n, t)| mapping::field(n, t).unwrap()).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// The lines are those of Flink 2.1.3.
#[tokio::test]
async fn lines() {
    let columns = [
        ("a", T::Int.nullable()),
        ("s", T::STRING.nullable()),
        ("ts", T::Timestamp(3).nullable()),
        ("l", T::TimestampLtz(3).nullable()),
        ("t", T::Time(0).nullable()),
        ("d", T::Decimal { precision: 20, scale: 10 }.nullable()),
    ];
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(1), None])),
        Arc::new(StringArray::from(vec![Some("x"), None])),
        Arc::new(TimestampMicrosecondArray::from(vec![1_704_449_472_120_000, 1_704_449_460_000_000])),
        Arc::new(TimestampMicrosecondArray::from(vec![1_500_000, 0]).with_timezone("UTC")),
        Arc::new(Time64MicrosecondArray::from(vec![36_001_000_000, 36_000_000_000])),
        Arc::new(Decimal128Array::from(vec![1000, 1_000_000_000_000]).with_precision_and_scale(20, 10).unwrap()),
    ];
    let mut table = table("print", &columns, &[("print-identifier", "id")]);
    table.partition_keys = vec!["a".to_owned()];
    let (context, lines) = context();
    let mode = SinkMode { overwrite: false, static_partition: vec![("a".to_owned(), "5".to_owned())] };
    let pending = write(&table, mode, vec![batch(&columns, arrays)], &context).await.unwrap();
    assert_eq!((pending.rows(), pending.files()), (2, 0));
    pending.commit().await.unwrap();
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "id:a=5> +I[1, x, 2024-01-05T10:11:12.120, 1970-01-01T00:00:01.500Z, 10:00:01, 1.000E-7]",
            "id:a=5> +I[null, null, 2024-01-05T10:11, 1970-01-01T00:00:00Z, 10:00, 100.0000000000]"
        ]
    );
}
