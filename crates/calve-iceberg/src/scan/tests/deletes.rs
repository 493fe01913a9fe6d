//! Which deletes hit which rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray, Float32Array, Float64Array, Int32Array, StringArray};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::functions_aggregate::count::count_all;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::prelude::{col, lit};
use iceberg::spec::*;

use super::lake::{Lake, batch, fields, int64, schema};

fn id_and_name() -> Vec<NestedFieldRef> {
    fields(&[(1, "id", PrimitiveType::Long), (2, "name", PrimitiveType::String)])
}

fn ids(columns: &[NestedFieldRef], of: std::ops::Range<i64>) -> arrow::array::RecordBatch {
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(of.clone().map(|i| format!("n{i}"))));
    batch(columns, vec![int64(of.map(Some)), names])
}

#[tokio::test]
async fn key_deletes_hit_older_data_only_and_position_deletes_their_own_commit_too() {
    let columns = id_and_name();
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let old = lake.data(&ids(&columns, 0..3));
    lake.commit(vec![old]).await;
    let new = lake.data(&ids(&columns, 1..5));
    let keys = lake.key_deletes(&batch(&columns[..1], vec![int64([Some(1), Some(2), Some(4)])]), &[1]);
    let positions = lake.position_deletes(&[(new.file_path(), 3)]).build().unwrap();
    lake.commit(vec![new, keys, positions]).await;
    assert_eq!(lake.rows().await, ["0,n0", "1,n1", "2,n2", "3,n3"]);
    assert_eq!(lake.rows_with(&[("snapshot-id", "1")]).await, ["0,n0", "1,n1", "2,n2"]);
}

#[tokio::test]
async fn null_deletes_null() {
    let columns = id_and_name();
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c"), None]));
    let data = lake.data(&batch(&columns, vec![int64([None, None, Some(3), Some(4)]), names]));
    lake.commit(vec![data]).await;
    let null_name: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>]));
    let keys = lake.key_deletes(&batch(&columns, vec![int64([None]), null_name]), &[1, 2]);
    lake.commit(vec![keys]).await;
    assert_eq!(lake.rows().await.len(), 3);
    let keys = lake.key_deletes(&batch(&columns[..1], vec![int64([None])]), &[1]);
    lake.commit(vec![keys]).await;
    assert_eq!(lake.rows_of(|df| df.select(vec![col("name")])).await, ["", "c"]);
}

#[tokio::test]
async fn a_vector_replaces_position_delete_files() {
    let columns = id_and_name();
    let mut lake = Lake::new(FormatVersion::V3, schema(columns.clone()), &[]);
    let data = lake.data(&ids(&columns, 0..10));
    // as a table upgraded from version 2 has them
    let positions = lake.position_deletes(&[(data.file_path(), 0)]).build().unwrap();
    let vector = lake.vector(&data, &[1u64, 9].into_iter().collect());
    lake.commit(vec![data.clone(), positions, vector.clone()]).await;
    assert_eq!(lake.rows().await.len(), 8);
    assert!(lake.rows().await.contains(&"0,n0".to_owned()));
    let again = lake.vector(&data, &[2u64].into_iter().collect());
    lake.commit(vec![again]).await;
    assert_eq!(lake.error().await.detail.unwrap(), format!("Can't index multiple DVs for {}", data.file_path()));
}

#[tokio::test]
async fn keys_follow_renames_promotions_and_dropped_columns() {
    let columns =
        fields(&[(1, "id", PrimitiveType::Int), (2, "name", PrimitiveType::String), (3, "x", PrimitiveType::Float)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let rows = |ids: Vec<i32>| {
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(ids.iter().map(|i| format!("n{i}"))));
        let x: ArrayRef = Arc::new(Float32Array::from_iter_values(ids.iter().map(|i| *i as f32 / 2.0)));
        vec![Arc::new(Int32Array::from(ids)) as ArrayRef, names, x]
    };
    let data = lake.data(&batch(&columns, rows(vec![1, 2, 3, 4, 5])));
    lake.commit(vec![data]).await;
    let by_name = lake.key_deletes(&batch(&columns[1..2], rows(vec![1])[1..2].to_vec()), &[2]);
    let by_int = lake.key_deletes(&batch(&columns[..1], rows(vec![2])[..1].to_vec()), &[1]);
    lake.commit(vec![by_name, by_int]).await;
    // `name` is dropped, `id` renamed and promoted, as is `x`
    let now =
        fields(&[(1, "key", PrimitiveType::Long), (3, "x", PrimitiveType::Double), (4, "id", PrimitiveType::Int)]);
    lake.set_schema(now.clone());
    let by_long = lake.key_deletes(&batch(&now[..1], vec![int64([Some(3)])]), &[1]);
    let x: ArrayRef = Arc::new(Float64Array::from(vec![2.0]));
    let by_double = lake.key_deletes(&batch(&now[1..2], vec![x]), &[3]);
    lake.commit(vec![by_long, by_double]).await;
    assert_eq!(lake.rows().await, ["5,2.5"]);
}

#[tokio::test]
async fn a_key_inside_of_a_struct() {
    let inner = StructType::new(fields(&[(3, "a", PrimitiveType::Long)]));
    let columns: Vec<NestedFieldRef> = vec![
        NestedField::optional(1, "id", Type::Primitive(PrimitiveType::Long)).into(),
        NestedField::optional(2, "s", Type::Struct(inner)).into(),
    ];
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let arrow = crate::schema::to_arrow(&schema(columns.clone())).unwrap();
    let arrow::datatypes::DataType::Struct(inner) = arrow.field(1).data_type() else { panic!() };
    let nulls = arrow::buffer::NullBuffer::from(vec![true, true, false]);
    let s = arrow::array::StructArray::new(inner.clone(), vec![int64([Some(7), Some(8), Some(7)])], Some(nulls));
    let data = lake.data(&batch(&columns, vec![int64([Some(1), Some(2), Some(3)]), Arc::new(s)]));
    lake.commit(vec![data]).await;
    let keys = lake.key_deletes(&batch(&fields(&[(3, "a", PrimitiveType::Long)]), vec![int64([Some(7)])]), &[3]);
    lake.commit(vec![keys]).await;
    assert_eq!(lake.rows_of(|df| df.select(vec![col("id")])).await, ["2", "3"]);
}

#[tokio::test]
async fn global_deletes_reach_other_specs_and_local_ones_their_partition() {
    let columns = id_and_name();
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let unpartitioned = lake.metadata.default_partition_spec().as_ref().clone();
    let spec = UnboundPartitionSpec::builder().add_partition_field(2, "name_p", Transform::Identity).unwrap();
    lake.change(|b| b.add_default_partition_spec(spec.build()).unwrap());
    let spec_id = lake.metadata.default_partition_spec_id();
    let of = |name: &str| Struct::from_iter([Some(Literal::string(name))]);
    let mut files = Vec::new();
    for name in ["a", "b"] {
        let names: ArrayRef = Arc::new(StringArray::from(vec![name; 3]));
        let rows = batch(&columns, vec![int64([Some(1), Some(2), Some(3)]), names]);
        files.push(lake.file(&rows).partition(of(name)).partition_spec_id(spec_id).build().unwrap());
    }
    lake.commit(files).await;
    let key = |id| batch(&id_and_name()[..1], vec![int64([Some(id)])]);
    let mut local = lake.file(&key(1));
    local.content(DataContentType::EqualityDeletes).equality_ids(Some(vec![1])).partition(of("a"));
    lake.commit(vec![local.partition_spec_id(spec_id).build().unwrap()]).await;
    let global = lake.key_deletes(&key(2), &[1]);
    lake.commit_with(vec![global], unpartitioned).await;
    assert_eq!(lake.rows().await, ["1,b", "3,a", "3,b"]);
}

#[tokio::test]
async fn counts_come_from_metadata_only_without_deletes() {
    let columns = id_and_name();
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let data = lake.data(&ids(&columns, 0..10));
    lake.commit(vec![data.clone()]).await;
    std::fs::rename(data.file_path(), format!("{}.away", data.file_path())).unwrap();
    let counted = |lake: &Lake| {
        let provider = lake.provider(&[]);
        async move {
            let df = datafusion::prelude::SessionContext::new().read_table(provider).unwrap();
            df.aggregate(vec![], vec![count_all()]).unwrap().collect().await.map(|b| super::lake::lines(&b))
        }
    };
    assert_eq!(counted(&lake).await.unwrap(), ["10"]);
    let keys = lake.key_deletes(&batch(&columns[..1], vec![int64([Some(3)])]), &[1]);
    lake.commit(vec![keys]).await;
    assert!(counted(&lake).await.is_err());
    std::fs::rename(format!("{}.away", data.file_path()), data.file_path()).unwrap();
    assert_eq!(counted(&lake).await.unwrap(), ["9"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_upserts_are_read_quickly() {
    let columns = id_and_name();
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    for i in 0..100 {
        let data = lake.data(&ids(&columns, i * 500..i * 500 + 1000));
        let keys = batch(&columns[..1], vec![int64((i * 500..i * 500 + 1000).map(Some))]);
        let keys = lake.key_deletes(&keys, &[1]);
        lake.commit(vec![data, keys]).await;
    }
    let start = std::time::Instant::now();
    let rows = lake.rows_of(|df| df.aggregate(vec![], vec![count(lit(1))])).await;
    assert_eq!(rows, ["50500"]);
    assert!(start.elapsed().as_secs_f32() < 5.0, "{:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_spread_over_partitions_and_large_ones_cut() {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "load", PrimitiveType::Binary)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let rows = |ids: std::ops::Range<i64>, bytes: usize| {
        let loads: ArrayRef = Arc::new(BinaryArray::from_iter_values(ids.clone().map(|i| vec![i as u8; bytes])));
        batch(&columns, vec![int64(ids.map(Some)), loads])
    };
    let mut files: Vec<_> = (0..5).map(|i| lake.data(&rows(i..i + 1, 10))).collect();
    lake.row_group_rows = 1;
    let large = lake.data(&rows(100..130, 1 << 20));
    let positions = lake.position_deletes(&[(large.file_path(), 2), (large.file_path(), 17)]).build().unwrap();
    files.extend([large, positions]);
    lake.commit(files).await;
    let keys = batch(&columns[..1], vec![int64([Some(3), Some(101), Some(129)])]);
    let keys = lake.key_deletes(&keys, &[1]);
    lake.commit(vec![keys]).await;
    let context = lake.session(4);
    let plan = lake.provider(&[]).scan(&context.state(), Some(&vec![0]), &[], None).await.unwrap();
    let source = plan.as_any().downcast_ref::<DataSourceExec>().unwrap();
    let config = source.data_source().as_any().downcast_ref::<FileScanConfig>().unwrap();
    let ranges = config.file_groups.iter().flat_map(|g| g.iter()).filter(|f| f.range.is_some()).count();
    assert_eq!((config.file_groups.len(), ranges), (4, 4));
    let ids: Vec<i64> = (0..5).chain(100..130).filter(|i| ![3, 101, 102, 117, 129].contains(i)).collect();
    let mut read: Vec<i64> = Vec::new();
    for batch in datafusion::physical_plan::collect(plan, context.task_ctx()).await.unwrap() {
        read.extend(batch.column(0).as_primitive::<arrow::datatypes::Int64Type>().values());
    }
    read.sort_unstable();
    assert_eq!(read, ids);
}

#[tokio::test]
async fn a_table_of_version_1() {
    let columns = id_and_name();
    let mut lake = Lake::new(FormatVersion::V1, schema(columns.clone()), &[(1, "b", Transform::Bucket(4))]);
    for i in 0..4i64 {
        let partition = iceberg::transform::create_transform_function(&Transform::Bucket(4)).unwrap();
        let bucket = partition.transform_literal(&Datum::long(i)).unwrap().unwrap();
        let bucket = Struct::from_iter([Some(Literal::Primitive(bucket.literal().clone()))]);
        let data = lake.file(&ids(&columns, i..i + 1)).partition(bucket).build().unwrap();
        lake.commit(vec![data]).await;
    }
    assert_eq!(lake.rows().await.len(), 4);
    assert_eq!(lake.rows_of(|df| df.filter(col("id").eq(lit(2i64)))).await, ["2,n2"]);
}
