//! Small results made of text: SHOW and DESCRIBE.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, StringArray, new_empty_array};
use arrow::record_batch::RecordBatch;
use calve_functions::EvalContext;
use calve_planner::Field;
use calve_types::{LogicalType, Result, arrow as arrow_types};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream;

use crate::error::from_datafusion;
use crate::result::Rows;

/// A column of a listing with its values.
pub(crate) enum Column {
    /// STRING.
    Text(&'static str, Vec<Option<String>>),
    /// BOOLEAN.
    Flag(&'static str, Vec<bool>),
    /// TIMESTAMP_LTZ(3), of a listing that has no rows.
    NoTimes(&'static str),
}

/// Rows of these columns, which are equally long.
///
/// # Errors
/// `internal` if they are not.
pub(crate) fn rows(columns: Vec<Column>, context: &EvalContext) -> Result<Rows> {
    let mut fields = vec![];
    let mut arrays: Vec<ArrayRef> = vec![];
    for column in columns {
        let (name, logical, array): (_, _, ArrayRef) = match column {
            Column::Text(name, values) => (name, LogicalType::STRING, Arc::new(StringArray::from(values))),
            Column::Flag(name, values) => (name, LogicalType::Boolean, Arc::new(BooleanArray::from(values))),
            Column::NoTimes(name) => {
                let logical = LogicalType::TimestampLtz(3);
                let of = arrow_types::field(name, &logical.clone().nullable())?;
                (name, logical, new_empty_array(of.data_type()))
            }
        };
        fields.push(Field { name: name.to_owned(), data_type: logical.nullable() });
        arrays.push(array);
    }
    let schema = fields
        .iter()
        .map(|f| arrow_types::field(&f.name, &f.data_type))
        .collect::<Result<Vec<_>>>()
        .map(|fields| Arc::new(arrow::datatypes::Schema::new(fields)))?;
    let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(|e| from_datafusion(e.into()))?;
    let batches = Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter([Ok(batch)])));
    Ok(Rows::new(fields, batches, *context))
}

/// A listing of one text column.
///
/// # Errors
/// As [`rows`].
pub(crate) fn names(column: &'static str, names: Vec<String>, context: &EvalContext) -> Result<Rows> {
    rows(vec![Column::Text(column, names.into_iter().map(Some).collect())], context)
}

/// SQL's LIKE as SHOW uses it: `%`, `_`, and `\` takes the next character as it is.
pub(crate) fn like(text: &str, pattern: &str, ignore_case: bool) -> bool {
    let fold = |s: &str| if ignore_case { s.to_lowercase() } else { s.to_owned() };
    let text: Vec<char> = fold(text).chars().collect();
    let mut pattern_chars = fold(pattern).chars().collect::<Vec<_>>().into_iter();
    let mut parts = vec![];
    while let Some(c) = pattern_chars.next() {
        parts.push(match c {
            '%' => Part::Any,
            '_' => Part::One,
            '\\' => Part::Char(pattern_chars.next().unwrap_or('\\')),
            c => Part::Char(c),
        });
    }
    // greedy with one point to come back to: linear in text x pattern
    let (mut t, mut p, mut back) = (0, 0, None);
    while t < text.len() {
        match parts.get(p) {
            Some(Part::Any) => {
                back = Some((p, t));
                p += 1;
            }
            Some(part) if part.matches(text[t]) => {
                t += 1;
                p += 1;
            }
            _ => {
                let Some((any, from)) = back else { return false };
                back = Some((any, from + 1));
                p = any + 1;
                t = from + 1;
            }
        }
    }
    parts[p..].iter().all(|part| matches!(part, Part::Any))
}

enum Part {
    Any,
    One,
    Char(char),
}

impl Part {
    fn matches(&self, c: char) -> bool {
        match self {
            Part::Any | Part::One => true,
            Part::Char(own) => *own == c,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn like_as_in_show() {
        assert!(like("orders", "order%", false));
        assert!(like("orders", "_rders", false));
        assert!(!like("orders", "ORDER%", false));
        assert!(like("orders", "ORDER%", true));
        assert!(like("order_items", "order\\_%", false));
        assert!(!like("orders", "order\\_%", false));
        assert!(like("", "%", false));
        assert!(!like("ab", "a", false));
        assert!(like("aXbXc", "%X_", false));
        assert!(like("ünïcode", "_n%", false));
    }
}
