//! What is known of the keys an upsert looks for, to skip files that hold none of them.

use std::collections::BTreeSet;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType as ArrowType;
use hashbrown::HashSet;
use iceberg::spec::{DataFile, NestedFieldRef};

use super::live::{Value, bound, value};

/// So many values of a column are kept one by one.
const FEW: usize = 10_000;

/// The values of every key column.
#[derive(Debug, Default)]
pub(crate) struct KeyValues {
    columns: Vec<Values>,
}

/// The values of one column.
#[derive(Debug)]
pub(crate) enum Values {
    /// All of them.
    Few(BTreeSet<Value>),
    /// The least and the greatest.
    Between(Value, Value),
    /// Values that have no order here.
    Unknown,
}

impl KeyValues {
    /// Adds the keys of a batch.
    pub(crate) fn add(&mut self, keys: &[ArrayRef]) {
        self.columns.resize_with(keys.len(), || Values::Few(BTreeSet::new()));
        for (column, array) in self.columns.iter_mut().zip(keys) {
            // a text is copied only if it is new
            let mut seen: HashSet<&[u8]> = HashSet::new();
            for row in 0..array.len() {
                let known = match (&*column, bytes(array, row)) {
                    (Values::Unknown, _) => break,
                    (Values::Few(_), Some(bytes)) => !seen.insert(bytes),
                    (Values::Between(Value::Bytes(low), Value::Bytes(high)), Some(bytes)) => {
                        (low.as_slice()..=high.as_slice()).contains(&bytes)
                    }
                    _ => false,
                };
                if known {
                    continue;
                }
                match value(array, row) {
                    Some(value) => column.add(value),
                    None => *column = Values::Unknown,
                }
            }
        }
    }

    /// Adds the keys of another writer.
    pub(crate) fn merge(&mut self, other: Self) {
        self.columns.resize_with(self.columns.len().max(other.columns.len()), || Values::Few(BTreeSet::new()));
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            match more {
                Values::Few(all) => all.into_iter().for_each(|value| column.add(value)),
                Values::Between(low, high) => {
                    column.add(low);
                    column.add(high);
                    column.spread();
                }
                Values::Unknown => *column = Values::Unknown,
            }
        }
    }

    /// The values of every key column, in the order of the key.
    pub(crate) fn columns(&self) -> &[Values] {
        &self.columns
    }

    /// False only if the file's bounds rule out all keys.
    pub(crate) fn may_be_in(&self, file: &DataFile, key: &[NestedFieldRef]) -> bool {
        self.columns.iter().zip(key).all(|(values, column)| {
            let low = file.lower_bounds().get(&column.id).and_then(|d| bound(d, column));
            let high = file.upper_bounds().get(&column.id).and_then(|d| bound(d, column));
            values.may_be_between(low.as_ref(), high.as_ref())
        })
    }
}

/// The value of a text or of bytes.
fn bytes(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    match array.data_type() {
        ArrowType::Utf8 => Some(array.as_string::<i32>().value(row).as_bytes()),
        ArrowType::Binary => Some(array.as_binary::<i32>().value(row)),
        _ => None,
    }
}

impl Values {
    fn add(&mut self, value: Value) {
        match self {
            Self::Few(all) => {
                all.insert(value);
                if all.len() > FEW {
                    self.spread();
                }
            }
            Self::Between(low, _) if value < *low => *low = value,
            Self::Between(_, high) if value > *high => *high = value,
            Self::Between(..) | Self::Unknown => {}
        }
    }

    /// Forgets all but the least and the greatest.
    fn spread(&mut self) {
        if let Self::Few(all) = self
            && let (Some(low), Some(high)) = (all.first().cloned(), all.last().cloned())
        {
            *self = Self::Between(low, high);
        }
    }

    /// Whether one of them may lie between two bounds, both included; `None` is no bound.
    pub(crate) fn may_be_between(&self, low: Option<&Value>, high: Option<&Value>) -> bool {
        match self {
            Self::Few(all) => {
                let next = match low {
                    Some(low) => all.range(low..).next(),
                    None => all.first(),
                };
                next.is_some_and(|value| high.is_none_or(|high| value <= high))
            }
            Self::Between(least, greatest) => {
                low.is_none_or(|low| low <= greatest) && high.is_none_or(|high| least <= high)
            }
            Self::Unknown => true,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::Arc;

    use arrow::array::{Float64Array, Int64Array, StringArray};

    use super::*;

    fn number(v: i128) -> Value {
        Value::Number(v)
    }

    #[test]
    fn few_values_are_exact_and_many_are_a_range() {
        let mut keys = KeyValues::default();
        keys.add(&[Arc::new(Int64Array::from(vec![10, 20, 30]))]);
        let between = |keys: &KeyValues, low: i128, high: i128| {
            keys.columns()[0].may_be_between(Some(&number(low)), Some(&number(high)))
        };
        assert!(between(&keys, 5, 10) && between(&keys, 20, 20) && between(&keys, 30, 90));
        assert!(!between(&keys, 11, 19) && !between(&keys, 31, 90) && !between(&keys, 0, 9));
        assert!(keys.columns()[0].may_be_between(None, Some(&number(10))));
        assert!(!keys.columns()[0].may_be_between(Some(&number(31)), None));
        let mut many = KeyValues::default();
        many.add(&[Arc::new(Int64Array::from_iter_values((0..30_000).map(|i| i * 2)))]);
        assert!(matches!(many.columns()[0], Values::Between(..)));
        assert!(between(&many, 3, 3) && between(&many, -5, 0) && !between(&many, 60_000, 70_000));
        keys.merge(many);
        assert!(between(&keys, 50_000, 50_001) && !between(&keys, -5, -1));
        keys.add(&[Arc::new(Float64Array::from(vec![1.0]))]);
        assert!(between(&keys, -5, -1));
        assert!(!KeyValues { columns: vec![Values::Few(BTreeSet::new())] }.columns()[0].may_be_between(None, None));
    }

    #[test]
    fn texts_of_batches_add_up() {
        let text = |v: usize| format!("{v:05}");
        let key = |v: usize| Value::Bytes(text(v).into_bytes());
        let mut keys = KeyValues::default();
        for _ in 0..2 {
            keys.add(&[Arc::new(StringArray::from(vec!["00020", "00010", "00020", "00030"]))]);
        }
        assert!(matches!(&keys.columns()[0], Values::Few(all) if all.len() == 3));
        keys.add(&[Arc::new(StringArray::from_iter_values((100..30_000).map(text)))]);
        assert!(matches!(&keys.columns()[0], Values::Between(low, high) if (low, high) == (&key(10), &key(29_999))));
        keys.add(&[Arc::new(StringArray::from(vec!["00500", "00001", "40000"]))]);
        assert!(matches!(&keys.columns()[0], Values::Between(low, high) if (low, high) == (&key(1), &key(40_000))));
    }

    #[test]
    fn a_single_value_spreads_to_itself() {
        let mut one = Values::Few(BTreeSet::from([number(4)]));
        one.spread();
        assert!(one.may_be_between(Some(&number(4)), Some(&number(4))));
        assert!(!one.may_be_between(Some(&number(5)), None));
    }
}
