//! What differs from run to run, and its stand-ins in transcripts.
//!
//! Only what calve itself made up is masked: ids and times that a fixture's own data holds stay as they are. What was
//! made up is found in the test's folder, where tables have their metadata and files.
//!
//! | in the result | in the transcript |
//! |---|---|
//! | the test's own folder | `${TMP}` |
//! | the folder of the script | `${DATA}` |
//! | id of a table's second snapshot | `<snapshot 2>` |
//! | id of a snapshot of a table that is gone | `<snapshot>` in the columns of the metadata tables |
//! | UUIDs of tables and files, and what UUID() gives | `<uuid>` |
//! | ids of jobs and their operators | `<job>`, `<operator>` |
//! | a UTC time, or seconds, milliseconds or microseconds since 1970, while the test ran | `<time>` |

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;

use chrono::{DateTime, NaiveDateTime, Utc};
use regex::{Captures, Regex};
use serde_json::Value;

/// Columns of the metadata tables that hold ids of snapshots.
const SNAPSHOT_COLUMNS: &[&str] =
    &["snapshot_id", "parent_id", "latest_snapshot_id", "added_snapshot_id", "last_updated_snapshot_id"];
/// Columns of the metadata tables that hold times.
const TIME_COLUMNS: &[&str] = &["committed_at", "made_current_at", "last_updated_at"];
/// A metadata file beyond this is not read.
const LARGEST: u64 = 64 << 20;

/// Everything that is looked at: a UUID, 32 hexadecimal digits, a time, a long number. What is found inside a longer word is
/// left alone.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) (?P<uuid> \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b )
        | (?P<hex> \b[0-9a-f]{32}\b )
        | (?P<time> \b\d{4}-\d\d-\d\d[\ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?Z? )
        | (?P<number> \b\d{10,19}\b )",
    )
    .ok()
});
static OPERATOR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(flink\.operator-id[=:])[0-9a-f]{32}").ok());
static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(engine-version=)[^,}\s]+").ok());
/// A path below the test's folder, up to what cannot be part of it.
static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"\$\{TMP\}/[^\s'",)\]}]+"#).ok());

/// What stands for what.
#[derive(Debug, Default)]
pub struct Masks {
    /// Folders and their names, the longest first.
    folders: Vec<(String, &'static str)>,
    ids: HashMap<String, String>,
    /// Milliseconds since 1970 when the test began and ended.
    ran: Option<(i64, i64)>,
}

impl Masks {
    /// Folders that have names. Paths may stand in SQL, where quotes are doubled.
    pub fn new(folders: &[(&Path, &'static str)]) -> Self {
        let mut named = Vec::new();
        for (path, name) in folders {
            let path = path.display().to_string();
            if path.contains('\'') {
                named.push((path.replace('\'', "''"), *name));
            }
            named.push((path, *name));
        }
        named.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Self { folders: named, ..Self::default() }
    }

    /// When the test ran.
    pub fn ran(&mut self, from: SystemTime, to: SystemTime) {
        let millis = |time: SystemTime| DateTime::<Utc>::from(time).timestamp_millis();
        self.ran = Some((millis(from), millis(to)));
    }

    /// The ids of jobs that the statements' objects tell.
    pub fn jobs(&mut self, objects: &[Value]) {
        for id in objects.iter().filter_map(|object| object["job_id"].as_str()) {
            self.ids.insert(id.to_owned(), "<job>".to_owned());
        }
    }

    /// Learns what was made up from the files below a folder. What cannot be read is left out.
    pub fn learn(&mut self, folder: &Path) {
        let mut tables: HashMap<PathBuf, Vec<(i64, i64, i64)>> = HashMap::new();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                    continue;
                }
                self.uuids(&name);
                if name.ends_with(".metadata.json") && entry.metadata().is_ok_and(|m| m.len() <= LARGEST) {
                    let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
                    if let Ok(metadata) = serde_json::from_str::<Value>(&text) {
                        self.table(&metadata, tables.entry(folder.clone()).or_default());
                    }
                }
            }
        }
        for mut snapshots in tables.into_values() {
            snapshots.sort_unstable();
            snapshots.dedup();
            for (n, (_, _, id)) in snapshots.iter().enumerate() {
                self.ids.insert(id.to_string(), format!("<snapshot {}>", n + 1));
            }
        }
    }

    /// Learns from a table's metadata; its snapshots in the order in which they were committed.
    fn table(&mut self, metadata: &Value, snapshots: &mut Vec<(i64, i64, i64)>) {
        if let Some(uuid) = metadata["table-uuid"].as_str() {
            self.ids.insert(uuid.to_owned(), "<uuid>".to_owned());
        }
        for snapshot in metadata["snapshots"].as_array().into_iter().flatten() {
            if let Some(id) = snapshot["snapshot-id"].as_i64() {
                let number = |key: &str| snapshot[key].as_i64().unwrap_or(0);
                snapshots.push((number("sequence-number"), number("timestamp-ms"), id));
            }
            for (key, name) in [("flink.job-id", "<job>"), ("flink.operator-id", "<operator>")] {
                if let Some(id) = snapshot["summary"][key].as_str() {
                    self.ids.insert(id.to_owned(), name.to_owned());
                }
            }
        }
    }

    fn uuids(&mut self, name: &str) {
        for word in WORDS.iter().flat_map(|words| words.captures_iter(name)) {
            if let Some(uuid) = word.name("uuid") {
                self.ids.insert(uuid.as_str().to_owned(), "<uuid>".to_owned());
            }
        }
    }

    /// A text with its folders masked: a statement, which holds nothing else that was made up.
    pub fn paths(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, name) in &self.folders {
            if text.contains(path.as_str()) {
                text = text.replace(path.as_str(), name);
            }
        }
        text
    }

    /// A message.
    pub fn text(&self, text: &str) -> String {
        self.mask(text, false)
    }

    /// A value of a column; `uuids`: all UUIDs are made up.
    pub fn cell(&self, column: &str, value: &str, uuids: bool) -> String {
        let masked = self.mask(value, uuids);
        if masked != value {
            return masked;
        }
        if SNAPSHOT_COLUMNS.contains(&column) && value.len() >= 15 && value.bytes().all(|b| b.is_ascii_digit()) {
            return "<snapshot>".to_owned();
        }
        if TIME_COLUMNS.contains(&column) && parse_time(value).is_some() {
            return "<time>".to_owned();
        }
        masked
    }

    fn mask(&self, text: &str, uuids: bool) -> String {
        let mut text = self.paths(text);
        if text.contains("${TMP}/")
            && let Some(path) = &*PATH
        {
            text = path.replace_all(&text, |found: &Captures<'_>| self.words(&found[0], true)).into_owned();
        }
        if let Some(operator) = &*OPERATOR {
            text = operator.replace_all(&text, "${1}<operator>").into_owned();
        }
        if let Some(version) = &*VERSION {
            text = version.replace_all(&text, "${1}<version>").into_owned();
        }
        self.words(&text, uuids)
    }

    fn words(&self, text: &str, uuids: bool) -> String {
        let Some(words) = &*WORDS else { return text.to_owned() };
        words
            .replace_all(text, |found: &Captures<'_>| {
                let word = found.get(0).map_or("", |word| word.as_str());
                if let Some(name) = self.ids.get(word) {
                    return name.clone();
                }
                if found.name("uuid").is_some() && uuids {
                    return "<uuid>".to_owned();
                }
                let is_now = found.name("time").is_some()
                    && parse_time(word).is_some_and(|(at, unit)| self.is_now(at, unit))
                    || found.name("number").is_some() && self.is_now_number(word);
                if is_now { "<time>".to_owned() } else { word.to_owned() }
            })
            .into_owned()
    }

    /// Whether milliseconds since 1970, known to `unit` milliseconds, lie in the time that the test ran.
    fn is_now(&self, at: i64, unit: i64) -> bool {
        self.ran.is_some_and(|(from, to)| at > from.saturating_sub(unit) && at <= to)
    }

    fn is_now_number(&self, digits: &str) -> bool {
        let Ok(number) = digits.parse::<i64>() else { return false };
        match digits.len() {
            10 => self.is_now(number.saturating_mul(1_000), 1_000),
            13 => self.is_now(number, 1),
            16 => self.is_now(number / 1_000, 1),
            _ => false,
        }
    }
}

/// Milliseconds since 1970 of a time in UTC, and how many milliseconds its last digit stands for.
fn parse_time(text: &str) -> Option<(i64, i64)> {
    let text = text.trim_end_matches('Z').replacen('T', " ", 1);
    let unit = match text.split_once('.').map_or(0, |(_, fraction)| fraction.len()) {
        0 => 1_000,
        1 => 100,
        2 => 10,
        _ => 1,
    };
    let time = NaiveDateTime::parse_from_str(&text, "%Y-%m-%d %H:%M:%S%.f").ok()?;
    Some((time.and_utc().timestamp_millis(), unit))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use std::time::Duration;

    use super::*;

    const UUID: &str = "0b8a5a9c-7a2e-4a52-9b3f-0c2f6f2f1a11";

    #[test]
    fn folders_have_names() {
        let masks = Masks::new(&[(Path::new("/tmp/x"), "${TMP}"), (Path::new("/tmp/x/it's"), "${DATA}")]);
        assert_eq!(masks.text("file:/tmp/x/a, /tmp/x/it's/b"), "file:${TMP}/a, ${DATA}/b");
        assert_eq!(masks.paths("LOCATION '/tmp/x/it''s/b'"), "LOCATION '${DATA}/b'");
        assert_eq!(
            masks.text(&format!("/tmp/x/t/data/00-{UUID}.parquet {UUID}")),
            format!("${{TMP}}/t/data/00-<uuid>.parquet {UUID}")
        );
    }

    #[test]
    fn made_up_ids_are_found_in_the_tables_files() {
        let dir = tempfile::tempdir().unwrap();
        let metadata = dir.path().join("shop/t/metadata");
        std::fs::create_dir_all(&metadata).unwrap();
        let text = format!(
            r#"{{"table-uuid":"{UUID}","snapshots":[
                {{"snapshot-id":4242173835855275155,"sequence-number":2,"timestamp-ms":5,"summary":{{"flink.job-id":"{}"}}}},
                {{"snapshot-id":999,"sequence-number":1,"timestamp-ms":4}}]}}"#,
            "ab".repeat(16)
        );
        std::fs::write(metadata.join("v2.metadata.json"), text).unwrap();
        std::fs::write(metadata.join("v3.metadata.json"), "not JSON").unwrap();
        let mut masks = Masks::new(&[]);
        masks.learn(dir.path());
        assert_eq!(masks.text("4242173835855275155"), "<snapshot 2>");
        assert_eq!(masks.text(&format!("{UUID} {}", "ab".repeat(16))), "<uuid> <job>");
        // the fixture's own
        for own in ["4242173835855275154", "0b8a5a9c-7a2e-4a52-9b3f-0c2f6f2f1a12", "ab", "9223372036854775807", "999"] {
            assert_eq!(masks.text(own), own);
        }
        assert_eq!(masks.cell("id", "7777777777777777777", false), "7777777777777777777");
        assert_eq!(masks.cell("parent_id", "7777777777777777777", false), "<snapshot>");
        assert_eq!(masks.cell("x", "aa8a5a9c-7a2e-4a52-9b3f-0c2f6f2f1a12", true), "<uuid>");
        assert_eq!(
            masks.text(&format!("{{engine-version=0.1.0, flink.operator-id={}, n=1}}", "cd".repeat(16))),
            "{engine-version=<version>, flink.operator-id=<operator>, n=1}"
        );
    }

    #[test]
    fn times_are_masked_if_the_test_ran_then() {
        let from = SystemTime::UNIX_EPOCH + Duration::from_millis(1_764_488_000_250);
        let mut masks = Masks::default();
        masks.ran(from, from + Duration::from_secs(2));
        for now in [
            "2025-11-30 07:33:20.251",
            "2025-11-30T07:33:21.999999Z",
            "2025-11-30 07:33:20",
            "2025-11-30 07:33:20.3",
            "1764488001",
            "1764488001000",
            "1764488001000999",
        ] {
            assert_eq!(masks.text(now), "<time>", "{now}");
        }
        for other in [
            "2025-11-30 07:33:23",
            "2025-11-30",
            "2025-11-30 07:33:19.999",
            "1764488009",
            "17644880010000",
            "2025-99-99 07:33:20",
        ] {
            assert_eq!(masks.text(other), other);
        }
        assert_eq!(masks.cell("committed_at", "2025-11-30 16:33:20.251", false), "<time>");
        assert_eq!(masks.cell("ordered_at", "2025-11-30 16:33:20.251", false), "2025-11-30 16:33:20.251");
    }
}
