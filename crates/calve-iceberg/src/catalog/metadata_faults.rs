//! What is wrong with table metadata that the metadata library cannot read: of a field that is missing or of another type
//! it says only that no version fits.

use std::collections::HashMap;

use iceberg::spec::{
    MetadataLog, NestedField, PartitionField, PartitionSpec, PartitionStatisticsFile, SnapshotLog, SnapshotReference,
    SortOrder, StatisticsFile,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

/// What a field's value has to be; the error names its type.
type Check = fn(&Value) -> Result<(), String>;

/// A field: its name, the first version that cannot do without it, what its value has to be.
type Field = (&'static str, Option<u64>, Check);

/// The fields of table metadata (Iceberg specification, "Table Metadata Fields").
const TABLE: [Field; 23] = [
    ("table-uuid", Some(2), of::<Uuid>),
    ("location", Some(1), of::<String>),
    ("last-sequence-number", Some(2), of::<i64>),
    ("last-updated-ms", Some(1), of::<i64>),
    ("last-column-id", Some(1), of::<i32>),
    ("schema", None, |value| fields(value, 1, &SCHEMA)),
    ("schemas", Some(2), |value| each(value, |schema| fields(schema, 2, &SCHEMA))),
    ("current-schema-id", Some(2), of::<i32>),
    ("partition-spec", None, of::<Vec<PartitionField>>),
    ("partition-specs", Some(2), of::<Vec<PartitionSpec>>),
    ("default-spec-id", Some(2), of::<i32>),
    ("last-partition-id", Some(2), of::<i32>),
    ("properties", None, of::<HashMap<String, String>>),
    ("current-snapshot-id", None, of::<i64>),
    ("snapshots", None, |value| each(value, |snapshot| fields(snapshot, 1, &SNAPSHOT))),
    ("snapshot-log", None, of::<Vec<SnapshotLog>>),
    ("metadata-log", None, of::<Vec<MetadataLog>>),
    ("sort-orders", Some(2), of::<Vec<SortOrder>>),
    ("default-sort-order-id", Some(2), of::<i64>),
    ("refs", None, of::<HashMap<String, SnapshotReference>>),
    ("statistics", None, of::<Vec<StatisticsFile>>),
    ("partition-statistics", None, of::<Vec<PartitionStatisticsFile>>),
    ("next-row-id", Some(3), of::<u64>),
];

/// The fields of a schema.
const SCHEMA: [Field; 3] = [
    ("schema-id", Some(2), of::<i32>),
    ("identifier-field-ids", None, of::<Vec<i32>>),
    ("fields", Some(1), |value| each(value, of::<NestedField>)),
];

/// The fields of a snapshot.
const SNAPSHOT: [Field; 7] = [
    ("snapshot-id", Some(1), of::<i64>),
    ("parent-snapshot-id", None, of::<i64>),
    ("sequence-number", None, of::<i64>),
    ("timestamp-ms", Some(1), of::<i64>),
    ("manifest-list", None, of::<String>),
    ("summary", None, of::<HashMap<String, String>>),
    ("schema-id", None, of::<i32>),
];

/// The first thing that is wrong; `None` if nothing is found.
pub(super) fn fault(metadata: &Value) -> Option<String> {
    let version = match metadata.get("format-version") {
        None => return Some("there is no field 'format-version'".to_owned()),
        Some(version) => version.as_u64().filter(|version| *version > 0),
    };
    let Some(version) = version else { return Some("'format-version' is not a version".to_owned()) };
    let wrong = fields(metadata, version, &TABLE).err()?;
    Some(format!("as metadata of format version {version}: {wrong}"))
}

fn of<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    T::deserialize(value).map(drop).map_err(|e| e.to_string())
}

fn each(values: &Value, check: Check) -> Result<(), String> {
    let values = values.as_array().ok_or_else(|| "not a list".to_owned())?;
    values
        .iter()
        .enumerate()
        .try_for_each(|(at, value)| check(value).map_err(|why| format!("number {}: {why}", at + 1)))
}

fn fields(value: &Value, version: u64, all: &[Field]) -> Result<(), String> {
    let object = value.as_object().ok_or_else(|| "not an object".to_owned())?;
    all.iter().try_for_each(|(name, since, check)| match object.get(*name).filter(|value| !value.is_null()) {
        Some(value) => check(value).map_err(|why| format!("field '{name}': {why}")),
        None if since.is_some_and(|since| version >= since) => Err(format!("there is no field '{name}'")),
        None => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use serde_json::json;

    use super::*;

    fn good() -> Value {
        json!({
            "format-version": 3, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "/t",
            "last-sequence-number": 1, "last-updated-ms": 1, "last-column-id": 1, "current-schema-id": 0,
            "schemas": [{ "type": "struct", "schema-id": 0,
                "fields": [{ "id": 1, "name": "a", "required": false, "type": "long" }] }],
            "default-spec-id": 0, "partition-specs": [{ "spec-id": 0, "fields": [] }], "last-partition-id": 999,
            "default-sort-order-id": 0, "sort-orders": [{ "order-id": 0, "fields": [] }], "next-row-id": 0,
            "properties": { "a": "b" }, "current-snapshot-id": null,
            "snapshots": [{ "snapshot-id": 1, "sequence-number": 1, "timestamp-ms": 1, "manifest-list": "/m",
                "summary": { "operation": "append" } }],
        })
    }

    #[test]
    fn the_field_is_named() {
        assert_eq!(fault(&good()), None);
        let of = |change: &dyn Fn(&mut Value)| {
            let mut metadata = good();
            change(&mut metadata);
            fault(&metadata).unwrap()
        };
        assert_eq!(
            of(&|m| drop(m.as_object_mut().unwrap().remove("format-version"))),
            "there is no field 'format-version'"
        );
        assert_eq!(
            of(&|m| drop(m.as_object_mut().unwrap().remove("location"))),
            "as metadata of format version 3: there is no field 'location'"
        );
        assert_eq!(
            of(&|m| m["last-column-id"] = json!("x")),
            "as metadata of format version 3: field 'last-column-id': invalid type: string \"x\", expected i32"
        );
        assert_eq!(
            of(&|m| m["snapshots"][0]["timestamp-ms"] = json!([])),
            "as metadata of format version 3: field 'snapshots': number 1: field 'timestamp-ms': invalid type: sequence, \
             expected i64"
        );
        let unknown = of(&|m| m["schemas"][0]["fields"][0]["type"] = json!("longer"));
        let start = "as metadata of format version 3: field 'schemas': number 1: field 'fields': number 1: ";
        assert!(unknown.starts_with(start), "{unknown}");
        // version 1 does without
        let mut first = good();
        first["format-version"] = json!(1);
        first.as_object_mut().unwrap().remove("table-uuid");
        assert_eq!(fault(&first), None);
    }
}
