//! Metadata files: their text, and what all catalogs do with a table's metadata.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use calve_types::{Error, Result};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use iceberg::spec::{FormatVersion, MAIN_BRANCH, TableMetadata, TableMetadataBuildResult, TableProperties, Transform};
use iceberg::{TableIdent, TableRequirement, TableUpdate};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::metadata_faults::fault;
use crate::commit::{CommitError, utc};
use crate::error::Context;
use crate::io::TableIo;
use crate::table::Table;

/// No metadata file has more text, in bytes: what becomes larger is made to fill the memory.
const LARGEST_TEXT: u64 = 1 << 30;

/// The text of a metadata file as it was before compression.
///
/// # Errors
/// Bytes that begin as gzip and are none, or would become more than 1 GiB.
pub(crate) fn plain(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    GzDecoder::new(bytes.as_slice()).take(LARGEST_TEXT + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST_TEXT {
        return Err(io::Error::other(format!("its text has more than {LARGEST_TEXT} bytes")));
    }
    Ok(text)
}

/// The metadata in the text of a metadata file.
///
/// # Errors
/// What is wrong with the text; `not-supported` for what would be lost.
pub(crate) fn parse(text: &[u8], what: impl Fn() -> String) -> Result<TableMetadata> {
    if may_default_nanoseconds(text)
        && let Ok(json) = serde_json::from_slice::<Value>(text)
        && let Some(column) = default_of_nanoseconds(json.get("schemas").unwrap_or(&Value::Null))
    {
        return Err(Error::unsupported(format!("the default value of column '{column}', a time of nanoseconds")));
    }
    let refused = match serde_json::from_slice(text) {
        Ok(metadata) => return Ok(metadata),
        Err(error) => error,
    };
    if refused.to_string().starts_with("recursion limit exceeded") {
        return Err(Error::unsupported("types as deeply nested as those of this table")
            .with_detail(format!("Cannot {}: {refused}.", what())));
    }
    // Java leaves out the sequence number 0 of a snapshot of format version 1, also when the table is of version 3
    let Ok(mut json) = serde_json::from_slice::<Value>(text) else { return Err(refused).context(&what) };
    for snapshot in json.get_mut("snapshots").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(snapshot) = snapshot {
            snapshot.entry("sequence-number").or_insert(Value::from(0));
        }
    }
    if let Ok(metadata) = TableMetadata::deserialize(&json) {
        return Ok(metadata);
    }
    match (json.get("format-version").and_then(Value::as_u64), fault(&json)) {
        (Some(version), _) if version > FormatVersion::V3 as u64 => {
            Err(Error::unsupported(format!("tables of format version {version}")))
        }
        (_, Some(fault)) => Err(Error::new("invalid-table", format!("cannot {}: {fault}", what()))),
        (_, None) => Err(refused).context(&what),
    }
}

/// Whether some column may have a default of nanoseconds: the library drops it without a word.
pub(super) fn may_default_nanoseconds(text: &[u8]) -> bool {
    contains(text, b"_ns\"") && contains(text, b"-default\"")
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

/// A field with a default of nanoseconds, its name.
fn default_of_nanoseconds(json: &Value) -> Option<&str> {
    let mut open = vec![json];
    while let Some(json) = open.pop() {
        match json {
            Value::Array(values) => open.extend(values),
            Value::Object(field) => {
                let ns = field.get("type").and_then(Value::as_str).is_some_and(|t| t.ends_with("_ns"));
                let set = |key: &str| field.get(key).is_some_and(|value| !value.is_null());
                if ns && (set("initial-default") || set("write-default")) {
                    return field.get("name").and_then(Value::as_str).or(Some("?"));
                }
                open.extend(field.values());
            }
            _ => {}
        }
    }
    None
}

/// The bytes of a metadata file and the ending of its name, by `write.metadata.compression-codec` (`none` or `gzip`).
///
/// # Errors
/// `invalid-option` for another codec, with the Java library's words.
pub(crate) fn encode(metadata: &TableMetadata) -> Result<(Vec<u8>, &'static str)> {
    encode_as(metadata, gzip(metadata)?)
}

/// As [`encode`], compressed or not, whatever the table says.
///
/// # Errors
/// What the metadata library refuses.
pub(super) fn encode_as(metadata: &TableMetadata, compressed: bool) -> Result<(Vec<u8>, &'static str)> {
    let what = || "write the table metadata";
    let json = serde_json::to_vec(metadata).context(what)?;
    if !compressed {
        return Ok((json, ".metadata.json"));
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json).context(what)?;
    Ok((encoder.finish().context(what)?, ".gz.metadata.json"))
}

/// Whether a table's metadata files are compressed.
///
/// # Errors
/// As [`encode`].
pub(super) fn gzip(metadata: &TableMetadata) -> Result<bool> {
    const CODEC: &str = TableProperties::PROPERTY_METADATA_COMPRESSION_CODEC;
    match metadata.properties().get(CODEC) {
        None => Ok(false),
        Some(codec) if codec.eq_ignore_ascii_case("none") => Ok(false),
        Some(codec) if codec.eq_ignore_ascii_case("gzip") => Ok(true),
        Some(codec) => {
            Err(Error::new("invalid-option", format!("invalid value '{codec}' of table property '{CODEC}'"))
                .with_detail(format!("Invalid codec name: {codec}"))
                .with_hint("it is 'none' or 'gzip'"))
        }
    }
}

/// What the metadata library does not tell of a metadata file.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Head {
    format_version: u8,
    pub(super) table_uuid: Option<Uuid>,
    #[serde(default)]
    refs: HashMap<String, serde::de::IgnoredAny>,
}

impl Head {
    /// Whether a next version can be written without loss.
    pub(super) fn check_rewritable(&self) -> Result<(), CommitError> {
        if self.format_version == 1 && self.refs.keys().any(|name| name != MAIN_BRANCH) {
            // the metadata library does not keep them
            let feature = "writing to a table of format version 1 that has branches or tags";
            return Err(CommitError::Rejected(Error::unsupported(feature)));
        }
        Ok(())
    }
}

/// Whether the requirements of a commit hold for its base.
pub(super) fn check_requirements(base: &Table, requirements: &[TableRequirement]) -> Result<(), CommitError> {
    match requirements.iter().any(|r| r.check(Some(base.metadata())).is_err()) {
        true => Err(CommitError::Conflict),
        false => Ok(()),
    }
}

/// The metadata after some changes. A base without a metadata file is no version: it leaves no trace in the table's log.
///
/// # Errors
/// `clock-behind`, see [`check_clock`]; what the metadata library refuses.
pub(crate) fn apply(base: &Table, updates: Vec<TableUpdate>) -> Result<TableMetadataBuildResult> {
    let what = || format!("change the metadata of table '{}'", base.ident());
    let replaced = Some(base.metadata_location().to_owned()).filter(|location| !location.is_empty());
    let builder = base.metadata().as_ref().clone().into_builder(replaced);
    // a snapshot brings its own time, which is never before what the table has
    let adds_snapshot = updates.iter().any(|update| matches!(update, TableUpdate::AddSnapshot { .. }));
    let builder = updates.into_iter().try_fold(builder, |builder, update| update.apply(builder)).context(what)?;
    if !adds_snapshot {
        check_clock(base, chrono::Utc::now().timestamp_millis())?;
    }
    builder.build().context(what)
}

/// Refuses a change at a time that is more than a minute before the newest version of the table, as the Java library does
/// (`TableMetadata`): nobody could read the table any more. The metadata library checks a part of that.
fn check_clock(base: &Table, now: i64) -> Result<()> {
    const TOLERANCE_MILLIS: i64 = 60_000;
    let metadata = base.metadata();
    let newest = metadata.history().last().map_or(i64::MIN, |entry| entry.timestamp_ms);
    let newest = newest.max(metadata.last_updated_ms());
    if now >= newest.saturating_sub(TOLERANCE_MILLIS) {
        return Ok(());
    }
    let (name, now_is, changed) = (base.ident(), utc(now), utc(newest));
    Err(Error::new("clock-behind", format!("table '{name}' was changed at {changed}, and it is only {now_is} here"))
        .with_detail(format!("Invalid update timestamp {now}: before the latest metadata log entry timestamp {newest}"))
        .with_hint("set the clock of this machine; if the one that changed the table was wrong, wait until that time"))
}

/// Deletes the metadata files that a commit pushed out of the table's log, if the table wants that
/// (`write.metadata.delete-after-commit.enabled`). What stays is told in the log.
pub(super) async fn delete_expired(io: &TableIo, built: &TableMetadataBuildResult) {
    let enabled = built.metadata.properties().get("write.metadata.delete-after-commit.enabled");
    if !enabled.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return;
    }
    let expired: Vec<String> = built.expired_metadata_logs.iter().map(|log| log.metadata_file.clone()).collect();
    io.delete_all_or_leave(expired).await;
}

/// Refuses tables Flink's connector refuses to load, tables nobody here can decrypt, and partitions nobody can compute.
pub(crate) fn check_readable(ident: &TableIdent, metadata: &TableMetadata) -> Result<()> {
    let properties = metadata.properties();
    if properties.contains_key("connector") || properties.contains_key("src-catalog") {
        let name = ident.name();
        return Err(Error::new("invalid-table", format!("table '{name}' has a reserved property")).with_detail(
            format!("Source table {name} contains one/all of the reserved property keys: connector, src-catalog."),
        ));
    }
    if properties.contains_key("encryption.key-id") {
        return Err(Error::unsupported(format!("encrypted tables ('{}')", ident.name())));
    }
    let mut fields = metadata.partition_specs_iter().flat_map(|spec| spec.fields());
    // the metadata library would divide by them
    if let Some(field) = fields.find(|f| matches!(f.transform, Transform::Bucket(0) | Transform::Truncate(0))) {
        let (name, field, transform) = (ident.name(), &field.name, field.transform);
        let what = format!("table '{name}' has the partition field '{field}' by {transform}: 0 is too small");
        return Err(Error::new("invalid-table", what));
    }
    Ok(())
}
