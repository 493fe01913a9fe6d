//! Facts about a table's metadata, read by other code than the product's own: JSON as it is, manifests through `iceberg`,
//! footers through `parquet`.
//!
//! `{path = "shop/t/..", exists = false}` or `{table = "t" or "db.t", ..}` with: `absent`, `format_version`, `fields`
//! (`"1: id: required long # doc"`; the doc is optional), `columns`, `identifiers`, `spec` (`"day(ts) as ts_day"`),
//! `props`, `no_props`, `snapshots`, `history` (entries of the snapshot log), `heads` (snapshots of branches, `"${S1}"`),
//! `versions` (newest vN), `files = {"data/p=a/*" = ">=1"}`. About one snapshot (`snapshot` counts from 1, the newest without
//! it): `operation`, `summary`, and from the manifests `added` (files) and `added_rows`
//! by kind (`data`, `eq`, `pos`, `dv`), `eq_ids`, `eq_columns`, `dv_refs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use iceberg::spec::{DataContentType, DataFile, DataFileFormat, FormatVersion, Manifest, ManifestList, ManifestStatus};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::Deserialize;
use serde_json::Value;

use crate::common;

/// What is claimed about a table or a path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    path: Option<String>,
    exists: Option<bool>,
    table: Option<String>,
    #[serde(default)]
    absent: bool,
    format_version: Option<u64>,
    fields: Option<Vec<String>>,
    columns: Option<Vec<String>>,
    identifiers: Option<Vec<String>>,
    spec: Option<Vec<String>>,
    #[serde(default)]
    props: BTreeMap<String, String>,
    #[serde(default)]
    no_props: Vec<String>,
    snapshots: Option<usize>,
    history: Option<usize>,
    #[serde(default)]
    heads: BTreeMap<String, String>,
    versions: Option<u64>,
    #[serde(default)]
    files: BTreeMap<String, Count>,
    snapshot: Option<usize>,
    operation: Option<String>,
    #[serde(default)]
    summary: BTreeMap<String, String>,
    #[serde(default)]
    added: BTreeMap<String, u64>,
    #[serde(default)]
    added_rows: BTreeMap<String, u64>,
    eq_ids: Option<Vec<String>>,
    eq_columns: Option<Vec<String>>,
    #[serde(default)]
    dv_refs: bool,
}

/// A number, or `">=1"`.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
enum Count {
    Exactly(usize),
    Text(String),
}

impl Count {
    fn matches(&self, n: usize) -> bool {
        match self {
            Self::Exactly(want) => *want == n,
            Self::Text(text) => {
                text.strip_prefix(">=").and_then(|n| n.parse().ok()).is_some_and(|want: usize| n >= want)
            }
        }
    }
}

/// A table's newest metadata.
pub struct Table {
    root: PathBuf,
    version: u64,
    metadata: Value,
}

impl Table {
    /// Loads a table of the warehouse, `t` of database `shop` or `db.t`; `None` if there is none.
    pub fn load(warehouse: &Path, name: &str) -> Option<Self> {
        let name = if name.contains('.') { name.to_owned() } else { format!("shop.{name}") };
        let root = name.split('.').fold(warehouse.to_owned(), |path, part| path.join(part));
        let version = common::tree(&root.join("metadata"))
            .iter()
            .filter_map(|name| name.strip_prefix('v')?.strip_suffix(".metadata.json")?.parse().ok())
            .max()?;
        let text = std::fs::read_to_string(root.join(format!("metadata/v{version}.metadata.json"))).expect("metadata");
        Some(Self { root, version, metadata: serde_json::from_str(&text).expect("metadata") })
    }

    /// The current snapshot.
    pub fn head(&self) -> Option<&Value> {
        let id = self.metadata["current-snapshot-id"].as_i64()?;
        self.snapshots().into_iter().find(|s| s["snapshot-id"].as_i64() == Some(id))
    }

    fn snapshots(&self) -> Vec<&Value> {
        let mut snapshots: Vec<_> = array(&self.metadata["snapshots"]).iter().collect();
        snapshots.sort_by_key(|s| (s["sequence-number"].as_i64().unwrap_or(0), s["timestamp-ms"].as_i64()));
        snapshots
    }

    fn schema(&self) -> &Value {
        by_id(&self.metadata["schemas"], "schema-id", &self.metadata["current-schema-id"])
    }

    fn spec(&self) -> &Value {
        &by_id(&self.metadata["partition-specs"], "spec-id", &self.metadata["default-spec-id"])["fields"]
    }

    fn name_of(&self, id: i64) -> String {
        let fields = array(&self.schema()["fields"]);
        let field = fields.iter().find(|f| f["id"].as_i64() == Some(id));
        field.map_or_else(|| format!("#{id}"), |f| text(&f["name"]))
    }

    /// Files that a snapshot added.
    fn added(&self, snapshot: &Value) -> Vec<DataFile> {
        let version = match self.metadata["format-version"].as_u64() {
            Some(1) => FormatVersion::V1,
            Some(2) => FormatVersion::V2,
            _ => FormatVersion::V3,
        };
        let id = snapshot["snapshot-id"].as_i64();
        let list = std::fs::read(local(&text(&snapshot["manifest-list"]))).expect("manifest list");
        let list = ManifestList::parse_with_version(&list, version).expect("manifest list");
        let mut added = Vec::new();
        for file in list.entries() {
            let manifest = std::fs::read(local(&file.manifest_path)).expect("manifest");
            let manifest = Manifest::parse_avro(&manifest).expect("manifest");
            for entry in manifest.entries() {
                let of = entry.snapshot_id().unwrap_or(file.added_snapshot_id);
                if entry.status() == ManifestStatus::Added && Some(of) == id {
                    added.push(entry.data_file().clone());
                }
            }
        }
        added
    }
}

/// Evaluates a fact: what does not hold. `expand` puts values in the place of `${NAME}`.
pub fn check(warehouse: &Path, fact: &Fact, expand: impl Fn(&str) -> String) -> Vec<String> {
    if let Some(path) = &fact.path {
        let there = warehouse.join(path).exists();
        let want = fact.exists.unwrap_or(true);
        return (there != want).then(|| format!("path {path}: there is {there}")).into_iter().collect();
    }
    let name = fact.table.as_deref().expect("path or table");
    let mut differs = Vec::new();
    let mut expect = |what: &str, want: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug, same: bool| {
        if !same {
            differs.push(format!("{name} {what}: expected {want:?}, got {got:?}"));
        }
    };
    let table = match Table::load(warehouse, name) {
        Some(table) => {
            expect("absent", &fact.absent, &false, !fact.absent);
            table
        }
        None => {
            expect("absent", &fact.absent, &true, fact.absent);
            return differs;
        }
    };
    let metadata = &table.metadata;
    if let Some(want) = fact.format_version {
        let got = &metadata["format-version"];
        expect("format version", &want, got, got.as_u64() == Some(want));
    }
    let fields = array(&table.schema()["fields"]);
    if let Some(want) = &fact.fields {
        let got: Vec<_> = fields.iter().map(field_text).collect();
        let same = |want: &String, got: &String| {
            // a claim without a comment says nothing about the comment
            want == got || !want.contains(" # ") && got.split(" # ").next() == Some(want)
        };
        expect("fields", want, &got, want.len() == got.len() && want.iter().zip(&got).all(|(w, g)| same(w, g)));
    }
    if let Some(want) = &fact.columns {
        let got: Vec<_> = fields.iter().map(|f| text(&f["name"])).collect();
        expect("columns", want, &got, *want == got);
    }
    if let Some(want) = &fact.identifiers {
        let ids = array(&table.schema()["identifier-field-ids"]);
        let got: Vec<_> = ids.iter().filter_map(Value::as_i64).map(|id| table.name_of(id)).collect();
        expect("identifiers", want, &got, sorted(want.clone()) == sorted(got.clone()));
    }
    if let Some(want) = &fact.spec {
        let part = |f: &Value| {
            let source = table.name_of(f["source-id"].as_i64().unwrap_or(-1));
            format!("{}({source}) as {}", text(&f["transform"]), text(&f["name"]))
        };
        let got: Vec<_> = array(table.spec()).iter().map(part).collect();
        expect("spec", want, &got, *want == got);
    }
    for (key, want) in &fact.props {
        let got = &metadata["properties"][key];
        expect(&format!("property {key}"), want, got, got == want);
    }
    for key in &fact.no_props {
        let got = &metadata["properties"][key];
        expect(&format!("property {key}"), &"none", got, got.is_null());
    }
    if let Some(want) = fact.snapshots {
        let got = table.snapshots().len();
        expect("snapshots", &want, &got, want == got);
    }
    if let Some(want) = fact.history {
        let got = array(&metadata["snapshot-log"]).len();
        expect("history", &want, &got, want == got);
    }
    for (branch, want) in &fact.heads {
        let (want, got) = (expand(want), metadata["refs"][branch]["snapshot-id"].to_string());
        expect(&format!("head of {branch}"), &want, &got, want == got);
    }
    if let Some(want) = fact.versions {
        expect("versions", &want, &table.version, want == table.version);
    }
    for (pattern, want) in &fact.files {
        let got = common::tree(&table.root).iter().filter(|f| common::glob_matches(pattern, f)).count();
        expect(&format!("files {pattern}"), want, &got, want.matches(got));
    }
    differs.extend(check_snapshot(&table, name, fact));
    differs
}

fn check_snapshot(table: &Table, name: &str, fact: &Fact) -> Vec<String> {
    let of_manifests = !fact.added.is_empty()
        || !fact.added_rows.is_empty()
        || fact.eq_ids.is_some()
        || fact.eq_columns.is_some()
        || fact.dv_refs;
    if !of_manifests && fact.operation.is_none() && fact.summary.is_empty() {
        return Vec::new();
    }
    let snapshot = match fact.snapshot {
        Some(n) => table.snapshots().get(n - 1).copied(),
        None => table.head(),
    };
    let Some(snapshot) = snapshot else { return vec![format!("{name}: no snapshot {:?}", fact.snapshot)] };
    let mut differs = Vec::new();
    let mut expect = |what: &str, want: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug, same: bool| {
        if !same {
            differs.push(format!("{name} snapshot {:?} {what}: expected {want:?}, got {got:?}", fact.snapshot));
        }
    };
    let summary = &snapshot["summary"];
    if let Some(want) = &fact.operation {
        expect("operation", want, &summary["operation"], summary["operation"] == *want);
    }
    for (key, want) in &fact.summary {
        expect(&format!("summary {key}"), want, &summary[key], summary[key] == *want);
    }
    if !of_manifests {
        return differs;
    }
    let added = table.added(snapshot);
    for (kind, want) in &fact.added {
        let got = added.iter().filter(|f| file_kind(f) == kind).count() as u64;
        expect(&format!("added {kind}"), want, &got, *want == got);
    }
    for (kind, want) in &fact.added_rows {
        let got: u64 = added.iter().filter(|f| file_kind(f) == kind).map(DataFile::record_count).sum();
        expect(&format!("added rows {kind}"), want, &got, *want == got);
    }
    let equality: Vec<_> = added.iter().filter(|f| file_kind(f) == "eq").collect();
    if let Some(want) = &fact.eq_ids {
        let ids = |f: &&DataFile| -> Vec<String> {
            sorted(f.equality_ids().unwrap_or_default().into_iter().map(|id| table.name_of(id.into())).collect())
        };
        let got: Vec<_> = equality.iter().map(ids).collect();
        expect("equality ids", want, &got, !got.is_empty() && got.iter().all(|g| *g == sorted(want.clone())));
    }
    if let Some(want) = &fact.eq_columns {
        let got: Vec<_> = equality.iter().map(|f| sorted(parquet_columns(&local(f.file_path())))).collect();
        expect("equality columns", want, &got, !got.is_empty() && got.iter().all(|g| *g == sorted(want.clone())));
    }
    if fact.dv_refs {
        let vectors: Vec<_> = added.iter().filter(|f| file_kind(f) == "dv").collect();
        let good = vectors.iter().all(|f| f.referenced_data_file().is_some() && f.content_offset().is_some());
        expect("deletion vectors", &"data file and offset", &vectors.len(), good && !vectors.is_empty());
    }
    differs
}

fn file_kind(file: &DataFile) -> &'static str {
    match (file.content_type(), file.file_format()) {
        (DataContentType::Data, _) => "data",
        (DataContentType::EqualityDeletes, _) => "eq",
        (DataContentType::PositionDeletes, DataFileFormat::Puffin) => "dv",
        (DataContentType::PositionDeletes, _) => "pos",
    }
}

fn parquet_columns(path: &Path) -> Vec<String> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).expect("file")).expect("Parquet");
    let schema = reader.metadata().file_metadata().schema().clone();
    schema.get_fields().iter().map(|f| f.name().to_owned()).collect()
}

fn local(path: &str) -> PathBuf {
    let path = path.strip_prefix("file:").unwrap_or(path);
    PathBuf::from(format!("/{}", path.trim_start_matches('/')))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn by_id<'a>(values: &'a Value, key: &str, id: &Value) -> &'a Value {
    array(values).iter().find(|v| v[key] == *id).unwrap_or(&Value::Null)
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

fn field_text(field: &Value) -> String {
    let doc = field["doc"].as_str().map(|doc| format!(" # {doc}")).unwrap_or_default();
    format!("{}: {}{doc}", field["id"], nested_field(field))
}

fn nested_field(field: &Value) -> String {
    format!("{}: {}{}", text(&field["name"]), required(&field["required"]), type_text(&field["type"]))
}

fn required(flag: &Value) -> &'static str {
    if flag == &Value::Bool(true) { "required " } else { "optional " }
}

fn type_text(t: &Value) -> String {
    match t["type"].as_str() {
        None => text(t).replace(' ', ""),
        Some("list") => format!("list<{}{}>", required(&t["element-required"]), type_text(&t["element"])),
        Some("map") => {
            format!("map<{}, {}{}>", type_text(&t["key"]), required(&t["value-required"]), type_text(&t["value"]))
        }
        Some(_) => {
            let fields: Vec<_> = array(&t["fields"]).iter().map(nested_field).collect();
            format!("struct<{}>", fields.join(", "))
        }
    }
}
