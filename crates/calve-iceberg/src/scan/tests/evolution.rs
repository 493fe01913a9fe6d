//! Files from before the schema changed, and files of other engines.

use std::fs::File;
use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, Field, Int32Type, Schema as ArrowSchema, TimeUnit};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::prelude::{col, lit};
use iceberg::spec::*;
use parquet::arrow::ArrowWriter;
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::lake::{Lake, batch, fields, int64, plain, schema};

/// A file without field ids.
fn foreign(lake: &mut Lake, rows: &RecordBatch) -> DataFileBuilder {
    let path = lake.path("parquet");
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), rows.schema(), None).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    lake.metrics = false;
    lake.describe(&path, rows)
}

fn named(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn text(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

#[tokio::test]
async fn columns_are_found_by_id() {
    let before = fields(&[
        (1, "a", PrimitiveType::Int),
        (2, "b", PrimitiveType::String),
        (3, "c", PrimitiveType::Float),
        (4, "d", PrimitiveType::Decimal { precision: 9, scale: 2 }),
        (5, "e", PrimitiveType::Binary),
    ]);
    let mut lake = Lake::new(FormatVersion::V3, schema(before.clone()), &[]);
    let decimals = Decimal128Array::from(vec![150, -7]).with_precision_and_scale(9, 2).unwrap();
    let binary: ArrayRef = Arc::new(BinaryArray::from_iter_values([&[0xFFu8, 0][..], &[1]]));
    let file = lake.data(&batch(
        &before,
        vec![
            Arc::new(Int32Array::from(vec![1, 2])),
            text(&["x", "y"]),
            Arc::new(Float32Array::from(vec![0.5, f32::NAN])),
            Arc::new(decimals),
            binary,
        ],
    ));
    lake.commit(vec![file]).await;
    // names are swapped, moved to other types, and types promoted; two columns are new
    let mut now = fields(&[
        (5, "b", PrimitiveType::Binary),
        (2, "a", PrimitiveType::String),
        (1, "e", PrimitiveType::Long),
        (3, "c", PrimitiveType::Double),
        (4, "d", PrimitiveType::Decimal { precision: 18, scale: 2 }),
        (6, "f", PrimitiveType::String),
    ]);
    let default =
        NestedField::required(7, "g", Type::Primitive(PrimitiveType::Int)).with_initial_default(Literal::int(42));
    now.push(default.into());
    lake.set_schema(now);
    assert_eq!(lake.rows().await, ["0100,y,2,NaN,-0.07,42", "ff00,x,1,0.5,1.50,42"].map(|l| l.replace("0100", "01")));
    for (filter, rows) in [
        (col("e").eq(lit(2i64)), 1),
        (col("d").gt(lit(datafusion::common::ScalarValue::Decimal128(Some(100), 18, 2))), 1),
        (col("g").eq(lit(42)), 2),
        (col("g").eq(lit(8)), 0),
        (col("f").is_null(), 2),
        (col("f").eq(lit("x")), 0),
        (col("a").eq(lit("x")), 1),
        (col("c").gt(lit(0.0)), 2),
    ] {
        let got = lake.rows_of(|df| df.filter(filter.clone())).await;
        assert_eq!(got.len(), rows, "{filter}");
    }
    // time travel shows the current columns
    assert_eq!(lake.rows_with(&[("snapshot-id", "1")]).await.len(), 2);
    let counted = lake.rows_of(|df| df.filter(col("e").gt(lit(1i64)))?.aggregate(vec![], vec![count(lit(1))])).await;
    assert_eq!(counted, ["1"]);
}

#[tokio::test]
async fn nested_fields_are_found_by_id() {
    let optional = |id, name, of| -> NestedFieldRef { NestedField::optional(id, name, of).into() };
    let long = || Type::Primitive(PrimitiveType::Long);
    let int = || Type::Primitive(PrimitiveType::Int);
    let make = |inner: Vec<NestedFieldRef>| -> Vec<NestedFieldRef> {
        let list =
            ListType::new(NestedField::list_element(20, Type::Struct(StructType::new(inner.clone())), false).into());
        let map = MapType::new(
            NestedField::map_key_element(30, Type::Primitive(PrimitiveType::String)).into(),
            NestedField::map_value_element(31, inner[0].field_type.as_ref().clone(), false).into(),
        );
        vec![optional(1, "l", Type::List(list)), optional(2, "m", Type::Map(map))]
    };
    let before = make(vec![optional(21, "x", int()), optional(22, "y", int())]);
    let mut lake = Lake::new(FormatVersion::V2, schema(before.clone()), &[]);
    let arrow = crate::schema::to_arrow(&schema(before)).unwrap();
    let ArrowType::List(element) = arrow.field(0).data_type() else { panic!() };
    let ArrowType::Struct(inner) = element.data_type() else { panic!() };
    let int32 = |v: Vec<i32>| -> ArrayRef { Arc::new(Int32Array::from(v)) };
    let structs = StructArray::new(
        inner.clone(),
        vec![int32(vec![1, 2, 3]), int32(vec![10, 20, 30])],
        Some(NullBuffer::from(vec![true, false, true])),
    );
    let list = ListArray::new(element.clone(), OffsetBuffer::from_lengths([2, 0, 1]), Arc::new(structs), None);
    let ArrowType::Map(entries, _) = arrow.field(1).data_type() else { panic!() };
    let ArrowType::Struct(pair) = entries.data_type() else { panic!() };
    let pairs = StructArray::new(pair.clone(), vec![text(&["k"]), int32(vec![5])], None);
    let map = MapArray::new(entries.clone(), OffsetBuffer::from_lengths([1, 0, 0]), pairs, None, false);
    let rows = RecordBatch::try_new(arrow.clone(), vec![Arc::new(list), Arc::new(map)]).unwrap();
    let file = lake.data(&rows);
    lake.commit(vec![file]).await;
    let expected = ["[],{}", "[{x: 1, y: 10}, ],{k: 5}", "[{x: 3, y: 30}],{}"];
    assert_eq!(lake.rows().await, expected);
    // reordered, renamed, added, promoted
    let now = make(vec![optional(21, "z", long()), optional(23, "x", long())]);
    lake.set_schema(now);
    assert_eq!(lake.rows().await, ["[],{}", "[{z: 1, x: }, ],{k: 5}", "[{z: 3, x: }],{}"]);
}

#[tokio::test]
async fn files_without_ids() {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "name", PrimitiveType::String)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let rows = named(vec![("id", int64([Some(1)])), ("old", text(&["a"]))]);
    let file = foreign(&mut lake, &rows).build().unwrap();
    lake.commit(vec![file]).await;
    assert_eq!(lake.rows().await, ["1,a"], "by position");
    let mapping = r#"[{"field-id": 1, "names": ["key"]}, {"field-id": 2, "names": ["name", "old"]}]"#;
    lake.set_property("schema.name-mapping.default", mapping);
    assert_eq!(lake.rows().await, ["a"], "by name, the key is not mapped");
}

#[tokio::test]
async fn a_migrated_file_gets_its_partition_columns_from_the_partition() {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "day", PrimitiveType::String)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns), &[(2, "day", Transform::Identity)]);
    lake.set_property("schema.name-mapping.default", r#"[{"field-id": 1, "names": ["id"]}]"#);
    for day in [Some("mon"), None] {
        let partition = Struct::from_iter([day.map(Literal::string)]);
        let file = foreign(&mut lake, &named(vec![("id", int64([Some(7)]))])).partition(partition).build().unwrap();
        lake.commit(vec![file]).await;
    }
    assert_eq!(lake.rows().await, ["7", "7,mon"]);
    assert_eq!(lake.rows_of(|df| df.filter(col("day").eq(lit("mon")))).await, ["7,mon"]);
    assert_eq!(lake.rows_of(|df| df.filter(col("day").is_null())).await, ["7"]);
}

#[tokio::test]
async fn types_as_other_engines_store_them() {
    let columns = fields(&[
        (1, "s", PrimitiveType::String),
        (2, "t", PrimitiveType::Timestamp),
        (3, "z", PrimitiveType::Timestamptz),
        (4, "u", PrimitiveType::Uuid),
        (5, "f", PrimitiveType::Fixed(2)),
        (6, "h", PrimitiveType::Time),
        (7, "dict", PrimitiveType::String),
        (8, "bin", PrimitiveType::Binary),
        (9, "d", PrimitiveType::Decimal { precision: 5, scale: 1 }),
    ]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns), &[]);
    let dictionary: DictionaryArray<Int32Type> = vec!["dd"].into_iter().collect();
    let fixed = |bytes: &[u8]| -> ArrayRef {
        Arc::new(FixedSizeBinaryArray::try_from_iter(std::iter::once(bytes.to_vec())).unwrap())
    };
    let rows = named(vec![
        ("s", Arc::new(LargeStringArray::from(vec!["ss"]))),
        ("t", Arc::new(TimestampMillisecondArray::from(vec![1_500]))),
        ("z", Arc::new(TimestampNanosecondArray::from(vec![1_500_000_000]).with_timezone("+00:00"))),
        ("u", fixed(&[7; 16])),
        ("f", fixed(&[1, 2])),
        ("h", Arc::new(Time32MillisecondArray::from(vec![3_600_000]))),
        ("dict", Arc::new(dictionary)),
        ("bin", Arc::new(LargeBinaryArray::from_iter_values([b"b"]))),
        ("d", Arc::new(Decimal128Array::from(vec![15]).with_precision_and_scale(5, 1).unwrap())),
    ]);
    let file = foreign(&mut lake, &rows).build().unwrap();
    lake.commit(vec![file]).await;
    let batches = lake.query(Ok).await.unwrap();
    let expected = crate::schema::to_arrow(lake.metadata.current_schema()).unwrap();
    assert_eq!(plain(&batches[0].schema()), plain(&expected));
    assert_eq!(
        super::lake::lines(&batches),
        [
            "ss,1970-01-01T00:00:01.500,1970-01-01T00:00:01.500Z,07070707070707070707070707070707,0102,01:00:00,dd,62,1.5"
        ]
    );
    let rows = lake
        .rows_of(|df| df.filter(col("u").eq(lit(datafusion::common::ScalarValue::Binary(Some(vec![7; 16]))))))
        .await;
    assert_eq!(rows.len(), 1);
}

#[tokio::test]
async fn int96_reaches_all_years() {
    let columns = fields(&[(1, "t", PrimitiveType::Timestamptz)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns), &[]);
    let message = "message m { optional int96 t; }";
    let parsed = Arc::new(parquet::schema::parser::parse_message_type(message).unwrap());
    let path = lake.path("parquet");
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(&path).unwrap(), parsed, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    // noon of 9999-01-01 and 1500-01-01 as nanoseconds of a Julian day
    let noon = |julian: u32| {
        let nanos = 43_200_000_000_000u64;
        let mut value = Int96::new();
        value.set_data(nanos as u32, (nanos >> 32) as u32, julian);
        value
    };
    column.typed::<Int96Type>().write_batch(&[noon(5_373_120), noon(2_268_924)], Some(&[1, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    lake.metrics = false;
    let two = RecordBatch::try_new(
        Arc::new(ArrowSchema::new(vec![Field::new("t", ArrowType::Int32, true)])),
        vec![Arc::new(Int32Array::from(vec![0, 0]))],
    );
    let file = lake.describe(&path, &two.unwrap()).build().unwrap();
    lake.commit(vec![file]).await;
    let batches = lake.query(Ok).await.unwrap();
    assert_eq!(
        batches[0].schema().field(0).data_type(),
        &ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
    );
    let rows = super::lake::lines(&batches);
    assert_eq!(rows, ["1500-01-01T12:00:00Z", "9999-01-01T12:00:00Z"]);
}

#[tokio::test]
async fn a_required_column_without_values_is_an_error() {
    let mut lake = Lake::new(FormatVersion::V2, schema(fields(&[(1, "id", PrimitiveType::Long)])), &[]);
    let file = lake.data(&batch(&fields(&[(1, "id", PrimitiveType::Long)]), vec![int64([Some(1)])]));
    lake.commit(vec![file.clone()]).await;
    lake.set_schema(vec![
        NestedField::optional(1, "id", Type::Primitive(PrimitiveType::Long)).into(),
        NestedField::required(2, "must", Type::Primitive(PrimitiveType::Long)).into(),
    ]);
    let error = lake.error().await;
    let path = file.file_path();
    assert_eq!(
        error.message,
        format!("cannot read column 'must' of the data file '{path}': the required field 'must' is missing")
    );
}

#[tokio::test]
async fn defaults_of_nested_fields_and_of_structs() {
    let optional = |id, name, of| -> NestedFieldRef { NestedField::optional(id, name, of).into() };
    let int = || Type::Primitive(PrimitiveType::Int);
    let string = || Type::Primitive(PrimitiveType::String);
    let before = vec![optional(1, "r", Type::Struct(StructType::new(vec![optional(2, "x", int())])))];
    let mut lake = Lake::new(FormatVersion::V3, schema(before.clone()), &[]);
    let arrow = crate::schema::to_arrow(&schema(before.clone())).unwrap();
    let ArrowType::Struct(inner) = arrow.field(0).data_type() else { panic!("a struct") };
    let values: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let rows = StructArray::new(inner.clone(), vec![values], Some(NullBuffer::from(vec![true, false])));
    let file = lake.data(&batch(&before, vec![Arc::new(rows)]));
    lake.commit(vec![file]).await;

    let y = NestedField::required(3, "y", string()).with_initial_default(Literal::string("d"));
    let r = StructType::new(vec![optional(2, "x", int()), y.into()]);
    let a = NestedField::optional(5, "a", int()).with_initial_default(Literal::int(7));
    let q = StructType::new(vec![a.into(), optional(6, "b", string())]);
    // what a default of a struct leaves out has its own default
    let q = NestedField::optional(4, "q", Type::Struct(q))
        .with_initial_default(Literal::Struct(Struct::from_iter([None, None])));
    let l = NestedField::required(8, "l", Type::List(ListType::new(NestedField::list_element(9, int(), false).into())))
        .with_initial_default(Literal::List(vec![]));
    let ns = NestedField::optional(10, "ns", Type::Primitive(PrimitiveType::TimestampNs))
        .with_initial_default(Literal::long(1_577_836_800_123_456_789_i64));
    lake.set_schema(vec![optional(1, "r", Type::Struct(r)), q.into(), l.into(), ns.into()]);
    assert_eq!(
        lake.rows().await,
        ["{a: 7, b: },[],2020-01-01T00:00:00.123456789", "{x: 1, y: d},{a: 7, b: },[],2020-01-01T00:00:00.123456789"]
    );
}
