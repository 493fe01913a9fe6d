//! The primary key and what replacing rows by it takes.

use std::sync::Arc;

use calve_types::{Error, Result};
use iceberg::spec::{NestedFieldRef, PrimitiveType, Schema, Type};

use super::file::FileKind;
use super::live::DeleteTargets;

/// What all writers that delete rows of older commits share.
#[derive(Clone)]
pub(crate) struct Upsert {
    /// The columns of the equality deletes: those of the key, or all where whole rows are taken back.
    pub(crate) key: Vec<NestedFieldRef>,
    pub(crate) kind: Arc<FileKind>,
    pub(crate) targets: Arc<DeleteTargets>,
}

/// The key columns of a schema, in the order of `ids`, and where they stand.
///
/// # Errors
/// `not-supported` for a key inside a struct; `invalid-table` for a key of an approximate or nested type.
pub(crate) fn key_columns(schema: &Schema, ids: &[i32]) -> Result<(Vec<NestedFieldRef>, Vec<usize>)> {
    let fields = schema.as_struct().fields();
    let mut columns = Vec::with_capacity(ids.len());
    let mut indices = Vec::with_capacity(ids.len());
    for id in ids {
        let Some((index, field)) = fields.iter().enumerate().find(|(_, field)| field.id == *id) else {
            let name = schema.name_by_field_id(*id).unwrap_or("?");
            return Err(Error::unsupported(format!("a primary key with the nested field '{name}'")));
        };
        match field.field_type.as_ref() {
            Type::Primitive(PrimitiveType::Float | PrimitiveType::Double)
            | Type::Struct(_)
            | Type::List(_)
            | Type::Map(_) => {
                let name = &field.name;
                return Err(Error::new("invalid-table", format!("column '{name}' cannot be part of the primary key")));
            }
            Type::Primitive(_) => {}
        }
        columns.push(field.clone());
        indices.push(index);
    }
    Ok((columns, indices))
}
