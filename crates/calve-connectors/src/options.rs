//! The options of connectors and formats: which there are, and a table's values checked as Flink checks them.

use std::collections::BTreeMap;

use calve_types::{Error, Result};

use crate::TableDefinition;

/// An option of a connector or a format, for documentation and completion.
#[derive(Debug, Clone, Copy)]
pub struct ConnectorOption {
    /// The connector, and for an option of a format also the format: `filesystem`, `csv`.
    pub owner: &'static str,
    /// Its name as it stands in WITH; `#` is a column's name.
    pub name: &'static str,
    /// What it does, one sentence.
    pub effect: &'static str,
    /// The value that holds when it is not set.
    pub default: Option<&'static str>,
    /// Whether a table must have it.
    pub required: bool,
}

const fn option(
    owner: &'static str,
    name: &'static str,
    default: Option<&'static str>,
    effect: &'static str,
) -> ConnectorOption {
    ConnectorOption { owner, name, effect, default, required: false }
}

const fn required(owner: &'static str, name: &'static str, effect: &'static str) -> ConnectorOption {
    ConnectorOption { owner, name, effect, default: None, required: true }
}

const OPTIONS: &[ConnectorOption] = &[
    required("filesystem", "path", "The file or the folder of the table's files: a path or a file:// URI."),
    required(
        "filesystem",
        "format",
        "The format of the files: csv, json, parquet, raw, or for changes canal-json, debezium-json, maxwell-json, ogg-json.",
    ),
    option(
        "filesystem",
        "partition.default-name",
        Some("__DEFAULT_PARTITION__"),
        "The folder of partitions whose value is NULL or empty.",
    ),
    option("filesystem", "source.path.regex-pattern", None, "Only files whose whole path matches are read."),
    option(
        "filesystem",
        "source.monitor-interval",
        None,
        "Refused: the folder would be watched for new files without end.",
    ),
    option("filesystem", "source.report-statistics", Some("none"), "Accepted; statistics do not change results."),
    option("filesystem", "sink.parallelism", None, "Accepted; calve chooses its writers itself."),
    option(
        "filesystem",
        "sink.shuffle-by-partition.enable",
        Some("false"),
        "Accepted; rows of a partition are written together.",
    ),
    option(
        "filesystem",
        "sink.rolling-policy.file-size",
        Some("128mb"),
        "The size at which the next part file is begun.",
    ),
    option(
        "filesystem",
        "sink.rolling-policy.rollover-interval",
        Some("30min"),
        "Accepted; files are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "sink.rolling-policy.check-interval",
        Some("1min"),
        "Accepted; files are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "sink.rolling-policy.inactivity-interval",
        Some("30min"),
        "Accepted; files are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "sink.partition-commit.trigger",
        Some("process-time"),
        "Accepted; partitions are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "sink.partition-commit.delay",
        Some("0 s"),
        "Accepted; partitions are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "sink.partition-commit.watermark-time-zone",
        Some("UTC"),
        "Accepted; partitions are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "sink.partition-commit.policy.kind",
        None,
        "'success-file' writes an empty file into each partition written.",
    ),
    option("filesystem", "sink.partition-commit.policy.class", None, "Refused: a Java class."),
    option("filesystem", "sink.partition-commit.policy.class.parameters", None, "Refused: a Java class's parameters."),
    option("filesystem", "sink.partition-commit.success-file.name", Some("_SUCCESS"), "The name of the success file."),
    option("filesystem", "auto-compaction", Some("false"), "Accepted; an INSERT writes few files anyway."),
    option("filesystem", "compaction.file-size", None, "Accepted; an INSERT writes few files anyway."),
    option(
        "filesystem",
        "partition.time-extractor.kind",
        Some("default"),
        "Accepted; partitions are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "partition.time-extractor.class",
        None,
        "Accepted; partitions are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "partition.time-extractor.timestamp-pattern",
        None,
        "Accepted; partitions are complete when the INSERT is.",
    ),
    option(
        "filesystem",
        "partition.time-extractor.timestamp-formatter",
        None,
        "Accepted; partitions are complete when the INSERT is.",
    ),
    option("csv", "csv.field-delimiter", Some(","), "The character between fields; escapes such as \\t are resolved."),
    option("csv", "csv.quote-character", Some("\""), "The character around values with special characters."),
    option("csv", "csv.disable-quote-character", Some("false"), "No value is quoted."),
    option("csv", "csv.escape-character", None, "The character before a character that stands for itself."),
    option("csv", "csv.allow-comments", Some("false"), "Lines that begin with # are skipped."),
    option(
        "csv",
        "csv.ignore-parse-errors",
        Some("false"),
        "A field that is no value is NULL, a row of too many fields is left out.",
    ),
    option(
        "csv",
        "csv.array-element-delimiter",
        Some(";"),
        "The character between the elements of an ARRAY or the fields of a ROW.",
    ),
    option("csv", "csv.null-literal", None, "The text of NULL."),
    option(
        "csv",
        "csv.write-bigdecimal-in-scientific-notation",
        Some("true"),
        "Decimals are written as 1E+5 instead of 100000.",
    ),
    option("json", "json.fail-on-missing-field", Some("false"), "A missing field is an error instead of NULL."),
    option(
        "json",
        "json.ignore-parse-errors",
        Some("false"),
        "A field that is no value is NULL, a line that is no JSON is left out.",
    ),
    option(
        "json",
        "json.timestamp-format.standard",
        Some("SQL"),
        "How timestamps are written: SQL (2024-01-31 10:11:12) or ISO-8601 (2024-01-31T10:11:12).",
    ),
    option(
        "json",
        "json.map-null-key.mode",
        Some("FAIL"),
        "A NULL key of a map that is written is an error (FAIL), left out (DROP) or a literal (LITERAL).",
    ),
    option("json", "json.map-null-key.literal", Some("null"), "The key written with json.map-null-key.mode LITERAL."),
    option(
        "json",
        "json.encode.decimal-as-plain-number",
        Some("false"),
        "Decimals are written as 0.000000027 instead of 2.7E-8.",
    ),
    option("json", "json.encode.ignore-null-fields", Some("false"), "Fields that are NULL are not written."),
    option("json", "json.decode.json-parser.enabled", Some("true"), "Numbers read as STRING keep their text."),
    option(
        "debezium-json",
        "debezium-json.schema-include",
        Some("false"),
        "The messages lie inside of `payload`, beside their schema; only for reading.",
    ),
    option(
        "debezium-json",
        "debezium-json.ignore-parse-errors",
        Some("false"),
        "A field that is no value is NULL, a message that nothing can be made of is left out.",
    ),
    option(
        "debezium-json",
        "debezium-json.timestamp-format.standard",
        Some("SQL"),
        "How timestamps are written: SQL (2024-01-31 10:11:12) or ISO-8601 (2024-01-31T10:11:12).",
    ),
    option(
        "debezium-json",
        "debezium-json.map-null-key.mode",
        Some("FAIL"),
        "A NULL key of a map that is written is an error (FAIL), left out (DROP) or a literal (LITERAL).",
    ),
    option(
        "debezium-json",
        "debezium-json.map-null-key.literal",
        Some("null"),
        "The key written with map-null-key.mode LITERAL.",
    ),
    option(
        "debezium-json",
        "debezium-json.encode.decimal-as-plain-number",
        Some("false"),
        "Decimals are written as 0.000000027 instead of 2.7E-8.",
    ),
    option(
        "debezium-json",
        "debezium-json.encode.ignore-null-fields",
        Some("false"),
        "Fields that are NULL are not written.",
    ),
    option(
        "canal-json",
        "canal-json.database.include",
        None,
        "Only changes of databases whose whole name matches this regular expression are read.",
    ),
    option(
        "canal-json",
        "canal-json.table.include",
        None,
        "Only changes of tables whose whole name matches this regular expression are read.",
    ),
    option(
        "canal-json",
        "canal-json.ignore-parse-errors",
        Some("false"),
        "A field that is no value is NULL, a message that nothing can be made of is left out.",
    ),
    option(
        "canal-json",
        "canal-json.timestamp-format.standard",
        Some("SQL"),
        "How timestamps are written: SQL (2024-01-31 10:11:12) or ISO-8601 (2024-01-31T10:11:12).",
    ),
    option(
        "canal-json",
        "canal-json.map-null-key.mode",
        Some("FAIL"),
        "A NULL key of a map that is written is an error (FAIL), left out (DROP) or a literal (LITERAL).",
    ),
    option(
        "canal-json",
        "canal-json.map-null-key.literal",
        Some("null"),
        "The key written with map-null-key.mode LITERAL.",
    ),
    option(
        "canal-json",
        "canal-json.encode.decimal-as-plain-number",
        Some("false"),
        "Decimals are written as 0.000000027 instead of 2.7E-8.",
    ),
    option(
        "canal-json",
        "canal-json.encode.ignore-null-fields",
        Some("false"),
        "Fields that are NULL are not written.",
    ),
    option(
        "maxwell-json",
        "maxwell-json.ignore-parse-errors",
        Some("false"),
        "A field that is no value is NULL, a message that nothing can be made of is left out.",
    ),
    option(
        "maxwell-json",
        "maxwell-json.timestamp-format.standard",
        Some("SQL"),
        "How timestamps are written: SQL (2024-01-31 10:11:12) or ISO-8601 (2024-01-31T10:11:12).",
    ),
    option(
        "maxwell-json",
        "maxwell-json.map-null-key.mode",
        Some("FAIL"),
        "A NULL key of a map that is written is an error (FAIL), left out (DROP) or a literal (LITERAL).",
    ),
    option(
        "maxwell-json",
        "maxwell-json.map-null-key.literal",
        Some("null"),
        "The key written with map-null-key.mode LITERAL.",
    ),
    option(
        "maxwell-json",
        "maxwell-json.encode.decimal-as-plain-number",
        Some("false"),
        "Decimals are written as 0.000000027 instead of 2.7E-8.",
    ),
    option(
        "maxwell-json",
        "maxwell-json.encode.ignore-null-fields",
        Some("false"),
        "Fields that are NULL are not written.",
    ),
    option(
        "ogg-json",
        "ogg-json.ignore-parse-errors",
        Some("false"),
        "A field that is no value is NULL, a message that nothing can be made of is left out.",
    ),
    option(
        "ogg-json",
        "ogg-json.timestamp-format.standard",
        Some("SQL"),
        "How timestamps are written: SQL (2024-01-31 10:11:12) or ISO-8601 (2024-01-31T10:11:12).",
    ),
    option(
        "ogg-json",
        "ogg-json.map-null-key.mode",
        Some("FAIL"),
        "A NULL key of a map that is written is an error (FAIL), left out (DROP) or a literal (LITERAL).",
    ),
    option(
        "ogg-json",
        "ogg-json.map-null-key.literal",
        Some("null"),
        "The key written with map-null-key.mode LITERAL.",
    ),
    option(
        "ogg-json",
        "ogg-json.encode.decimal-as-plain-number",
        Some("false"),
        "Decimals are written as 0.000000027 instead of 2.7E-8.",
    ),
    option("ogg-json", "ogg-json.encode.ignore-null-fields", Some("false"), "Fields that are NULL are not written."),
    option("raw", "raw.charset", Some("UTF-8"), "The encoding of text; only UTF-8."),
    option("raw", "raw.endianness", Some("big-endian"), "The order of a number's bytes: big-endian or little-endian."),
    option(
        "parquet",
        "parquet.utc-timezone",
        Some("false"),
        "Whether timestamps are written in UTC instead of the session's time zone.",
    ),
    option("parquet", "parquet.compression", Some("SNAPPY"), "The codec: SNAPPY, ZSTD, GZIP, LZ4_RAW or UNCOMPRESSED."),
    option(
        "datagen",
        "number-of-rows",
        None,
        "How many rows there are; without it and without a sequence there is no end.",
    ),
    option("datagen", "rows-per-second", Some("10000"), "Accepted; rows come as fast as they are taken."),
    option("datagen", "scan.parallelism", None, "Accepted; calve chooses its readers itself."),
    option("datagen", "calve.seed", None, "An extension: with the same seed the same random values come again."),
    option("datagen", "fields.#.kind", Some("random"), "How a column's values are made: random or sequence."),
    option("datagen", "fields.#.start", None, "The first value of a sequence."),
    option("datagen", "fields.#.end", None, "The last value of a sequence; the table ends there."),
    option("datagen", "fields.#.min", None, "The least random number."),
    option("datagen", "fields.#.max", None, "The greatest random number."),
    option("datagen", "fields.#.length", Some("100"), "How long random text, bytes, arrays (3) and maps (3) are."),
    option("datagen", "fields.#.var-len", Some("false"), "Random text is of any length up to fields.#.length."),
    option("datagen", "fields.#.max-past", Some("0 s"), "How far random timestamps lie back."),
    option("datagen", "fields.#.null-rate", Some("0"), "The share of NULL, 0 to 1."),
    option("print", "print-identifier", None, "Stands before each line."),
    option("print", "standard-error", Some("false"), "Lines go to standard error."),
    option("print", "sink.parallelism", None, "Accepted; lines are printed one after the other."),
];

/// Options of every connector's tables that calve accepts and that change nothing in bounded reads.
const COMMON: &[&str] = &[
    "connector",
    "property-version",
    "scan.watermark.alignment.group",
    "scan.watermark.alignment.max-drift",
    "scan.watermark.alignment.update-interval",
    "scan.watermark.emit.strategy",
    "scan.watermark.idle-timeout",
];

/// The options of all connectors and formats.
pub fn connector_options() -> &'static [ConnectorOption] {
    OPTIONS
}

/// The names of an owner's options.
fn names_of(owner: &str) -> impl Iterator<Item = &'static str> + '_ {
    OPTIONS.iter().filter(move |o| o.owner == owner).map(|o| o.name)
}

/// Whether a table is read or written, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
}

/// The options of a table.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    table: String,
    purpose: Purpose,
    values: BTreeMap<String, String>,
}

impl Options {
    pub fn new(table: &TableDefinition, purpose: Purpose) -> Self {
        Self { table: table.name.clone(), purpose, values: table.options.clone() }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// An error about the table's options, with Flink's sentences.
    pub fn refuse(&self, code: &'static str, message: impl Into<String>, flink: impl AsRef<str>) -> Error {
        let what = match self.purpose {
            Purpose::Read => "Unable to create a source for reading table",
            Purpose::Write => "Unable to create a sink for writing table",
        };
        let detail = format!("{what} '{}'. {}", self.table, flink.as_ref());
        Error::new(code, format!("table '{}': {}", self.table, message.into())).with_detail(detail)
    }

    /// # Errors
    /// `missing-option`.
    pub fn required(&self, name: &str) -> Result<&str> {
        self.get(name).ok_or_else(|| {
            self.refuse(
                "missing-option",
                format!("option '{name}' is missing"),
                format!("One or more required options are missing. Missing required options are: {name}"),
            )
            .with_hint(format!("add '{name}' = '...' to WITH"))
        })
    }

    /// Refuses options that the connector does not have. `supported` holds the connector's own names; those that begin
    /// with `prefix` are a format's, which Flink does not check.
    ///
    /// # Errors
    /// `unknown-option`, with the list that Flink gives.
    pub fn check_names(&self, connector: &str, mut supported: Vec<String>, prefix: Option<&str>) -> Result<()> {
        let is_known =
            |name: &str| supported.iter().any(|s| s == name) || prefix.is_some_and(|prefix| name.starts_with(prefix));
        let unknown: Vec<&str> = self.values.keys().map(String::as_str).filter(|name| !is_known(name)).collect();
        let Some(first) = unknown.first() else { return Ok(()) };
        let nearest = calve_types::nearest(first, supported.iter().map(String::as_str)).map(str::to_owned);
        supported.retain(|name| !name.starts_with("calve."));
        supported.sort_unstable();
        supported.dedup();
        let error = self.refuse(
            "unknown-option",
            format!("connector '{connector}' has no option '{}'", unknown.join("', '")),
            format!(
                "Unsupported options found for '{connector}'.\n\nUnsupported options:\n\n{}\n\nSupported options:\n\n{}",
                unknown.join("\n"),
                supported.join("\n")
            ),
        );
        Err(match nearest {
            Some(name) => error.with_hint(format!("did you mean '{name}'?")),
            None => error,
        })
    }

    /// [`Self::check_names`] with the connector's options of the table and those that all tables may have.
    ///
    /// # Errors
    /// As there.
    pub fn check_static_names(&self, connector: &str, prefix: Option<&str>) -> Result<()> {
        let supported = names_of(connector).chain(COMMON.iter().copied()).map(str::to_owned).collect();
        self.check_names(connector, supported, prefix)
    }

    fn invalid(&self, name: &str, value: &str, expected: &str, flink: String) -> Error {
        self.refuse(
            "invalid-option",
            format!("invalid value '{value}' for option '{name}': expected {expected}"),
            format!("Invalid value for option '{name}'. {flink}"),
        )
    }

    /// # Errors
    /// `invalid-option` if it is neither true nor false.
    pub fn boolean(&self, name: &str) -> Result<bool> {
        self.boolean_or(name, false)
    }

    /// # Errors
    /// As [`Self::boolean`].
    pub fn boolean_or(&self, name: &str, default: bool) -> Result<bool> {
        match self.get(name) {
            None => Ok(default),
            Some(v) if v.eq_ignore_ascii_case("true") => Ok(true),
            Some(v) if v.eq_ignore_ascii_case("false") => Ok(false),
            Some(v) => Err(self.invalid(
                name,
                v,
                "true or false",
                format!("Unrecognized option for boolean: {v}. Expected either true or false(case insensitive)"),
            )),
        }
    }

    /// A value of a type with `FromStr`.
    ///
    /// # Errors
    /// `invalid-option`.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.trim().parse().map(Some).map_err(|_| {
            self.invalid(
                name,
                value,
                expected,
                format!("Could not parse value '{value}' for key '{name}'. For input string: \"{value}\""),
            )
        })
    }

    /// # Errors
    /// `invalid-option`.
    pub fn integer(&self, name: &str) -> Result<Option<i64>> {
        self.parsed(name, "a whole number")
    }

    /// # Errors
    /// `invalid-option`.
    pub fn duration(&self, name: &str) -> Result<Option<std::time::Duration>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        calve_options::parse_duration(value).map(Some).ok_or_else(|| {
            let flink = format!("Could not parse value '{value}' for key '{name}'.");
            self.invalid(name, value, "a duration such as '10s' or '1 min'", flink)
        })
    }

    /// # Errors
    /// `invalid-option` unless it is one character.
    pub fn character(&self, name: &str) -> Result<Option<char>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        self.one_character(name, value, value)
    }

    /// A character that may be written as one of Java's escapes: `\t`, `\u0001`.
    ///
    /// # Errors
    /// As [`Self::character`].
    pub fn unescaped_character(&self, name: &str) -> Result<Option<char>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let unescaped = match value.strip_prefix('\\') {
            Some("t") => "\t".to_owned(),
            Some("n") => "\n".to_owned(),
            Some("r") => "\r".to_owned(),
            Some("b") => "\u{8}".to_owned(),
            Some("f") => "\u{c}".to_owned(),
            Some("\\") => "\\".to_owned(),
            Some(rest) => match rest.trim_start_matches('u') {
                hex if hex.len() == 4 && hex.len() < rest.len() => {
                    u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
                }
                _ => value.to_owned(),
            },
            None => value.to_owned(),
        };
        self.one_character(name, value, &unescaped)
    }

    fn one_character(&self, name: &str, shown: &str, value: &str) -> Result<Option<char>> {
        let mut chars = value.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(Some(c)),
            _ => Err(self.invalid(
                name,
                shown,
                "a single character",
                format!("Option '{name}' must be a string with single character, but was: {shown}"),
            )),
        }
    }
}
