//! Values kept for the end of an aggregate: all of them, or each once.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, UInt32Array, new_empty_array};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion_common::{Result, ScalarValue};

use crate::args::mistyped;

/// Values of one group, in the order in which they came.
pub(super) struct Values {
    input: ArrowType,
    keeps_nulls: bool,
    /// With DISTINCT.
    seen: Option<HashSet<ScalarValue>>,
    chunks: Vec<ArrayRef>,
    /// Values in the chunks, and the bytes that these take.
    length: usize,
    bytes: usize,
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("input", &self.input).finish_non_exhaustive()
    }
}

/// A small part of a large array as an array of its own, so that the large one can go.
fn compact(array: ArrayRef) -> Result<ArrayRef> {
    if array.to_data().get_slice_memory_size()?.saturating_mul(2) >= array.get_array_memory_size() {
        return Ok(array);
    }
    let all = UInt32Array::from_iter_values(0..u32::try_from(array.len()).unwrap_or(u32::MAX));
    Ok(arrow::compute::take(&array, &all, None)?)
}

impl Values {
    pub fn new(input: ArrowType, distinct: bool, keeps_nulls: bool) -> Self {
        Self { input, keeps_nulls, seen: distinct.then(HashSet::new), chunks: vec![], length: 0, bytes: 0 }
    }

    /// The type in which the values travel between the phases of an aggregate.
    pub fn state_type(input: ArrowType) -> ArrowType {
        ArrowType::new_list(input, true)
    }

    pub fn add(&mut self, values: &ArrayRef) -> Result<()> {
        let nulls = if self.keeps_nulls { 0 } else { values.null_count() };
        let kept = if self.seen.is_none() && nulls == 0 {
            Arc::clone(values)
        } else {
            let mut keep = Vec::with_capacity(values.len());
            for row in 0..values.len() {
                let wanted = self.keeps_nulls || values.is_valid(row);
                keep.push(match &mut self.seen {
                    Some(seen) if wanted => seen.insert(ScalarValue::try_from_array(values, row)?),
                    _ => wanted,
                });
            }
            arrow::compute::filter(values, &keep.into())?
        };
        if !kept.is_empty() {
            let chunk = compact(kept)?;
            self.length += chunk.len();
            self.bytes += chunk.get_array_memory_size();
            self.chunks.push(chunk);
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn all(&self) -> Result<ArrayRef> {
        if self.chunks.is_empty() {
            return Ok(new_empty_array(&self.input));
        }
        let chunks: Vec<&dyn Array> = self.chunks.iter().map(AsRef::as_ref).collect();
        Ok(arrow::compute::concat(&chunks)?)
    }

    pub fn state(&self) -> Result<ScalarValue> {
        let values = self.all()?;
        let offsets = OffsetBuffer::from_lengths([values.len()]);
        let field = Arc::new(Field::new_list_field(self.input.clone(), true));
        Ok(ScalarValue::List(Arc::new(ListArray::try_new(field, offsets, values, None)?)))
    }

    pub fn merge(&mut self, states: &ArrayRef) -> Result<()> {
        let lists = states.as_list_opt::<i32>().ok_or_else(|| mistyped("List", states))?;
        lists.iter().flatten().try_for_each(|list| self.add(&list))
    }

    pub fn size(&self) -> usize {
        let seen = self.seen.as_ref().map_or(0, |seen| seen.capacity() * 2 * size_of::<ScalarValue>());
        seen + self.bytes
    }
}
