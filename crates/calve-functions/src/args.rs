//! Arguments of a kernel, row by row, without expanding constants.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, PrimitiveArray, StringArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow::datatypes::{DataType as ArrowType, TimeUnit};
use calve_types::Error;
use datafusion_common::{DataFusionError, Result};

use crate::civil::Stamp;

/// The evaluated arguments of one call.
pub(crate) struct Args {
    columns: Vec<Column>,
    /// Rows of the result.
    pub rows: usize,
}

struct Column {
    array: ArrayRef,
    /// The array has one row that stands for all.
    constant: bool,
}

/// A failure while rows are computed, as calve's error inside DataFusion's.
pub(crate) fn failure(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A value that has another Arrow type than its Flink type says.
pub(crate) fn mistyped(expected: &str, array: &dyn Array) -> DataFusionError {
    failure(Error::internal(format!("expected values of {expected}, got {}", array.data_type())))
}

/// An array as numbers of that Arrow type.
pub(crate) fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<&PrimitiveArray<T>> {
    array.as_primitive_opt().ok_or_else(|| mistyped(&T::DATA_TYPE.to_string(), array))
}

/// Where the elements of a row's list or map are.
pub(crate) fn range(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    let at = |i: usize| offsets.get(i).map_or(0, |o| *o as usize);
    at(row)..at(row + 1)
}

impl Args {
    pub fn new(columns: Vec<(ArrayRef, bool)>, rows: usize) -> Self {
        Self { columns: columns.into_iter().map(|(array, constant)| Column { array, constant }).collect(), rows }
    }

    /// One array, no constants.
    pub fn of(array: ArrayRef) -> Self {
        let rows = array.len();
        Self::new(vec![(array, false)], rows)
    }

    pub fn count(&self) -> usize {
        self.columns.len()
    }

    fn column(&self, index: usize) -> Result<&Column> {
        self.columns.get(index).ok_or_else(|| failure(Error::internal(format!("argument {index} is missing"))))
    }

    /// The array of an argument, expanded to all rows.
    pub fn full(&self, index: usize) -> Result<ArrayRef> {
        let column = self.column(index)?;
        if !column.constant || self.rows == 1 {
            return Ok(Arc::clone(&column.array));
        }
        let rows = arrow::array::UInt32Array::from(vec![0; self.rows]);
        Ok(arrow::compute::take(&column.array, &rows, None)?)
    }

    /// The array of an argument and whether its one row stands for all.
    pub fn raw(&self, index: usize) -> Result<(&ArrayRef, bool)> {
        let column = self.column(index)?;
        Ok((&column.array, column.constant))
    }

    pub fn texts(&self, index: usize) -> Result<Values<'_, StringArray>> {
        let (array, constant) = self.raw(index)?;
        let array = array.as_string_opt().ok_or_else(|| mistyped("Utf8", array))?;
        Ok(Values { array, constant })
    }

    pub fn bytes(&self, index: usize) -> Result<Values<'_, BinaryArray>> {
        let (array, constant) = self.raw(index)?;
        let array = array.as_binary_opt().ok_or_else(|| mistyped("Binary", array))?;
        Ok(Values { array, constant })
    }

    pub fn booleans(&self, index: usize) -> Result<Values<'_, BooleanArray>> {
        let (array, constant) = self.raw(index)?;
        let array = array.as_boolean_opt().ok_or_else(|| mistyped("Boolean", array))?;
        Ok(Values { array, constant })
    }

    pub fn numbers<T: ArrowPrimitiveType>(&self, index: usize) -> Result<Values<'_, PrimitiveArray<T>>> {
        let (array, constant) = self.raw(index)?;
        let array = array.as_primitive_opt().ok_or_else(|| mistyped(&T::DATA_TYPE.to_string(), array))?;
        Ok(Values { array, constant })
    }

    pub fn stamps(&self, index: usize) -> Result<Stamps<'_>> {
        let (array, constant) = self.raw(index)?;
        Stamps::new(array, constant)
    }
}

/// A typed argument.
pub(crate) struct Values<'a, A> {
    pub array: &'a A,
    pub constant: bool,
}

impl<A: Array> Values<'_, A> {
    fn at(&self, row: usize) -> Option<usize> {
        let row = if self.constant { 0 } else { row };
        (row < self.array.len() && self.array.is_valid(row)).then_some(row)
    }
}

impl<'a> Values<'a, StringArray> {
    pub fn get(&self, row: usize) -> Option<&'a str> {
        self.at(row).map(|row| self.array.value(row))
    }
}

impl<'a> Values<'a, BinaryArray> {
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        self.at(row).map(|row| self.array.value(row))
    }
}

impl Values<'_, BooleanArray> {
    pub fn get(&self, row: usize) -> Option<bool> {
        self.at(row).map(|row| self.array.value(row))
    }
}

impl<T: ArrowPrimitiveType> Values<'_, PrimitiveArray<T>> {
    pub fn get(&self, row: usize) -> Option<T::Native> {
        self.at(row).map(|row| self.array.value(row))
    }
}

/// A timestamp argument of either unit.
pub(crate) enum Stamps<'a> {
    Micros(Values<'a, TimestampMicrosecondArray>),
    Nanos(Values<'a, TimestampNanosecondArray>),
}

impl<'a> Stamps<'a> {
    pub fn new(array: &'a ArrayRef, constant: bool) -> Result<Self> {
        match array.data_type() {
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                Ok(Self::Micros(Values { array: array.as_primitive(), constant }))
            }
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                Ok(Self::Nanos(Values { array: array.as_primitive(), constant }))
            }
            _ => Err(mistyped("Timestamp", array)),
        }
    }

    pub fn get(&self, row: usize) -> Option<Stamp> {
        match self {
            Self::Micros(values) => values.get(row).map(Stamp::from_micros),
            Self::Nanos(values) => values.get(row).map(Stamp::from_nanos),
        }
    }
}
