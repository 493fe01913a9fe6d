//! UNNEST.
//!
//! A collection of any kind first becomes a list of structs, one for each element with its parts and its position; then
//! DataFusion has only lists to take apart.

use std::any::Any;
use std::sync::Arc;

use calve_functions as functions;
use calve_types::{DataType, Error, LogicalType, Result, RowField, arrow as mapping};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, Int32Builder, ListArray, NullBufferBuilder, StructArray, UInt32Array,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field as ArrowField, FieldRef, Fields, Int32Type};
use datafusion::common::{DataFusionError, Result as DfResult, UnnestOptions};
use datafusion::logical_expr::{
    ColumnarValue, Expr as DfExpr, LogicalPlanBuilder, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};

use super::expr::references;
use super::plans::last_column;
use super::subquery::Domain;
use super::{Lowered, Lowering, failed};
use crate::expr::Expr;
use crate::rel::Field;

/// What is taken apart.
pub(super) struct Unnest<'a> {
    pub collection: &'a Expr,
    pub outer: bool,
    pub ordinality: bool,
}

impl Lowering<'_> {
    pub(super) fn unnest(
        &mut self,
        input: Lowered,
        unnest: &Unnest,
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let (input, scope) = self.scope(input, std::iter::once(unnest.collection), level, domain)?;
        let collection = self.expr(unnest.collection, &scope)?;
        let parts = parts(&unnest.collection.data_type.logical)?;
        let udf = Elements::new(&parts, &unnest.collection.data_type.logical, unnest.outer)?;
        let elements = ScalarUDF::new_from_impl(udf).call(vec![collection]);

        let keys: Vec<_> = input.outer.keys().copied().collect();
        let width = input.columns.len();
        let columns = input.columns.iter().chain(input.outer.values());
        let mut exprs: Vec<_> = columns.map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect();
        exprs.push((elements, "element".to_owned()));
        let (plan, mut columns) = self.project("u", input.plan, exprs)?;
        let element = columns.pop().ok_or_else(|| Error::internal("no column to unnest"))?;
        let options = UnnestOptions::new().with_preserve_nulls(unnest.outer);
        let plan = LogicalPlanBuilder::from(plan)
            .unnest_columns_with_options(vec![element], options)
            .and_then(LogicalPlanBuilder::build)
            .map_err(failed)?;
        let outer = columns.split_off(width);
        // It has lost its qualifier.
        let element = last_column(&plan)?;

        let mut row = parts.clone();
        row.push(RowField::new("ordinality", LogicalType::Int.not_null()));
        let row = LogicalType::Row(row).nullable();
        let part = |index: usize| functions::field(DfExpr::Column(element.clone()), &row, index, &self.context.eval);
        let mut exprs = references(&columns);
        match parts.as_slice() {
            [only] if let LogicalType::Row(inner) = &only.data_type.logical => {
                let whole = only.data_type.with_nullable(true);
                for i in 0..inner.len() {
                    exprs.push(functions::field(part(0)?, &whole, i, &self.context.eval)?);
                }
            }
            parts => {
                for i in 0..parts.len() {
                    exprs.push(part(i)?);
                }
            }
        }
        if unnest.ordinality {
            exprs.push(part(parts.len())?);
        }
        let outer = keys.into_iter().zip(outer).collect();
        self.project_fields("unnest", Lowered { plan, columns: vec![], outer }, exprs, fields)
    }
}

/// What an element consists of.
fn parts(collection: &LogicalType) -> Result<Vec<RowField>> {
    let part = |name: &str, data_type: &DataType| RowField::new(name, data_type.clone());
    match collection {
        LogicalType::Array(element) | LogicalType::Multiset(element) => Ok(vec![part("element", element)]),
        LogicalType::Map(key, value) => Ok(vec![part("key", key), part("value", value)]),
        other => Err(Error::internal(format!("UNNEST of {other}"))),
    }
}

/// The elements of a collection as a list of structs.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Elements {
    /// The struct of an element.
    fields: Fields,
    /// Whether the collection is a MULTISET, whose map tells how often each element is there.
    counted: bool,
    /// Whether elements are ROWs: Flink leaves out those that are NULL.
    rows: bool,
    /// Whether a collection without elements becomes NULL.
    outer: bool,
    signature: Signature,
}

impl Elements {
    fn new(parts: &[RowField], collection: &LogicalType, outer: bool) -> Result<Self> {
        let mut fields = vec![];
        for part in parts {
            fields.push(ArrowField::new(part.name.clone(), mapping::to_arrow(&part.data_type.logical)?, true));
        }
        fields.push(ArrowField::new("ordinality", ArrowType::Int32, true));
        Ok(Self {
            fields: fields.into(),
            counted: matches!(collection, LogicalType::Multiset(_)),
            rows: matches!(parts, [only] if matches!(only.data_type.logical, LogicalType::Row(_))),
            outer,
            signature: Signature::user_defined(Volatility::Immutable),
        })
    }

    fn list(&self) -> ArrowType {
        ArrowType::List(Arc::new(ArrowField::new("item", ArrowType::Struct(self.fields.clone()), true)))
    }

    fn elements(&self, collection: &ArrayRef) -> DfResult<ArrayRef> {
        let (offsets, columns): (&[i32], Vec<ArrayRef>) = match collection.data_type() {
            ArrowType::Map(..) => {
                let map = collection.as_map();
                (map.value_offsets(), vec![Arc::clone(map.keys()), Arc::clone(map.values())])
            }
            ArrowType::List(_) => {
                let list = collection.as_list::<i32>();
                (list.value_offsets(), vec![Arc::clone(list.values())])
            }
            other => return Err(failure(format!("UNNEST of values of {other}"))),
        };
        let counts = match (self.counted, columns.get(1)) {
            (true, Some(counts)) => Some(
                counts.as_primitive_opt::<Int32Type>().cloned().ok_or_else(|| failure("a MULTISET without counts"))?,
            ),
            _ => None,
        };
        let mut indices: Vec<u32> = Vec::new();
        let mut ordinals = Int32Builder::new();
        let mut lengths = Vec::with_capacity(collection.len());
        let mut nulls = NullBufferBuilder::new(collection.len());
        for (row, bounds) in offsets.windows(2).enumerate() {
            let before = indices.len();
            if let (true, &[start, end]) = (collection.is_valid(row), bounds) {
                let mut ordinal = 0;
                for i in start..end {
                    let index = usize::try_from(i).map_err(|_| failure("an offset out of range"))?;
                    let times = counts.as_ref().map_or(1, |c| c.value(index));
                    let left_out = self.rows && columns.first().is_some_and(|c| c.is_null(index));
                    for _ in 0..times {
                        if left_out {
                            ordinal += 1;
                            continue;
                        }
                        indices.push(u32::try_from(i).map_err(|_| failure("an offset out of range"))?);
                        ordinal += 1;
                        ordinals.append_value(ordinal);
                    }
                }
            }
            let length = indices.len() - before;
            nulls.append(!(self.outer && length == 0) && (collection.is_valid(row) || self.outer));
            lengths.push(length);
        }
        let indices = UInt32Array::from(indices);
        let parts = self.fields.len().saturating_sub(1);
        let mut arrays = Vec::with_capacity(parts + 1);
        for (column, field) in columns.iter().take(parts).zip(&self.fields) {
            arrays.push(super::shape::retype(&take(column, &indices, None)?, field.data_type())?);
        }
        let ordinals: Int32Array = ordinals.finish();
        arrays.push(Arc::new(ordinals));
        let rows = StructArray::try_new(self.fields.clone(), arrays, None)?;
        let item = Arc::new(ArrowField::new("item", ArrowType::Struct(self.fields.clone()), true));
        Ok(Arc::new(ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), Arc::new(rows), nulls.finish())?))
    }
}

fn failure(what: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::External(Box::new(Error::internal(what)))
}

impl ScalarUDFImpl for Elements {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        "ELEMENTS"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> DfResult<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(self.list())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> DfResult<FieldRef> {
        Ok(Arc::new(ArrowField::new(self.name(), self.list(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        let Some(value) = args.args.into_iter().next() else { return Err(failure("ELEMENTS takes one argument")) };
        Ok(ColumnarValue::Array(self.elements(&value.into_array(rows)?)?))
    }
}
