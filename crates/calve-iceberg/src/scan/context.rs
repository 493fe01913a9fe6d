//! What all files of one scan share.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef};
use calve_types::{Error, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::physical_expr::expressions::Column;
use iceberg::spec::{NameMapping, NestedFieldRef, PrimitiveType, Type};

use super::convert::Times;
use super::options::ScanOptions;
use super::rows::RowColumn;
use crate::table::Table;

/// The table, and how to find the fields of its current schema in a file.
#[derive(Debug)]
pub(crate) struct ScanContext {
    pub(crate) table: Table,
    /// `schema.name-mapping.default`, for files without field ids.
    pub(crate) mapping: Option<NameMapping>,
    /// What tables of deleted keys and positions are charged to.
    pub(crate) pool: Arc<dyn MemoryPool>,
}

impl ScanContext {
    /// For a writer that reads rows of the table, in the memory of its statement.
    pub(crate) fn of_writer(table: &Table, options: ScanOptions, context: &TaskContext) -> Self {
        Self { table: table.clone(), mapping: options.mapping, pool: context.memory_pool().clone() }
    }
}

/// The columns a scan can read from a file: those of the table, those about rows, then key columns of equality deletes
/// that are not among them (dropped ones, fields of structs, and times, which the table's columns do not have in full).
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) fields: Vec<NestedFieldRef>,
    /// The same as Arrow fields. Their names are field ids, so that nothing can be matched by name.
    pub(crate) schema: SchemaRef,
    by_id: HashMap<i32, usize>,
    table_columns: usize,
}

impl Columns {
    /// The columns of the current schema, those about `rows` and the equality fields `keys`.
    ///
    /// # Errors
    /// `invalid-table` if no schema of the table has a key field.
    pub(crate) fn new(table: &Table, rows: &[RowColumn], keys: &BTreeSet<i32>) -> Result<Self> {
        let mut fields: Vec<NestedFieldRef> = table.metadata().current_schema().as_struct().fields().to_vec();
        let table_columns = fields.len();
        fields.extend(rows.iter().map(|column| column.field()));
        let mut arrow: Vec<Field> = fields.iter().map(plain_field).collect::<Result<_>>()?;
        let mut by_id: HashMap<i32, usize> = fields.iter().enumerate().map(|(i, f)| (f.id, i)).collect();
        for id in keys {
            let field = field_of_any_schema(table, *id)?;
            if !by_id.contains_key(id) || *field.field_type == Type::Primitive(PrimitiveType::Time) {
                by_id.insert(*id, fields.len());
                arrow.push(plain_field(&field)?.with_nullable(true));
                fields.push(field);
            }
        }
        // not a name anything else can have
        let name = |(index, field): (usize, &NestedFieldRef)| match index < table_columns {
            true => format!("\0{}", field.id),
            false => format!("\0\0{}", field.id),
        };
        let named = fields.iter().enumerate().map(name).zip(arrow).map(|(name, field)| field.with_name(name));
        let schema = Arc::new(ArrowSchema::new(named.collect::<Vec<_>>()));
        Ok(Self { fields, schema, by_id, table_columns })
    }

    /// Whether all these columns are the table's own.
    pub(crate) fn are_of_table<'a>(&self, columns: impl IntoIterator<Item = &'a Column>) -> bool {
        columns.into_iter().all(|column| column.index() < self.table_columns)
    }

    /// How much of a time in a column is read.
    pub(crate) fn times(&self, index: usize) -> Times {
        if index < self.table_columns { Times::Millis } else { Times::Exact }
    }

    /// The position of the column with this id, of a key column if there is one.
    ///
    /// # Errors
    /// An internal error if the scan was not made with it.
    pub(crate) fn index(&self, id: i32) -> Result<usize> {
        self.by_id.get(&id).copied().ok_or_else(|| Error::internal(format!("no column for the field id {id}")))
    }
}

/// The definition of a field: the current schema's, else that of the newest schema that has it.
///
/// # Errors
/// `invalid-table` if there is none.
pub(crate) fn field_of_any_schema(table: &Table, id: i32) -> Result<NestedFieldRef> {
    let metadata = table.metadata();
    if let Some(field) = metadata.current_schema().field_by_id(id) {
        return Ok(field.clone());
    }
    let newest = metadata.schemas_iter().filter(|s| s.field_by_id(id).is_some()).max_by_key(|s| s.schema_id());
    newest.and_then(|s| s.field_by_id(id)).cloned().ok_or_else(|| {
        Error::new(
            "invalid-table",
            format!("an equality delete of table '{}' is by the unknown field id {id}", table.ident()),
        )
    })
}

/// The Arrow field of a field, with the types of [`crate::schema::to_arrow`] but without metadata.
///
/// # Errors
/// As [`crate::schema::to_arrow`].
pub(crate) fn plain_field(field: &NestedFieldRef) -> Result<Field> {
    Ok(plain(&crate::schema::arrow_field(field)?))
}

fn plain(field: &Field) -> Field {
    let inner = |field: &FieldRef| Arc::new(plain(field));
    let data_type = match field.data_type() {
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(inner).collect::<Fields>()),
        ArrowType::List(element) => ArrowType::List(inner(element)),
        ArrowType::Map(entries, sorted) => ArrowType::Map(inner(entries), *sorted),
        other => other.clone(),
    };
    Field::new(field.name(), data_type, field.is_nullable())
}
