//! Metrics of files whose format keeps no statistics that calve could read them from (Java's `OrcMetrics`): from the rows
//! as they are written.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use calve_types::Result;
use iceberg::spec::{NestedFieldRef, Type};

use super::{Bound, Metrics, MetricsConfig, Mode, Range, datum, lower, upper};

/// The metrics of the rows so far.
#[derive(Debug, Default)]
pub(crate) struct BatchMetrics {
    values: HashMap<i32, u64>,
    nulls: HashMap<i32, u64>,
    ranges: HashMap<i32, Range>,
}

impl BatchMetrics {
    /// Adds rows: fields inside lists and maps are passed over, as in Java.
    pub(crate) fn add(&mut self, config: &MetricsConfig, columns: &[NestedFieldRef], arrays: &[ArrayRef]) {
        for (column, array) in columns.iter().zip(arrays) {
            self.add_column(config, column, array, None);
        }
    }

    fn add_column(
        &mut self,
        config: &MetricsConfig,
        field: &NestedFieldRef,
        array: &ArrayRef,
        parent: Option<&NullBuffer>,
    ) {
        let nulls = NullBuffer::union(parent, array.nulls());
        if let Type::Struct(nested) = field.field_type.as_ref() {
            let Some(array) = array.as_struct_opt() else { return };
            for (child, array) in nested.fields().iter().zip(array.columns()) {
                self.add_column(config, child, array, nulls.as_ref());
            }
            return;
        }
        let Some(leaf) = config.leaves.get(&field.id).filter(|leaf| leaf.mode != Mode::None && !leaf.repeated) else {
            return;
        };
        *self.values.entry(field.id).or_default() += array.len() as u64;
        *self.nulls.entry(field.id).or_default() += nulls.as_ref().map_or(0, NullBuffer::null_count) as u64;
        if leaf.mode != Mode::Counts
            && let Some((min, max)) = bounds(array, nulls.as_ref())
        {
            self.ranges.entry(field.id).or_default().add(min, max);
        }
    }

    /// The metrics of the file, with the sizes of its fields by id.
    ///
    /// # Errors
    /// `invalid-table` for a bound that is not a value of its field's type.
    pub(crate) fn finish(
        self,
        config: &MetricsConfig,
        nans: &HashMap<i32, u64>,
        column_sizes: HashMap<i32, u64>,
    ) -> Result<Metrics> {
        let counted = |id: &i32| config.leaves.get(id).is_some_and(|leaf| leaf.mode != Mode::None);
        let mut metrics = Metrics {
            column_sizes: column_sizes.into_iter().filter(|(id, _)| counted(id)).collect(),
            value_counts: self.values,
            null_value_counts: self.nulls,
            nan_value_counts: nans.iter().filter(|(id, _)| counted(id)).map(|(id, n)| (*id, *n)).collect(),
            ..Metrics::default()
        };
        for (id, range) in self.ranges {
            if let (Some(leaf), false, Some((low, high))) = (config.leaves.get(&id), range.unknown, range.bounds) {
                metrics.lower_bounds.insert(id, datum(lower(low, leaf), &leaf.of)?);
                if let Some(high) = upper(high, leaf) {
                    metrics.upper_bounds.insert(id, datum(high, &leaf.of)?);
                }
            }
        }
        Ok(metrics)
    }
}

/// The least and the greatest value; NULL and NaN have no place in them.
fn bounds(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Option<(Bound, Bound)> {
    let valid = |row: &usize| nulls.is_none_or(|nulls| nulls.is_valid(*row));
    let rows = || (0..array.len()).filter(valid);
    let numbers = |values: &[i64]| {
        let of = |least: bool| {
            let values = rows().filter_map(|row| values.get(row));
            if least { values.min() } else { values.max() }
        };
        Some((Bound::Number(i128::from(*of(true)?)), Bound::Number(i128::from(*of(false)?))))
    };
    let small = |values: &[i32]| {
        let (mut low, mut high) = (i32::MAX, i32::MIN);
        let mut any = false;
        for value in rows().filter_map(|row| values.get(row)) {
            (low, high, any) = (low.min(*value), high.max(*value), true);
        }
        any.then(|| (Bound::Number(i128::from(low)), Bound::Number(i128::from(high))))
    };
    let floats = |value: &dyn Fn(usize) -> f64| {
        let mut found: Option<(f64, f64)> = None;
        for value in rows().map(value).filter(|value| !value.is_nan()) {
            found = Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
        found.map(|(low, high)| (Bound::Float(low), Bound::Float(high)))
    };
    fn bytes<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<(Bound, Bound)> {
        let mut found: Option<(&[u8], &[u8])> = None;
        for value in values {
            found = Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
        found.map(|(low, high)| (Bound::Bytes(low.to_vec()), Bound::Bytes(high.to_vec())))
    }
    match array.data_type() {
        ArrowType::Boolean => {
            let values = array.as_boolean_opt()?;
            let low = rows().map(|row| values.value(row)).min()?;
            let high = rows().map(|row| values.value(row)).max()?;
            Some((Bound::Number(i128::from(low)), Bound::Number(i128::from(high))))
        }
        ArrowType::Int32 => small(array.as_primitive_opt::<Int32Type>()?.values()),
        ArrowType::Date32 => small(array.as_primitive_opt::<Date32Type>()?.values()),
        ArrowType::Int64 => numbers(array.as_primitive_opt::<Int64Type>()?.values()),
        ArrowType::Time64(_) => numbers(array.as_primitive_opt::<Time64MicrosecondType>()?.values()),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            numbers(array.as_primitive_opt::<TimestampMicrosecondType>()?.values())
        }
        ArrowType::Timestamp(_, _) => numbers(array.as_primitive_opt::<TimestampNanosecondType>()?.values()),
        ArrowType::Decimal128(_, _) => {
            let values = array.as_primitive_opt::<Decimal128Type>()?;
            let low = rows().map(|row| values.value(row)).min()?;
            let high = rows().map(|row| values.value(row)).max()?;
            Some((Bound::Number(low), Bound::Number(high)))
        }
        ArrowType::Float32 => {
            let values = array.as_primitive_opt::<Float32Type>()?;
            floats(&|row| f64::from(values.value(row)))
        }
        ArrowType::Float64 => {
            let values = array.as_primitive_opt::<Float64Type>()?;
            floats(&|row| values.value(row))
        }
        ArrowType::Utf8 => {
            let values = array.as_string_opt::<i32>()?;
            bytes(rows().map(|row| values.value(row).as_bytes()))
        }
        ArrowType::Binary => {
            let values = array.as_binary_opt::<i32>()?;
            bytes(rows().map(|row| values.value(row)))
        }
        ArrowType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary_opt()?;
            bytes(rows().map(|row| values.value(row)))
        }
        _ => None,
    }
}
