//! The names of partition fields in manifests.
//!
//! Avro allows few characters in a name. Iceberg's Java library writes `a b` as `a_x20b` in a manifest's Avro schema and
//! finds fields by id; the metadata library finds them by the names in the header's partition spec.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use calve_types::{Error, Result};
use iceberg::spec::PartitionSpec;
use serde_json::Value;

use crate::error::Context;
use crate::scan::avro_header;
use crate::write::{avro_name, write_avro_header};

/// The manifest, with names of partition fields by which the metadata library finds their values.
pub(crate) fn readable(manifest: Bytes) -> Bytes {
    renamed(&manifest).map_or(manifest, Bytes::from)
}

/// `None` for a manifest whose names are right, and for one that is damaged.
fn renamed(manifest: &[u8]) -> Option<Vec<u8>> {
    let (mut entries, rest) = avro_header(manifest).ok()?;
    let find = |key: &str| entries.iter().position(|(name, _)| *name == key.as_bytes());
    let (spec_at, schema_at) = (find("partition-spec")?, find("avro.schema")?);
    let mut spec: Vec<Value> = serde_json::from_slice(entries.get(spec_at)?.1).ok()?;
    let mut names: HashMap<i64, String> = HashMap::new();
    let mut changes = false;
    for field in &mut spec {
        let name = field.get("name")?.as_str()?;
        let made = avro_name(name);
        changes |= made != name;
        names.insert(field.get("field-id")?.as_i64()?, made.clone());
        *field.get_mut("name")? = Value::from(made);
    }
    if !changes {
        return None;
    }
    let mut schema: Value = serde_json::from_slice(entries.get(schema_at)?.1).ok()?;
    // in the schema, too: Java lets letters of all alphabets pass
    for field in inner(inner(&mut schema, "data_file")?, "partition")?.get_mut("fields")?.as_array_mut()? {
        if let Some(name) = field.get("field-id").and_then(Value::as_i64).and_then(|id| names.get(&id)) {
            *field.get_mut("name")? = Value::from(name.as_str());
        }
    }
    let (spec, schema) = (serde_json::to_vec(&spec).ok()?, serde_json::to_vec(&schema).ok()?);
    entries.get_mut(spec_at)?.1 = &spec;
    entries.get_mut(schema_at)?.1 = &schema;
    let mut out = write_avro_header(&entries);
    out.extend_from_slice(rest);
    Some(out)
}

/// The type of a record's field.
fn inner<'a>(record: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let fields = record.get_mut("fields")?.as_array_mut()?;
    fields.iter_mut().find(|field| field.get("name").is_some_and(|n| n == name))?.get_mut("type")
}

/// The spec with names that a manifest can have.
///
/// # Errors
/// `not-supported` if two fields would have the same.
pub(crate) fn writable(spec: &PartitionSpec) -> Result<Cow<'_, PartitionSpec>> {
    if spec.fields().iter().all(|field| avro_name(&field.name) == field.name) {
        return Ok(Cow::Borrowed(spec));
    }
    let mut taken = HashSet::new();
    if let Some(field) = spec.fields().iter().find(|field| !taken.insert(avro_name(&field.name))) {
        let (name, made) = (&field.name, avro_name(&field.name));
        return Err(Error::unsupported(format!("partition field '{name}': manifests have another one named '{made}'")));
    }
    let what = || format!("name the fields of partition spec {}", spec.spec_id());
    let mut json = serde_json::to_value(spec).context(what)?;
    for field in json.get_mut("fields").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(name) = field.get_mut("name") {
            *name = Value::from(avro_name(name.as_str().unwrap_or_default()));
        }
    }
    serde_json::from_value(json).map(Cow::Owned).context(what)
}
