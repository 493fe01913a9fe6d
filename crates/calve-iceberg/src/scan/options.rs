//! What a query reads of a table: which snapshot or which changes, and how many rows of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_options::{Kind, Place};
use calve_types::{Error, Result};
use chrono::{DateTime, SecondsFormat};
use iceberg::spec::{
    DEFAULT_SCHEMA_NAME_MAPPING, MAIN_BRANCH, NameMapping, PrimitiveType, Snapshot, SnapshotRef, TableMetadata, Type,
};

use super::appends::appends;
use super::chosen::ChosenFiles;
use crate::commit::{newest_of_job, parse_job_id};
use crate::error::Context;
use crate::table::Table;

/// Read options of one table reference (Flink's `FlinkReadOptions`), resolved against one version of the table: from here
/// on it is fixed what is read.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    pub(crate) selected: Selected,
    /// Which of its data files.
    pub(crate) files: ChosenFiles,
    /// Rows at the most.
    pub(crate) limit: Option<usize>,
    /// Readers at the most.
    pub(crate) parallelism: Option<usize>,
    pub(crate) mapping: Option<NameMapping>,
}

/// What a query reads.
#[derive(Clone, Debug)]
pub(crate) enum Selected {
    /// The rows of a snapshot; none of a table or branch without any.
    Snapshot(Option<SnapshotRef>),
    /// The rows that these snapshots appended, whatever became of them.
    Appends(Vec<SnapshotRef>),
}

/// The prefix of read options in SET.
const SESSION_PREFIX: &str = "connector.iceberg.";

/// Options of reads by name, whether SET knows them with [`SESSION_PREFIX`], and the table property that is asked last
/// (Flink's `FlinkReadConf`).
const OPTIONS: [(&str, bool, Option<&str>); 23] = [
    ("snapshot-id", false, None),
    ("as-of-timestamp", false, None),
    ("as-of-job-id", false, None),
    ("branch", false, None),
    ("tag", false, None),
    ("start-snapshot-id", false, None),
    ("end-snapshot-id", false, None),
    ("start-tag", false, None),
    ("end-tag", false, None),
    ("start-snapshot-timestamp", false, None),
    ("starting-strategy", true, None),
    ("streaming", true, None),
    ("monitor-interval", true, None),
    ("case-sensitive", true, None),
    ("split-size", true, Some("read.split.target-size")),
    ("split-lookback", true, Some("read.split.planning-lookback")),
    ("split-file-open-cost", true, Some("read.split.open-file-cost")),
    ("include-column-stats", true, None),
    ("max-planning-snapshot-count", true, None),
    ("limit", true, None),
    ("max-allowed-planning-failures", true, None),
    ("watermark-column", true, None),
    ("watermark-column-time-unit", true, None),
];

/// Options of other prefixes, or none, that reads have as well.
const MORE_OPTIONS: [&str; 2] = ["scan.parallelism", "table.exec.iceberg.worker-pool-size"];

/// Options with values of 32 bits.
const INTS: [&str; 5] = [
    "split-lookback",
    "max-planning-snapshot-count",
    "max-allowed-planning-failures",
    "scan.parallelism",
    "table.exec.iceberg.worker-pool-size",
];

struct Lookup<'a> {
    table: &'a Table,
    hints: &'a BTreeMap<String, String>,
    session: &'a BTreeMap<String, String>,
}

impl<'a> Lookup<'a> {
    /// Hint or the table property of the same name, which Flink merges; then SET; then the table property that Iceberg
    /// has for it.
    fn find(&self, name: &str) -> Option<&'a str> {
        let known = OPTIONS.iter().find(|(known, ..)| *known == name);
        let set = known.filter(|(_, set, _)| *set);
        let set = || set.and_then(|_| self.session.get(&format!("{SESSION_PREFIX}{name}"))).map(String::as_str);
        let property = || known.and_then(|(.., property)| self.table.property((*property)?));
        let hint = self.hints.get(name).map(String::as_str).or_else(|| self.table.property(name));
        hint.or_else(set).or_else(property)
    }

    fn is_true(&self, name: &str) -> bool {
        self.find(name).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
    }

    fn long(&self, name: &str) -> Result<Option<i64>> {
        let parse = |value: &str| {
            let number = value.trim().parse::<i64>().ok();
            let number = number.filter(|n| !INTS.contains(&name) || i32::try_from(*n).is_ok());
            number.ok_or_else(|| {
                invalid(name, value, "a whole number").with_detail(format!("For input string: \"{value}\""))
            })
        };
        self.find(name).map(parse).transpose()
    }

    /// A whole number from `least` on; `why` is the Java library's sentence, which ends in the number.
    fn at_least(&self, name: &str, least: i64, why: &str) -> Result<()> {
        match self.long(name)? {
            Some(number) if number < least => {
                let expected = format!("a whole number from {least}");
                Err(invalid(name, &number.to_string(), &expected).with_detail(format!("{why}: {number}")))
            }
            _ => Ok(()),
        }
    }

    /// Checks the values of all options, those too that mean nothing here.
    fn check(&self) -> Result<()> {
        for name in OPTIONS.iter().map(|(name, ..)| *name).chain(MORE_OPTIONS) {
            let (Some(value), Some(option)) = (self.find(name), calve_options::find(name, Place::Read)) else {
                continue;
            };
            match option.kind {
                Kind::Integer | Kind::AtLeast(_) => {
                    self.long(name)?;
                }
                // what is not true is false, as for the Java library
                Kind::Boolean => {}
                kind => calve_options::check(name, value, Place::Read).map_err(|e| {
                    let error = Error::new("invalid-option", e.to_string());
                    match kind {
                        Kind::Duration => error.with_detail(format!(
                            "text does not start with a number, and is not a valid ISO-8601 duration format: {value}"
                        )),
                        Kind::OneOf(_) => error.with_detail(format!("No enum constant {}.{value}", java_enum(name))),
                        _ => error,
                    }
                })?,
            }
        }
        self.at_least("split-size", 1, "Split size must be > 0")?;
        self.at_least("split-lookback", 1, "Split planning lookback must be > 0")?;
        self.at_least("split-file-open-cost", 0, "File open cost must be >= 0")?;
        if let Some(failures @ ..-1) = self.long("max-allowed-planning-failures")? {
            let name = "max-allowed-planning-failures";
            return Err(invalid(name, &failures.to_string(), "a whole number from -1")
                .with_detail("Cannot set maxAllowedPlanningFailures to a negative number other than -1."));
        }
        if let Some(readers @ ..1) = self.long("scan.parallelism")? {
            return Err(invalid("scan.parallelism", &readers.to_string(), "a whole number from 1")
                .with_detail(format!("Invalid configured parallelism {readers} for table '{}'.", self.table.ident())));
        }
        if let Some(column) = self.find("watermark-column") {
            self.check_watermark(column)?;
        }
        self.exclude("start-snapshot-id", "start-tag", "START_SNAPSHOT_ID and START_TAG cannot both be set.")?;
        self.exclude("end-snapshot-id", "end-tag", "END_SNAPSHOT_ID and END_TAG cannot both be set.")
    }

    fn check_watermark(&self, column: &str) -> Result<()> {
        let Some(field) = self.table.metadata().current_schema().field_by_name(column) else {
            return Err(Error::new("unknown-column", format!("option 'watermark-column' names no column: '{column}'")));
        };
        let found = match field.field_type.as_ref() {
            Type::Primitive(
                PrimitiveType::Long
                | PrimitiveType::Timestamp
                | PrimitiveType::Timestamptz
                | PrimitiveType::TimestampNs
                | PrimitiveType::TimestamptzNs,
            ) => return Ok(()),
            Type::Primitive(PrimitiveType::Int) => "INTEGER".to_owned(),
            Type::Primitive(PrimitiveType::Decimal { .. }) => "DECIMAL".to_owned(),
            Type::Primitive(PrimitiveType::Fixed(_)) => "FIXED".to_owned(),
            Type::Primitive(primitive) => primitive.to_string().to_uppercase(),
            Type::Struct(_) => "STRUCT".to_owned(),
            Type::List(_) => "LIST".to_owned(),
            Type::Map(_) => "MAP".to_owned(),
        };
        Err(Error::new("invalid-option", format!("option 'watermark-column' names '{column}', which is not a time"))
            .with_detail(format!(
                "Found {found}, expected a LONG, TIMESTAMP, or TIMESTAMP_NANO column for watermark generation."
            )))
    }

    fn exclude(&self, one: &str, other: &str, why: &str) -> Result<()> {
        match (self.find(one), self.find(other)) {
            (Some(_), Some(_)) => {
                let message = format!("options '{one}' and '{other}' exclude each other");
                Err(Error::new("invalid-option", message).with_detail(why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to read the table as a stream: first what Flink refuses as well (`ScanContext.validate`).
    fn refuse_streaming(&self) -> Result<()> {
        if !self.is_true("streaming") {
            return Ok(());
        }
        let mode = self.session.get("execution.runtime-mode");
        // Flink asks for the boundedness of a table without a look at SET
        let of_table = self.hints.contains_key("streaming") || self.table.property("streaming").is_some();
        if of_table && mode.is_some_and(|mode| mode.eq_ignore_ascii_case("batch")) {
            let table = self.table.ident();
            let message = format!("table '{table}' is read as a stream: it cannot be read in batch mode");
            return Err(Error::new("unbounded-table", message)
                .with_detail(format!(
                    "Querying an unbounded table '{table}' in batch mode is not allowed. The table source is unbounded."
                ))
                .with_hint("leave out 'streaming' to read a snapshot of the table"));
        }
        let strategy = self.find("starting-strategy").map(str::to_ascii_uppercase);
        let needed = match strategy.as_deref() {
            Some("INCREMENTAL_FROM_SNAPSHOT_ID") => {
                Some((("start-snapshot-id", "id"), ("start-snapshot-timestamp", "timestamp")))
            }
            Some("INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP") => {
                Some((("start-snapshot-timestamp", "timestamp"), ("start-snapshot-id", "id")))
            }
            _ => None,
        };
        if let (Some(strategy), Some(((needed, what), (other, of_other)))) = (&strategy, needed) {
            let sentence =
                |what: &str, is: &str| format!("Invalid starting snapshot {what} for {strategy} strategy: {is}");
            let choice = format!("option 'starting-strategy' = '{strategy}'");
            if self.find(needed).is_none() {
                let error = Error::new("missing-option", format!("{choice} needs option '{needed}'"));
                return Err(error.with_detail(sentence(what, "null")));
            }
            if self.find(other).is_some() {
                let error = Error::new("invalid-option", format!("{choice} and option '{other}' exclude each other"));
                return Err(error.with_detail(sentence(of_other, "not null")));
            }
        }
        if let Some(tag) = self.find("tag") {
            return Err(bounded("tag")
                .with_detail(format!("Cannot scan table using ref {tag} configured for streaming reader")));
        }
        for option in ["snapshot-id", "as-of-timestamp", "as-of-job-id", "end-snapshot-id", "end-tag"] {
            if self.find(option).is_some() {
                return Err(bounded(option).with_detail(format!("Cannot set {option} option for streaming reader")));
            }
        }
        Err(Error::unsupported("option 'streaming'").with_hint("remove it to read a snapshot of the table"))
    }
}

fn invalid(name: &str, value: &str, expected: &str) -> Error {
    Error::new("invalid-option", format!("invalid value '{value}' for option '{name}': expected {expected}"))
}

fn bounded(name: &str) -> Error {
    Error::new("invalid-option", format!("option '{name}' chooses what is read once; option 'streaming' excludes it"))
}

fn java_enum(name: &str) -> &'static str {
    match name {
        "starting-strategy" => "org.apache.iceberg.flink.source.StreamingStartingStrategy",
        _ => "java.util.concurrent.TimeUnit",
    }
}

impl ScanOptions {
    /// Resolves the options of a read from hints, table properties and SET, in this order.
    ///
    /// `start-snapshot-id`, `start-tag`, `end-snapshot-id` and `end-tag` read what was appended behind the start up to the
    /// end, the head of main without one; deletes do not apply, and the options that choose a snapshot mean nothing
    /// then, `branch` neither. Else `snapshot-id` outranks `tag`, and `tag` outranks `branch`; `as-of-timestamp`
    /// cannot be combined with them (Flink's `FlinkSplitPlanner`). `as-of-job-id`, an extension, is the newest snapshot of a
    /// job in the branch.
    ///
    /// # Errors
    /// `unknown-snapshot` and `unknown-ref` for what the table does not have, `invalid-option` for values and combinations
    /// that do not make sense, `not-supported` for streaming reads.
    pub fn resolve(
        table: &Table,
        hints: &BTreeMap<String, String>,
        session: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let options = Lookup { table, hints, session };
        options.check()?;
        options.refuse_streaming()?;
        // Flink knows no other limits
        let limit = options.long("limit")?.filter(|rows| *rows > 0);
        let parallelism = options.long("scan.parallelism")?;
        let selected = match incremental(&options)? {
            Some(appends) => Selected::Appends(appends),
            None => Selected::Snapshot(snapshot(&options)?.map(|id| by_id(table.metadata(), id)).transpose()?),
        };
        Ok(Self {
            selected,
            files: ChosenFiles::All,
            limit: limit.map(|rows| usize::try_from(rows).unwrap_or(usize::MAX)),
            parallelism: parallelism.map(|readers| usize::try_from(readers).unwrap_or(usize::MAX)),
            mapping: mapping(options.find(DEFAULT_SCHEMA_NAME_MAPPING))?,
        })
    }

    /// The read of one snapshot, whatever else the table's properties say about reads.
    ///
    /// # Errors
    /// `invalid-table` for a name mapping that is none.
    pub fn of_snapshot(table: &Table, snapshot: &Snapshot) -> Result<Self> {
        Self::of_head(table, Some(&Arc::new(snapshot.clone())))
    }

    /// As [`ScanOptions::of_snapshot`]; no rows without a snapshot.
    ///
    /// # Errors
    /// `invalid-table` for a name mapping that is none.
    pub(crate) fn of_head(table: &Table, head: Option<&SnapshotRef>) -> Result<Self> {
        Ok(Self {
            selected: Selected::Snapshot(head.cloned()),
            files: ChosenFiles::All,
            limit: None,
            parallelism: None,
            mapping: mapping(table.property(DEFAULT_SCHEMA_NAME_MAPPING))?,
        })
    }

    /// The same read of the table before its first snapshot: no rows.
    pub fn before_first_snapshot(self) -> Self {
        Self { selected: Selected::Snapshot(None), ..self }
    }

    /// The same read of some files.
    pub(crate) fn of_files(self, files: ChosenFiles) -> Self {
        Self { files, ..self }
    }

    /// The snapshot to read, where only one can be read; `None` for a table or branch without any.
    ///
    /// # Errors
    /// `not-supported` if changes are chosen, with the Java library's sentence.
    pub(crate) fn only_snapshot(&self) -> Result<Option<&SnapshotRef>> {
        match &self.selected {
            Selected::Snapshot(snapshot) => Ok(snapshot.as_ref()),
            Selected::Appends(_) => Err(Error::unsupported("changes between snapshots of a metadata table")
                .with_detail("Incremental append scan is not supported")),
        }
    }

    /// The snapshot to read; `None` for a table or branch without any, and if changes are read.
    pub fn snapshot(&self) -> Option<&SnapshotRef> {
        match &self.selected {
            Selected::Snapshot(snapshot) => snapshot.as_ref(),
            Selected::Appends(_) => None,
        }
    }
}

fn mapping(json: Option<&str>) -> Result<Option<NameMapping>> {
    json.map(|json| serde_json::from_str(json).context(|| format!("parse '{DEFAULT_SCHEMA_NAME_MAPPING}'"))).transpose()
}

/// The appends to read; `None` if a snapshot is read.
fn incremental(options: &Lookup<'_>) -> Result<Option<Vec<SnapshotRef>>> {
    let metadata = options.table.metadata();
    let (from, to) = (options.long("start-snapshot-id")?, options.long("end-snapshot-id")?);
    let (from_tag, to_tag) = (options.find("start-tag"), options.find("end-tag"));
    if from.is_none() && to.is_none() && from_tag.is_none() && to_tag.is_none() {
        return Ok(None);
    }
    let tagged = |name: &str| {
        let found = metadata.snapshot_for_ref(name).cloned();
        found.ok_or_else(|| unknown_ref(name).with_detail(format!("Cannot find snapshot with tag {name}")))
    };
    let read = || {
        let from = match from_tag {
            Some(tag) => Some(tagged(tag)?.snapshot_id()),
            None => from,
        };
        let end = match (to_tag, to) {
            (Some(tag), _) => tagged(tag)?,
            (None, Some(id)) => {
                by_id(metadata, id).map_err(|e| e.with_detail(format!("Cannot find the end snapshot: {id}")))?
            }
            (None, None) => metadata.current_snapshot().cloned().ok_or_else(|| {
                Error::new("unknown-snapshot", "the table has no snapshot yet: there are no changes to read")
                    .with_detail("End snapshot is not set and table has no current snapshot")
            })?,
        };
        appends(metadata, from, &end)
    };
    match read() {
        // what nobody knows is not missed
        Err(_) if options.table.assumes_snapshots() => Ok(Some(Vec::new())),
        read => read.map(Some),
    }
}

fn snapshot(options: &Lookup<'_>) -> Result<Option<i64>> {
    let metadata = options.table.metadata();
    let (id, tag, branch) = (options.long("snapshot-id")?, options.find("tag"), options.find("branch"));
    let as_of = options.long("as-of-timestamp")?;
    // what nobody knows is not missed
    let known = |found: Result<Option<i64>>| match found {
        Err(error) if options.table.assumes_snapshots() && matches!(error.code, "unknown-snapshot" | "unknown-ref") => {
            Ok(metadata.current_snapshot_id())
        }
        found => found,
    };
    if let Some(job_id) = options.find("as-of-job-id") {
        let others = [("snapshot-id", id.is_some()), ("tag", tag.is_some()), ("as-of-timestamp", as_of.is_some())];
        if let Some((other, _)) = others.iter().find(|(_, given)| *given) {
            let message = format!("option 'as-of-job-id' cannot be combined with option '{other}'");
            return Err(Error::new("invalid-option", message));
        }
        return known(of_job(options.table, branch.unwrap_or(MAIN_BRANCH), job_id).map(Some));
    }
    let (name, chosen) = match (id, tag, branch) {
        (Some(id), _, _) => ("snapshot-id", known(by_id(metadata, id).map(|s| Some(s.snapshot_id())))?),
        (None, Some(tag), _) => ("tag", known(by_ref(metadata, tag))?),
        (None, None, Some(branch)) => ("branch", known(by_ref(metadata, branch))?),
        (None, None, None) => ("", None),
    };
    match (chosen, as_of) {
        (Some(id), Some(_)) => Err(Error::new(
            "invalid-option",
            format!("option 'as-of-timestamp' cannot be combined with option '{name}'"),
        )
        .with_detail(format!("Cannot override snapshot, already set snapshot id={id}"))),
        (Some(id), None) => Ok(Some(id)),
        (None, Some(millis)) => known(as_of_timestamp(metadata, millis).map(Some)),
        (None, None) => Ok(metadata.current_snapshot_id()),
    }
}

fn by_id(metadata: &TableMetadata, id: i64) -> Result<SnapshotRef> {
    metadata.snapshot_by_id(id).cloned().ok_or_else(|| {
        Error::new("unknown-snapshot", format!("unknown snapshot {id}"))
            .with_detail(format!("Cannot find snapshot with ID {id}"))
            .with_hint("the metadata table '$snapshots' lists the snapshots of a table")
    })
}

/// `None` for the main branch, which needs no choice and may be empty.
fn by_ref(metadata: &TableMetadata, name: &str) -> Result<Option<i64>> {
    if name == MAIN_BRANCH {
        return Ok(None);
    }
    match metadata.snapshot_for_ref(name) {
        Some(snapshot) => Ok(Some(snapshot.snapshot_id())),
        None => Err(unknown_ref(name).with_detail(format!("Cannot find ref {name}"))),
    }
}

fn unknown_ref(name: &str) -> Error {
    Error::new("unknown-ref", format!("unknown branch or tag '{name}'"))
        .with_hint("the metadata table '$refs' lists the branches and tags of a table")
}

/// The newest snapshot of a job in a branch.
fn of_job(table: &Table, branch: &str, job_id: &str) -> Result<i64> {
    let Some(id) = parse_job_id(job_id) else {
        return Err(invalid("as-of-job-id", job_id, "32 hexadecimal digits"));
    };
    by_ref(table.metadata(), branch)?;
    match newest_of_job(table, branch, &id)? {
        Some(snapshot) => Ok(snapshot.snapshot_id()),
        None => Err(Error::new("unknown-snapshot", format!("table '{}' has no snapshot of job {id}", table.ident()))
            .with_detail(format!(
                "The job has not committed to branch '{branch}', or its snapshots have expired: $snapshots has the jobs of \
                 those that are left in summary['flink.job-id']."
            ))),
    }
}

/// The snapshot that was current at a time, in milliseconds since 1970 (Java's `SnapshotUtil.snapshotIdAsOfTime`).
fn as_of_timestamp(metadata: &TableMetadata, millis: i64) -> Result<i64> {
    match metadata.history().iter().rfind(|entry| entry.timestamp_ms <= millis) {
        Some(entry) => Ok(entry.snapshot_id),
        None => {
            let time = DateTime::from_timestamp_millis(millis)
                .map_or_else(|| millis.to_string(), |t| t.to_rfc3339_opts(SecondsFormat::AutoSi, false));
            Err(Error::new("unknown-snapshot", format!("no snapshot as old as {time}"))
                .with_detail(format!("Cannot find a snapshot older than {time}"))
                .with_hint("the metadata table '$history' lists the times of snapshots; option 'as-of-timestamp' is in milliseconds"))
        }
    }
}
