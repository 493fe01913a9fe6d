//! Expressions over the table's columns as expressions over the columns of one file, by field id.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType as ArrowType, FieldRef, Schema as ArrowSchema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result as DfResult, ScalarValue, internal_datafusion_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column, lit};
use datafusion::physical_expr_adapter::{PhysicalExprAdapter, PhysicalExprAdapterFactory};
use iceberg::spec::DataFile;

use super::context::Columns;
use super::convert::{Conversion, conversion, descend, is_lossless, missing};
use super::external;
use super::layout::Layout;
use calve_types::{Error, Result};

/// How the columns of a scan are found in one file.
#[derive(Debug, Clone)]
pub(crate) struct FileColumns {
    pub(crate) columns: Arc<Columns>,
    pub(crate) layout: Arc<Layout>,
    /// Values of identity partition fields, by the id of their source: for columns that a migrated file lacks.
    pub(crate) constants: HashMap<i32, ScalarValue>,
    pub(crate) file: FileName,
}

/// A file, for errors and for what its manifest entry says.
#[derive(Debug, Clone)]
pub(crate) struct FileName(pub(crate) Arc<iceberg::spec::ManifestEntry>);

impl FileName {
    fn data_file(&self) -> &DataFile {
        self.0.data_file()
    }
}

impl FileColumns {
    /// The expression for the column at `index` over batches with the file's columns `physical`.
    ///
    /// # Errors
    /// `invalid-table`, naming the file, if the stored values cannot be read as the column's type.
    pub(crate) fn expression(&self, index: usize, physical: &ArrowSchema) -> Result<Arc<dyn PhysicalExpr>> {
        let (Some(field), Some(target)) = (self.columns.fields.get(index), self.columns.schema.fields().get(index))
        else {
            return Err(Error::internal(format!("no column {index} in a scan")));
        };
        let unreadable = |why: String| {
            let path = self.file.data_file().file_path();
            Error::new("invalid-table", format!("cannot read column '{}' of the data file '{path}': {why}", field.name))
        };
        let found = self.layout.place(field.id).and_then(|place| Some((place, self.layout.field(place)?)));
        let Some((place, stored)) = found else {
            return Ok(lit(match self.constants.get(&field.id) {
                Some(value) => value.clone(),
                None => missing(field, target).map_err(unreadable)?,
            }));
        };
        let root = physical.fields().get(place.column).ok_or_else(|| unreadable("its column is gone".to_owned()))?;
        let mut from = root.data_type();
        for child in &place.path {
            match from {
                ArrowType::Struct(fields) if *child < fields.len() => from = fields[*child].data_type(),
                _ => return Err(unreadable("its struct is gone".to_owned())),
            }
        }
        let times = self.columns.times(index);
        let conversion = conversion(stored, from, &field.field_type, target.data_type(), times).map_err(unreadable)?;
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(root.name(), place.column));
        if place.path.is_empty() && self.may_prune(field.id, target.data_type()) {
            // plain columns and casts are what DataFusion prunes row groups and pages by
            match &conversion {
                Conversion::Same => return Ok(column),
                Conversion::Cast(to) if is_lossless(from, to) => {
                    return Ok(Arc::new(CastExpr::new(column, to.clone(), None)));
                }
                _ => {}
            }
        }
        Ok(Arc::new(FileColumn { column, path: place.path.clone(), conversion, field: target.clone() }))
    }

    /// NaN is above all numbers for DataFusion, but not in the bounds of Parquet's row groups.
    fn may_prune(&self, id: i32, data_type: &ArrowType) -> bool {
        !data_type.is_floating() || self.file.data_file().nan_value_counts().get(&id) == Some(&0)
    }
}

impl PhysicalExprAdapterFactory for FileColumns {
    fn create(&self, _logical: SchemaRef, physical: SchemaRef) -> DfResult<Arc<dyn PhysicalExprAdapter>> {
        Ok(Arc::new(FileAdapter { columns: self.clone(), physical }))
    }
}

#[derive(Debug)]
struct FileAdapter {
    columns: FileColumns,
    physical: SchemaRef,
}

impl PhysicalExprAdapter for FileAdapter {
    fn rewrite(&self, expr: Arc<dyn PhysicalExpr>) -> DfResult<Arc<dyn PhysicalExpr>> {
        expr.transform_up(|e| match e.as_any().downcast_ref::<Column>() {
            Some(column) => {
                Ok(Transformed::yes(self.columns.expression(column.index(), &self.physical).map_err(external)?))
            }
            None => Ok(Transformed::no(e)),
        })
        .data()
    }
}

/// A column of a file, or a field inside one, converted to the table's type. DataFusion cannot look into it, so it prunes
/// nothing.
#[derive(Debug, Clone)]
struct FileColumn {
    column: Arc<dyn PhysicalExpr>,
    path: Vec<usize>,
    conversion: Conversion,
    field: FieldRef,
}

impl PartialEq for FileColumn {
    fn eq(&self, other: &Self) -> bool {
        self.column.eq(&other.column)
            && self.path == other.path
            && self.conversion == other.conversion
            && self.field == other.field
    }
}

impl Eq for FileColumn {}

impl Hash for FileColumn {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.column.hash(state);
        self.path.hash(state);
        self.conversion.hash(state);
        self.field.hash(state);
    }
}

impl fmt::Display for FileColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field({})", self.column)
    }
}

impl PhysicalExpr for FileColumn {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn data_type(&self, _: &ArrowSchema) -> DfResult<ArrowType> {
        Ok(self.field.data_type().clone())
    }

    fn nullable(&self, _: &ArrowSchema) -> DfResult<bool> {
        Ok(self.field.is_nullable())
    }

    fn return_field(&self, _: &ArrowSchema) -> DfResult<FieldRef> {
        Ok(self.field.clone())
    }

    fn evaluate(&self, batch: &RecordBatch) -> DfResult<ColumnarValue> {
        let array = self.column.evaluate(batch)?.into_array(batch.num_rows())?;
        Ok(ColumnarValue::Array(self.conversion.apply(&descend(&array, &self.path)?)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.column]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> DfResult<Arc<dyn PhysicalExpr>> {
        let column = children.pop().ok_or_else(|| internal_datafusion_err!("a file column without its column"))?;
        Ok(Arc::new(Self { column, ..self.as_ref().clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
