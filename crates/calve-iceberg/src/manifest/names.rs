//! The names of partition fields in manifests.
//!
//! Avro allows few characters in a name. Iceberg's Java library writes `a b` as `a_x20b` in a manifest's Avro schema and
//! finds fields by id; the metadata library writes the names of the spec it is given.

use std::borrow::Cow;
use std::collections::HashSet;

use calve_types::{Error, Result};
use iceberg::spec::PartitionSpec;
use serde_json::Value;

use crate::error::Context;
use crate::write::avro_name;

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
