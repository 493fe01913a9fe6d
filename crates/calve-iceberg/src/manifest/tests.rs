#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use iceberg::spec::{
    DataContentType, DataFile, DataFileBuilder, DataFileFormat, Datum, Literal, Manifest, ManifestEntry, ManifestFile,
    ManifestWriter, ManifestWriterBuilder, NestedField, PartitionSpec, PrimitiveType, Schema, SchemaRef, Struct,
    Transform, Type,
};

use super::{Layouts, read};
use crate::io::TableIo;

/// A column of every type, with two values of it that are not NULL: but UUID, by which the library cannot write partitions.
fn columns() -> Vec<(PrimitiveType, [Datum; 2])> {
    use PrimitiveType as P;
    let decimal = |precision, unscaled: i128| {
        // as few bytes as the number takes
        let sign = if unscaled < 0 { 0xff } else { 0 };
        let bytes = unscaled.to_be_bytes();
        let most = bytes.iter().position(|byte| *byte != sign).unwrap_or(15).min(15).saturating_sub(1);
        Datum::try_from_bytes(&bytes[most..], P::Decimal { precision, scale: 2 }).unwrap()
    };
    vec![
        (P::Boolean, [Datum::bool(false), Datum::bool(true)]),
        (P::Int, [Datum::int(i32::MIN), Datum::int(7)]),
        (P::Long, [Datum::long(i64::MIN), Datum::long(i64::MAX)]),
        (P::Float, [Datum::float(-1.5), Datum::float(f32::MAX)]),
        (P::Double, [Datum::double(-0.1), Datum::double(1e300)]),
        (P::Decimal { precision: 9, scale: 2 }, [decimal(9, -123), decimal(9, 999_999_999)]),
        (P::Decimal { precision: 38, scale: 2 }, [decimal(38, -1), decimal(38, 10_i128.pow(37))]),
        (P::Date, [Datum::date(-1), Datum::date(20_000)]),
        (P::Time, [Datum::time_micros(0).unwrap(), Datum::time_micros(86_399_999_999).unwrap()]),
        (P::Timestamp, [Datum::timestamp_micros(-1), Datum::timestamp_micros(1)]),
        (P::Timestamptz, [Datum::timestamptz_micros(-1), Datum::timestamptz_micros(1)]),
        (P::String, [Datum::string(""), Datum::string("é, 🦆")]),
        (P::Fixed(3), [Datum::fixed([0, 1, 2]), Datum::fixed([255, 0, 9])]),
        (P::Binary, [Datum::binary([]), Datum::binary([0, 255])]),
    ]
}

fn schema_and_spec() -> (SchemaRef, PartitionSpec) {
    let columns = columns();
    let fields = (1..)
        .zip(&columns)
        .map(|(id, (kind, _))| Arc::new(NestedField::optional(id, format!("c{id}"), Type::Primitive(kind.clone()))));
    let schema = Arc::new(Schema::builder().with_fields(fields).build().unwrap());
    let mut spec = PartitionSpec::builder(schema.clone()).with_spec_id(4);
    for id in 1..=columns.len() {
        spec = spec.add_partition_field(format!("c{id}"), format!("p{id}"), Transform::Identity).unwrap();
    }
    (schema, spec.build().unwrap())
}

fn file(path: &str, content: DataContentType, value: Option<usize>) -> DataFile {
    let columns = columns();
    let ids = || 1..=i32::try_from(columns.len()).unwrap();
    let counts = |of: u64| ids().map(|id| (id, of)).collect::<HashMap<_, _>>();
    let bounds = |which: usize| ids().zip(&columns).map(|(id, (_, of))| (id, of[which].clone())).collect();
    let tuple = columns.iter().map(|(_, of)| value.map(|which| Literal::Primitive(of[which].literal().clone())));
    let mut builder = DataFileBuilder::default();
    builder
        .content(content)
        .file_path(path.to_owned())
        .file_format(DataFileFormat::Parquet)
        .partition(Struct::from_iter(tuple))
        .partition_spec_id(4)
        .record_count(10)
        .file_size_in_bytes(1 << 40);
    if value.is_some() {
        builder
            .column_sizes(counts(100))
            .value_counts(counts(10))
            .null_value_counts(counts(0))
            .nan_value_counts(counts(1))
            .lower_bounds(bounds(0))
            .upper_bounds(bounds(1))
            .key_metadata(Some(vec![1, 2]))
            .split_offsets(Some(vec![4, 1 << 33]))
            .sort_order_id(3);
    }
    if content == DataContentType::EqualityDeletes {
        builder.equality_ids(Some(vec![1, 2]));
    }
    if content == DataContentType::PositionDeletes {
        builder
            .referenced_data_file(Some("/data/a".to_owned()))
            .content_offset(Some(4))
            .content_size_in_bytes(Some(44));
    }
    builder.build().unwrap()
}

/// A manifest as the library writes it: its line and its bytes.
async fn written(
    build: impl FnOnce(ManifestWriterBuilder) -> ManifestWriter,
    fill: impl FnOnce(&mut ManifestWriter),
) -> (ManifestFile, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = format!("{}/m.avro", folder.path().to_str().unwrap());
    let output = TableIo::local().file_io().new_output(&path).unwrap();
    let (schema, spec) = schema_and_spec();
    let mut writer = build(ManifestWriterBuilder::new(output, Some(77), schema, spec));
    fill(&mut writer);
    let mut line = writer.write_manifest_file().await.unwrap();
    line.sequence_number = 9;
    (line, std::fs::read(path).unwrap())
}

fn ours(line: &ManifestFile, bytes: &[u8], columns: Option<&HashSet<i32>>) -> Result<Vec<ManifestEntry>, String> {
    let layouts = Layouts::default();
    let (layout, blocks) = layouts.of(bytes)?;
    let entries = read(&layout, blocks, line, columns)?;
    Ok(entries.iter().map(|entry| ManifestEntry::clone(entry)).collect())
}

fn library(bytes: &[u8]) -> Vec<ManifestEntry> {
    Manifest::parse_avro(bytes).unwrap().entries().iter().map(|entry| ManifestEntry::clone(entry)).collect()
}

fn data(writer: &mut ManifestWriter) {
    let data = DataContentType::Data;
    writer.add_existing_file(file("/data/a", data, Some(0)), 5, 2, Some(1)).unwrap();
    writer.add_existing_file(file("/data/é b", data, Some(1)), 6, 3, Some(3)).unwrap();
    writer.add_delete_file(file("/data/c", data, None), 4, Some(4)).unwrap();
    writer.add_existing_file(file("/data/d", data, None), 6, 3, Some(3)).unwrap();
}

#[tokio::test]
async fn entries_are_those_the_library_reads() {
    let (line, bytes) = written(ManifestWriterBuilder::build_v2_data, data).await;
    assert_eq!(ours(&line, &bytes, None).unwrap(), library(&bytes));
    let (mut line, bytes) = written(ManifestWriterBuilder::build_v1, data).await;
    line.sequence_number = 0;
    assert_eq!(ours(&line, &bytes, None).unwrap(), library(&bytes));
    let deletes = |writer: &mut ManifestWriter| {
        writer.add_existing_file(file("/d", DataContentType::EqualityDeletes, Some(0)), 6, 3, Some(3)).unwrap();
        writer.add_existing_file(file("/e", DataContentType::PositionDeletes, None), 6, 3, Some(3)).unwrap();
    };
    let (line, bytes) = written(ManifestWriterBuilder::build_v3_deletes, deletes).await;
    assert_eq!(ours(&line, &bytes, None).unwrap(), library(&bytes));
}

#[tokio::test]
async fn what_an_entry_leaves_out_it_has_from_its_line() {
    let (mut line, bytes) = written(ManifestWriterBuilder::build_v3_data, |writer| {
        data(writer);
        writer.add_file(file("/data/new", DataContentType::Data, None), -1).unwrap();
    })
    .await;
    line.first_row_id = Some(1000);
    let entries = ours(&line, &bytes, None).unwrap();
    let row_ids: Vec<_> = entries.iter().map(|entry| entry.data_file.first_row_id()).collect();
    assert_eq!(row_ids, [Some(1000), Some(1010), None, Some(1020), Some(1030)]);
    let new = entries.last().unwrap();
    assert_eq!((new.snapshot_id, new.sequence_number, new.file_sequence_number), (Some(77), Some(9), Some(9)));
    line.first_row_id = Some(i64::MAX as u64);
    assert_eq!(ours(&line, &bytes, None).unwrap_err(), "row ids overflow");
}

#[tokio::test]
async fn only_the_metrics_of_wanted_columns_are_kept() {
    let (line, bytes) = written(ManifestWriterBuilder::build_v2_data, data).await;
    let entries = ours(&line, &bytes, Some(&HashSet::from([2]))).unwrap();
    let file = &entries.first().unwrap().data_file;
    assert_eq!(file.lower_bounds(), &HashMap::from([(2, Datum::int(i32::MIN))]));
    assert_eq!(file.upper_bounds(), &HashMap::from([(2, Datum::int(7))]));
    assert_eq!((file.null_value_counts().len(), file.nan_value_counts().len()), (1, 1));
    assert_eq!((file.value_counts().len(), file.column_sizes().len()), (0, 0));
}

#[tokio::test]
async fn damage_is_an_error_or_other_values_but_nothing_worse() {
    let (line, bytes) = written(ManifestWriterBuilder::build_v2_data, data).await;
    let layouts = Layouts::default();
    let (layout, blocks) = layouts.of(&bytes).unwrap();
    for cut in 0..blocks.len() {
        // no block at all is a manifest without entries
        assert!(read(&layout, &blocks[..cut], &line, None).is_err() || cut == 16, "{cut}");
    }
    for at in 0..blocks.len() {
        for bits in [0x01, 0x80, 0xff] {
            let mut damaged = blocks.to_vec();
            damaged[at] ^= bits;
            let _ = read(&layout, &damaged, &line, None);
        }
    }
    for at in (0..bytes.len() - blocks.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        let _ = ours(&line, &damaged, None);
        assert!(Layouts::default().of(&bytes[..at]).is_err());
    }
}

/// Without its format version a manifest would be one of version 1, whose files are older than all deletes.
#[tokio::test]
async fn a_manifest_that_lost_its_format_version_is_refused() {
    let (line, bytes) = written(ManifestWriterBuilder::build_v2_data, data).await;
    let at = bytes.windows(14).position(|window| window == b"format-version").unwrap();
    let mut damaged = bytes.clone();
    damaged[at + 7] ^= 0x40;
    let error = ours(&line, &damaged, None).unwrap_err();
    assert_eq!(error, "its header says format version 1, its manifest list a later one");
}

#[tokio::test]
async fn a_header_is_parsed_once() {
    let layouts = Layouts::default();
    let (_, first) = written(ManifestWriterBuilder::build_v2_data, data).await;
    // the library writes the entries of the header in any order
    let (_, second) = written(ManifestWriterBuilder::build_v2_data, data).await;
    let (_, other) = written(ManifestWriterBuilder::build_v1, data).await;
    let [first, second, other] = [&first, &second, &other].map(|bytes| layouts.of(bytes).unwrap().0);
    assert!(Arc::ptr_eq(&first, &second));
    assert!(!Arc::ptr_eq(&first, &other));
}
