//! A table on disk, made file by file.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType as ArrowType, Float64Type, Schema as ArrowSchema};
use arrow::util::pretty::pretty_format_batches;
use datafusion::catalog::TableProvider;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use iceberg::spec::*;
use iceberg::{TableCreation, TableIdent};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::WriterProperties;
use roaring::RoaringTreemap;

use crate::scan::{ScanOptions, provider};
use crate::write::metrics::{Metrics, MetricsConfig};
use crate::{ManifestCache, Table, TableIo};

pub(super) struct Lake {
    pub(super) dir: tempfile::TempDir,
    pub(super) metadata: TableMetadata,
    manifests: Vec<ManifestFile>,
    names: usize,
    snapshots: i64,
    pub(super) row_group_rows: usize,
    pub(super) metrics: bool,
    /// Of the next commits.
    pub(super) operation: Operation,
}

pub(super) fn fields(list: &[(i32, &str, PrimitiveType)]) -> Vec<NestedFieldRef> {
    list.iter().map(|(id, name, of)| NestedField::optional(*id, name, Type::Primitive(of.clone())).into()).collect()
}

pub(super) fn schema(fields: Vec<NestedFieldRef>) -> Schema {
    Schema::builder().with_fields(fields).build().unwrap()
}

/// Columns as a batch whose fields have ids.
pub(super) fn batch(fields: &[NestedFieldRef], columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(crate::schema::to_arrow(&schema(fields.to_vec())).unwrap(), columns).unwrap()
}

impl Lake {
    pub(super) fn new(version: FormatVersion, schema: Schema, partition: &[(i32, &str, Transform)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = UnboundPartitionSpec::builder().with_spec_id(0);
        for (source, name, transform) in partition {
            spec = spec.add_partition_field(*source, *name, *transform).unwrap();
        }
        let fields = schema.as_struct().fields().to_vec();
        let creation = TableCreation::builder()
            .name("t".to_owned())
            .location(dir.path().to_str().unwrap().to_owned())
            .schema(schema)
            .partition_spec(spec.build())
            .format_version(version)
            .build();
        let metadata = TableMetadataBuilder::from_table_creation(creation).unwrap().build().unwrap().metadata;
        let (names, snapshots) = (0, 0);
        let manifests = Vec::new();
        let mut lake = Self {
            dir,
            metadata,
            manifests,
            names,
            snapshots,
            row_group_rows: 1_000_000,
            metrics: true,
            operation: Operation::Append,
        };
        // the builder numbers nested fields anew
        lake.set_schema(fields);
        lake
    }

    pub(super) fn change(&mut self, change: impl FnOnce(TableMetadataBuilder) -> TableMetadataBuilder) {
        self.metadata = change(self.metadata.clone().into_builder(None)).build().unwrap().metadata;
    }

    pub(super) fn set_schema(&mut self, fields: Vec<NestedFieldRef>) {
        self.change(|b| b.add_current_schema(schema(fields)).unwrap());
    }

    pub(super) fn set_property(&mut self, key: &str, value: &str) {
        self.change(|b| b.set_properties(HashMap::from([(key.to_owned(), value.to_owned())])).unwrap());
    }

    pub(super) fn path(&mut self, suffix: &str) -> String {
        self.names += 1;
        format!("{}/f{:05}.{suffix}", self.dir.path().to_str().unwrap(), self.names)
    }

    /// A Parquet file with these rows, described but not committed.
    pub(super) fn file(&mut self, rows: &RecordBatch) -> DataFileBuilder {
        let path = self.path("parquet");
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(self.row_group_rows)).build();
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), rows.schema(), Some(properties)).unwrap();
        writer.write(rows).unwrap();
        writer.close().unwrap();
        self.describe(&path, rows)
    }

    pub(super) fn describe(&mut self, path: &str, rows: &RecordBatch) -> DataFileBuilder {
        let file = File::open(path).unwrap();
        let size = file.metadata().unwrap().len();
        let footer = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
        let mut builder = DataFileBuilder::default();
        builder
            .content(DataContentType::Data)
            .file_path(path.to_owned())
            .file_format(DataFileFormat::Parquet)
            .partition(Struct::empty())
            .record_count(rows.num_rows() as u64)
            .file_size_in_bytes(size);
        if self.metrics {
            let mut nans = HashMap::new();
            for (field, column) in rows.schema().fields().iter().zip(rows.columns()) {
                if let (Some(id), ArrowType::Float64) = (field.metadata().get("PARQUET:field_id"), field.data_type()) {
                    let count = column.as_primitive::<Float64Type>().iter().flatten().filter(|v| v.is_nan()).count();
                    nans.insert(id.parse().unwrap(), count as u64);
                }
            }
            let columns: Vec<_> = self
                .metadata
                .schemas_iter()
                .flat_map(|s| s.as_struct().fields().to_vec())
                .map(|f| (f.id, f))
                .collect::<BTreeMap<_, _>>()
                .into_values()
                .collect();
            let metrics =
                Metrics::of_file(&footer, &MetricsConfig::of_table(&self.table(), &columns, &[]), &nans).unwrap();
            builder
                .value_counts(metrics.value_counts)
                .null_value_counts(metrics.null_value_counts)
                .nan_value_counts(metrics.nan_value_counts)
                .lower_bounds(metrics.lower_bounds)
                .upper_bounds(metrics.upper_bounds);
        }
        builder
    }

    pub(super) fn data(&mut self, rows: &RecordBatch) -> DataFile {
        self.file(rows).build().unwrap()
    }

    pub(super) fn key_deletes(&mut self, rows: &RecordBatch, ids: &[i32]) -> DataFile {
        let mut file = self.file(rows);
        file.content(DataContentType::EqualityDeletes).equality_ids(Some(ids.to_vec())).build().unwrap()
    }

    pub(super) fn position_rows(deletes: &[(&str, i64)]) -> RecordBatch {
        let columns = [
            NestedField::required(2_147_483_546, "file_path", Type::Primitive(PrimitiveType::String)),
            NestedField::required(2_147_483_545, "pos", Type::Primitive(PrimitiveType::Long)),
        ];
        let fields: Vec<NestedFieldRef> = columns.into_iter().map(Into::into).collect();
        let paths: ArrayRef = Arc::new(StringArray::from_iter_values(deletes.iter().map(|d| d.0)));
        let positions = Arc::new(Int64Array::from_iter_values(deletes.iter().map(|d| d.1)));
        batch(&fields, vec![paths, positions])
    }

    pub(super) fn position_deletes(&mut self, deletes: &[(&str, i64)]) -> DataFileBuilder {
        let rows = Self::position_rows(deletes);
        let mut file = self.file(&rows);
        file.content(DataContentType::PositionDeletes);
        file
    }

    /// A blob with leading garbage, since a Puffin file may hold others.
    pub(super) fn vector(&mut self, of: &DataFile, positions: &RoaringTreemap) -> DataFile {
        let path = self.path("puffin");
        let mut checked = vec![0xD1, 0xD3, 0x39, 0x64];
        positions.serialize_into(&mut checked).unwrap();
        let mut bytes = b"PFA1garbage".to_vec();
        let start = bytes.len();
        bytes.extend((checked.len() as u32).to_be_bytes());
        bytes.extend(&checked);
        bytes.extend(crc32fast::hash(&checked).to_be_bytes());
        std::fs::write(&path, &bytes).unwrap();
        DataFileBuilder::default()
            .content(DataContentType::PositionDeletes)
            .file_path(path)
            .file_format(DataFileFormat::Puffin)
            .partition(of.partition().clone())
            .record_count(positions.len())
            .file_size_in_bytes(bytes.len() as u64)
            .referenced_data_file(Some(of.file_path().to_owned()))
            .content_offset(Some(start as i64))
            .content_size_in_bytes(Some((bytes.len() - start) as i64))
            .build()
            .unwrap()
    }

    pub(super) async fn commit(&mut self, files: Vec<DataFile>) -> i64 {
        let spec = self.metadata.default_partition_spec().as_ref().clone();
        self.commit_with(files, spec).await
    }

    /// A snapshot of everything so far and these files.
    pub(super) async fn commit_with(&mut self, files: Vec<DataFile>, spec: PartitionSpec) -> i64 {
        self.snapshots += 1;
        let id = self.snapshots;
        let io = TableIo::local();
        let version = self.metadata.format_version();
        let sequence = self.metadata.next_sequence_number();
        let (data, deletes): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|f| f.content_type() == DataContentType::Data);
        for (files, is_data) in [(data, true), (deletes, false)] {
            if files.is_empty() {
                continue;
            }
            let output = io.file_io().new_output(self.path("avro")).unwrap();
            let builder =
                ManifestWriterBuilder::new(output, Some(id), self.metadata.current_schema().clone(), spec.clone());
            let mut writer = match (version, is_data) {
                (FormatVersion::V1, _) => builder.build_v1(),
                (FormatVersion::V2, true) => builder.build_v2_data(),
                (FormatVersion::V2, false) => builder.build_v2_deletes(),
                (FormatVersion::V3, true) => builder.build_v3_data(),
                (FormatVersion::V3, false) => builder.build_v3_deletes(),
            };
            for file in files {
                writer.add_file(file, -1).unwrap();
            }
            self.manifests.push(writer.write_manifest_file().await.unwrap());
        }
        let list = self.path("avro");
        let parent = self.metadata.current_snapshot_id();
        let output = io.file_io().new_output(&list).unwrap().writer().await.unwrap();
        let mut writer = match version {
            FormatVersion::V1 => ManifestListWriter::v1(output, id, parent),
            FormatVersion::V2 => ManifestListWriter::v2(output, id, parent, sequence),
            FormatVersion::V3 => {
                ManifestListWriter::v3(output, id, parent, sequence, Some(self.metadata.next_row_id()))
            }
        };
        writer.add_manifests(self.manifests.iter().cloned()).unwrap();
        let next_row = writer.next_row_id();
        writer.close().await.unwrap();
        let builder = Snapshot::builder()
            .with_snapshot_id(id)
            .with_parent_snapshot_id(parent)
            .with_sequence_number(sequence)
            .with_timestamp_ms(self.metadata.last_updated_ms().max(1_700_000_000_000) + 1000)
            .with_manifest_list(list.clone())
            .with_schema_id(self.metadata.current_schema_id())
            .with_summary(Summary { operation: self.operation.clone(), additional_properties: HashMap::new() });
        let snapshot = match next_row {
            Some(next) => {
                let first = self.metadata.next_row_id();
                builder.with_row_range(first, next - first).build()
            }
            None => builder.build(),
        };
        self.change(|b| b.set_branch_snapshot(snapshot, MAIN_BRANCH).unwrap());
        // what the list says is what the next commit carries over
        let bytes = std::fs::read(&list).unwrap();
        self.manifests =
            ManifestList::parse_with_version(&bytes, version).unwrap().consume_entries().into_iter().collect();
        id
    }

    pub(super) fn table(&self) -> Table {
        let ident = TableIdent::from_strs(["db", "t"]).unwrap();
        let metadata = Arc::new(self.metadata.clone());
        Table::new(ident, metadata, "m".to_owned(), TableIo::local(), ManifestCache::default())
    }

    pub(super) fn options(&self, hints: &[(&str, &str)]) -> calve_types::Result<ScanOptions> {
        let hints = hints.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        ScanOptions::resolve(&self.table(), &hints, &BTreeMap::new())
    }

    pub(super) fn provider(&self, hints: &[(&str, &str)]) -> Arc<dyn TableProvider> {
        provider(self.table(), self.options(hints).unwrap()).unwrap()
    }

    pub(super) fn session(&self, partitions: usize) -> SessionContext {
        let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
        context.register_table("t", self.provider(&[])).unwrap();
        context
    }

    pub(super) async fn query(
        &self,
        query: impl FnOnce(DataFrame) -> datafusion::error::Result<DataFrame>,
    ) -> datafusion::error::Result<Vec<RecordBatch>> {
        query(self.session(2).table("t").await?)?.collect().await
    }

    /// The table's rows, one string each, sorted.
    pub(super) async fn rows(&self) -> Vec<String> {
        self.rows_of(Ok).await
    }

    pub(super) async fn rows_of(
        &self,
        query: impl FnOnce(DataFrame) -> datafusion::error::Result<DataFrame>,
    ) -> Vec<String> {
        lines(&self.query(query).await.unwrap())
    }

    /// The table's rows with these hints.
    pub(super) async fn rows_with(&self, hints: &[(&str, &str)]) -> Vec<String> {
        let batches = SessionContext::new().read_table(self.provider(hints)).unwrap().collect().await;
        lines(&batches.unwrap())
    }

    /// The error of reading the table.
    pub(super) async fn error(&self) -> calve_types::Error {
        let mut error = self.query(Ok).await.unwrap_err();
        loop {
            error = match error {
                datafusion::error::DataFusionError::Context(_, inner) => *inner,
                datafusion::error::DataFusionError::External(inner) => match inner.downcast::<calve_types::Error>() {
                    Ok(error) => return *error,
                    Err(inner) => panic!("{inner}"),
                },
                datafusion::error::DataFusionError::Shared(inner) => match inner.as_ref() {
                    datafusion::error::DataFusionError::External(e) => {
                        return e.downcast_ref::<calve_types::Error>().unwrap().clone();
                    }
                    other => panic!("{other}"),
                },
                other => panic!("{other:?}"),
            }
        }
    }
}

pub(super) fn lines(batches: &[RecordBatch]) -> Vec<String> {
    if batches.is_empty() {
        return Vec::new();
    }
    let text = pretty_format_batches(batches).unwrap().to_string();
    let mut lines: Vec<String> = text
        .lines()
        .skip(3)
        .filter(|l| l.starts_with('|'))
        .map(|l| l.split('|').map(str::trim).filter(|c| !c.is_empty()).collect::<Vec<_>>().join(","))
        .collect();
    lines.sort();
    lines
}

pub(super) fn int64(values: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(Int64Array::from_iter(values))
}

pub(super) fn plain(schema: &ArrowSchema) -> Vec<(String, ArrowType, bool)> {
    schema.fields().iter().map(|f| (f.name().clone(), f.data_type().clone(), f.is_nullable())).collect()
}
