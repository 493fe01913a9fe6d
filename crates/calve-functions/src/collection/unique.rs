//! Elements that were there before.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef};
use arrow::row::{Row, RowConverter, Rows, SortField};
use datafusion_common::Result as DfResult;

use crate::compare::Equality;

/// Up to this many elements are compared one by one.
const FEW: usize = 16;

/// Comparable forms of all elements, if `longest` of them are to be told apart and equal forms mean equal elements.
pub(super) fn rows(values: &ArrayRef, longest: usize) -> DfResult<Option<Rows>> {
    let data_type = values.data_type();
    if longest <= FEW || data_type.is_nested() || data_type.is_floating() {
        return Ok(None);
    }
    let converter = RowConverter::new(vec![SortField::new(data_type.clone())])?;
    Ok(Some(converter.convert_columns(std::slice::from_ref(values))?))
}

/// A set of elements of an array, numbered in the order in which they came.
pub(super) struct Unique<'a> {
    same: Equality<'a>,
    rows: Option<&'a Rows>,
    by_row: HashMap<Row<'a>, usize>,
    elements: Vec<usize>,
}

impl<'a> Unique<'a> {
    pub fn new(values: &'a ArrayRef, rows: Option<&'a Rows>) -> DfResult<Self> {
        Ok(Self { same: Equality::new(values, values)?, rows, by_row: HashMap::new(), elements: vec![] })
    }

    pub fn clear(&mut self) {
        self.by_row.clear();
        self.elements.clear();
    }

    /// The number of the element that equals the one at `index`.
    pub fn find(&self, index: usize) -> DfResult<Option<usize>> {
        if let Some(rows) = self.rows {
            return Ok(self.by_row.get(&rows.row(index)).copied());
        }
        for (place, element) in self.elements.iter().enumerate() {
            if self.same.holds(index, *element)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The number of the element that equals the one at `index`; `None` if there was none, and now it is there.
    pub fn insert(&mut self, index: usize) -> DfResult<Option<usize>> {
        let known = self.find(index)?;
        if known.is_none() {
            if let Some(rows) = self.rows {
                self.by_row.insert(rows.row(index), self.elements.len());
            }
            self.elements.push(index);
        }
        Ok(known)
    }

    /// The elements, by number.
    pub fn elements(&self) -> &[usize] {
        &self.elements
    }
}
