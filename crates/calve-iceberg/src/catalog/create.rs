//! The metadata of a new table, with the defaults and the refusals of Iceberg's Java library and of Flink's connector.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use calve_types::{Error, Result};
use iceberg::spec::{
    FormatVersion, NestedFieldRef, PrimitiveType, Schema, SortOrder, TableMetadata, TableMetadataBuilder,
    TableProperties, Transform, Type, UnboundPartitionSpec,
};

use super::TableCreation;
use crate::error::Context;
use crate::write::metrics::check_columns;

/// Keys of the WITH clause that Flink's connector keeps for itself (`FlinkCreateTableOptions`, `FlinkCatalog`).
const FLINK_RESERVED: [&str; 3] = ["location", "connector", "src-catalog"];

/// Builds the metadata of a new table at `location`.
///
/// # Errors
/// `invalid-option`, `invalid-table`, `unknown-column`, `not-supported`.
pub(crate) fn new_metadata(creation: &TableCreation, location: &str) -> Result<TableMetadata> {
    let format_version = format_version(creation)?;
    check_types(&creation.schema, format_version)?;
    let spec = partition_spec(&creation.schema, &creation.partition)?;
    let properties = properties(creation)?;
    check_columns(&properties, &creation.schema)?;
    let what = || "create the table's metadata";
    let built = TableMetadataBuilder::new(
        creation.schema.clone(),
        spec,
        SortOrder::unsorted_order(),
        location.to_owned(),
        format_version,
        properties,
    )
    .context(what)?;
    Ok(built.build().context(what)?.metadata)
}

impl TableCreation {
    /// The place that the statement gives the table, without slashes at the end.
    pub(super) fn location(&self) -> Option<&str> {
        let given = self.properties.iter().find(|(key, _)| key.eq_ignore_ascii_case("location"));
        given.map(|(_, location)| location.trim_end_matches('/'))
    }

    /// With what a catalog's properties say of new tables: `table-default.KEY` where the statement says nothing,
    /// `table-override.KEY` whatever it says (Java's `RESTSessionCatalog`).
    pub(super) fn in_catalog(&self, catalog: &BTreeMap<String, String>) -> Self {
        let with = |prefix: &'static str| {
            let entries = catalog.iter().filter_map(move |(key, value)| Some((key.strip_prefix(prefix)?, value)));
            entries.filter(|(key, _)| !key.is_empty()).map(|(key, value)| (key.to_owned(), value.clone()))
        };
        let mut properties: BTreeMap<String, String> = with("table-default.").collect();
        properties.extend(self.properties.clone());
        properties.extend(with("table-override."));
        Self { properties, ..self.clone() }
    }
}

/// The options of a catalog about its new tables: `table-default.*` and `table-override.*`.
pub(super) struct NewTables(BTreeMap<String, String>);

impl NewTables {
    pub(super) fn of(options: &BTreeMap<String, String>) -> Self {
        let about = |key: &str| key.starts_with("table-default.") || key.starts_with("table-override.");
        let found = options.iter().filter(|(key, _)| about(key));
        Self(found.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// A table with what they say: see [`TableCreation::in_catalog`].
    pub(super) fn applied(&self, creation: &TableCreation) -> TableCreation {
        creation.in_catalog(&self.0)
    }
}

impl fmt::Debug for NewTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // values may be secrets of a table's storage
        f.debug_set().entries(self.0.keys()).finish()
    }
}

fn format_version(creation: &TableCreation) -> Result<FormatVersion> {
    let Some(value) = creation.properties.get(TableProperties::PROPERTY_FORMAT_VERSION) else {
        return Ok(FormatVersion::V2);
    };
    match value.trim() {
        "1" => Ok(FormatVersion::V1),
        "2" => Ok(FormatVersion::V2),
        "3" => Ok(FormatVersion::V3),
        "4" => Err(Error::unsupported("format-version 4")),
        _ => Err(Error::new("invalid-option", format!("invalid value '{value}' of option 'format-version'"))
            .with_hint("use '1', '2' or '3'")),
    }
}

fn properties(creation: &TableCreation) -> Result<HashMap<String, String>> {
    let given = &creation.properties;
    if given.get("connector").is_some_and(|c| c == "iceberg") && !given.contains_key("src-catalog") {
        return Err(Error::new("invalid-option", "option 'connector' is not allowed in an Iceberg catalog").with_detail(
            "Cannot create the table with 'connector'='iceberg' table property in an iceberg catalog, Please create \
             table with 'connector'='iceberg' property in a non-iceberg catalog or create table without \
             'connector'='iceberg' related properties in an iceberg table.",
        ));
    }
    // The Java library's default for new tables since 1.4.
    let mut properties = HashMap::from([("write.parquet.compression-codec".to_owned(), "zstd".to_owned())]);
    for (key, value) in given {
        let reserved = FLINK_RESERVED.iter().any(|r| key.eq_ignore_ascii_case(r))
            || TableProperties::RESERVED_PROPERTIES.contains(&key.as_str());
        if !reserved {
            properties.insert(key.clone(), value.clone());
        }
    }
    if let Some(comment) = creation.comment.as_deref().filter(|c| !c.is_empty()) {
        properties.insert("comment".to_owned(), comment.to_owned());
    }
    Ok(properties)
}

/// Iceberg's `Schema.checkCompatibility`: types that came with format version 3.
pub(super) fn check_types(schema: &Schema, version: FormatVersion) -> Result<()> {
    if version >= FormatVersion::V3 {
        return Ok(());
    }
    let mut ids: Vec<i32> = schema.field_id_to_fields().keys().copied().collect();
    ids.sort_unstable();
    let mut problems = String::new();
    for id in ids {
        let (Some(field), Some(name)) = (schema.field_by_id(id), schema.name_by_field_id(id)) else { continue };
        let type_name = match field.field_type.as_ref() {
            Type::Primitive(PrimitiveType::TimestampNs) => "timestamp_ns",
            Type::Primitive(PrimitiveType::TimestamptzNs) => "timestamptz_ns",
            _ => continue,
        };
        problems.push_str(&format!("\n- Invalid type for {name}: {type_name} is not supported until v3"));
    }
    if problems.is_empty() {
        return Ok(());
    }
    let version = version as u8;
    Err(Error::new("invalid-table", format!("a column's type needs format version 3, the table has {version}"))
        .with_detail(format!("Invalid schema for v{version}:{problems}"))
        .with_hint("set 'format-version' = '3', or use TIMESTAMP(6)"))
}

fn partition_spec(schema: &Schema, fields: &[(String, Transform)]) -> Result<UnboundPartitionSpec> {
    let mut builder = UnboundPartitionSpec::builder();
    let mut seen: Vec<(i32, Transform, String)> = Vec::with_capacity(fields.len());
    for (column, transform) in fields {
        let source = source_column(schema, column)?;
        let name = partition_name(column, *transform)?;
        let problem = |detail: String| {
            Err(Error::new("invalid-table", format!("cannot partition by {transform} of column '{column}'"))
                .with_detail(detail))
        };
        if !source.field_type.is_primitive() {
            return problem(format!("Cannot partition by non-primitive source field: {}", source.field_type));
        }
        if transform.result_type(&source.field_type).is_err() {
            return problem(format!("Invalid source type {} for transform: {transform}", source.field_type));
        }
        if seen.iter().any(|(_, _, n)| *n == name) {
            return problem(format!("Cannot use partition name more than once: {name}"));
        }
        let same = |t: &Transform| t.dedup_name() == transform.dedup_name();
        if let Some((_, _, other)) = seen.iter().find(|(id, t, _)| *id == source.id && same(t)) {
            return problem(format!("Cannot add redundant partition: {other} conflicts with {name}"));
        }
        if *transform != Transform::Identity && schema.field_by_name(&name).is_some() {
            return problem(format!("Cannot create partition from name that exists in schema: {name}"));
        }
        builder = builder
            .add_partition_field(source.id, &name, *transform)
            .context(|| format!("partition by column '{column}'"))?;
        seen.push((source.id, *transform, name));
    }
    Ok(builder.build())
}

fn source_column<'a>(schema: &'a Schema, column: &str) -> Result<&'a NestedFieldRef> {
    schema.as_struct().fields().iter().find(|f| f.name == column).ok_or_else(|| {
        Error::new("unknown-column", format!("unknown partition column '{column}'"))
            .with_detail(format!("Cannot find source column: {column}"))
    })
}

/// The name Iceberg's Java library gives a partition field (`PartitionSpec.Builder`).
fn partition_name(column: &str, transform: Transform) -> Result<String> {
    let suffix = match transform {
        Transform::Identity => return Ok(column.to_owned()),
        Transform::Bucket(0) | Transform::Truncate(0) => {
            return Err(Error::new("invalid-table", format!("cannot partition by {transform}: 0 is too small")));
        }
        Transform::Bucket(_) => "bucket",
        Transform::Truncate(_) => "trunc",
        Transform::Year => "year",
        Transform::Month => "month",
        Transform::Day => "day",
        Transform::Hour => "hour",
        Transform::Void => "null",
        Transform::Unknown => return Err(Error::unsupported("an unknown partition transform")),
    };
    Ok(format!("{column}_{suffix}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use calve_types::LogicalType;

    use super::*;
    use crate::schema::to_iceberg;

    fn creation(
        columns: &[(&str, LogicalType)],
        partition: &[(&str, Transform)],
        with: &[(&str, &str)],
    ) -> TableCreation {
        let columns: Vec<_> = columns.iter().map(|(n, t)| ((*n).to_owned(), t.clone().nullable(), None)).collect();
        TableCreation {
            schema: to_iceberg(&columns, &[]).unwrap(),
            partition: partition.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect(),
            properties: with.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>(),
            comment: None,
        }
    }

    fn detail(columns: &[(&str, LogicalType)], partition: &[(&str, Transform)], with: &[(&str, &str)]) -> String {
        new_metadata(&creation(columns, partition, with), "/t").unwrap_err().detail.unwrap_or_default()
    }

    #[test]
    fn defaults_and_reserved_keys() {
        let mut new = creation(
            &[("a", LogicalType::Int)],
            &[],
            &[("p", "1"), ("Location", "/t"), ("src-catalog", "x"), ("connector", "print"), ("uuid", "u")],
        );
        new.comment = Some("about".into());
        let metadata = new_metadata(&new, "/t").unwrap();
        assert_eq!(metadata.format_version(), FormatVersion::V2);
        let properties: BTreeMap<_, _> = metadata.properties().clone().into_iter().collect();
        let expected = [("comment", "about"), ("p", "1"), ("write.parquet.compression-codec", "zstd")];
        assert_eq!(properties, expected.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
        for (value, version) in [("1", FormatVersion::V1), ("3", FormatVersion::V3)] {
            let new = creation(&[("a", LogicalType::Int)], &[], &[("format-version", value)]);
            assert_eq!(new_metadata(&new, "/t").unwrap().format_version(), version);
        }
        for value in ["0", "x", ""] {
            let new = creation(&[("a", LogicalType::Int)], &[], &[("format-version", value)]);
            assert_eq!(new_metadata(&new, "/t").unwrap_err().code, "invalid-option");
        }
        assert!(
            detail(&[("a", LogicalType::Int)], &[], &[("connector", "iceberg")])
                .starts_with("Cannot create the table with 'connector'='iceberg' table property in an iceberg catalog")
        );
    }

    #[test]
    fn options_of_the_catalog_about_new_tables() {
        let option = |(k, v): (&str, &str)| (k.to_owned(), v.to_owned());
        let options = [("table-default.a", "1"), ("table-default.b", "1"), ("table-override.c", "1"), ("uri", "x")];
        let new = creation(&[("x", LogicalType::Int)], &[], &[("b", "2"), ("c", "2"), ("d", "2")]);
        let tables = NewTables::of(&options.map(option).into());
        let expected = [("a", "1"), ("b", "2"), ("c", "1"), ("d", "2")].map(option);
        assert_eq!(tables.applied(&new).properties, expected.into());
        assert_eq!(format!("{tables:?}"), r#"{"table-default.a", "table-default.b", "table-override.c"}"#);
    }

    #[test]
    fn nanoseconds_need_version_3() {
        let columns = [("ts", LogicalType::Timestamp(9)), ("l", LogicalType::TimestampLtz(7))];
        assert_eq!(
            detail(&columns, &[], &[]),
            "Invalid schema for v2:\n- Invalid type for ts: timestamp_ns is not supported until v3\n\
             - Invalid type for l: timestamptz_ns is not supported until v3"
        );
        new_metadata(&creation(&columns, &[], &[("format-version", "3")]), "/t").unwrap();
    }

    #[test]
    fn partition_fields_have_the_java_librarys_names() {
        let columns = [
            ("ts", LogicalType::Timestamp(6)),
            ("id", LogicalType::BigInt),
            ("s", LogicalType::STRING),
            ("d", LogicalType::Date),
        ];
        let fields = [
            ("ts", Transform::Day),
            ("id", Transform::Bucket(16)),
            ("s", Transform::Truncate(4)),
            ("s", Transform::Identity),
            ("d", Transform::Month),
        ];
        let metadata = new_metadata(&creation(&columns, &fields, &[]), "/t").unwrap();
        let spec = metadata.default_partition_spec();
        let shown: Vec<_> =
            spec.fields().iter().map(|f| format!("{} {} {}", f.field_id, f.transform, f.name)).collect();
        assert_eq!(
            shown,
            [
                "1000 day ts_day",
                "1001 bucket[16] id_bucket",
                "1002 truncate[4] s_trunc",
                "1003 identity s",
                "1004 month d_month"
            ]
        );
    }

    #[test]
    fn impossible_partitions_are_refused() {
        let columns = [
            ("ts", LogicalType::Timestamp(6)),
            ("ts_day", LogicalType::Int),
            ("a", LogicalType::Array(Box::new(LogicalType::Int.nullable()))),
        ];
        assert_eq!(detail(&columns, &[("nope", Transform::Identity)], &[]), "Cannot find source column: nope");
        assert_eq!(
            detail(&columns, &[("ts", Transform::Day)], &[]),
            "Cannot create partition from name that exists in schema: ts_day"
        );
        assert!(detail(&columns, &[("a", Transform::Identity)], &[]).starts_with("Cannot partition by non-primitive"));
        assert!(detail(&columns, &[("ts", Transform::Truncate(3))], &[]).starts_with("Invalid source type timestamp"));
        let twice = [("ts", Transform::Hour), ("ts", Transform::Hour)];
        assert_eq!(detail(&columns, &twice, &[]), "Cannot use partition name more than once: ts_hour");
        let both = [("ts", Transform::Hour), ("ts", Transform::Year)];
        assert_eq!(detail(&columns, &both, &[]), "Cannot add redundant partition: ts_hour conflicts with ts_year");
        let zero = creation(&columns, &[("ts_day", Transform::Bucket(0))], &[]);
        assert!(new_metadata(&zero, "/t").is_err());
    }
}
