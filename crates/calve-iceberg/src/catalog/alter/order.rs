//! The order and the distribution in which rows are written, as Spark's `ALTER TABLE .. WRITE` sets them.

use calve_types::{Error, Result};
use iceberg::TableUpdate;
use iceberg::spec::{NullOrder, SortDirection, SortField, SortOrder, TableMetadata};

use super::partition::PartitionTerm;
use crate::error::Context;

/// By what the rows of a file are sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortTerm {
    /// The column and its transform.
    pub term: PartitionTerm,
    /// Whether large values come first.
    pub descending: bool,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// The updates that give a table this sort order; none of them if it has it.
///
/// # Errors
/// `unknown-column`; `invalid-alter` for a transform that the column cannot have.
pub(super) fn updates(metadata: &TableMetadata, terms: &[SortTerm]) -> Result<Vec<TableUpdate>> {
    let schema = metadata.current_schema();
    let mut fields = Vec::with_capacity(terms.len());
    for SortTerm { term, descending, nulls_first } in terms {
        let Some(source) = schema.field_by_name(&term.column) else {
            let names = schema.as_struct().fields().iter().map(|field| field.name.as_str());
            return Err(Error::new("unknown-column", format!("unknown column '{}' in the order", term.column))
                .with_detail(format!("Cannot find field '{}' in struct", term.column))
                .did_you_mean(&term.column, names));
        };
        let invalid = |detail: String| {
            Error::new("invalid-alter", format!("cannot sort by {} of column '{}'", term.transform, term.column))
                .with_detail(detail)
        };
        if !source.field_type.is_primitive() {
            return Err(invalid(format!("Cannot sort by non-primitive source field: {}", source.field_type)));
        }
        if term.transform.result_type(&source.field_type).is_err() {
            return Err(invalid(format!(
                "Invalid source type {} for transform: {}",
                source.field_type, term.transform
            )));
        }
        fields.push(SortField {
            source_id: source.id,
            transform: term.transform,
            direction: if *descending { SortDirection::Descending } else { SortDirection::Ascending },
            null_order: if *nulls_first { NullOrder::First } else { NullOrder::Last },
        });
    }
    if metadata.default_sort_order().fields == fields {
        return Ok(vec![]);
    }
    let sort_order = SortOrder::builder().with_fields(fields).build_unbound().context(|| "make a sort order")?;
    Ok(vec![TableUpdate::AddSortOrder { sort_order }, TableUpdate::SetDefaultSortOrder { sort_order_id: -1 }])
}
