//! How an INSERT writes: hint before SET before table property before default (Flink's `FlinkWriteConf`).

use std::collections::BTreeMap;
use std::thread::available_parallelism;

use calve_types::{Error, Result};
use iceberg::spec::{DataFileFormat, MAIN_BRANCH};

use super::file_options::{Content, FileOptions};
use super::lookup::{Found, Lookup, boolean, integer, invalid, size};
use crate::table::Table;

/// How rows are spread over writers (`write.distribution-mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistributionMode {
    /// As they come; rows with a key by the key.
    None,
    /// By partition.
    Hash,
    /// By ranges of the sort order or the partition.
    Range,
}

impl DistributionMode {
    fn parse(value: &str) -> Result<Self> {
        match value.to_ascii_lowercase().as_str() {
            "none" => Ok(Self::None),
            "hash" => Ok(Self::Hash),
            "range" => Ok(Self::Range),
            _ => Err(Error::new("invalid-option", format!("invalid distribution mode '{value}'"))
                .with_detail(format!("Invalid distribution mode: {value}"))
                .with_hint("use 'none', 'hash' or 'range'")),
        }
    }
}

/// How rows are counted to find the ranges of [`DistributionMode::Range`] (`range-distribution-statistics-type`). The values
/// are checked for Flink's sake: the ranges come from one bounded sample, whatever the type.
const STATISTICS_TYPES: &[&str] = &["Map", "Sketch", "Auto"];

/// When an upsert writes an equality delete (`calve.upsert.equality-deletes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EqualityDeletes {
    /// For keys that a live row may have.
    Needed,
    /// For every key, as Flink does.
    Always,
}

/// How an upsert deletes the older rows of its keys (`calve.upsert.mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpsertMode {
    /// By key, as Flink does: equality deletes, without a look at the rows.
    Equality,
    /// By position: the rows are looked for.
    Position,
}

/// Everything an INSERT needs to know before it writes, with all priorities resolved.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    pub(crate) upsert: bool,
    pub(crate) overwrite: bool,
    pub(crate) branch: String,
    pub(crate) target_file_size: usize,
    /// How data files are encoded.
    pub(crate) data: FileOptions,
    /// How delete files are encoded; their format is that of the data files.
    pub(crate) deletes: FileOptions,
    pub(crate) distribution: DistributionMode,
    /// What a sort key costs besides its rows, as a part of a writer's share of all rows.
    pub(crate) key_weight: f64,
    pub(crate) writers: usize,
    pub(crate) equality_deletes: EqualityDeletes,
    pub(crate) upsert_mode: UpsertMode,
    /// Field ids of the primary key, ascending.
    pub(crate) key: Vec<i32>,
}

impl WriteOptions {
    /// Resolves hint > SET > table property > default, with Flink's names (`FlinkWriteOptions`, `FlinkWriteConf`).
    /// `overwrite` says whether the statement is INSERT OVERWRITE; the hint `overwrite-enabled` outranks it.
    ///
    /// # Errors
    /// `invalid-option` for a value an option does not take; `not-supported` for formats calve does not write.
    pub fn resolve(
        table: &Table,
        hints: &BTreeMap<String, String>,
        session: &BTreeMap<String, String>,
        overwrite: bool,
    ) -> Result<Self> {
        let options = Lookup { table, hints, session };
        let format = format(options.find("write-format", Some("write.format.default")))?;
        let distribution = options.find("distribution-mode", Some("write.distribution-mode"));
        let writers = match options.hint("write-parallelism", None).filter(|(_, value)| value.trim() != "-1") {
            found @ Some(_) => integer(found, 1, 1)?,
            None => {
                let cores = available_parallelism().map_or(1, usize::from);
                // Flink's default: -1 is "unset"
                match session.get("parallelism.default").map(|v| v.trim()).filter(|v| !v.is_empty() && *v != "-1") {
                    Some(value) => integer(Some(("parallelism.default", value)), 1, 1)?,
                    None => cores as u64,
                }
            }
        };
        check_unused(&options)?;
        let mut key: Vec<i32> = table.metadata().current_schema().identifier_field_ids().collect();
        key.sort_unstable();
        Ok(Self {
            upsert: boolean(options.find("upsert-enabled", Some("write.upsert.enabled")), false),
            overwrite: boolean(options.hint("overwrite-enabled", None), overwrite),
            branch: options.hint("branch", None).map_or(MAIN_BRANCH, |(_, value)| value).to_owned(),
            target_file_size: size(
                options.find("target-file-size-bytes", Some("write.target-file-size-bytes")),
                512 << 20,
            )?,
            data: FileOptions::resolve(&options, format, Content::Data)?,
            deletes: FileOptions::resolve(&options, format, Content::Deletes)?,
            distribution: distribution
                .map_or(Ok(DistributionMode::None), |(_, value)| DistributionMode::parse(value.trim()))?,
            key_weight: key_weight(&options)?,
            writers: usize::try_from(writers).unwrap_or(usize::MAX).min(MAX_WRITERS),
            equality_deletes: equality_deletes(options.find(EQUALITY_DELETES, Some(EQUALITY_DELETES)))?,
            upsert_mode: upsert_mode(options.find(UPSERT_MODE, Some(UPSERT_MODE)))?,
            key,
        })
    }

    /// The branch the rows go to.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// With another primary key than the table's identifier fields: that of a definition which stands for the table.
    pub fn with_key(self, mut key: Vec<i32>) -> Self {
        key.sort_unstable();
        Self { key, ..self }
    }

    /// Whether the table has a primary key, so that rows must come in one stream, in order.
    pub fn is_keyed(&self) -> bool {
        !self.key.is_empty()
    }

    /// Whether the partitions that rows go to are replaced.
    pub fn is_overwrite(&self) -> bool {
        self.overwrite
    }

    /// Whether rows replace older rows with the same key.
    pub fn is_upsert(&self) -> bool {
        self.upsert
    }

    /// Whether an upsert finds older rows and deletes them by position.
    pub fn replaces_by_position(&self) -> bool {
        self.upsert && self.upsert_mode == UpsertMode::Position
    }
}

const EQUALITY_DELETES: &str = "calve.upsert.equality-deletes";
const UPSERT_MODE: &str = "calve.upsert.mode";

/// More tasks than this only cost memory.
const MAX_WRITERS: usize = 128;

/// Options without an effect of their own in calve, with values Flink would refuse.
fn check_unused(options: &Lookup<'_>) -> Result<()> {
    // Flink's committer makes an empty commit after so many checkpoints without files; bounded input has no checkpoints
    integer(options.property("flink.max-continuous-empty-commits"), 10, 1)
        .map_err(|error| error.with_detail("flink.max-continuous-empty-commits must be positive"))?;
    // a table is loaded for every statement, and its files outlive no credentials
    if let Some((name, value)) = options.find("table-refresh-interval", None)
        && calve_options::parse_duration(value).is_none()
    {
        return Err(invalid(name, value, "a duration such as '10s' or '1 min'"));
    }
    // there are no columns of type VARIANT
    size(options.hint("variant-inference-buffer-size", Some("write.parquet.variant-inference-buffer-size")), 100)?;
    if let Some((name, value)) = options.find("range-distribution-statistics-type", None)
        && !STATISTICS_TYPES.contains(&value)
    {
        // Flink reads it with Enum.valueOf, which knows one spelling
        return Err(invalid(name, value, "Auto, Map or Sketch")
            .with_detail(format!("No enum constant org.apache.iceberg.flink.sink.shuffle.StatisticsType.{value}")));
    }
    Ok(())
}

/// `range-distribution-sort-key-base-weight`, percent of a writer's share; Flink takes any number.
fn key_weight(options: &Lookup<'_>) -> Result<f64> {
    let Some((name, value)) = options.find("range-distribution-sort-key-base-weight", None) else { return Ok(0.0) };
    let percent = value.trim().parse::<f64>().ok().filter(|percent| percent.is_finite());
    Ok(percent.ok_or_else(|| invalid(name, value, "a number"))?.max(0.0) / 100.0)
}

fn upsert_mode(found: Option<Found<'_>>) -> Result<UpsertMode> {
    let Some((name, value)) = found else { return Ok(UpsertMode::Equality) };
    match value.trim().to_ascii_lowercase().as_str() {
        "equality" => Ok(UpsertMode::Equality),
        "position" => Ok(UpsertMode::Position),
        _ => Err(invalid(name, value, "equality or position")),
    }
}

fn equality_deletes(found: Option<Found<'_>>) -> Result<EqualityDeletes> {
    let Some((name, value)) = found else { return Ok(EqualityDeletes::Needed) };
    match value.trim().to_ascii_lowercase().as_str() {
        "needed" => Ok(EqualityDeletes::Needed),
        "always" => Ok(EqualityDeletes::Always),
        _ => Err(invalid(name, value, "needed or always")),
    }
}

fn format(found: Option<Found<'_>>) -> Result<DataFileFormat> {
    let Some((_, value)) = found else { return Ok(DataFileFormat::Parquet) };
    match value.trim().to_ascii_lowercase().as_str() {
        "parquet" => Ok(DataFileFormat::Parquet),
        "avro" => Ok(DataFileFormat::Avro),
        "orc" => Ok(DataFileFormat::Orc),
        _ => Err(Error::new("invalid-option", format!("invalid file format '{value}'"))
            .with_detail(format!("Invalid file format: {value}"))
            .with_hint("use 'parquet', 'avro' or 'orc'")),
    }
}
