//! The types of an ORC file as Arrow types, with Iceberg's field ids (Iceberg spec, appendix A, "ORC").

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, make_array};
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Field, Fields, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use iceberg::spec::{PrimitiveType, Schema};
use orc_rust::proto::r#type::Kind;
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

/// A column as the decoder gives it, and as it is to be.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) decoded: Field,
    pub(super) wanted: Field,
}

/// The columns of a file. `table` tells which timestamps have nanoseconds: ORC's always have.
pub(super) fn columns(types: &[orc_rust::proto::Type], table: &Schema) -> Vec<Column> {
    let Some(row) = types.first() else { return Vec::new() };
    children(row).map(|(name, child)| column(types, name, child, true, table)).collect()
}

fn children(of: &orc_rust::proto::Type) -> impl Iterator<Item = (&str, usize)> {
    of.field_names.iter().map(String::as_str).zip(of.subtypes.iter().map(|child| *child as usize))
}

fn attribute<'a>(of: &'a orc_rust::proto::Type, key: &str) -> Option<&'a str> {
    of.attributes.iter().find(|pair| pair.key() == key).map(|pair| pair.value())
}

fn column(types: &[orc_rust::proto::Type], name: &str, index: usize, nullable: bool, table: &Schema) -> Column {
    let Some(of) = types.get(index) else {
        let field = Field::new(name, ArrowType::Null, true);
        return Column { decoded: field.clone(), wanted: field };
    };
    let id = attribute(of, "iceberg.id").and_then(|id| id.parse::<i32>().ok());
    let inner = |name: &str, place: usize, nullable: bool| {
        let child = of.subtypes.get(place).map_or(usize::MAX, |child| *child as usize);
        column(types, name, child, nullable, table)
    };
    let same = |data_type: ArrowType| (data_type.clone(), data_type);
    let (decoded, wanted) = match of.kind() {
        Kind::Boolean => same(ArrowType::Boolean),
        Kind::Byte => same(ArrowType::Int8),
        Kind::Short => same(ArrowType::Int16),
        Kind::Int => same(ArrowType::Int32),
        Kind::Long if attribute(of, "iceberg.long-type") == Some("TIME") => {
            (ArrowType::Int64, ArrowType::Time64(TimeUnit::Microsecond))
        }
        Kind::Long => same(ArrowType::Int64),
        Kind::Float => same(ArrowType::Float32),
        Kind::Double => same(ArrowType::Float64),
        Kind::String | Kind::Varchar | Kind::Char => same(ArrowType::Utf8),
        Kind::Binary => same(ArrowType::Binary),
        Kind::Date => same(ArrowType::Date32),
        Kind::Decimal => match (of.precision(), of.scale()) {
            (precision @ 1..=38, scale) if scale <= precision => {
                same(ArrowType::Decimal128(precision as u8, scale as i8))
            }
            _ => same(ArrowType::Null),
        },
        // as nanoseconds in a decimal: ORC's seconds reach further than Arrow's nanoseconds
        Kind::Timestamp | Kind::TimestampInstant => {
            let of = id.and_then(|id| table.field_by_id(id)).and_then(|field| field.field_type.as_primitive_type());
            let unit = match of {
                Some(PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs) => TimeUnit::Nanosecond,
                _ => TimeUnit::Microsecond,
            };
            (ArrowType::Decimal128(38, 9), ArrowType::Timestamp(unit, None))
        }
        Kind::List => {
            let element = inner("element", 0, true);
            (ArrowType::List(Arc::new(element.decoded)), ArrowType::List(Arc::new(element.wanted)))
        }
        Kind::Map => {
            let (key, value) = (inner("key", 0, false), inner("value", 1, true));
            (map(key.decoded, value.decoded), map(key.wanted, value.wanted))
        }
        Kind::Struct => {
            let fields: Vec<_> = children(of).map(|(name, child)| column(types, name, child, true, table)).collect();
            let of = |field: fn(&Column) -> &Field| {
                ArrowType::Struct(fields.iter().map(|c| Arc::new(field(c).clone())).collect::<Fields>())
            };
            (of(|c| &c.decoded), of(|c| &c.wanted))
        }
        Kind::Union => same(ArrowType::Null),
    };
    let mut wanted = Field::new(name, wanted, nullable);
    if let Some(id) = id {
        wanted.set_metadata(HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())]));
    }
    Column { decoded: Field::new(name, decoded, nullable), wanted }
}

fn map(key: Field, value: Field) -> ArrowType {
    // the decoder makes entries of this name, whatever they are called here
    let entries = Field::new("entries", ArrowType::Struct(Fields::from(vec![key, value])), false);
    ArrowType::Map(Arc::new(entries), false)
}

/// What the decoder gave, in the type that is wanted.
///
/// # Errors
/// A sentence about values that do not fit.
pub(super) fn refine(array: &ArrayRef, wanted: &ArrowType) -> Result<ArrayRef, String> {
    let wrong = || format!("{} for {wanted}", array.data_type());
    let failed = |e: arrow::error::ArrowError| e.to_string();
    Ok(match wanted {
        ArrowType::Timestamp(unit, _) => {
            let nanos = array.as_primitive_opt::<Decimal128Type>().ok_or_else(wrong)?;
            let far = || "a timestamp is too far from 1970".to_owned();
            match unit {
                TimeUnit::Nanosecond => Arc::new(
                    nanos.try_unary::<_, TimestampNanosecondType, String>(|n| i64::try_from(n).map_err(|_| far()))?,
                ),
                // as Iceberg's Java library, which cuts what is finer
                _ => Arc::new(nanos.try_unary::<_, TimestampMicrosecondType, String>(|n| {
                    i64::try_from(n.div_euclid(1_000)).map_err(|_| far())
                })?),
            }
        }
        ArrowType::Time64(_) => {
            let data = array.to_data().into_builder().data_type(wanted.clone());
            make_array(data.build().map_err(failed)?)
        }
        ArrowType::Struct(fields) => {
            let from = array.as_struct_opt().ok_or_else(wrong)?;
            let columns = from.columns().iter().zip(fields).map(|(child, field)| refine(child, field.data_type()));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let nulls = from.nulls().cloned();
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, from.len()).map_err(failed)?)
        }
        ArrowType::List(element) => {
            let from = array.as_list_opt::<i32>().ok_or_else(wrong)?;
            let values = refine(from.values(), element.data_type())?;
            let nulls = from.nulls().cloned();
            Arc::new(ListArray::try_new(element.clone(), from.offsets().clone(), values, nulls).map_err(failed)?)
        }
        ArrowType::Map(entries, _) => {
            let from = array.as_map_opt().ok_or_else(wrong)?;
            let values = refine(&(Arc::new(from.entries().clone()) as ArrayRef), entries.data_type())?;
            let values = values.as_struct_opt().ok_or_else(wrong)?.clone();
            let nulls = from.nulls().cloned();
            Arc::new(MapArray::try_new(entries.clone(), from.offsets().clone(), values, nulls, false).map_err(failed)?)
        }
        _ if array.data_type() == wanted => array.clone(),
        _ => return Err(wrong()),
    })
}
