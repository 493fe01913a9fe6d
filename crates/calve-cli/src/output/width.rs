//! Widths of columns and texts on the screen.

use calve_types::LogicalType;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Longest value that is shown in full; Flink's default of `table.display.max-column-width`.
pub const DEFAULT_MAX: usize = 30;
/// What stands for the rest of a longer value.
const ELLIPSIS: &str = "...";

/// How wide Flink's client makes a column in streaming mode, where it cannot wait for the values
/// (`TableauStyle.columnWidthsByType`); `None` if the type's values have no longest.
pub fn of_type(data_type: &LogicalType) -> Option<usize> {
    let fraction = |precision: u8| match precision {
        0 => 0,
        1..=3 => 4,
        4..=6 => 7,
        _ => 10,
    };
    Some(match data_type {
        LogicalType::TinyInt => 4,
        LogicalType::SmallInt => 6,
        LogicalType::Int => 11,
        LogicalType::BigInt => 20,
        LogicalType::Decimal { precision, .. } => usize::from(*precision) + 2,
        LogicalType::Boolean => 5,
        LogicalType::Date => 10,
        LogicalType::Time(0) => 8,
        LogicalType::Time(precision) => usize::from(*precision) + 9,
        LogicalType::Timestamp(precision) | LogicalType::TimestampLtz(precision) => 19 + fraction(*precision),
        _ => return None,
    })
}

/// Columns on the screen: wide characters take two. Of several lines, the longest counts.
pub fn of_text(text: &str) -> usize {
    text.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// As much of a value as fits into `max` columns with the ellipsis.
pub fn cut(value: &str, max: usize) -> String {
    let room = max.saturating_sub(ELLIPSIS.len());
    let mut used = 0;
    let end = value
        .char_indices()
        .find(|(_, c)| {
            used += c.width().unwrap_or(1);
            used > room
        })
        .map_or(value.len(), |(offset, _)| offset);
    format!("{}{ELLIPSIS}", value.get(..end).unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_between_characters() {
        assert_eq!(cut(&"中".repeat(20), 30), format!("{}...", "中".repeat(13)));
        assert_eq!(cut("abcdef", 5), "ab...");
        assert_eq!(cut("abcdef", 1), "...");
    }

    /// `TableauStyle.columnWidthsByType` of Flink 2.1.
    #[test]
    fn types_have_the_widths_of_flinks_client() {
        for (data_type, width) in [
            (LogicalType::TinyInt, Some(4)),
            (LogicalType::BigInt, Some(20)),
            (LogicalType::Decimal { precision: 10, scale: 2 }, Some(12)),
            (LogicalType::Time(3), Some(12)),
            (LogicalType::Timestamp(0), Some(19)),
            (LogicalType::Timestamp(1), Some(23)),
            (LogicalType::TimestampLtz(6), Some(26)),
            (LogicalType::Timestamp(9), Some(29)),
            (LogicalType::Double, None),
            (LogicalType::Varchar(5), None),
        ] {
            assert_eq!(of_type(&data_type), width, "{data_type:?}");
        }
    }
}
