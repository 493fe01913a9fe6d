//! The Avro schema of an Iceberg schema (Iceberg spec, appendix A, "Avro"; Java's `TypeToSchema`).

use std::collections::BTreeSet;

use calve_types::{Error, Result};
use iceberg::spec::{NestedField, NestedFieldRef, PrimitiveType, Type};
use serde_json::{Value, json};

/// The schema of files with these columns.
///
/// # Errors
/// `not-supported` for decimals of more digits than Iceberg has.
pub(super) fn avro_schema(columns: &[NestedFieldRef]) -> Result<Value> {
    // every name of Avro's is defined once; the next type of that name only calls it
    let mut defined = BTreeSet::new();
    record("table", columns, &mut defined)
}

fn record(name: &str, fields: &[NestedFieldRef], defined: &mut BTreeSet<String>) -> Result<Value> {
    let fields = fields.iter().map(|f| field(&f.name, f, defined)).collect::<Result<Vec<_>>>()?;
    Ok(json!({ "type": "record", "name": name, "fields": fields }))
}

fn field(name: &str, field: &NestedField, defined: &mut BTreeSet<String>) -> Result<Value> {
    let avro_name = avro_name(name);
    let mut entry = json!({ "name": avro_name, "type": optional(field, defined)? });
    if let Some(entry) = entry.as_object_mut() {
        if !field.required {
            entry.insert("default".to_owned(), Value::Null);
        }
        entry.insert("field-id".to_owned(), field.id.into());
        if avro_name != name {
            entry.insert("iceberg-field-name".to_owned(), name.into());
        }
    }
    Ok(entry)
}

fn optional(field: &NestedField, defined: &mut BTreeSet<String>) -> Result<Value> {
    let of = avro_type(field, defined)?;
    Ok(if field.required { of } else { json!(["null", of]) })
}

fn avro_type(field: &NestedField, defined: &mut BTreeSet<String>) -> Result<Value> {
    match field.field_type.as_ref() {
        Type::Primitive(primitive) => primitive_type(primitive, defined),
        Type::Struct(nested) => record(&format!("r{}", field.id), nested.fields(), defined),
        Type::List(list) => {
            let element = &list.element_field;
            Ok(json!({ "type": "array", "items": optional(element, defined)?, "element-id": element.id }))
        }
        Type::Map(map) if is_text(&map.key_field) => {
            let (key, value) = (&map.key_field, &map.value_field);
            let values = optional(value, defined)?;
            Ok(json!({ "type": "map", "values": values, "key-id": key.id, "value-id": value.id }))
        }
        Type::Map(map) => {
            let (key, value) = (&map.key_field, &map.value_field);
            let entry = json!({
                "type": "record",
                "name": format!("k{}_v{}", key.id, value.id),
                "fields": [self::field("key", key, defined)?, self::field("value", value, defined)?],
            });
            Ok(json!({ "type": "array", "items": entry, "logicalType": "map" }))
        }
    }
}

/// Whether a map with this key is one of Avro's, whose keys are text.
pub(super) fn is_text(key: &NestedField) -> bool {
    matches!(key.field_type.as_ref(), Type::Primitive(PrimitiveType::String))
}

fn primitive_type(primitive: &PrimitiveType, defined: &mut BTreeSet<String>) -> Result<Value> {
    let timestamp = |unit: &str, utc: bool| json!({ "type": "long", "logicalType": format!("timestamp-{unit}"), "adjust-to-utc": utc });
    let mut fixed = |name: String, size: u64, more: &[(&str, Value)]| {
        if !defined.insert(name.clone()) {
            return Value::String(name);
        }
        let mut of = json!({ "type": "fixed", "name": name, "size": size });
        if let Some(of) = of.as_object_mut() {
            of.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        }
        of
    };
    Ok(match primitive {
        PrimitiveType::Boolean => json!("boolean"),
        PrimitiveType::Int => json!("int"),
        PrimitiveType::Long => json!("long"),
        PrimitiveType::Float => json!("float"),
        PrimitiveType::Double => json!("double"),
        PrimitiveType::Date => json!({ "type": "int", "logicalType": "date" }),
        PrimitiveType::Time => json!({ "type": "long", "logicalType": "time-micros" }),
        PrimitiveType::Timestamp => timestamp("micros", false),
        PrimitiveType::Timestamptz => timestamp("micros", true),
        PrimitiveType::TimestampNs => timestamp("nanos", false),
        PrimitiveType::TimestamptzNs => timestamp("nanos", true),
        PrimitiveType::String => json!("string"),
        PrimitiveType::Binary => json!("bytes"),
        PrimitiveType::Uuid => fixed("uuid_fixed".to_owned(), 16, &[("logicalType", json!("uuid"))]),
        PrimitiveType::Fixed(length) => fixed(format!("fixed_{length}"), *length, &[]),
        PrimitiveType::Decimal { precision, scale } => {
            let more = [("logicalType", json!("decimal")), ("precision", json!(precision)), ("scale", json!(scale))];
            fixed(format!("decimal_{precision}_{scale}"), u64::from(decimal_bytes(*precision)?), &more)
        }
    })
}

/// The bytes of a decimal with that many digits.
///
/// # Errors
/// `not-supported` for more digits than Iceberg has.
pub(super) fn decimal_bytes(precision: u32) -> Result<u32> {
    Type::decimal_required_bytes(precision).map_err(|_| Error::unsupported(format!("decimals of {precision} digits")))
}

/// The name, if it is one of Avro's; else one made of it as Java's `AvroSchemaUtil.makeCompatibleName` does. Java lets
/// letters of all alphabets pass, which most other readers of Avro refuse.
pub(crate) fn avro_name(name: &str) -> String {
    let mut made = String::with_capacity(name.len());
    for (place, letter) in name.chars().enumerate() {
        match letter {
            'a'..='z' | 'A'..='Z' | '_' => made.push(letter),
            '0'..='9' if place > 0 => made.push(letter),
            '0'..='9' => made.extend(['_', letter]),
            other => {
                let mut units = [0; 2];
                for unit in other.encode_utf16(&mut units) {
                    made.push_str(&format!("_x{unit:X}"));
                }
            }
        }
    }
    if made.is_empty() { "_".to_owned() } else { made }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn names_are_made_as_java_does() {
        for (name, made) in [
            ("a_1", "a_1"),
            ("9x", "_9x"),
            ("a.b", "a_x2Eb"),
            ("a#b", "a_x23b"),
            ("☃", "_x2603"),
            ("a b", "a_x20b"),
            ("", "_"),
        ] {
            assert_eq!(avro_name(name), made);
        }
    }

    #[test]
    fn a_name_is_defined_once() {
        let of = |id, name: &str, of| NestedFieldRef::from(NestedField::optional(id, name, Type::Primitive(of)));
        let decimal = PrimitiveType::Decimal { precision: 10, scale: 2 };
        let schema =
            avro_schema(&[of(1, "a", decimal.clone()), of(2, "b", decimal), of(3, "c", PrimitiveType::Timestamp)]);
        let fields = schema.unwrap()["fields"].clone();
        assert_eq!(
            fields[0],
            json!({"name": "a", "type": ["null", {"type": "fixed", "name": "decimal_10_2", "size": 5,
                "logicalType": "decimal", "precision": 10, "scale": 2}], "default": null, "field-id": 1})
        );
        assert_eq!(fields[1]["type"], json!(["null", "decimal_10_2"]));
        assert_eq!(
            fields[2]["type"][1],
            json!({"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": false})
        );
    }
}
