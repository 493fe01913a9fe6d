//! The ORC types of an Iceberg schema (Iceberg spec, appendix A, "ORC"; Java's `ORCSchemaUtil`).

use iceberg::spec::{NestedField, NestedFieldRef, PrimitiveType, Type};
use orc_rust::proto;
use orc_rust::proto::r#type::Kind;

/// The types of files with these columns, each before those within it; the row comes first.
pub(super) fn orc_types(columns: &[NestedFieldRef]) -> Vec<proto::Type> {
    let mut types = vec![proto::Type { kind: Some(Kind::Struct.into()), ..Default::default() }];
    let children: Vec<u32> = columns.iter().map(|column| add(column, &mut types)).collect();
    if let Some(row) = types.first_mut() {
        row.subtypes = children;
        row.field_names = columns.iter().map(|column| column.name.clone()).collect();
    }
    types
}

/// Appends the types of a field; the place of its own.
fn add(field: &NestedField, types: &mut Vec<proto::Type>) -> u32 {
    let place = types.len();
    let mut attributes =
        vec![pair("iceberg.id", &field.id.to_string()), pair("iceberg.required", &field.required.to_string())];
    let mut of = proto::Type::default();
    let kind = match field.field_type.as_ref() {
        Type::Primitive(primitive) => {
            let (kind, more) = kind(primitive);
            attributes.extend(more.iter().map(|(key, value)| pair(key, value)));
            match primitive {
                PrimitiveType::Decimal { precision, scale } => {
                    (of.precision, of.scale) = (Some(*precision), Some(*scale));
                }
                PrimitiveType::Fixed(length) => attributes.push(pair("iceberg.length", &length.to_string())),
                _ => {}
            }
            kind
        }
        Type::Struct(nested) => {
            of.field_names = nested.fields().iter().map(|child| child.name.clone()).collect();
            Kind::Struct
        }
        Type::List(_) => Kind::List,
        Type::Map(_) => Kind::Map,
    };
    of.kind = Some(kind.into());
    of.attributes = attributes;
    types.push(of);
    let subtypes: Vec<u32> = match field.field_type.as_ref() {
        Type::Primitive(_) => Vec::new(),
        Type::Struct(nested) => nested.fields().iter().map(|child| add(child, types)).collect(),
        Type::List(list) => vec![add(&list.element_field, types)],
        Type::Map(map) => vec![add(&map.key_field, types), add(&map.value_field, types)],
    };
    if let Some(of) = types.get_mut(place) {
        of.subtypes = subtypes;
    }
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn pair(key: &str, value: &str) -> proto::StringPair {
    proto::StringPair { key: Some(key.to_owned()), value: Some(value.to_owned()) }
}

/// ORC's type, and attributes that tell Iceberg's types with the same one apart.
fn kind(primitive: &PrimitiveType) -> (Kind, &'static [(&'static str, &'static str)]) {
    match primitive {
        PrimitiveType::Boolean => (Kind::Boolean, &[]),
        PrimitiveType::Int => (Kind::Int, &[]),
        PrimitiveType::Long => (Kind::Long, &[("iceberg.long-type", "LONG")]),
        PrimitiveType::Time => (Kind::Long, &[("iceberg.long-type", "TIME")]),
        PrimitiveType::Float => (Kind::Float, &[]),
        PrimitiveType::Double => (Kind::Double, &[]),
        PrimitiveType::Date => (Kind::Date, &[]),
        PrimitiveType::Timestamp => (Kind::Timestamp, &[("iceberg.timestamp-unit", "MICROS")]),
        PrimitiveType::TimestampNs => (Kind::Timestamp, &[("iceberg.timestamp-unit", "NANOS")]),
        PrimitiveType::Timestamptz => (Kind::TimestampInstant, &[("iceberg.timestamp-unit", "MICROS")]),
        PrimitiveType::TimestamptzNs => (Kind::TimestampInstant, &[("iceberg.timestamp-unit", "NANOS")]),
        PrimitiveType::String => (Kind::String, &[]),
        PrimitiveType::Uuid => (Kind::Binary, &[("iceberg.binary-type", "UUID")]),
        PrimitiveType::Fixed(_) => (Kind::Binary, &[("iceberg.binary-type", "FIXED")]),
        PrimitiveType::Binary => (Kind::Binary, &[("iceberg.binary-type", "BINARY")]),
        PrimitiveType::Decimal { .. } => (Kind::Decimal, &[]),
    }
}
