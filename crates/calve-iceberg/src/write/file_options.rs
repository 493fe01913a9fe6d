//! How the files of each format are encoded (`write.parquet.*`, `write.avro.*`, `write.orc.*` of Java's `TableProperties`).
//!
//! Delete files read `write.delete.<format>.*` first, then what holds for data files.

use std::collections::BTreeMap;

use calve_types::{Error, Result};
use iceberg::spec::DataFileFormat;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::{ColumnPath, SchemaDescriptor};

use super::lookup::{Found, Lookup, integer, invalid, level, size};

/// A row group holds at most so many rows: more do not compress better.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// How files of one format are encoded.
#[derive(Clone, Debug)]
pub(crate) enum FileOptions {
    Parquet(ParquetOptions),
    Avro(AvroCodec),
    Orc(OrcOptions),
}

/// What files a set of options is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data,
    Deletes,
}

impl FileOptions {
    /// The options of `format` for data or delete files.
    ///
    /// # Errors
    /// `invalid-option` for a value that an option does not take; `not-supported` for codecs calve does not have.
    pub(crate) fn resolve(options: &Lookup<'_>, format: DataFileFormat, content: Content) -> Result<Self> {
        Ok(match format {
            DataFileFormat::Avro => Self::Avro(AvroCodec::resolve(options, content)?),
            DataFileFormat::Orc => Self::Orc(OrcOptions::resolve(options, content)?),
            _ => Self::Parquet(ParquetOptions::resolve(options, content)?),
        })
    }
}

/// The property of a delete file, else the option of data files.
fn of<'a>(options: &Lookup<'a>, content: Content, deletes: &'a str, data: Option<Found<'a>>) -> Option<Found<'a>> {
    match content {
        Content::Data => data,
        Content::Deletes => options.property(deletes).or(data),
    }
}

/// A Bloom filter of a column.
#[derive(Clone, Copy, Debug, Default)]
struct Bloom {
    rate: Option<f64>,
    values: Option<u64>,
}

/// `write.parquet.*`.
#[derive(Clone, Debug)]
pub(crate) struct ParquetOptions {
    compression: Compression,
    version: WriterVersion,
    row_group_bytes: usize,
    page_bytes: usize,
    page_rows: usize,
    dictionary_bytes: usize,
    /// By the column's name, its parts separated by dots.
    blooms: BTreeMap<String, Bloom>,
    bloom_bytes: usize,
    /// Columns without statistics, and so without bounds and counts of NULL.
    without_statistics: Vec<String>,
}

/// Share of false positives of a Bloom filter (Java's `PARQUET_BLOOM_FILTER_COLUMN_FPP_DEFAULT`).
const BLOOM_RATE: f64 = 0.01;

impl ParquetOptions {
    fn resolve(options: &Lookup<'_>, content: Content) -> Result<Self> {
        let property = |name| options.property(name);
        let (mut blooms, mut without_statistics) = (BTreeMap::new(), Vec::new());
        if content == Content::Data {
            blooms = self::blooms(options)?;
            let off = |(column, (_, value)): (&str, Found<'_>)| {
                value.eq_ignore_ascii_case("false").then(|| column.to_owned())
            };
            without_statistics = options.properties("write.parquet.stats-enabled.column.").filter_map(off).collect();
        }
        // sizes of row groups are looked at in other ways than Java's; the bounds of its looks must be valid all the same
        for (data, deletes) in [
            ("write.parquet.row-group-check-min-record-count", "write.delete.parquet.row-group-check-min-record-count"),
            ("write.parquet.row-group-check-max-record-count", "write.delete.parquet.row-group-check-max-record-count"),
        ] {
            integer(of(options, content, deletes, property(data)), 1, 1)?;
        }
        Ok(Self {
            compression: parquet_codec(options, content)?,
            version: version(of(
                options,
                content,
                "write.delete.parquet.page-version",
                property("write.parquet.page-version"),
            ))?,
            row_group_bytes: size(
                of(
                    options,
                    content,
                    "write.delete.parquet.row-group-size-bytes",
                    property("write.parquet.row-group-size-bytes"),
                ),
                128 << 20,
            )?,
            page_bytes: size(
                of(options, content, "write.delete.parquet.page-size-bytes", property("write.parquet.page-size-bytes")),
                1 << 20,
            )?,
            page_rows: size(
                of(options, content, "write.delete.parquet.page-row-limit", property("write.parquet.page-row-limit")),
                20_000,
            )?,
            dictionary_bytes: size(
                of(options, content, "write.delete.parquet.dict-size-bytes", property("write.parquet.dict-size-bytes")),
                2 << 20,
            )?,
            blooms,
            bloom_bytes: size(property("write.parquet.bloom-filter-max-bytes"), 1 << 20)?,
            without_statistics,
        })
    }

    /// The properties of files with these columns, with statistics of texts of at most `statistics_bytes`. Columns that are
    /// not in the file are passed over: the properties are the table's, for all its versions.
    pub(crate) fn properties(&self, columns: &SchemaDescriptor, statistics_bytes: Option<usize>) -> WriterProperties {
        let mut builder = WriterProperties::builder()
            .set_created_by(concat!("calve ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(self.compression)
            .set_writer_version(self.version)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_max_row_group_bytes(Some(self.row_group_bytes))
            .set_data_page_size_limit(self.page_bytes)
            .set_data_page_row_count_limit(self.page_rows)
            .set_dictionary_page_size_limit(self.dictionary_bytes)
            .set_statistics_truncate_length(statistics_bytes);
        let path = |name: &str| {
            let path = ColumnPath::from(name.split('.').map(str::to_owned).collect::<Vec<_>>());
            columns.columns().iter().any(|column| *column.path() == path).then_some(path)
        };
        for (name, bloom) in &self.blooms {
            if let Some(path) = path(name) {
                builder = self.with_bloom(builder, path, *bloom);
            }
        }
        for path in self.without_statistics.iter().filter_map(|name| path(name)) {
            builder = builder.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
        builder.build()
    }

    fn with_bloom(&self, builder: WriterPropertiesBuilder, path: ColumnPath, bloom: Bloom) -> WriterPropertiesBuilder {
        let rate = bloom.rate.unwrap_or(BLOOM_RATE);
        let values = bloom.values.unwrap_or(ROW_GROUP_ROWS as u64).min(values_within(self.bloom_bytes, rate));
        builder
            .set_column_bloom_filter_enabled(path.clone(), true)
            .set_column_bloom_filter_fpp(path.clone(), rate)
            .set_column_bloom_filter_ndv(path, values)
    }
}

/// How many distinct values a Bloom filter of at most `bytes` bytes takes at a rate of false positives: filters are sized in
/// powers of two, from 32 bytes on (Parquet's split block Bloom filter).
fn values_within(bytes: usize, rate: f64) -> u64 {
    let bytes = match bytes.clamp(32, 1 << 27) {
        bytes if bytes.is_power_of_two() => bytes,
        bytes => bytes.next_power_of_two() / 2,
    };
    // a filter of m bits with 8 hash functions for n values: m = -8 n / ln(1 - rate^(1/8))
    let values = -(bytes as f64) * (1.0 - rate.powf(1.0 / 8.0)).ln();
    (values.floor() as u64).max(1)
}

/// `write.parquet.bloom-filter-enabled.column.<name>` with its rate of false positives and its number of distinct values.
fn blooms(options: &Lookup<'_>) -> Result<BTreeMap<String, Bloom>> {
    let enabled = options.properties("write.parquet.bloom-filter-enabled.column.");
    let enabled = enabled.filter(|(_, (_, value))| value.eq_ignore_ascii_case("true"));
    let mut blooms: BTreeMap<String, Bloom> =
        enabled.map(|(column, _)| (column.to_owned(), Bloom::default())).collect();
    for (column, (name, value)) in options.properties("write.parquet.bloom-filter-fpp.column.") {
        let rate = value.trim().parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate < 1.0);
        let rate = rate.ok_or_else(|| invalid(name, value, "a number between 0 and 1"))?;
        if let Some(bloom) = blooms.get_mut(column) {
            bloom.rate = Some(rate);
        }
    }
    for (column, found) in options.properties("write.parquet.bloom-filter-ndv.column.") {
        let values = integer(Some(found), 1, 1)?;
        if let Some(bloom) = blooms.get_mut(column) {
            bloom.values = Some(values);
        }
    }
    Ok(blooms)
}

fn version(found: Option<Found<'_>>) -> Result<WriterVersion> {
    let Some((name, value)) = found else { return Ok(WriterVersion::PARQUET_1_0) };
    match value.trim().to_ascii_lowercase().as_str() {
        "v1" => Ok(WriterVersion::PARQUET_1_0),
        "v2" => Ok(WriterVersion::PARQUET_2_0),
        _ => Err(invalid(name, value, "v1 or v2")),
    }
}

fn parquet_codec(options: &Lookup<'_>, content: Content) -> Result<Compression> {
    let codec = options.find("compression-codec", Some("write.parquet.compression-codec"));
    let codec = of(options, content, "write.delete.parquet.compression-codec", codec);
    let given = options.find("compression-level", Some("write.parquet.compression-level"));
    let level = level(of(options, content, "write.delete.parquet.compression-level", given))?;
    // new tables have zstd as a property; Java's library falls back to gzip without one
    let (name, value) = codec.unwrap_or(("compression-codec", "gzip"));
    let bad_level = |e: ParquetError| {
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

/// The codec of Avro's blocks (Java's `Avro.Codec`), with its level if one was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AvroCodec {
    Uncompressed,
    Snappy,
    /// Avro's `deflate`, levels 0 to 9.
    Gzip(Option<i32>),
    Zstd(Option<i32>),
}

impl AvroCodec {
    fn resolve(options: &Lookup<'_>, content: Content) -> Result<Self> {
        let codec = options.find("compression-codec", Some("write.avro.compression-codec"));
        let codec = of(options, content, "write.delete.avro.compression-codec", codec);
        let given = options.find("compression-level", Some("write.avro.compression-level"));
        let given = of(options, content, "write.delete.avro.compression-level", given);
        let level = level(given)?;
        let within = |least: i32, most: i32| match (level, given) {
            (Some((_, level)), _) if (least..=most).contains(&level) => Ok(Some(level)),
            (Some((name, _)), Some((_, value))) => {
                Err(invalid(name, value, &format!("a whole number from {least} to {most}")))
            }
            _ => Ok(None),
        };
        let (name, value) = codec.unwrap_or(("compression-codec", "gzip"));
        match value.trim().to_ascii_lowercase().as_str() {
            "uncompressed" => Ok(Self::Uncompressed),
            "snappy" => Ok(Self::Snappy),
            "gzip" => Ok(Self::Gzip(within(0, 9)?)),
            "zstd" => Ok(Self::Zstd(within(1, 22)?)),
            _ => Err(invalid(name, value, "zstd, gzip, snappy or uncompressed for Avro files")
                .with_detail(format!("Unsupported compression codec: {}", value.to_ascii_lowercase()))),
        }
    }
}

/// The codec of ORC's streams (Java's `CompressionKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrcCodec {
    None,
    Zlib,
    Snappy,
    Lz4,
    Zstd,
}

/// `write.orc.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrcOptions {
    pub(crate) codec: OrcCodec,
    /// Bytes of a stripe.
    pub(crate) stripe_bytes: usize,
    /// Rows that are encoded together.
    pub(crate) batch_rows: usize,
}

impl OrcOptions {
    fn resolve(options: &Lookup<'_>, content: Content) -> Result<Self> {
        let property = |name| options.property(name);
        let codec = options.find("compression-codec", Some("write.orc.compression-codec"));
        let codec = of(options, content, "write.delete.orc.compression-codec", codec);
        let (name, value) = codec.unwrap_or(("compression-codec", "zlib"));
        let codec = match value.trim().to_ascii_lowercase().as_str() {
            "none" => OrcCodec::None,
            "zlib" => OrcCodec::Zlib,
            "snappy" => OrcCodec::Snappy,
            "lz4" => OrcCodec::Lz4,
            "zstd" => OrcCodec::Zstd,
            "lzo" | "brotli" => return Err(Error::unsupported(format!("{name} '{value}'"))),
            _ => return Err(invalid(name, value, "zlib, zstd, snappy, lz4 or none for ORC files")),
        };
        let strategy = options.find("compression-strategy", Some("write.orc.compression-strategy"));
        if let Some((name, value)) = of(options, content, "write.delete.orc.compression-strategy", strategy)
            && !matches!(value.trim().to_ascii_lowercase().as_str(), "speed" | "compression")
        {
            return Err(invalid(name, value, "speed or compression"));
        }
        integer(
            of(options, content, "write.delete.orc.block-size-bytes", property("write.orc.block-size-bytes")),
            1,
            1,
        )?;
        if let Some((name, value)) = property("write.orc.bloom.filter.fpp")
            && !value.trim().parse::<f64>().is_ok_and(|rate| rate > 0.0 && rate < 1.0)
        {
            return Err(invalid(name, value, "a number between 0 and 1"));
        }
        Ok(Self {
            codec,
            stripe_bytes: size(
                of(options, content, "write.delete.orc.stripe-size-bytes", property("write.orc.stripe-size-bytes")),
                64 << 20,
            )?,
            batch_rows: size(
                of(
                    options,
                    content,
                    "write.delete.orc.vectorized.batch-size",
                    property("write.orc.vectorized.batch-size"),
                ),
                1_024,
            )?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bloom_filters_stay_within_their_bytes() {
        // 1 MiB at 1 %: the formula of Parquet's specification gives 9.68 bits for a value
        let values = values_within(1 << 20, 0.01);
        assert!((860_000..880_000).contains(&values), "{values}");
        for (bytes, power) in [(1, 32), (33, 32), (63, 32), (64, 64), (5_000, 4_096), (usize::MAX, 1 << 27)] {
            let bits = |values: u64| -8.0 * values as f64 / (1.0 - 0.01_f64.powf(1.0 / 8.0)).ln();
            let values = values_within(bytes, 0.01);
            assert!(bits(values) <= 8.0 * power as f64, "{bytes}");
            assert!(bits(values + 2) > 8.0 * power as f64, "{bytes}");
        }
    }
}
