//! What Glue is told of databases and tables, as the Java library tells it (`IcebergToGlueConverter`). Of a table, where its
//! metadata file is counts; columns and comments are for people who look at Glue.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use iceberg::spec::{NestedField, PrimitiveType, TableMetadata, Type};
use serde_json::{Map, Value, json};

/// The parameter that names the newest metadata file.
pub(super) const METADATA_LOCATION: &str = "metadata_location";
/// The parameter that names the one before.
const PREVIOUS: &str = "previous_metadata_location";
/// The parameter that makes a table Iceberg's.
const TABLE_TYPE: &str = "table_type";
const ICEBERG: &str = "ICEBERG";
/// The property of tables and databases that is Glue's description.
const COMMENT: &str = "comment";
/// The property of databases that is Glue's location.
const LOCATION: &str = "location";
/// Glue takes no longer comments of columns, in characters.
const LONGEST_COMMENT: usize = 255;
/// Glue takes no longer descriptions, in characters.
const LONGEST_DESCRIPTION: usize = 2048;
/// Properties of places besides the table's own.
const PLACES: [&str; 4] =
    ["write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path"];

/// A table as Glue has it.
#[derive(Clone, Debug, Default)]
pub(super) struct GlueTable(Value);

impl GlueTable {
    /// The table of an answer to `GetTable`.
    pub(super) fn of_answer(mut answer: Value) -> Self {
        Self(answer.get_mut("Table").map(Value::take).unwrap_or_default())
    }

    /// A table of an answer to `GetTables`.
    pub(super) fn of_list(table: Value) -> Self {
        Self(table)
    }

    /// Its name.
    pub(super) fn name(&self) -> Option<&str> {
        self.text("Name")
    }

    /// What optimistic locking compares.
    pub(super) fn version_id(&self) -> Option<&str> {
        self.text("VersionId")
    }

    /// Whether it is a table of Iceberg's.
    pub(super) fn is_iceberg(&self) -> bool {
        self.parameter(TABLE_TYPE).is_some_and(|kind| kind.eq_ignore_ascii_case(ICEBERG))
    }

    /// Where its newest metadata file is.
    pub(super) fn metadata_location(&self) -> Option<&str> {
        self.parameter(METADATA_LOCATION)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    fn parameter(&self, key: &str) -> Option<&str> {
        self.0.get("Parameters").and_then(|all| all.get(key)).and_then(Value::as_str)
    }

    /// The same under another name.
    pub(super) fn renamed(&self, name: &str) -> Value {
        let same = |key: &'static str| (key, self.0.get(key).cloned().unwrap_or_default());
        without_null([
            ("Name", Value::from(name)),
            same("Description"),
            same("Owner"),
            same("TableType"),
            same("Parameters"),
            same("StorageDescriptor"),
        ])
    }

    /// The comments of its columns, by their names.
    fn comments(&self) -> HashMap<&str, &str> {
        let columns = self.0.get("StorageDescriptor").and_then(|storage| storage.get("Columns"));
        let columns = columns.and_then(Value::as_array).into_iter().flatten();
        columns.filter_map(|column| Some((column.get("Name")?.as_str()?, column.get("Comment")?.as_str()?))).collect()
    }
}

/// The `TableInput` of a version whose metadata file is at `location`. What `current`, the table as it is, says beyond
/// Iceberg stays: parameters, and comments where Iceberg has none.
pub(super) fn table(name: &str, metadata: &TableMetadata, location: &str, current: Option<&GlueTable>) -> Value {
    let known = current.and_then(|table| table.0.get("Parameters")).and_then(Value::as_object);
    let mut parameters = known.cloned().unwrap_or_default();
    parameters.insert(TABLE_TYPE.to_owned(), Value::from(ICEBERG));
    parameters.insert(METADATA_LOCATION.to_owned(), Value::from(location));
    if let Some(previous) = current.and_then(GlueTable::metadata_location) {
        parameters.insert(PREVIOUS.to_owned(), Value::from(previous));
    }
    let properties = metadata.properties();
    let places: BTreeSet<&String> = PLACES.iter().filter_map(|key| properties.get(*key)).collect();
    let comments = current.map(GlueTable::comments).unwrap_or_default();
    let places = (!places.is_empty()).then_some(places);
    let description = properties.get(COMMENT).map(String::as_str);
    let description = description.or_else(|| current.and_then(|table| table.text("Description")));
    without_null([
        ("Name", Value::from(name)),
        ("Description", json!(description.map(|text| cut(text, LONGEST_DESCRIPTION)))),
        ("TableType", Value::from("EXTERNAL_TABLE")),
        ("Parameters", Value::from(parameters)),
        (
            "StorageDescriptor",
            without_null([
                ("Location", Value::from(metadata.location())),
                ("AdditionalLocations", json!(places)),
                ("Columns", Value::from(columns(metadata, &comments))),
            ]),
        ),
    ])
}

/// An object of the fields that have a value.
fn without_null<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(fields.map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The columns of the current schema, and those of others whose names are not taken.
fn columns(metadata: &TableMetadata, comments: &HashMap<&str, &str>) -> Vec<Value> {
    let current = metadata.current_schema();
    let mut others: Vec<_> = metadata.schemas_iter().filter(|s| s.schema_id() != current.schema_id()).collect();
    others.sort_unstable_by_key(|schema| schema.schema_id());
    let (mut columns, mut names) = (Vec::new(), BTreeSet::new());
    for schema in std::iter::once(current).chain(others) {
        let is_current = schema.schema_id() == current.schema_id();
        for field in schema.as_struct().fields() {
            if names.insert(field.name.as_str()) {
                columns.push(column(field, is_current, comments.get(field.name.as_str()).copied()));
            }
        }
    }
    columns
}

fn column(field: &NestedField, is_current: bool, known: Option<&str>) -> Value {
    let comment = field.doc.as_deref().filter(|doc| !doc.is_empty()).or(known);
    let parameters = json!({
        "iceberg.field.id": field.id.to_string(),
        "iceberg.field.optional": (!field.required).to_string(),
        "iceberg.field.current": is_current.to_string(),
    });
    without_null([
        ("Name", Value::from(field.name.as_str())),
        ("Type", Value::from(type_name(&field.field_type))),
        ("Comment", json!(comment.map(|text| cut(text, LONGEST_COMMENT)))),
        ("Parameters", parameters),
    ])
}

/// What Glue calls a type.
fn type_name(of: &Type) -> String {
    let primitive = match of {
        Type::Struct(fields) => {
            let fields: Vec<String> =
                fields.fields().iter().map(|f| format!("{}:{}", f.name, type_name(&f.field_type))).collect();
            return format!("struct<{}>", fields.join(","));
        }
        Type::List(list) => return format!("array<{}>", type_name(&list.element_field.field_type)),
        Type::Map(map) => {
            let (key, value) = (&map.key_field.field_type, &map.value_field.field_type);
            return format!("map<{},{}>", type_name(key), type_name(value));
        }
        Type::Primitive(primitive) => primitive,
    };
    match primitive {
        PrimitiveType::Boolean => "boolean",
        PrimitiveType::Int => "int",
        PrimitiveType::Long => "bigint",
        PrimitiveType::Float => "float",
        PrimitiveType::Double => "double",
        PrimitiveType::Date => "date",
        PrimitiveType::Time | PrimitiveType::String | PrimitiveType::Uuid => "string",
        PrimitiveType::Timestamp | PrimitiveType::Timestamptz => "timestamp",
        PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs => "timestamp_nano",
        PrimitiveType::Fixed(_) | PrimitiveType::Binary => "binary",
        PrimitiveType::Decimal { precision, scale } => return format!("decimal({precision},{scale})"),
    }
    .to_owned()
}

/// The `DatabaseInput` of a database with these properties.
pub(super) fn database(name: &str, properties: &BTreeMap<String, String>) -> Value {
    let parameters: Map<String, Value> = properties
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), COMMENT | LOCATION))
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
        .collect();
    without_null([
        ("Name", Value::from(name)),
        ("Description", json!(properties.get(COMMENT).map(|text| cut(text, LONGEST_DESCRIPTION)))),
        ("LocationUri", json!(properties.get(LOCATION))),
        ("Parameters", Value::Object(parameters)),
    ])
}

/// The properties of a database as Glue has it (`GetDatabase`).
pub(super) fn database_properties(answer: &Value) -> BTreeMap<String, String> {
    let database = answer.get("Database");
    let text = |key: &str| database.and_then(|d| d.get(key)).and_then(Value::as_str).map(str::to_owned);
    let parameters = database.and_then(|d| d.get("Parameters")).and_then(Value::as_object).into_iter().flatten();
    let mut properties: BTreeMap<String, String> =
        parameters.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    properties.extend(text("LocationUri").map(|location| (LOCATION.to_owned(), location)));
    properties.extend(text("Description").map(|comment| (COMMENT.to_owned(), comment)));
    properties
}

/// Where the tables of a database are, if it says so.
pub(super) fn database_location(answer: &Value) -> Option<String> {
    let location = answer.get("Database")?.get("LocationUri")?.as_str()?.trim_end_matches('/');
    (!location.is_empty()).then(|| location.to_owned())
}

fn cut(text: &str, longest: usize) -> &str {
    match text.char_indices().nth(longest) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use calve_types::LogicalType;

    use super::*;
    use crate::catalog::TableCreation;
    use crate::catalog::create::new_metadata;
    use crate::schema::to_iceberg;

    fn metadata(comment: Option<&str>) -> TableMetadata {
        let columns = [
            ("id".to_owned(), LogicalType::BigInt.not_null(), Some("the key".to_owned())),
            ("price".to_owned(), LogicalType::Decimal { precision: 10, scale: 2 }.nullable(), None),
            ("tags".to_owned(), LogicalType::Array(Box::new(LogicalType::STRING.nullable())).nullable(), None),
            ("at".to_owned(), LogicalType::TimestampLtz(6).nullable(), None),
            (
                "sizes".to_owned(),
                LogicalType::Map(Box::new(LogicalType::STRING.not_null()), Box::new(LogicalType::Double.nullable()))
                    .nullable(),
                None,
            ),
        ];
        let creation = TableCreation {
            schema: to_iceberg(&columns, &[]).unwrap(),
            partition: vec![],
            properties: BTreeMap::from([("write.data.path".to_owned(), "s3://b/data".to_owned())]),
            comment: comment.map(str::to_owned),
        };
        new_metadata(&creation, "s3://b/db.db/t").unwrap()
    }

    #[test]
    fn a_new_table_is_told_as_java_tells_it() {
        let input = table("t", &metadata(Some("all of it")), "s3://b/db.db/t/metadata/0.json", None);
        let parameters = |id: i32, optional: bool| {
            let (id, optional) = (id.to_string(), optional.to_string());
            json!({ "iceberg.field.id": id, "iceberg.field.optional": optional, "iceberg.field.current": "true" })
        };
        assert_eq!(
            input,
            json!({
                "Name": "t",
                "TableType": "EXTERNAL_TABLE",
                "Description": "all of it",
                "Parameters": { "table_type": "ICEBERG", "metadata_location": "s3://b/db.db/t/metadata/0.json" },
                "StorageDescriptor": {
                    "Location": "s3://b/db.db/t",
                    "AdditionalLocations": ["s3://b/data"],
                    "Columns": [
                        { "Name": "id", "Type": "bigint", "Comment": "the key", "Parameters": parameters(1, false) },
                        { "Name": "price", "Type": "decimal(10,2)", "Parameters": parameters(2, true) },
                        { "Name": "tags", "Type": "array<string>", "Parameters": parameters(3, true) },
                        { "Name": "at", "Type": "timestamp", "Parameters": parameters(4, true) },
                        { "Name": "sizes", "Type": "map<string,double>", "Parameters": parameters(5, true) },
                    ],
                },
            })
        );
    }

    #[test]
    fn what_others_said_of_a_table_stays() {
        let current = GlueTable::of_answer(json!({ "Table": {
            "Name": "t", "Description": "theirs", "VersionId": "7",
            "Parameters": { "table_type": "iceberg", "metadata_location": "old", "classification": "x" },
            "StorageDescriptor": { "Columns": [{ "Name": "price", "Comment": "in euros" }, { "Name": "id", "Comment": "no" }] },
        }}));
        assert!(current.is_iceberg());
        let input = table("t", &metadata(None), "new", Some(&current));
        assert_eq!(
            input["Parameters"],
            json!({
                "table_type": "ICEBERG", "metadata_location": "new", "previous_metadata_location": "old",
                "classification": "x",
            })
        );
        assert_eq!(input["Description"], "theirs");
        let columns = &input["StorageDescriptor"]["Columns"];
        assert_eq!((&columns[0]["Comment"], &columns[1]["Comment"]), (&json!("the key"), &json!("in euros")));
        assert_eq!(current.renamed("u")["Name"], "u");
    }

    #[test]
    fn databases_there_and_back() {
        let properties: BTreeMap<String, String> = [("comment", "hers"), ("location", "s3://b/d/"), ("owner", "ann")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into();
        let input = database("d", &properties);
        assert_eq!(
            input,
            json!({ "Name": "d", "Description": "hers", "LocationUri": "s3://b/d/", "Parameters": { "owner": "ann" } })
        );
        let answer = json!({ "Database": input });
        assert_eq!(database_properties(&answer), properties);
        assert_eq!(database_location(&answer).unwrap(), "s3://b/d");
    }

    #[test]
    fn long_comments_are_cut() {
        assert_eq!(cut("äöü", 2), "äö");
        assert_eq!(cut("ab", 2), "ab");
    }
}
