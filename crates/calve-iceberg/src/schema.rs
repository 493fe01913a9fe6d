//! Types of Flink, of Iceberg and of Arrow.
//!
//! The mapping is Flink's (`FlinkTypeToType`, `TypeToFlinkType`); Arrow types are those of [`calve_types::arrow`].

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Fields, Schema as ArrowSchema, SchemaRef};
use calve_types::{DataType, Error, LogicalType, Result, RowField};
use iceberg::spec::{
    ListType, Literal, MapType, NestedField, NestedFieldRef, PrimitiveLiteral, PrimitiveType, Schema, StructType, Type,
};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use crate::error::Context;

/// A column of a table to create: name, type, comment.
pub type NewColumn = (String, DataType, Option<String>);

/// The Iceberg schema of columns declared in Flink SQL. Field ids count from 1: the columns first, what is nested in
/// them afterwards, in order. The columns of the primary key become required and the identifier fields.
///
/// # Errors
/// `not-supported` for a type Iceberg has no counterpart of, and for one too deeply nested; `unknown-column` for a key column that is not declared;
/// `invalid-table` for what Iceberg forbids (duplicate names, a key of a nested or approximate type).
pub fn to_iceberg(columns: &[NewColumn], primary_key: &[String]) -> Result<Schema> {
    let mut ids = Ids(0);
    let column_ids = columns.iter().map(|_| ids.next()).collect::<Result<Vec<_>>>()?;
    let mut fields = Vec::with_capacity(columns.len());
    for ((name, data_type, comment), id) in columns.iter().zip(&column_ids) {
        let required = !data_type.nullable || primary_key.contains(name);
        let mut field = NestedField::new(*id, name, iceberg_type(&data_type.logical, &mut ids)?, required);
        field.doc = comment.clone();
        fields.push(Arc::new(field));
    }
    let mut key = Vec::with_capacity(primary_key.len());
    for name in primary_key {
        let field = fields
            .iter()
            .find(|f| f.name == *name)
            .ok_or_else(|| Error::new("unknown-column", format!("unknown primary key column '{name}'")))?;
        check_identifier(field)?;
        key.push(field.id);
    }
    check_depth(&fields)?;
    Schema::builder().with_fields(fields).with_identifier_field_ids(key).build().context(|| "make a table schema")
}

/// Values in JSON that may lie within each other: what the reader of metadata takes, without those around a schema in the
/// answer of a catalog.
const DEEPEST_JSON: usize = 127 - 4;

/// Refuses columns that lie so deep within each other that their metadata could not be read again.
///
/// # Errors
/// `not-supported`, naming the column.
pub(crate) fn check_depth(columns: &[NestedFieldRef]) -> Result<()> {
    match columns.iter().find(|column| 3 + depth(&column.field_type) > DEEPEST_JSON) {
        None => Ok(()),
        Some(column) => Err(Error::unsupported(format!("a type as deeply nested as that of column '{}'", column.name))
            .with_hint("no more than 40 rows can lie within each other")),
    }
}

/// Values in the JSON of a type that lie within each other.
fn depth(of: &Type) -> usize {
    match of {
        Type::Primitive(_) => 0,
        Type::List(list) => 1 + depth(&list.element_field.field_type),
        Type::Map(map) => 1 + depth(&map.key_field.field_type).max(depth(&map.value_field.field_type)),
        // itself, its fields, a field
        Type::Struct(fields) => 3 + fields.fields().iter().map(|f| depth(&f.field_type)).max().unwrap_or_default(),
    }
}

/// Iceberg's rules for identifier fields, with the Java library's words.
pub(crate) fn check_identifier(field: &NestedField) -> Result<()> {
    let reason = match field.field_type.as_ref() {
        Type::Primitive(_) if !field.required => "not a required field",
        Type::Primitive(PrimitiveType::Float | PrimitiveType::Double) => "must not be float or double field",
        Type::Primitive(_) => return Ok(()),
        _ => "not a primitive type field",
    };
    let name = &field.name;
    Err(Error::new("invalid-table", format!("column '{name}' cannot be part of the primary key"))
        .with_detail(format!("Cannot add field {name} as an identifier field: {reason}")))
}

/// A value in the type that its column was promoted to.
pub(crate) fn promoted(value: Literal, to: &PrimitiveType) -> Literal {
    match (value, to) {
        (Literal::Primitive(PrimitiveLiteral::Int(value)), PrimitiveType::Long) => Literal::long(value),
        (Literal::Primitive(PrimitiveLiteral::Float(value)), PrimitiveType::Double) => Literal::double(value.0),
        (value, _) => value,
    }
}

/// Gives field ids: the next one is the one after this.
pub(crate) struct Ids(pub(crate) i32);

impl Ids {
    pub(crate) fn next(&mut self) -> Result<i32> {
        self.0 = self.0.checked_add(1).ok_or_else(|| Error::new("invalid-table", "too many fields in a schema"))?;
        Ok(self.0)
    }
}

/// The Iceberg type of a Flink type, with fresh ids for what is nested in it.
///
/// # Errors
/// As [`to_iceberg`].
pub(crate) fn iceberg_type(logical: &LogicalType, ids: &mut Ids) -> Result<Type> {
    let primitive = match logical {
        LogicalType::Boolean => PrimitiveType::Boolean,
        LogicalType::TinyInt | LogicalType::SmallInt | LogicalType::Int => PrimitiveType::Int,
        LogicalType::BigInt => PrimitiveType::Long,
        LogicalType::Float => PrimitiveType::Float,
        LogicalType::Double => PrimitiveType::Double,
        LogicalType::Decimal { precision, scale } => {
            PrimitiveType::Decimal { precision: u32::from(*precision), scale: u32::from(*scale) }
        }
        LogicalType::Char(_) | LogicalType::Varchar(_) => PrimitiveType::String,
        LogicalType::Binary(length) => PrimitiveType::Fixed(u64::from(*length)),
        LogicalType::Varbinary(_) => PrimitiveType::Binary,
        LogicalType::Date => PrimitiveType::Date,
        LogicalType::Time(_) => PrimitiveType::Time,
        LogicalType::Timestamp(0..=6) => PrimitiveType::Timestamp,
        LogicalType::Timestamp(_) => PrimitiveType::TimestampNs,
        LogicalType::TimestampLtz(0..=6) => PrimitiveType::Timestamptz,
        LogicalType::TimestampLtz(_) => PrimitiveType::TimestamptzNs,
        LogicalType::Array(element) => {
            let id = ids.next()?;
            let element_type = iceberg_type(&element.logical, ids)?;
            return Ok(list(id, element_type, !element.nullable));
        }
        LogicalType::Map(key, value) => return map(&key.logical, value, ids),
        LogicalType::Multiset(element) => return map(&element.logical, &LogicalType::Int.not_null(), ids),
        LogicalType::Row(fields) => {
            let field_ids = fields.iter().map(|_| ids.next()).collect::<Result<Vec<_>>>()?;
            let mut nested = Vec::with_capacity(fields.len());
            for (field, id) in fields.iter().zip(field_ids) {
                let field_type = iceberg_type(&field.data_type.logical, ids)?;
                let mut new = NestedField::new(id, &field.name, field_type, !field.data_type.nullable);
                new.doc = field.comment.clone();
                nested.push(Arc::new(new));
            }
            return Ok(Type::Struct(StructType::new(nested)));
        }
        LogicalType::Null
        | LogicalType::TimestampTz(_)
        | LogicalType::IntervalYearMonth { .. }
        | LogicalType::IntervalDayTime { .. }
        | LogicalType::Raw { .. }
        | LogicalType::Variant
        | LogicalType::Symbol => {
            return Err(Error::unsupported(format!("columns of type {logical} in an Iceberg table")));
        }
    };
    Ok(Type::Primitive(primitive))
}

fn list(id: i32, element: Type, required: bool) -> Type {
    Type::List(ListType::new(Arc::new(NestedField::list_element(id, element, required))))
}

fn map(key: &LogicalType, value: &DataType, ids: &mut Ids) -> Result<Type> {
    let key_id = ids.next()?;
    let key_type = iceberg_type(key, ids)?;
    let value_id = ids.next()?;
    let value_type = iceberg_type(&value.logical, ids)?;
    Ok(Type::Map(MapType::new(
        Arc::new(NestedField::map_key_element(key_id, key_type)),
        Arc::new(NestedField::map_value_element(value_id, value_type, !value.nullable)),
    )))
}

/// The columns as Flink sees them (Flink's `TypeToFlinkType`): `timestamp` is TIMESTAMP(6), `time` is TIME(0), `uuid`
/// is BINARY(16), `string` is STRING. Column comments are not surfaced, as in Flink.
///
/// # Errors
/// `not-supported` for a type Flink has no counterpart of.
pub fn to_flink(schema: &Schema) -> Result<Vec<(String, DataType)>> {
    schema.as_struct().fields().iter().map(|f| Ok((f.name.clone(), flink_field_type(f)?))).collect()
}

/// The names of the identifier fields in the order of the columns: Flink's primary key of an Iceberg table.
pub fn primary_key(schema: &Schema) -> Vec<String> {
    let mut ids: Vec<i32> = schema.identifier_field_ids().collect();
    ids.sort_unstable();
    ids.iter().filter_map(|id| schema.name_by_field_id(*id)).map(str::to_owned).collect()
}

fn flink_field_type(field: &NestedField) -> Result<DataType> {
    Ok(flink_type(&field.field_type)?.with_nullable(!field.required))
}

/// The Flink type of an Iceberg type.
///
/// # Errors
/// As [`to_flink`].
pub fn flink_type(iceberg_type: &Type) -> Result<LogicalType> {
    Ok(match iceberg_type {
        Type::Primitive(primitive) => flink_primitive(primitive)?,
        Type::Struct(fields) => LogicalType::Row(
            fields
                .fields()
                .iter()
                .map(|f| Ok(RowField { name: f.name.clone(), data_type: flink_field_type(f)?, comment: f.doc.clone() }))
                .collect::<Result<_>>()?,
        ),
        Type::List(list) => LogicalType::Array(Box::new(flink_field_type(&list.element_field)?)),
        Type::Map(map) => LogicalType::Map(
            Box::new(flink_field_type(&map.key_field)?.with_nullable(false)),
            Box::new(flink_field_type(&map.value_field)?),
        ),
    })
}

fn flink_primitive(primitive: &PrimitiveType) -> Result<LogicalType> {
    let length =
        |n: u64| u32::try_from(n).map_err(|_| Error::unsupported(format!("values of Iceberg's type fixed[{n}]")));
    Ok(match primitive {
        PrimitiveType::Boolean => LogicalType::Boolean,
        PrimitiveType::Int => LogicalType::Int,
        PrimitiveType::Long => LogicalType::BigInt,
        PrimitiveType::Float => LogicalType::Float,
        PrimitiveType::Double => LogicalType::Double,
        PrimitiveType::Decimal { precision, scale } => match (u8::try_from(*precision), u8::try_from(*scale)) {
            (Ok(precision @ 1..=38), Ok(scale)) if scale <= precision => LogicalType::Decimal { precision, scale },
            _ => return Err(Error::unsupported(format!("values of Iceberg's type decimal({precision}, {scale})"))),
        },
        PrimitiveType::Date => LogicalType::Date,
        PrimitiveType::Time => LogicalType::Time(0),
        PrimitiveType::Timestamp => LogicalType::Timestamp(6),
        PrimitiveType::Timestamptz => LogicalType::TimestampLtz(6),
        PrimitiveType::TimestampNs => LogicalType::Timestamp(9),
        PrimitiveType::TimestamptzNs => LogicalType::TimestampLtz(9),
        PrimitiveType::String => LogicalType::STRING,
        PrimitiveType::Uuid => LogicalType::Binary(16),
        PrimitiveType::Fixed(n) => LogicalType::Binary(length(*n)?),
        PrimitiveType::Binary => LogicalType::BYTES,
    })
}

/// The Arrow schema in which calve reads and writes the table: [`calve_types::arrow::to_arrow`] of the Flink types,
/// with the field id as [`PARQUET_FIELD_ID_META_KEY`] on every field, nested ones too.
///
/// # Errors
/// As [`to_flink`].
pub fn to_arrow(schema: &Schema) -> Result<SchemaRef> {
    Ok(Arc::new(ArrowSchema::new(arrow_fields(schema.as_struct().fields())?)))
}

/// The Arrow field of one Iceberg field, as in [`to_arrow`].
///
/// # Errors
/// As [`to_flink`].
pub fn arrow_field(field: &NestedField) -> Result<Field> {
    named_arrow_field(&field.name, field)
}

fn arrow_fields(fields: &[NestedFieldRef]) -> Result<Fields> {
    fields.iter().map(|f| arrow_field(f)).collect()
}

fn named_arrow_field(name: &str, field: &NestedField) -> Result<Field> {
    let data_type = match field.field_type.as_ref() {
        Type::Primitive(primitive) => calve_types::arrow::to_arrow(&flink_primitive(primitive)?)?,
        Type::Struct(fields) => ArrowType::Struct(arrow_fields(fields.fields())?),
        Type::List(list) => ArrowType::List(Arc::new(named_arrow_field("element", &list.element_field)?)),
        Type::Map(map) => {
            let key = named_arrow_field("key", &map.key_field)?.with_nullable(false);
            let value = named_arrow_field("value", &map.value_field)?;
            let entries = Field::new("key_value", ArrowType::Struct(Fields::from(vec![key, value])), false);
            ArrowType::Map(Arc::new(entries), false)
        }
    };
    let id = HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), field.id.to_string())]);
    Ok(Field::new(name, data_type, !field.required).with_metadata(id))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn all_types() -> Vec<NewColumn> {
        let row = LogicalType::Row(vec![
            RowField::new("a", LogicalType::Int.nullable()),
            RowField::new("b", LogicalType::Array(Box::new(LogicalType::STRING.not_null())).nullable()),
        ]);
        [
            ("i8", LogicalType::TinyInt),
            ("i64", LogicalType::BigInt),
            ("dec", LogicalType::Decimal { precision: 38, scale: 10 }),
            ("ch", LogicalType::Char(3)),
            ("bin", LogicalType::Binary(4)),
            ("time", LogicalType::Time(3)),
            ("ts3", LogicalType::Timestamp(3)),
            ("ts9", LogicalType::Timestamp(9)),
            ("ltz", LogicalType::TimestampLtz(6)),
            ("m", LogicalType::Map(Box::new(LogicalType::STRING.nullable()), Box::new(row.clone().nullable()))),
            ("ms", LogicalType::Multiset(Box::new(LogicalType::Int.nullable()))),
            ("r", row),
        ]
        .into_iter()
        .map(|(n, t)| (n.to_owned(), t.nullable(), None))
        .collect()
    }

    #[test]
    fn flink_types_survive_as_flink_says() {
        let schema = to_iceberg(&all_types(), &["i64".to_owned()]).unwrap();
        let shown: Vec<String> = to_flink(&schema).unwrap().iter().map(|(n, t)| format!("{n} {t}")).collect();
        assert_eq!(
            shown,
            [
                "i8 INT",
                "i64 BIGINT NOT NULL",
                "dec DECIMAL(38, 10)",
                "ch STRING",
                "bin BINARY(4)",
                "time TIME(0)",
                "ts3 TIMESTAMP(6)",
                "ts9 TIMESTAMP(9)",
                "ltz TIMESTAMP_LTZ(6)",
                "m MAP<STRING NOT NULL, ROW<`a` INT, `b` ARRAY<STRING NOT NULL>>>",
                "ms MAP<INT NOT NULL, INT NOT NULL>",
                "r ROW<`a` INT, `b` ARRAY<STRING NOT NULL>>",
            ]
        );
        assert_eq!(primary_key(&schema), ["i64"]);
    }

    #[test]
    fn ids_are_given_to_columns_first() {
        let schema = to_iceberg(&all_types(), &[]).unwrap();
        let ids: Vec<i32> = schema.as_struct().fields().iter().map(|f| f.id).collect();
        assert_eq!(ids, (1..=12).collect::<Vec<_>>());
        assert_eq!(schema.field_id_by_name("m.key"), Some(13));
        assert_eq!(schema.field_id_by_name("m.value"), Some(14));
        assert_eq!(schema.field_id_by_name("m.value.a"), Some(15));
        assert_eq!(schema.field_id_by_name("r.a"), Some(20));
        assert_eq!(schema.highest_field_id(), 22);
    }

    #[test]
    fn arrow_types_are_the_shared_ones_with_ids() {
        let schema = to_iceberg(&all_types(), &[]).unwrap();
        let arrow = to_arrow(&schema).unwrap();
        for (field, (name, data_type)) in arrow.fields().iter().zip(to_flink(&schema).unwrap()) {
            let shared = calve_types::arrow::field(&name, &data_type).unwrap();
            assert!(field.data_type().equals_datatype(shared.data_type()), "{name}");
            assert_eq!(field.is_nullable(), shared.is_nullable());
            assert!(field.metadata().contains_key(PARQUET_FIELD_ID_META_KEY));
        }
        let ArrowType::Map(entries, _) = arrow.field(9).data_type() else { panic!() };
        let ArrowType::Struct(entry) = entries.data_type() else { panic!() };
        assert_eq!(entry[0].metadata()[PARQUET_FIELD_ID_META_KEY], "13");
    }

    #[test]
    fn keys_and_types_iceberg_forbids_are_refused() {
        let column = |t: LogicalType| vec![("k".to_owned(), t.not_null(), None)];
        let key = ["k".to_owned()];
        let detail = |t| to_iceberg(&column(t), &key).unwrap_err().detail.unwrap();
        assert_eq!(
            detail(LogicalType::Double),
            "Cannot add field k as an identifier field: must not be float or double field"
        );
        assert_eq!(
            detail(LogicalType::Array(Box::new(LogicalType::Int.nullable()))),
            "Cannot add field k as an identifier field: not a primitive type field"
        );
        let error = to_iceberg(&column(LogicalType::Variant), &[]).unwrap_err();
        assert_eq!(error.message, "not supported: columns of type VARIANT in an Iceberg table");
        assert_eq!(to_iceberg(&column(LogicalType::Int), &["x".to_owned()]).unwrap_err().code, "unknown-column");
    }
}
