//! The first and the last value of a frame that is not NULL.
//!
//! DataFusion's own functions go through the whole frame for every row once there are NULLs. In frames that reach an end
//! of the partition, which may be large, each row of the partition is looked at once.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use calve_types::Error;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::{DataType as ArrowType, Field as ArrowField, FieldRef};
use datafusion::common::{DataFusionError, Result as DfResult, ScalarValue};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl};

/// Which of a frame's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    First,
    Last,
}

/// FIRST_VALUE and LAST_VALUE over frames that begin or end with the partition.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Outermost {
    side: Side,
    signature: Signature,
}

impl Outermost {
    pub fn udwf(side: Side) -> Arc<WindowUDF> {
        let signature = Signature::user_defined(Volatility::Immutable);
        Arc::new(WindowUDF::new_from_impl(Self { side, signature }))
    }
}

impl WindowUDFImpl for Outermost {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        match self.side {
            Side::First => "FIRST_VALUE",
            Side::Last => "LAST_VALUE",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> DfResult<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn field(&self, args: WindowUDFFieldArgs) -> DfResult<FieldRef> {
        let input = args.get_input_field(0).ok_or_else(no_argument)?;
        Ok(Arc::new(ArrowField::new(args.name(), input.data_type().clone(), true)))
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs) -> DfResult<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Walk { side: self.side, from: 0, at: 0, found: None }))
    }
}

fn no_argument() -> DataFusionError {
    DataFusionError::External(Box::new(Error::internal("FIRST_VALUE or LAST_VALUE without an argument")))
}

/// Goes through a partition along with the frames, whose bounds only ever move on.
#[derive(Debug)]
struct Walk {
    side: Side,
    /// Where the last frame began that was asked for its first value.
    from: usize,
    /// Rows before this one need not be looked at again.
    at: usize,
    /// The last row before `at` that is not NULL.
    found: Option<usize>,
}

impl Walk {
    /// The last row before `end` that is not NULL.
    fn last_before(&mut self, end: usize, array: &ArrayRef) -> Option<usize> {
        if end < self.at {
            (self.at, self.found) = (0, None);
        }
        while self.at < end {
            if array.is_valid(self.at) {
                self.found = Some(self.at);
            }
            self.at += 1;
        }
        self.found
    }

    /// The first row from `start` that is not NULL; the number of rows if there is none.
    fn first_from(&mut self, start: usize, array: &ArrayRef) -> usize {
        self.at = if start < self.from { start } else { self.at.max(start) };
        self.from = start;
        while self.at < array.len() && array.is_null(self.at) {
            self.at += 1;
        }
        self.at
    }
}

impl PartitionEvaluator for Walk {
    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> DfResult<ScalarValue> {
        let array = values.first().ok_or_else(no_argument)?;
        let row = match self.side {
            Side::Last => self.last_before(range.end.min(array.len()), array),
            Side::First => Some(self.first_from(range.start, array)),
        };
        match row.filter(|row| range.contains(row) && *row < array.len()) {
            Some(row) => ScalarValue::try_from_array(array, row),
            None => ScalarValue::try_from(array.data_type()),
        }
    }

    fn uses_window_frame(&self) -> bool {
        true
    }

    /// DataFusion keeps a partition from the beginning of its frames on. Frames that begin with the partition keep it
    /// whole, so that positions stay; others that reach its end are computed at once.
    fn supports_bounded_execution(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use datafusion::arrow::array::Int32Array;

    use super::*;

    const VALUES: [Option<i32>; 8] = [None, Some(1), None, None, Some(4), Some(5), None, None];

    fn naive(side: Side, range: &Range<usize>) -> Option<i32> {
        let mut values = VALUES[range.clone()].iter().copied().flatten();
        match side {
            Side::First => values.next(),
            Side::Last => values.next_back(),
        }
    }

    fn check(side: Side, frames: &[Range<usize>]) {
        let values: ArrayRef = Arc::new(Int32Array::from(VALUES.to_vec()));
        let mut walk = Walk { side, from: 0, at: 0, found: None };
        for frame in frames {
            let got = walk.evaluate(&[Arc::clone(&values)], frame).unwrap();
            assert_eq!(got, ScalarValue::Int32(naive(side, frame)), "{side:?} of {frame:?}");
        }
    }

    #[test]
    fn as_if_every_frame_were_walked() {
        let growing: Vec<_> = (0..=8).map(|end| 0..end).collect();
        let shrinking: Vec<_> = (0..=8).map(|start| start..8).collect();
        let sliding: Vec<_> = (0..=6).map(|start| start..start + 2).collect();
        let back: Vec<_> = (0..=8).rev().map(|end| end / 2..end).collect();
        for frames in [growing, shrinking, sliding, back] {
            check(Side::First, &frames);
            check(Side::Last, &frames);
        }
    }
}
