//! LISTAGG, COLLECT, ARRAY_AGG and the like: aggregates that keep their values.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, ListArray, MapArray, StringArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use calve_types::Error;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::format_state_name;
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

use super::values::Values;
use crate::args::{failure, mistyped};
use crate::json::{key_order, split_member};
use crate::retype::retype;

/// What becomes of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Gather {
    /// LISTAGG: joined by a separator, NULLs left out; NULL without values.
    Text,
    /// COLLECT: a MULTISET, NULLs left out.
    Multiset,
    /// ARRAY_AGG: an ARRAY, NULLs kept; NULL without values.
    Array,
    /// JSON_ARRAYAGG of JSON texts, NULLs left out.
    JsonArray,
    /// JSON_OBJECTAGG of members as JSON texts, NULLs left out.
    JsonObject,
    /// SINGLE_VALUE: the one value; NULL without one.
    Single,
}

pub(super) fn udaf(name: &str, kind: Gather, returns: ArrowType) -> AggregateUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    AggregateUDF::new_from_impl(GatherUdaf { name: name.to_owned(), kind, returns, signature })
}

#[derive(Debug, Clone)]
struct GatherUdaf {
    name: String,
    kind: Gather,
    returns: ArrowType,
    signature: Signature,
}

impl PartialEq for GatherUdaf {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.returns == other.returns
    }
}

impl Eq for GatherUdaf {}

impl Hash for GatherUdaf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, &self.returns).hash(state);
    }
}

impl AggregateUDFImpl for GatherUdaf {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> Result<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(self.returns.clone())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let input = args.expr_fields.first().map_or(ArrowType::Null, |f| f.data_type().clone());
        let keeps_nulls = matches!(self.kind, Gather::Array | Gather::Single);
        Ok(Box::new(Gathered {
            kind: self.kind,
            returns: self.returns.clone(),
            separator: ",".to_owned(),
            values: Values::new(input, args.is_distinct, keeps_nulls),
        }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let input = args.input_fields.first().map_or(ArrowType::Null, |f| f.data_type().clone());
        let field = |part: &str, data_type| Arc::new(Field::new(format_state_name(args.name, part), data_type, true));
        Ok(vec![field("values", Values::state_type(input)), field("separator", ArrowType::Utf8)])
    }
}

#[derive(Debug)]
struct Gathered {
    kind: Gather,
    returns: ArrowType,
    separator: String,
    values: Values,
}

impl Gathered {
    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        self.values.add(values)?;
        if self.kind == Gather::Single && self.values.len() > 1 {
            return Err(failure(
                Error::new("too-many-rows", "'SINGLE_VALUE' of more than one value")
                    .with_detail("SingleValueAggFunction received more than one element."),
            ));
        }
        Ok(())
    }
}

/// The members `"key":value` as an object, keys in order.
fn object(members: &StringArray) -> Result<String> {
    let mut keyed = members
        .iter()
        .flatten()
        .map(|member| split_member(member).map(|(key, _)| (key, member)))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| failure(Error::internal("a member of a JSON object without a key")))?;
    keyed.sort_by(|(a, _), (b, _)| key_order(a, b));
    if let Some([(key, _), _]) = keyed.windows(2).find(|w| matches!(w, [(a, _), (b, _)] if a == b)) {
        return Err(failure(
            Error::new("duplicate-key", format!("the key '{key}' is twice in JSON_OBJECTAGG")).with_detail(format!(
                "Key '{key}' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG. Please ensure that \
                 keys are unique."
            )),
        ));
    }
    let members: Vec<&str> = keyed.into_iter().map(|(_, member)| member).collect();
    Ok(format!("{{{}}}", members.join(",")))
}

impl Accumulator for Gathered {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if let Some(separators) = values.get(1) {
            let separators = separators.as_string_opt::<i32>().ok_or_else(|| mistyped("Utf8", separators))?;
            if let Some(separator) = separators.iter().flatten().next() {
                separator.clone_into(&mut self.separator);
            }
        }
        let values = values.first().ok_or_else(|| failure(Error::internal("an aggregate without an argument")))?;
        self.add(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let values = self.values.all()?;
        let texts = || values.as_string_opt::<i32>().ok_or_else(|| mistyped("Utf8", &values));
        match (self.kind, &self.returns) {
            (Gather::Text, _) => {
                let parts: Vec<&str> = texts()?.iter().flatten().collect();
                Ok(ScalarValue::Utf8((!parts.is_empty()).then(|| parts.join(&self.separator))))
            }
            (Gather::JsonArray, _) => {
                let elements: Vec<&str> = texts()?.iter().flatten().collect();
                Ok(ScalarValue::Utf8(Some(format!("[{}]", elements.join(",")))))
            }
            (Gather::JsonObject, _) => Ok(ScalarValue::Utf8(Some(object(texts()?)?))),
            (Gather::Single, _) if values.is_empty() => ScalarValue::try_from(&self.returns),
            (Gather::Single, _) => ScalarValue::try_from_array(&values, 0),
            (Gather::Array, ArrowType::List(field)) => {
                if values.is_empty() {
                    return ScalarValue::try_from(&self.returns);
                }
                let offsets = OffsetBuffer::from_lengths([values.len()]);
                let values = retype(values, field.data_type())?;
                Ok(ScalarValue::List(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, None)?)))
            }
            (Gather::Multiset, ArrowType::Map(entry, _)) => {
                let mut places = std::collections::HashMap::new();
                let mut firsts: Vec<u32> = vec![];
                let mut counts: Vec<i32> = vec![];
                for row in 0..values.len() {
                    let place = *places.entry(ScalarValue::try_from_array(&values, row)?).or_insert(counts.len());
                    match counts.get_mut(place) {
                        Some(count) => *count = count.wrapping_add(1),
                        None => {
                            firsts.push(u32::try_from(row).unwrap_or(u32::MAX));
                            counts.push(1);
                        }
                    }
                }
                let keys = arrow::compute::take(&values, &arrow::array::UInt32Array::from(firsts), None)?;
                let offsets = OffsetBuffer::from_lengths([keys.len()]);
                let ArrowType::Struct(fields) = entry.data_type() else {
                    return Err(failure(Error::internal(format!("a multiset of {}", self.returns))));
                };
                let entries =
                    StructArray::try_new(fields.clone(), vec![keys, Arc::new(Int32Array::from(counts))], None)?;
                let map = MapArray::try_new(Arc::clone(entry), offsets, entries, None, false)?;
                Ok(ScalarValue::Map(Arc::new(map)))
            }
            (_, other) => Err(failure(Error::internal(format!("an aggregate of {other}")))),
        }
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.values.state()?, ScalarValue::Utf8(Some(self.separator.clone()))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, separators] = states else {
            return Err(failure(Error::internal(format!("{} columns of an aggregate's state", states.len()))));
        };
        let lists = values.as_list_opt::<i32>().ok_or_else(|| mistyped("List", values))?;
        let separators = separators.as_string_opt::<i32>().ok_or_else(|| mistyped("Utf8", separators))?;
        for (list, separator) in lists.iter().zip(separators) {
            let Some(list) = list.filter(|list| !list.is_empty()) else { continue };
            if let Some(separator) = separator {
                separator.clone_into(&mut self.separator);
            }
            self.add(&list)?;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.values.size()
    }
}
