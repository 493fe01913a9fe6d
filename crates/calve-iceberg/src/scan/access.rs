//! Deleted positions as the row selections of a Parquet file.

use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::file::metadata::ParquetMetaData;
use roaring::RoaringTreemap;

/// The plan that reads every row whose position in the file is not in `deleted` and whose row group is in `kept`, if there
/// is such a choice; `None` if there is no such row.
pub(crate) fn live_rows(
    footer: &ParquetMetaData,
    deleted: &RoaringTreemap,
    kept: Option<&[bool]>,
) -> Option<ParquetAccessPlan> {
    let mut positions = deleted.iter().peekable();
    let mut start = 0u64;
    let mut groups = Vec::with_capacity(footer.num_row_groups());
    for (index, group) in footer.row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let end = start.saturating_add(rows);
        let mut selectors = Vec::new();
        let mut next = start;
        let mut count = 0u64;
        while let Some(position) = positions.next_if(|p| *p < end) {
            select(&mut selectors, position.saturating_sub(next));
            skip_one(&mut selectors);
            next = position + 1;
            count += 1;
        }
        let skipped = kept.is_some_and(|kept| kept.get(index) == Some(&false));
        groups.push(if skipped {
            RowGroupAccess::Skip
        } else if count == 0 {
            RowGroupAccess::Scan
        } else if count == rows {
            RowGroupAccess::Skip
        } else {
            select(&mut selectors, end - next);
            RowGroupAccess::Selection(RowSelection::from(selectors))
        });
        start = end;
    }
    groups.iter().any(RowGroupAccess::should_scan).then(|| ParquetAccessPlan::new(groups))
}

fn select(selectors: &mut Vec<RowSelector>, rows: u64) {
    if rows > 0 {
        selectors.push(RowSelector::select(usize::try_from(rows).unwrap_or(usize::MAX)));
    }
}

fn skip_one(selectors: &mut Vec<RowSelector>) {
    match selectors.last_mut() {
        Some(last) if last.skip => last.row_count += 1,
        _ => selectors.push(RowSelector::skip(1)),
    }
}
