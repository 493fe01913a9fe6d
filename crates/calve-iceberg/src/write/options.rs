//! How an INSERT writes: hint before SET before table property before default.

use std::collections::BTreeMap;
use std::thread::available_parallelism;

use calve_types::{Error, Result};
use iceberg::spec::MAIN_BRANCH;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};

use crate::table::Table;

/// Where an option is looked up, in this order.
struct Lookup<'a> {
    table: &'a Table,
    hints: &'a BTreeMap<String, String>,
    session: &'a BTreeMap<String, String>,
}

/// A value and the name it was given under.
type Found<'a> = (&'a str, &'a str);

impl<'a> Lookup<'a> {
    /// The option `name` (hint, then SET), then the table property.
    fn find(&self, name: &'a str, property: Option<&'a str>) -> Option<Found<'a>> {
        let option = self.hints.get(name).or_else(|| self.session.get(name));
        option
            .map(|value| (name, value.as_str()))
            .or_else(|| property.and_then(|p| self.table.property(p).map(|value| (p, value))))
    }

    fn hint(&self, name: &'a str) -> Option<Found<'a>> {
        self.hints.get(name).map(|value| (name, value.as_str()))
    }

    fn property(&self, name: &'a str) -> Option<Found<'a>> {
        self.table.property(name).map(|value| (name, value))
    }
}

/// Java's `Boolean.parseBoolean`: only `true`, in any case, is true.
fn boolean(found: Option<Found<'_>>, default: bool) -> bool {
    found.map_or(default, |(_, value)| value.eq_ignore_ascii_case("true"))
}

fn invalid(name: &str, value: &str, expected: &str) -> Error {
    Error::new("invalid-option", format!("invalid value '{value}' for option '{name}': expected {expected}"))
}

fn integer(found: Option<Found<'_>>, default: u64, least: u64) -> Result<u64> {
    let Some((name, value)) = found else { return Ok(default) };
    match value.trim().parse::<i64>().ok().and_then(|n| u64::try_from(n).ok()) {
        Some(number) if number >= least => Ok(number),
        _ => Err(invalid(name, value, &format!("a whole number from {least}"))),
    }
}

fn size(found: Option<Found<'_>>, default: usize) -> Result<usize> {
    Ok(usize::try_from(integer(found, default as u64, 1)?).unwrap_or(usize::MAX))
}

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

/// When an upsert writes an equality delete (`calve.upsert.equality-deletes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EqualityDeletes {
    /// For keys that a live row may have.
    Needed,
    /// For every key, as Flink does.
    Always,
}

/// Everything an INSERT needs to know before it writes, with all priorities resolved.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    pub(crate) upsert: bool,
    pub(crate) overwrite: bool,
    pub(crate) branch: String,
    pub(crate) target_file_size: usize,
    pub(crate) compression: Compression,
    pub(crate) row_group_bytes: usize,
    pub(crate) page_bytes: usize,
    pub(crate) page_rows: usize,
    pub(crate) dictionary_bytes: usize,
    pub(crate) distribution: DistributionMode,
    pub(crate) writers: usize,
    pub(crate) equality_deletes: EqualityDeletes,
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
        check_format(options.find("write-format", Some("write.format.default")))?;
        let distribution = options.find("distribution-mode", Some("write.distribution-mode"));
        let writers = match options.hint("write-parallelism") {
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
        let mut key: Vec<i32> = table.metadata().current_schema().identifier_field_ids().collect();
        key.sort_unstable();
        Ok(Self {
            upsert: boolean(options.find("upsert-enabled", Some("write.upsert.enabled")), false),
            overwrite: boolean(options.hint("overwrite-enabled"), overwrite),
            branch: options.hint("branch").map_or(MAIN_BRANCH, |(_, value)| value).to_owned(),
            target_file_size: size(
                options.find("target-file-size-bytes", Some("write.target-file-size-bytes")),
                512 << 20,
            )?,
            compression: compression(&options)?,
            row_group_bytes: size(options.property("write.parquet.row-group-size-bytes"), 128 << 20)?,
            page_bytes: size(options.property("write.parquet.page-size-bytes"), 1 << 20)?,
            page_rows: size(options.property("write.parquet.page-row-limit"), 20_000)?,
            dictionary_bytes: size(options.property("write.parquet.dict-size-bytes"), 2 << 20)?,
            distribution: distribution
                .map_or(Ok(DistributionMode::None), |(_, value)| DistributionMode::parse(value.trim()))?,
            writers: usize::try_from(writers).unwrap_or(usize::MAX).min(MAX_WRITERS),
            equality_deletes: equality_deletes(options.find(EQUALITY_DELETES, Some(EQUALITY_DELETES)))?,
            key,
        })
    }

    /// The branch the rows go to.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Whether the table has a primary key, so that rows must come in one stream, in order.
    pub fn is_keyed(&self) -> bool {
        !self.key.is_empty()
    }

    /// Whether rows replace older rows with the same key.
    pub fn is_upsert(&self) -> bool {
        self.upsert
    }
}

const EQUALITY_DELETES: &str = "calve.upsert.equality-deletes";

/// More tasks than this only cost memory.
const MAX_WRITERS: usize = 128;

fn equality_deletes(found: Option<Found<'_>>) -> Result<EqualityDeletes> {
    let Some((name, value)) = found else { return Ok(EqualityDeletes::Needed) };
    match value.trim().to_ascii_lowercase().as_str() {
        "needed" => Ok(EqualityDeletes::Needed),
        "always" => Ok(EqualityDeletes::Always),
        _ => Err(invalid(name, value, "needed or always")),
    }
}

fn check_format(found: Option<Found<'_>>) -> Result<()> {
    let Some((_, value)) = found else { return Ok(()) };
    match value.to_ascii_lowercase().as_str() {
        "parquet" => Ok(()),
        format @ ("avro" | "orc") => Err(Error::unsupported(format!("write-format '{format}'"))
            .with_hint("set 'write-format' = 'parquet' in an OPTIONS hint to write Parquet files to this table")),
        _ => Err(Error::new("invalid-option", format!("invalid file format '{value}'"))
            .with_detail(format!("Invalid file format: {value}"))
            .with_hint("use 'parquet'")),
    }
}

fn compression(options: &Lookup<'_>) -> Result<Compression> {
    let codec = options.find("compression-codec", Some("write.parquet.compression-codec"));
    let level = options
        .find("compression-level", Some("write.parquet.compression-level"))
        // Java keeps the word for "no level"
        .filter(|(_, value)| !value.trim().is_empty() && !value.eq_ignore_ascii_case("null"));
    let level = level
        .map(|(name, value)| {
            value.trim().parse::<i32>().map(|n| (name, n)).map_err(|_| invalid(name, value, "a whole number"))
        })
        .transpose()?;
    let (name, value) = codec.unwrap_or(("compression-codec", "zstd"));
    let bad_level = |e: parquet::errors::ParquetError| {
        let (name, level) = level.unwrap_or_default();
        Error::new("invalid-option", format!("invalid value '{level}' for option '{name}'")).with_detail(e.to_string())
    };
    Ok(match value.trim().to_ascii_lowercase().as_str() {
        "zstd" => Compression::ZSTD(match level {
            Some((_, level)) => ZstdLevel::try_new(level).map_err(bad_level)?,
            // the default of Iceberg's Java library
            None => ZstdLevel::try_new(3).map_err(bad_level)?,
        }),
        "gzip" => Compression::GZIP(match level {
            Some((_, level)) => GzipLevel::try_new(u32::try_from(level).unwrap_or(u32::MAX)).map_err(bad_level)?,
            None => GzipLevel::default(),
        }),
        "snappy" => Compression::SNAPPY,
        // Parquet's first LZ4 is deprecated: its framing was never specified
        "lz4" | "lz4_raw" => Compression::LZ4_RAW,
        "uncompressed" | "none" => Compression::UNCOMPRESSED,
        "brotli" | "lzo" => return Err(Error::unsupported(format!("{name} '{value}'"))),
        _ => return Err(invalid(name, value, "zstd, gzip, snappy, lz4 or uncompressed")),
    })
}
