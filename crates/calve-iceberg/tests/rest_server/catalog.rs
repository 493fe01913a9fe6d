//! Namespaces and tables in memory, changed as the REST specification says.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use iceberg::spec::{FormatVersion, Schema, SortOrder, TableMetadata, TableMetadataBuilder, UnboundPartitionSpec};
use iceberg::{TableRequirement, TableUpdate};
use serde_json::{Value, json};

use super::error;
use super::http::{Answer, Request};

type Levels = Vec<String>;

/// A table's current version.
#[derive(Clone)]
struct Entry {
    metadata: TableMetadata,
    location: String,
    version: u32,
}

/// All there is.
#[derive(Clone)]
pub struct Tables {
    warehouse: String,
    namespaces: BTreeMap<Levels, BTreeMap<String, String>>,
    tables: BTreeMap<(Levels, String), Entry>,
    made: u64,
}

fn levels(name: &str) -> Levels {
    name.split('\u{1f}').map(str::to_owned).collect()
}

fn levels_of(json: &Value) -> Levels {
    serde_json::from_value(json.clone()).unwrap_or_default()
}

fn no_namespace(levels: &[String]) -> Answer {
    error(404, "NoSuchNamespaceException", &format!("Namespace does not exist: {}", levels.join(".")))
}

fn no_table(levels: &[String], name: &str) -> Answer {
    error(404, "NoSuchTableException", &format!("Table does not exist: {}.{name}", levels.join(".")))
}

fn exists(what: &str) -> Answer {
    error(409, "AlreadyExistsException", &format!("{what} already exists"))
}

/// A page of a list: tokens are places in it.
fn page(all: Vec<Value>, key: &str, request: &Request, size: usize) -> Answer {
    let Some(token) = request.query("pageToken").filter(|_| size > 0) else {
        return Answer::json(200, &json!({key: all}));
    };
    let begin: usize = token.parse().unwrap_or(0);
    let entries: Vec<&Value> = all.iter().skip(begin).take(size).collect();
    let next = (begin + size < all.len()).then(|| (begin + size).to_string());
    Answer::json(200, &json!({key: entries, "next-page-token": next}))
}

impl Tables {
    pub fn new(warehouse: &str) -> Self {
        let warehouse = warehouse.trim_end_matches('/').to_owned();
        Self { warehouse, namespaces: BTreeMap::new(), tables: BTreeMap::new(), made: 0 }
    }

    pub fn list_namespaces(&self, request: &Request, size: usize) -> Answer {
        let parent = request.query("parent").filter(|p| !p.is_empty()).map(|p| levels(&p)).unwrap_or_default();
        if !parent.is_empty() && !self.namespaces.contains_key(&parent) {
            return no_namespace(&parent);
        }
        let below = |l: &&Levels| l.len() == parent.len() + 1 && l.starts_with(&parent);
        page(self.namespaces.keys().filter(below).map(|l| json!(l)).collect(), "namespaces", request, size)
    }

    pub fn create_namespace(&mut self, body: &Value) -> Answer {
        let levels = levels_of(&body["namespace"]);
        if self.namespaces.contains_key(&levels) {
            return exists(&format!("Namespace {}", levels.join(".")));
        }
        if levels.len() > 1 && !self.namespaces.contains_key(&levels[..levels.len() - 1]) {
            return no_namespace(&levels[..levels.len() - 1]);
        }
        let properties = serde_json::from_value(body["properties"].clone()).unwrap_or_default();
        self.namespaces.insert(levels.clone(), properties);
        Answer::json(200, &json!({"namespace": levels, "properties": body["properties"]}))
    }

    pub fn load_namespace(&self, name: &str) -> Answer {
        let levels = levels(name);
        match self.namespaces.get(&levels) {
            Some(properties) => Answer::json(200, &json!({"namespace": levels, "properties": properties})),
            None => no_namespace(&levels),
        }
    }

    pub fn drop_namespace(&mut self, name: &str) -> Answer {
        let levels = levels(name);
        if !self.namespaces.contains_key(&levels) {
            return no_namespace(&levels);
        }
        let inner = self.namespaces.keys().any(|l| l.len() > levels.len() && l.starts_with(&levels));
        if inner || self.tables.keys().any(|(l, _)| *l == levels) {
            return error(409, "NamespaceNotEmptyException", "Namespace is not empty");
        }
        self.namespaces.remove(&levels);
        Answer::empty(204)
    }

    pub fn set_properties(&mut self, name: &str, body: &Value) -> Answer {
        let levels = levels(name);
        let Some(properties) = self.namespaces.get_mut(&levels) else { return no_namespace(&levels) };
        let removals: Vec<String> = serde_json::from_value(body["removals"].clone()).unwrap_or_default();
        let updates: BTreeMap<String, String> = serde_json::from_value(body["updates"].clone()).unwrap_or_default();
        properties.retain(|key, _| !removals.contains(key));
        properties.extend(updates.clone());
        let updated: Vec<_> = updates.keys().collect();
        Answer::json(200, &json!({"updated": updated, "removed": removals, "missing": []}))
    }

    pub fn list(&self, name: &str, request: &Request, size: usize) -> Answer {
        let levels = levels(name);
        if !self.namespaces.contains_key(&levels) {
            return no_namespace(&levels);
        }
        let of = self.tables.keys().filter(|(l, _)| *l == levels);
        page(of.map(|(l, name)| json!({"namespace": l, "name": name})).collect(), "identifiers", request, size)
    }

    pub fn create(&mut self, name: &str, body: Value) -> Answer {
        let levels = levels(name);
        let table = body["name"].as_str().unwrap_or_default().to_owned();
        if !self.namespaces.contains_key(&levels) {
            return no_namespace(&levels);
        }
        if self.tables.contains_key(&(levels.clone(), table.clone())) {
            return exists(&format!("Table {table}"));
        }
        let body_stages = body["stage-create"].as_bool() == Some(true);
        match self.build(&levels, &table, body) {
            // what is staged is not kept
            Ok(metadata) if body_stages => Answer::json(200, &json!({"metadata": metadata})),
            Ok(metadata) => {
                let entry = self.publish(metadata, 0);
                self.tables.insert((levels, table), entry.clone());
                shown(&entry)
            }
            Err(why) => error(400, "BadRequestException", &why),
        }
    }

    fn build(&mut self, levels: &[String], table: &str, body: Value) -> Result<TableMetadata, String> {
        let text = |e: serde_json::Error| e.to_string();
        let schema: Schema = serde_json::from_value(body["schema"].clone()).map_err(text)?;
        let spec: Option<UnboundPartitionSpec> =
            serde_json::from_value(body["partition-spec"].clone()).map_err(text)?;
        let order: Option<SortOrder> = serde_json::from_value(body["write-order"].clone()).map_err(text)?;
        let mut properties: HashMap<String, String> =
            serde_json::from_value(body["properties"].clone()).unwrap_or_default();
        let version = match properties.remove("format-version").as_deref() {
            None | Some("2") => FormatVersion::V2,
            Some("1") => FormatVersion::V1,
            Some("3") => FormatVersion::V3,
            Some(other) => return Err(format!("format version {other}")),
        };
        self.made += 1;
        let default = || format!("{}/{}/{table}-{}", self.warehouse, levels.join("/"), self.made);
        let location = body["location"].as_str().map_or_else(default, str::to_owned);
        let (spec, order) = (spec.unwrap_or_default(), order.unwrap_or_else(SortOrder::unsorted_order));
        let builder = TableMetadataBuilder::new(schema, spec, order, location, version, properties);
        builder.and_then(TableMetadataBuilder::build).map(|built| built.metadata).map_err(|e| e.to_string())
    }

    /// The next version of a table, with its file.
    fn publish(&mut self, metadata: TableMetadata, version: u32) -> Entry {
        self.made += 1;
        let location = format!("{}/metadata/{version:05}-{:08}.metadata.json", metadata.location(), self.made);
        if let Some(path) = local(&location) {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, serde_json::to_vec(&metadata).unwrap()).unwrap();
        }
        Entry { metadata, location, version }
    }

    pub fn load(&self, name: &str, table: &str) -> Answer {
        let key = (levels(name), table.to_owned());
        self.tables.get(&key).map_or_else(|| no_table(&key.0, table), shown)
    }

    pub fn commit(&mut self, name: &str, table: &str, body: Value) -> Answer {
        let key = (levels(name), table.to_owned());
        match self.next(&key, &body) {
            Ok(metadata) => {
                let version = self.tables.get(&key).map_or(0, |entry| entry.version + 1);
                let entry = self.publish(metadata, version);
                self.tables.insert(key, entry.clone());
                Answer::json(200, &json!({"metadata": entry.metadata, "metadata-location": entry.location}))
            }
            Err(refused) => refused,
        }
    }

    /// The metadata after a commit, if it may be made.
    fn next(&self, key: &(Levels, String), body: &Value) -> Result<TableMetadata, Answer> {
        let wrong = |why: String| error(400, "BadRequestException", &why);
        let requirements: Vec<TableRequirement> =
            serde_json::from_value(body["requirements"].clone()).map_err(|e| wrong(e.to_string()))?;
        let updates: Vec<TableUpdate> =
            serde_json::from_value(body["updates"].clone()).map_err(|e| wrong(e.to_string()))?;
        let entry = self.tables.get(key);
        let creates = requirements.iter().any(|requirement| matches!(requirement, TableRequirement::NotExist));
        if !creates && entry.is_none() {
            return Err(no_table(&key.0, &key.1));
        }
        if !self.namespaces.contains_key(&key.0) {
            return Err(no_namespace(&key.0));
        }
        for requirement in requirements {
            let checked = requirement.check(entry.map(|entry| &entry.metadata));
            checked.map_err(|e| error(409, "CommitFailedException", &e.to_string()))?;
        }
        let builder = match entry {
            Some(entry) => entry.metadata.clone().into_builder(Some(entry.location.clone())),
            None => nothing(&updates).map_err(wrong)?,
        };
        let built = updates.into_iter().try_fold(builder, |builder, update| update.apply(builder));
        let built = built.and_then(TableMetadataBuilder::build).map_err(|e| wrong(e.to_string()))?;
        Ok(built.metadata)
    }

    /// All or none.
    pub fn commit_all(&mut self, body: Value) -> Answer {
        let mut prepared = vec![];
        for change in body["table-changes"].as_array().into_iter().flatten() {
            let identifier = &change["identifier"];
            let table = identifier["name"].as_str().unwrap_or_default().to_owned();
            let key = (levels_of(&identifier["namespace"]), table);
            match self.next(&key, change) {
                Ok(metadata) => prepared.push((key, metadata)),
                Err(refused) => return refused,
            }
        }
        for (key, metadata) in prepared {
            let version = self.tables.get(&key).map_or(0, |entry| entry.version + 1);
            let entry = self.publish(metadata, version);
            self.tables.insert(key, entry);
        }
        Answer::empty(204)
    }

    pub fn drop(&mut self, name: &str, table: &str, purge: bool) -> Answer {
        let key = (levels(name), table.to_owned());
        let Some(entry) = self.tables.remove(&key) else { return no_table(&key.0, table) };
        // the folder of a table is its own here
        if purge && let Some(folder) = local(entry.metadata.location()) {
            let _ = std::fs::remove_dir_all(folder);
        }
        Answer::empty(204)
    }

    pub fn rename(&mut self, body: &Value) -> Answer {
        let key = |json: &Value| (levels_of(&json["namespace"]), json["name"].as_str().unwrap_or_default().to_owned());
        let (source, destination) = (key(&body["source"]), key(&body["destination"]));
        if !self.tables.contains_key(&source) {
            return no_table(&source.0, &source.1);
        }
        if self.tables.contains_key(&destination) {
            return exists(&format!("Table {}", destination.1));
        }
        let entry = self.tables.remove(&source).unwrap();
        self.tables.insert(destination, entry);
        Answer::empty(204)
    }
}

/// A table that updates are to make out of nothing: with the schema, the spec and the place that they name.
fn nothing(updates: &[TableUpdate]) -> Result<TableMetadataBuilder, String> {
    let (mut schema, mut spec, mut order, mut place, mut version) = (None, None, None, None, FormatVersion::V2);
    for update in updates {
        match update {
            TableUpdate::AddSchema { schema: added, .. } => schema = Some(added.clone()),
            TableUpdate::AddSpec { spec: added } => spec = Some(added.clone()),
            TableUpdate::AddSortOrder { sort_order } => order = Some(sort_order.clone()),
            TableUpdate::SetLocation { location } => place = Some(location.clone()),
            TableUpdate::UpgradeFormatVersion { format_version } => version = *format_version,
            _ => {}
        }
    }
    let (Some(schema), Some(place)) = (schema, place) else { return Err("no schema, or no location".to_owned()) };
    let (spec, order) = (spec.unwrap_or_default(), order.unwrap_or_else(SortOrder::unsorted_order));
    TableMetadataBuilder::new(schema, spec, order, place, version, HashMap::new()).map_err(|e| e.to_string())
}

fn shown(entry: &Entry) -> Answer {
    Answer::json(200, &json!({"metadata": entry.metadata, "metadata-location": entry.location}))
}

/// The path of a location that is a local file.
fn local(location: &str) -> Option<PathBuf> {
    let path = location.strip_prefix("file://").or(location.strip_prefix("file:")).unwrap_or(location);
    path.starts_with('/').then(|| Path::new(path).to_path_buf())
}
