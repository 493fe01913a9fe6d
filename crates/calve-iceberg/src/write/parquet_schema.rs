//! The Parquet schema of an Iceberg schema (Iceberg spec, appendix A; Java's `TypeToMessageType`).

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use calve_types::Result;
use iceberg::spec::{NestedField, NestedFieldRef, PrimitiveType, Type};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type as ParquetType, TypePtr};

use crate::error::Context;

/// The Parquet schema of files with these columns.
///
/// # Errors
/// `io` for what Parquet refuses.
pub(crate) fn parquet_schema(columns: &[NestedFieldRef]) -> Result<SchemaDescriptor> {
    let fields = columns.iter().map(|f| node(&f.name, f)).collect::<Result<Vec<_>>>()?;
    let root = ParquetType::group_type_builder("table").with_fields(fields).build().context(|| WHAT)?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

const WHAT: &str = "make a Parquet schema";

fn node(name: &str, field: &NestedField) -> Result<TypePtr> {
    let repetition = if field.required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    let group = |children: Vec<TypePtr>, logical: Option<LogicalType>| {
        ParquetType::group_type_builder(name)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .with_id(Some(field.id))
            .with_fields(children)
            .build()
    };
    let repeated = |name: &str, children: Vec<TypePtr>| {
        ParquetType::group_type_builder(name).with_repetition(Repetition::REPEATED).with_fields(children).build()
    };
    let made = match field.field_type.as_ref() {
        Type::Primitive(primitive) => leaf(name, primitive, repetition, field.id),
        Type::Struct(nested) => group(nested.fields().iter().map(|f| node(&f.name, f)).collect::<Result<_>>()?, None),
        Type::List(list) => repeated("list", vec![node("element", &list.element_field)?])
            .and_then(|middle| group(vec![Arc::new(middle)], Some(LogicalType::List))),
        Type::Map(map) => repeated("key_value", vec![node("key", &map.key_field)?, node("value", &map.value_field)?])
            .and_then(|middle| group(vec![Arc::new(middle)], Some(LogicalType::Map))),
    };
    Ok(Arc::new(made.context(|| WHAT)?))
}

fn leaf(
    name: &str,
    primitive: &PrimitiveType,
    repetition: Repetition,
    id: i32,
) -> parquet::errors::Result<ParquetType> {
    let timestamp = |is_adjusted_to_u_t_c, unit| Some(LogicalType::Timestamp { is_adjusted_to_u_t_c, unit });
    let mut length = None;
    let (physical, logical) = match primitive {
        PrimitiveType::Boolean => (Physical::BOOLEAN, None),
        PrimitiveType::Int => (Physical::INT32, None),
        PrimitiveType::Long => (Physical::INT64, None),
        PrimitiveType::Float => (Physical::FLOAT, None),
        PrimitiveType::Double => (Physical::DOUBLE, None),
        PrimitiveType::Date => (Physical::INT32, Some(LogicalType::Date)),
        PrimitiveType::Time => {
            (Physical::INT64, Some(LogicalType::Time { is_adjusted_to_u_t_c: false, unit: TimeUnit::MICROS }))
        }
        PrimitiveType::Timestamp => (Physical::INT64, timestamp(false, TimeUnit::MICROS)),
        PrimitiveType::Timestamptz => (Physical::INT64, timestamp(true, TimeUnit::MICROS)),
        PrimitiveType::TimestampNs => (Physical::INT64, timestamp(false, TimeUnit::NANOS)),
        PrimitiveType::TimestamptzNs => (Physical::INT64, timestamp(true, TimeUnit::NANOS)),
        PrimitiveType::String => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        PrimitiveType::Binary => (Physical::BYTE_ARRAY, None),
        PrimitiveType::Uuid => {
            length = Some(16);
            (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid))
        }
        PrimitiveType::Fixed(bytes) => {
            length = Some(*bytes as i32);
            (Physical::FIXED_LEN_BYTE_ARRAY, None)
        }
        PrimitiveType::Decimal { precision, scale } => {
            let logical = LogicalType::Decimal { scale: *scale as i32, precision: *precision as i32 };
            let physical = match precision {
                0..=9 => Physical::INT32,
                10..=18 => Physical::INT64,
                _ => {
                    length = Type::decimal_required_bytes(*precision).ok().map(|bytes| bytes as i32);
                    Physical::FIXED_LEN_BYTE_ARRAY
                }
            };
            (physical, Some(logical))
        }
    };
    let mut builder = ParquetType::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .with_id(Some(id));
    if let PrimitiveType::Decimal { precision, scale } = primitive {
        builder = builder.with_precision(*precision as i32).with_scale(*scale as i32);
    }
    if let Some(length) = length {
        builder = builder.with_length(length);
    }
    builder.build()
}

/// The Arrow types handed to Parquet's writer: those of [`crate::schema::to_arrow`], but `fixed` and `uuid` have
/// their length.
///
/// # Errors
/// As [`crate::schema::to_arrow`].
pub(crate) fn physical_arrow(columns: &[NestedFieldRef]) -> Result<ArrowSchemaRef> {
    let mut fields = Vec::with_capacity(columns.len());
    for column in columns {
        let field = crate::schema::arrow_field(column)?;
        fields.push(Arc::new(with_lengths(&field, column)));
    }
    Ok(Arc::new(ArrowSchema::new(Fields::from(fields))))
}

fn with_lengths(field: &Field, column: &NestedField) -> Field {
    let data_type = match (column.field_type.as_ref(), field.data_type()) {
        (Type::Primitive(PrimitiveType::Uuid), _) => ArrowType::FixedSizeBinary(16),
        (Type::Primitive(PrimitiveType::Fixed(n)), _) => ArrowType::FixedSizeBinary(*n as i32),
        (Type::Struct(nested), ArrowType::Struct(fields)) => {
            ArrowType::Struct(fields.iter().zip(nested.fields()).map(|(f, c)| Arc::new(with_lengths(f, c))).collect())
        }
        (Type::List(list), ArrowType::List(element)) => {
            ArrowType::List(Arc::new(with_lengths(element, &list.element_field)))
        }
        (Type::Map(map), ArrowType::Map(entries, sorted)) => match entries.data_type() {
            ArrowType::Struct(fields) => {
                let children = fields.iter().zip([&map.key_field, &map.value_field]);
                let children: Fields = children.map(|(f, c)| Arc::new(with_lengths(f, c))).collect();
                let entries = entries.as_ref().clone().with_data_type(ArrowType::Struct(children));
                ArrowType::Map(Arc::new(entries), *sorted)
            }
            other => other.clone(),
        },
        (_, other) => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use calve_types::LogicalType as Flink;
    use parquet::schema::printer::print_schema;

    use super::*;

    #[test]
    fn types_lie_in_parquet_as_iceberg_demands() {
        let column = |name: &str, t: Flink| (name.to_owned(), t.nullable(), None);
        let decimal = |precision| Flink::Decimal { precision, scale: 2 };
        let schema = crate::schema::to_iceberg(
            &[
                column("d9", decimal(9)),
                column("d18", decimal(18)),
                column("d38", decimal(38)),
                column("fixed", Flink::Binary(4)),
                column("time", Flink::Time(3)),
                column("ts", Flink::Timestamp(6)),
                column("ltz", Flink::TimestampLtz(9)),
                column("m", Flink::Map(Box::new(Flink::STRING.nullable()), Box::new(Flink::Int.nullable()))),
                column("a", Flink::Array(Box::new(Flink::BigInt.not_null()))),
            ],
            &[],
        )
        .unwrap();
        let parquet = parquet_schema(schema.as_struct().fields()).unwrap();
        let mut text = Vec::new();
        print_schema(&mut text, parquet.root_schema());
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "message table {
  OPTIONAL INT32 d9 [1] (DECIMAL(9,2));
  OPTIONAL INT64 d18 [2] (DECIMAL(18,2));
  OPTIONAL FIXED_LEN_BYTE_ARRAY (16) d38 [3] (DECIMAL(38,2));
  OPTIONAL FIXED_LEN_BYTE_ARRAY (4) fixed [4];
  OPTIONAL INT64 time [5] (TIME(MICROS,false));
  OPTIONAL INT64 ts [6] (TIMESTAMP(MICROS,false));
  OPTIONAL INT64 ltz [7] (TIMESTAMP(NANOS,true));
  OPTIONAL group m [8] (MAP) {
    REPEATED group key_value {
      REQUIRED BYTE_ARRAY key [10] (STRING);
      OPTIONAL INT32 value [11];
    }
  }
  OPTIONAL group a [9] (LIST) {
    REPEATED group list {
      REQUIRED INT64 element [12];
    }
  }
}
"
        );
    }
}
