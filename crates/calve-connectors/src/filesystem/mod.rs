//! `filesystem`: tables whose rows are files of a folder.
//!
//! Reading: [`listing`] finds the files, [`scan`] shares them out and runs a reader of their format ([`csv`], [`json`],
//! [`parquet`], [`raw`], [`changelog`]). Each file is opened once and read from its beginning to its end.

mod changelog;
mod csv;
mod encode;
mod json;
mod lines;
mod listing;
mod lock;
mod parquet;
mod partition;
mod raw;
mod scan;
mod sized;
mod tape;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use calve_stream::Op;
use calve_types::{DataType, Error, LogicalType, Result, arrow as mapping};
use datafusion::catalog::TableProvider;

use crate::options::{Options, Purpose};
use crate::{ConnectorContext, MetadataColumn, Sink, SinkMode, TableDefinition, check_bounded};

/// The format of a table's files.
#[derive(Debug, Clone)]
enum Format {
    Csv(Arc<csv::CsvFormat>),
    Json(Arc<json::JsonFormat>),
    Parquet(Arc<parquet::ParquetFormat>),
    Raw(raw::RawFormat),
    Changelog(Arc<changelog::ChangelogFormat>),
}

/// A table of files.
#[derive(Debug)]
pub(crate) struct FilesystemTable {
    name: String,
    root: PathBuf,
    /// The files whose paths match are read.
    pattern: Option<listing::PathPattern>,
    format: Format,
    columns: Vec<(String, DataType)>,
    /// The columns in the files, by their place in `columns`: all but the partition keys.
    in_files: Vec<usize>,
    /// The partition keys, by their place in `columns`.
    keys: Vec<usize>,
    default_name: String,
    /// What is read of the files' metadata: the schema's columns behind `columns`.
    metadata: Vec<Metadata>,
    schema: SchemaRef,
    /// Bytes at which the next part file is begun.
    rolling_size: u64,
    /// The empty file written into each partition that was written to.
    success_file: Option<String>,
}

impl Format {
    /// What part files' names end in: nothing, as in Flink, but for Parquet, whose readers like to see it.
    fn extension(&self) -> &'static str {
        match self {
            Self::Parquet(_) => ".parquet",
            Self::Csv(_) | Self::Json(_) | Self::Raw(_) | Self::Changelog(_) => "",
        }
    }
}

impl FilesystemTable {
    /// # Errors
    /// Options and columns that Flink refuses or that calve does not have.
    fn new(table: &TableDefinition, purpose: Purpose, context: &ConnectorContext) -> Result<Self> {
        let options = Options::new(table, purpose);
        let format_name = options.required("format")?.to_owned();
        let prefix = format!("{format_name}.");
        options.check_static_names("filesystem", Some(&prefix))?;
        let root = listing::local_path(options.required("path")?)?;
        if purpose == Purpose::Read && options.get("source.monitor-interval").is_some() {
            check_bounded(table, context)?;
            return Err(Error::unsupported("option 'source.monitor-interval': a folder watched without end")
                .with_hint("leave it out: the files that are there now are read"));
        }
        for name in ["sink.partition-commit.policy.class", "sink.partition-commit.policy.class.parameters"] {
            if options.get(name).is_some() {
                return Err(Error::unsupported(format!("option '{name}': Java classes")));
            }
        }
        options.boolean("auto-compaction")?;
        options.boolean("sink.shuffle-by-partition.enable")?;
        options.integer("sink.parallelism")?;
        let pattern = options
            .get("source.path.regex-pattern")
            .map(|pattern| listing::PathPattern::new(pattern, &options))
            .transpose()?;
        let keys = table
            .partition_keys
            .iter()
            .map(|key| {
                table.columns.iter().position(|(name, _)| name == key).ok_or_else(|| {
                    Error::new("invalid-table", format!("partition key '{key}' is no column of table '{}'", table.name))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let in_files: Vec<usize> = (0..table.columns.len()).filter(|i| !keys.contains(i)).collect();
        let file_columns: Vec<(String, DataType)> =
            in_files.iter().filter_map(|i| table.columns.get(*i)).cloned().collect();
        let format = match format_name.as_str() {
            "csv" => {
                file_columns.iter().try_for_each(|(name, t)| csv::CsvFormat::check(name, t))?;
                Format::Csv(Arc::new(csv::CsvFormat::new(&options)?))
            }
            "json" => {
                file_columns.iter().try_for_each(|(name, t)| json::JsonFormat::check(name, t))?;
                Format::Json(Arc::new(match purpose {
                    Purpose::Read => json::JsonFormat::new(&options, "json")?,
                    Purpose::Write => json::JsonFormat::for_writing(&options, "json")?,
                }))
            }
            "raw" => {
                raw::RawFormat::check(&file_columns)?;
                Format::Raw(raw::RawFormat::new(&options)?)
            }
            "parquet" => Format::Parquet(Arc::new(parquet::ParquetFormat::new(&options, context.eval.time_zone)?)),
            other => {
                let Some(format) = changelog::ChangelogFormat::new(other, &options, purpose)? else {
                    return Err(unknown_format(&options, other));
                };
                file_columns.iter().try_for_each(|(name, t)| json::JsonFormat::check(name, t))?;
                if purpose == Purpose::Read {
                    check_mode(table, context)?;
                }
                Format::Changelog(Arc::new(format))
            }
        };
        let fields = table.columns.iter().map(|(name, t)| mapping::field(name, t)).collect::<Result<Vec<_>>>()?;
        let default_name = options.get("partition.default-name").unwrap_or("__DEFAULT_PARTITION__").to_owned();
        Ok(Self {
            name: table.name.clone(),
            root,
            pattern,
            format,
            columns: table.columns.clone(),
            in_files,
            keys,
            default_name,
            metadata: Vec::new(),
            schema: Arc::new(Schema::new(fields)),
            rolling_size: rolling_size(&options)?,
            success_file: success_file(&options)?,
        })
    }
}

fn rolling_size(options: &Options) -> Result<u64> {
    const NAME: &str = "sink.rolling-policy.file-size";
    let text = options.get(NAME).unwrap_or("128mb");
    calve_options::parse_bytes(text).filter(|size| *size > 0).ok_or_else(|| {
        options.refuse(
            "invalid-option",
            format!("invalid value '{text}' for option '{NAME}': expected a size such as '128mb'"),
            format!("Could not parse value '{text}' for key '{NAME}'."),
        )
    })
}

/// The name of the success file, if the table's policy writes one into each partition.
fn success_file(options: &Options) -> Result<Option<String>> {
    const NAME: &str = "sink.partition-commit.policy.kind";
    let mut is_wanted = false;
    for kind in options.get(NAME).unwrap_or("").split(',').map(str::trim).filter(|kind| !kind.is_empty()) {
        match kind {
            "success-file" => is_wanted = true,
            "metastore" => {}
            other => return Err(Error::unsupported(format!("option '{NAME}' with '{other}'"))),
        }
    }
    let name = options.get("sink.partition-commit.success-file.name").unwrap_or("_SUCCESS");
    if name.is_empty() || name.contains('/') {
        return Err(options.refuse(
            "invalid-option",
            format!(
                "invalid value '{name}' for option 'sink.partition-commit.success-file.name': expected a file's name"
            ),
            "Invalid value for option 'sink.partition-commit.success-file.name'.",
        ));
    }
    Ok(is_wanted.then(|| name.to_owned()))
}

fn unknown_format(options: &Options, name: &str) -> Error {
    const FLINK: &[&str] = &["avro", "orc", "protobuf"];
    const HINT: &str =
        "formats are csv, json, parquet and raw; for changes canal-json, debezium-json, maxwell-json and ogg-json";
    if FLINK.contains(&name) {
        return Error::unsupported(format!("format '{name}' of a filesystem table")).with_hint(HINT);
    }
    let known = ["csv", "json", "parquet", "raw"].into_iter().chain(changelog::ChangelogFormat::NAMES);
    let error = options.refuse(
        "unknown-format",
        format!("unknown format '{name}'"),
        format!("Could not find any format factory for identifier '{name}' in the classpath."),
    );
    error.with_hint(HINT).did_you_mean(name, known)
}

/// Refuses to read changes in batch mode, as Flink does.
///
/// # Errors
/// `changelog-in-batch`.
fn check_mode(table: &TableDefinition, context: &ConnectorContext) -> Result<()> {
    if !context.batch {
        return Ok(());
    }
    let name = &table.name;
    Err(Error::new("changelog-in-batch", format!("table '{name}' holds changes: they cannot be read in batch mode"))
        .with_detail(format!(
            "Querying a table in batch mode is currently only possible for INSERT-only table sources. But the source for \
             table '{name}' produces other changelog messages than just INSERT."
        ))
        .with_hint("SET 'execution.runtime-mode' = 'streaming'"))
}

/// What a file says about itself, as a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metadata {
    Path,
    Name,
    Size,
    Modified,
}

impl Metadata {
    const ALL: [(&'static str, Self); 4] = [
        ("file.path", Self::Path),
        ("file.name", Self::Name),
        ("file.size", Self::Size),
        ("file.modification-time", Self::Modified),
    ];

    /// The types of Flink's `ReadableFileInfo`.
    fn data_type(self) -> DataType {
        match self {
            Self::Path | Self::Name => LogicalType::STRING.not_null(),
            Self::Size => LogicalType::BigInt.not_null(),
            Self::Modified => LogicalType::TimestampLtz(3).not_null(),
        }
    }
}

/// The metadata columns of a table of files: key and type.
pub(crate) fn metadata() -> Vec<(&'static str, DataType)> {
    Metadata::ALL.iter().map(|(key, kind)| (*key, kind.data_type())).collect()
}

/// The provider that reads a table of files, with these metadata columns behind its own, and the kinds of changes behind
/// those if its files hold changes.
///
/// # Errors
/// As [`FilesystemTable::new`].
pub(crate) fn source(
    table: &TableDefinition,
    metadata: &[MetadataColumn],
    context: &ConnectorContext,
) -> Result<Arc<dyn TableProvider>> {
    let mut files = FilesystemTable::new(table, Purpose::Read, context)?;
    let mut fields: Vec<_> = files.schema.fields().iter().cloned().collect();
    for column in metadata {
        let Some((_, kind)) = Metadata::ALL.iter().find(|(key, _)| *key == column.key) else { continue };
        files.metadata.push(*kind);
        fields.push(Arc::new(mapping::field(&column.name, &kind.data_type())?));
    }
    if matches!(files.format, Format::Changelog(_)) {
        fields.push(Arc::new(Op::field()));
    }
    files.schema = Arc::new(Schema::new(fields));
    Ok(Arc::new(files))
}

/// The sink that writes a table of files.
///
/// # Errors
/// As [`FilesystemTable::new`].
pub(crate) fn sink(table: &TableDefinition, mode: &SinkMode, context: &ConnectorContext) -> Result<Box<dyn Sink>> {
    write::sink(FilesystemTable::new(table, Purpose::Write, context)?, mode)
}

#[cfg(test)]
mod tests;
