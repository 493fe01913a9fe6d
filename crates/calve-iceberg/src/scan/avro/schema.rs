//! The schema of an Avro file: its types, Iceberg's field ids, and the Arrow types its values are read as (Iceberg spec,
//! appendix A, "Avro").

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Fields, Schema as ArrowSchema, TimeUnit};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use serde_json::{Map, Value};

/// A schema with more types, names resolved, is refused: a few named types can stand for more than memory holds.
const MOST_TYPES: usize = 100_000;

/// Types lie within each other no deeper than this.
const DEEPEST: usize = 100;

/// A type.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) shape: Shape,
    pub(super) meaning: Meaning,
    /// The least number of bytes of a value.
    pub(crate) least: usize,
    /// Iceberg's field ids of an element, or of keys and values.
    ids: (Option<i32>, Option<i32>),
    types: usize,
    depth: usize,
}

/// How values are laid out.
#[derive(Debug)]
pub(crate) enum Shape {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    Enum(Arc<[String]>),
    Record(Vec<RecordField>),
    Array(Arc<Node>),
    Map(Arc<Node>),
    Union(Vec<Arc<Node>>),
}

/// What values mean (`logicalType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Plain,
    Date,
    Time(TimeUnit),
    Timestamp(TimeUnit),
    Decimal(u8, i8),
    Uuid,
    /// An array of records of a key and a value: a map whose keys are not text.
    Pairs,
}

/// A field of a record.
#[derive(Debug)]
pub(crate) struct RecordField {
    pub(crate) name: String,
    pub(crate) id: Option<i32>,
    pub(crate) node: Arc<Node>,
}

impl Node {
    fn new(shape: Shape, meaning: Meaning, ids: (Option<i32>, Option<i32>)) -> Result<Self, String> {
        let none: &[Arc<Self>] = &[];
        let (inner, least): (Vec<&Arc<Self>>, usize) = match &shape {
            Shape::Null => (none.iter().collect(), 0),
            Shape::Fixed(size) => (Vec::new(), *size),
            Shape::Float => (Vec::new(), 4),
            Shape::Double => (Vec::new(), 8),
            Shape::Record(fields) => {
                let inner: Vec<_> = fields.iter().map(|field| &field.node).collect();
                let least = inner.iter().fold(0, |sum, node| node.least.saturating_add(sum));
                (inner, least)
            }
            Shape::Array(item) | Shape::Map(item) => (vec![item], 1),
            Shape::Union(branches) => (branches.iter().collect(), 1),
            _ => (Vec::new(), 1),
        };
        let types = inner.iter().fold(1_usize, |sum, node| sum.saturating_add(node.types));
        let depth = inner.iter().map(|node| node.depth).max().unwrap_or(0) + 1;
        if types > MOST_TYPES || depth > DEEPEST {
            return Err("its schema has too many types".to_owned());
        }
        Ok(Self { shape, meaning, least, ids, types, depth })
    }

    /// The type of values that are not NULL, and which branch of a union it and NULL are.
    pub(crate) fn optional(&self) -> Option<(&Arc<Self>, Branches)> {
        let Shape::Union(branches) = &self.shape else { return None };
        let is_null = |node: &Arc<Self>| matches!(node.shape, Shape::Null);
        match branches.as_slice() {
            [value] => Some((value, Branches { value: 0, null: None })),
            [null, value] if is_null(null) => Some((value, Branches { value: 1, null: Some(0) })),
            [value, null] if is_null(null) => Some((value, Branches { value: 0, null: Some(1) })),
            _ => None,
        }
    }

    /// The Arrow type of the values; that of NULL for what Iceberg has no type for.
    fn arrow_type(&self) -> ArrowType {
        match (&self.shape, self.meaning) {
            (Shape::Boolean, _) => ArrowType::Boolean,
            (Shape::Int, Meaning::Date) => ArrowType::Date32,
            (Shape::Int, Meaning::Time(TimeUnit::Millisecond)) => ArrowType::Time32(TimeUnit::Millisecond),
            (Shape::Int, _) => ArrowType::Int32,
            (Shape::Long, Meaning::Time(unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond))) => {
                ArrowType::Time64(unit)
            }
            (Shape::Long, Meaning::Timestamp(unit)) => ArrowType::Timestamp(unit, None),
            (Shape::Long, _) => ArrowType::Int64,
            (Shape::Float, _) => ArrowType::Float32,
            (Shape::Double, _) => ArrowType::Float64,
            (Shape::Bytes | Shape::Fixed(_), Meaning::Decimal(precision, scale)) => {
                ArrowType::Decimal128(precision, scale)
            }
            (Shape::Text, Meaning::Uuid) => ArrowType::FixedSizeBinary(16),
            (Shape::Bytes, _) => ArrowType::Binary,
            (Shape::Text | Shape::Enum(_), _) => ArrowType::Utf8,
            (Shape::Fixed(size), _) => i32::try_from(*size).map_or(ArrowType::Null, ArrowType::FixedSizeBinary),
            (Shape::Record(fields), _) => {
                ArrowType::Struct(fields.iter().map(|f| Arc::new(field(&f.name, f.id, &f.node))).collect())
            }
            (Shape::Array(item), Meaning::Pairs) => match item.pair() {
                Some((key, value)) => map(field("key", key.id, &key.node), field("value", value.id, &value.node)),
                None => ArrowType::List(Arc::new(field("element", self.ids.0, item))),
            },
            (Shape::Array(item), _) => ArrowType::List(Arc::new(field("element", self.ids.0, item))),
            (Shape::Map(value), _) => {
                let key = with_id(Field::new("key", ArrowType::Utf8, false), self.ids.0);
                map(key, field("value", self.ids.1, value))
            }
            (Shape::Union(_), _) => match self.optional() {
                Some((value, _)) => value.arrow_type(),
                None => ArrowType::Null,
            },
            (Shape::Null, _) => ArrowType::Null,
        }
    }

    /// The key and the value of a record that stands for an entry of a map.
    pub(crate) fn pair(&self) -> Option<(&RecordField, &RecordField)> {
        match &self.shape {
            Shape::Record(fields) => match fields.as_slice() {
                [key, value] if key.node.optional().is_none() => Some((key, value)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Branches of a union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Branches {
    pub(super) value: i64,
    pub(super) null: Option<i64>,
}

fn field(name: &str, id: Option<i32>, node: &Node) -> Field {
    let data_type = node.arrow_type();
    let nullable = data_type == ArrowType::Null || node.optional().is_some_and(|(_, branches)| branches.null.is_some());
    with_id(Field::new(name, data_type, nullable), id)
}

fn with_id(field: Field, id: Option<i32>) -> Field {
    match id {
        Some(id) => field.with_metadata(HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())])),
        None => field,
    }
}

fn map(key: Field, value: Field) -> ArrowType {
    let entries = Fields::from(vec![key.with_nullable(false), value]);
    ArrowType::Map(Arc::new(Field::new("key_value", ArrowType::Struct(entries), false)), false)
}

/// The columns of a file.
#[derive(Debug)]
pub(super) struct FileSchema {
    pub(super) columns: Vec<Arc<Node>>,
    pub(super) arrow: Arc<ArrowSchema>,
}

impl FileSchema {
    /// From the schema in the header of a file.
    ///
    /// # Errors
    /// A sentence about a schema that is none, or not of records.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let root = root(json)?;
        let Shape::Record(fields) = &root.shape else { return Err("its schema is not a record".to_owned()) };
        let arrow = fields.iter().map(|f| field(&f.name, f.id, &f.node)).collect::<Vec<_>>();
        let columns = fields.iter().map(|f| f.node.clone()).collect();
        Ok(Self { columns, arrow: Arc::new(ArrowSchema::new(arrow)) })
    }
}

/// The type of a file's rows, from the schema in its header.
///
/// # Errors
/// A sentence about a schema that is none.
pub(crate) fn root(json: &[u8]) -> Result<Arc<Node>, String> {
    let json: Value = serde_json::from_slice(json).map_err(|e| format!("its schema is not JSON: {e}"))?;
    Names::default().node(&json, "")
}

/// The named types so far.
#[derive(Default)]
struct Names(HashMap<String, Arc<Node>>);

impl Names {
    /// `space` is the namespace of names without one.
    fn node(&mut self, json: &Value, space: &str) -> Result<Arc<Node>, String> {
        match json {
            Value::String(name) => self.named(name, space, None),
            Value::Array(branches) => {
                let branches = branches.iter().map(|b| self.node(b, space)).collect::<Result<Vec<_>, _>>()?;
                Ok(Arc::new(Node::new(Shape::Union(branches), Meaning::Plain, (None, None))?))
            }
            Value::Object(object) => match object.get("type") {
                Some(Value::String(name)) => self.complex(name, object, space),
                // {"type": {...}}: a type in further braces
                Some(inner) => self.node(inner, space),
                None => Err("its schema has a type without a name".to_owned()),
            },
            _ => Err("its schema is not one of Avro".to_owned()),
        }
    }

    /// A primitive type, or a type that was defined before.
    fn named(&self, name: &str, space: &str, object: Option<&Map<String, Value>>) -> Result<Arc<Node>, String> {
        let shape = match name {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "int" => Shape::Int,
            "long" => Shape::Long,
            "float" => Shape::Float,
            "double" => Shape::Double,
            "bytes" => Shape::Bytes,
            "string" => Shape::Text,
            _ => {
                let found = self.0.get(&full_name(name, space)).or_else(|| self.0.get(name));
                return found.cloned().ok_or_else(|| format!("its schema has the unknown or recursive type '{name}'"));
            }
        };
        let meaning = object.map_or(Meaning::Plain, |object| meaning(&shape, object));
        Ok(Arc::new(Node::new(shape, meaning, (None, None))?))
    }

    fn complex(&mut self, kind: &str, object: &Map<String, Value>, space: &str) -> Result<Arc<Node>, String> {
        let missing = |what: &str| format!("its schema has a type '{kind}' without '{what}'");
        let inner = |what: &str| object.get(what).ok_or_else(|| missing(what));
        let mut ids = (None, None);
        let (shape, name) = match kind {
            "record" | "error" => {
                let (full, space) = self.name(object, space);
                let fields = inner("fields")?.as_array().ok_or_else(|| missing("fields"))?;
                let fields = fields.iter().map(|f| self.field(f, &space)).collect::<Result<Vec<_>, _>>()?;
                (Shape::Record(fields), full)
            }
            "enum" => {
                let symbols = inner("symbols")?.as_array().ok_or_else(|| missing("symbols"))?;
                let symbols = symbols.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                (Shape::Enum(symbols), self.name(object, space).0)
            }
            "fixed" => {
                let size =
                    inner("size")?.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= i32::MAX as u32);
                (Shape::Fixed(size.ok_or_else(|| missing("size"))? as usize), self.name(object, space).0)
            }
            "array" => {
                ids.0 = id(object, "element-id");
                (Shape::Array(self.node(inner("items")?, space)?), None)
            }
            "map" => {
                ids = (id(object, "key-id"), id(object, "value-id"));
                (Shape::Map(self.node(inner("values")?, space)?), None)
            }
            other => return self.named(other, space, Some(object)),
        };
        let meaning = meaning(&shape, object);
        let node = Arc::new(Node::new(shape, meaning, ids)?);
        if let Some(name) = name {
            self.0.insert(name, node.clone());
        }
        Ok(node)
    }

    fn field(&mut self, json: &Value, space: &str) -> Result<RecordField, String> {
        let wrong = || "its schema has a field without name or type".to_owned();
        let object = json.as_object().ok_or_else(wrong)?;
        let name = object.get("name").and_then(Value::as_str).ok_or_else(wrong)?;
        // what the column is called if Avro does not allow its name
        let name = object.get("iceberg-field-name").and_then(Value::as_str).unwrap_or(name);
        let node = self.node(object.get("type").ok_or_else(wrong)?, space)?;
        Ok(RecordField { name: name.to_owned(), id: id(object, "field-id"), node })
    }

    /// The full name of a type, and the namespace of what it holds.
    fn name(&self, object: &Map<String, Value>, space: &str) -> (Option<String>, String) {
        let own = object.get("namespace").and_then(Value::as_str).unwrap_or(space);
        match object.get("name").and_then(Value::as_str) {
            None => (None, own.to_owned()),
            Some(name) => {
                let full = full_name(name, own);
                let space = full.rsplit_once('.').map_or(String::new(), |(space, _)| space.to_owned());
                (Some(full), space)
            }
        }
    }
}

fn full_name(name: &str, space: &str) -> String {
    if name.contains('.') || space.is_empty() { name.to_owned() } else { format!("{space}.{name}") }
}

fn id(object: &Map<String, Value>, key: &str) -> Option<i32> {
    object.get(key)?.as_i64().and_then(|id| i32::try_from(id).ok())
}

fn meaning(shape: &Shape, object: &Map<String, Value>) -> Meaning {
    let number = |key| object.get(key).and_then(Value::as_u64);
    match (shape, object.get("logicalType").and_then(Value::as_str)) {
        (Shape::Int, Some("date")) => Meaning::Date,
        (Shape::Int, Some("time-millis")) => Meaning::Time(TimeUnit::Millisecond),
        (Shape::Long, Some("time-micros")) => Meaning::Time(TimeUnit::Microsecond),
        (Shape::Long, Some("timestamp-millis" | "local-timestamp-millis")) => Meaning::Timestamp(TimeUnit::Millisecond),
        (Shape::Long, Some("timestamp-micros" | "local-timestamp-micros")) => Meaning::Timestamp(TimeUnit::Microsecond),
        (Shape::Long, Some("timestamp-nanos" | "local-timestamp-nanos")) => Meaning::Timestamp(TimeUnit::Nanosecond),
        (Shape::Bytes | Shape::Fixed(_), Some("decimal")) => {
            match (number("precision"), number("scale").unwrap_or(0)) {
                (Some(precision @ 1..=38), scale) if scale <= precision => {
                    Meaning::Decimal(precision as u8, scale as i8)
                }
                _ => Meaning::Plain,
            }
        }
        (Shape::Text, Some("uuid")) => Meaning::Uuid,
        (Shape::Fixed(16), Some("uuid")) => Meaning::Uuid,
        (Shape::Array(item), Some("map")) if item.pair().is_some() => Meaning::Pairs,
        _ => Meaning::Plain,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn parse(json: &str) -> Result<FileSchema, String> {
        FileSchema::parse(json.as_bytes())
    }

    #[test]
    fn ids_names_and_types() {
        let schema = parse(
            r#"{"type":"record","name":"table","namespace":"a.b","fields":[
            {"name":"d","type":["null",{"type":"fixed","name":"dec","size":5,"logicalType":"decimal","precision":10,"scale":2}],"field-id":1},
            {"name":"e","type":"dec","field-id":2},
            {"name":"f","type":["a.b.dec","null"],"field-id":3},
            {"name":"m","type":{"type":"array","logicalType":"map","items":{"type":"record","name":"k5_v6","fields":[
                {"name":"key","type":"int","field-id":5},{"name":"value","type":["null","string"],"field-id":6}]}},"field-id":4},
            {"name":"u","type":["null","int","string"]},
            {"name":"_x20","type":{"type":"array","items":"long","element-id":8},"field-id":7,"iceberg-field-name":" "}]}"#,
        )
        .unwrap();
        let of = |i: usize| (schema.arrow.field(i).data_type().clone(), schema.arrow.field(i).is_nullable());
        assert_eq!(of(0), (ArrowType::Decimal128(10, 2), true));
        assert_eq!(of(1), (ArrowType::Decimal128(10, 2), false));
        assert_eq!(of(2), (ArrowType::Decimal128(10, 2), true));
        assert_eq!(of(4), (ArrowType::Null, true));
        let ArrowType::Map(entries, _) = of(3).0 else { panic!() };
        let ArrowType::Struct(entries) = entries.data_type() else { panic!() };
        assert_eq!(entries[0].metadata()[PARQUET_FIELD_ID_META_KEY], "5");
        assert_eq!((entries[1].data_type(), entries[1].is_nullable()), (&ArrowType::Utf8, true));
        assert_eq!(schema.arrow.field(5).name(), " ");
        let ArrowType::List(element) = of(5).0 else { panic!() };
        assert_eq!(element.metadata()[PARQUET_FIELD_ID_META_KEY], "8");
    }

    #[test]
    fn schemas_that_are_none() {
        for json in [
            "",
            "{}",
            "[]",
            "\"int\"",
            r#"{"type":"record","name":"r","fields":[{"name":"a","type":"r"}]}"#,
            r#"{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}"#,
            r#"{"type":"record","name":"r","fields":[{"name":"a"}]}"#,
            r#"{"type":"record","name":"r","fields":[{"type":"int"}]}"#,
            r#"{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"fixed","name":"f","size":-1}}]}"#,
            r#"{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array"}}]}"#,
        ] {
            assert!(parse(json).is_err(), "{json}");
        }
        // every type twice as large as the one before
        let mut fields = String::from(r#"{"name":"f0","type":{"type":"fixed","name":"t0","size":1}}"#);
        for i in 1..60 {
            let before = i - 1;
            fields += &format!(
                r#",{{"name":"f{i}","type":{{"type":"record","name":"t{i}","fields":[{{"name":"a","type":"t{before}"}},{{"name":"b","type":"t{before}"}}]}}}}"#
            );
        }
        assert!(parse(&format!(r#"{{"type":"record","name":"r","fields":[{fields}]}}"#)).is_err());
        let deep = format!("{}\"int\"{}", r#"{"type":"array","items":"#.repeat(5_000), "}".repeat(5_000));
        assert!(parse(&format!(r#"{{"type":"record","name":"r","fields":[{{"name":"a","type":{deep}}}]}}"#)).is_err());
    }
}
