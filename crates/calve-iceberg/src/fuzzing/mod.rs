//! What fuzzers call: a target reads bytes as one kind of file, as a reader of tables does, and panics if something is not
//! as it has to be. Bytes that are refused with an error are fine.
//!
//! `fuzz/` in the crate's folder runs the targets under libFuzzer; the tests here run them on its corpus and on mutations
//! of it, with every test run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a panic is how a target reports

mod files;
#[cfg(test)]
mod mutate;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::{env, fs, process};

use futures::executor::block_on;
use iceberg::TableIdent;
use iceberg::spec::{ManifestContentType, ManifestFile, Operation, Snapshot, Summary, TableMetadata};
use roaring::RoaringTreemap;

use crate::catalog::fuzzed::{check_readable, encode, parse, plain};
use crate::io::TableIo;
use crate::manifest::{self, Layouts};
use crate::scan::fuzzed::parse_vector;
use crate::scan::{ScanOptions, provider};
use crate::table::{ManifestCache, Table};
use crate::write::vector as write_vector;

pub use files::{avro, orc, parquet};

/// What a fuzzer gives bytes to.
pub type Target = fn(&[u8]);

/// All targets, by the names of their folders in `fuzz/corpus`.
pub const TARGETS: [(&str, Target); 8] = [
    ("metadata", metadata),
    ("manifest_list", manifest_list),
    ("manifest", manifest),
    ("vector", vector),
    ("avro", avro),
    ("orc", orc),
    ("parquet", parquet),
    ("location", location),
];

/// A file with the bytes, for as long as it lives.
struct File(PathBuf);

impl File {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = env::temp_dir().join(format!("calve-fuzz-{}-{name}", process::id()));
        fs::write(&path, bytes).expect("a file in the folder of temporary files");
        Self(path)
    }

    fn location(&self) -> String {
        self.0.to_str().expect("a path of text").to_owned()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn what() -> String {
    "read what a fuzzer made".to_owned()
}

fn read_metadata(file: &[u8]) -> Option<TableMetadata> {
    parse(&plain(file.to_vec()).ok()?, what).ok()
}

fn table(metadata: TableMetadata) -> Table {
    let ident = TableIdent::from_strs(["db", "t"]).expect("a name");
    let location = "/t/metadata/v1.metadata.json".to_owned();
    Table::new(ident, Arc::new(metadata), location, TableIo::local(), ManifestCache::default())
}

/// A table of format version 1, 2 or 3 that calve has made.
fn table_of_version(version: usize) -> Table {
    let files: [&[u8]; 3] = [
        include_bytes!("../../fuzz/corpus/metadata/past_v1"),
        include_bytes!("../../fuzz/corpus/metadata/past_v2"),
        include_bytes!("../../fuzz/corpus/metadata/past_v3"),
    ];
    table(files.get(version - 1).and_then(|file| read_metadata(file)).expect("a good metadata file"))
}

/// Metadata as JSON, with what has no order in the order of its text.
fn in_order(metadata: &TableMetadata) -> serde_json::Value {
    let mut json = serde_json::to_value(metadata).expect("metadata that was written before");
    for name in ["schemas", "partition-specs", "sort-orders", "snapshots", "statistics", "partition-statistics"] {
        if let Some(values) = json.get_mut(name).and_then(|values| values.as_array_mut()) {
            values.sort_by_cached_key(ToString::to_string);
        }
    }
    json
}

/// A metadata file: what is read can be scanned and written, and what is written is read as what was written.
pub fn metadata(bytes: &[u8]) {
    let Some(read) = read_metadata(bytes) else { return };
    let Ok((written, _)) = encode(&read) else { return };
    let again = read_metadata(&written).expect("metadata that calve wrote");
    assert_eq!(in_order(&read), in_order(&again));
    let table = table(read);
    let _ = table.refs();
    if check_readable(table.ident(), table.metadata()).is_err() {
        return;
    }
    if let Ok(options) = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()) {
        let _ = provider(table, options);
    }
}

/// A manifest list, of every format version.
pub fn manifest_list(bytes: &[u8]) {
    let file = File::new("list", bytes);
    for version in 1..=3 {
        let summary = Summary { operation: Operation::Append, additional_properties: Default::default() };
        let snapshot = Snapshot::builder()
            .with_snapshot_id(1)
            .with_sequence_number(i64::MAX)
            .with_timestamp_ms(1)
            .with_manifest_list(file.location())
            .with_summary(summary)
            .build();
        let table = table_of_version(version);
        if let Ok(manifests) = block_on(table.manifests(&snapshot)) {
            assert!(manifests.iter().all(|m| m.sequence_number >= 0 && m.min_sequence_number >= 0));
        }
    }
}

/// A manifest: its entries, and those of one column's metrics, are the same but for the metrics.
pub fn manifest(bytes: &[u8]) {
    let Ok((layout, blocks)) = Layouts::default().of(bytes) else { return };
    for first_row_id in [None, Some(100), Some(u64::MAX)] {
        let line = ManifestFile {
            manifest_path: "/t/metadata/m.avro".to_owned(),
            manifest_length: 1,
            partition_spec_id: 0,
            content: ManifestContentType::Data,
            sequence_number: 7,
            min_sequence_number: 0,
            added_snapshot_id: 1,
            added_files_count: None,
            existing_files_count: None,
            deleted_files_count: None,
            added_rows_count: None,
            existing_rows_count: None,
            deleted_rows_count: None,
            partitions: None,
            key_metadata: None,
            first_row_id,
        };
        let all = manifest::read(&layout, blocks, &line, None);
        let some = manifest::read(&layout, blocks, &line, Some(&[1].into()));
        let Ok(all) = all else { continue };
        let some = some.expect("a part of a manifest that can be read whole");
        assert_eq!(all.len(), some.len());
        for (all, some) in all.iter().zip(&some) {
            assert_eq!(
                (all.status(), all.file_path(), all.snapshot_id()),
                (some.status(), some.file_path(), some.snapshot_id())
            );
            assert_eq!(all.data_file().first_row_id(), some.data_file().first_row_id());
            assert_eq!(all.data_file().lower_bounds().get(&1), some.data_file().lower_bounds().get(&1));
            assert!(all.record_count() == some.record_count() && all.is_alive() == some.is_alive());
        }
    }
}

/// The blob of a deletion vector, as it is and with the length and the checksum that its bitmap should have: what is read
/// is written and read again as the same.
pub fn vector(bytes: &[u8]) {
    let check = |blob: &[u8]| {
        let Ok(positions) = parse_vector(blob) else { return };
        let written = write_vector(&positions).expect("a vector that was read");
        assert!(parse_vector(&written).expect("a vector that calve wrote") == positions);
        let more: RoaringTreemap = positions.iter().take(1000).collect();
        assert!(more.is_subset(&positions));
    };
    check(bytes);
    let checked = bytes.get(4..bytes.len().saturating_sub(4)).unwrap_or_default();
    let mut sealed = u32::try_from(checked.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
    sealed.extend_from_slice(checked);
    sealed.extend_from_slice(&crc32fast::hash(checked).to_be_bytes());
    check(&sealed);
}

/// A location in a table's metadata: no path leaves the storage that the table may touch.
pub fn location(bytes: &[u8]) {
    static REMOTE: LazyLock<TableIo> = LazyLock::new(|| {
        let properties = BTreeMap::from([("s3.region".to_owned(), "us-east-1".to_owned())]);
        TableIo::new(&properties).expect("good properties")
    });
    static LOCAL: LazyLock<TableIo> = LazyLock::new(TableIo::local);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for (io, home, reached) in [
        (&LOCAL, "/t/metadata/v1.metadata.json", &["file"] as &[&str]),
        (&REMOTE, "/t/metadata/v1.metadata.json", &["file", "s3"]),
        (&REMOTE, "s3://bucket/t/metadata/v1.metadata.json", &["s3"]),
        (&REMOTE, "gs://bucket/t/metadata/v1.metadata.json", &["s3", "gs"]),
        (&REMOTE, "elsewhere", &["s3"]),
    ] {
        let Ok(path) = io.of_table(home, home).object_path(text) else { continue };
        let mut parts = path.as_ref().split('/');
        let scheme = parts.next().unwrap_or_default();
        assert!(reached.contains(&scheme), "{text:?} of a table at {home} is {path}");
        assert!(parts.all(|part| !matches!(part, "" | "." | "..")), "{text:?} is {path}");
    }
}
