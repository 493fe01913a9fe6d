//! Data types as Flink prints them in a cast. It prints them as they were written; here, what is the default of a type
//! of time or interval is left out.

use calve_types::{DataType, LogicalType};

use super::{identifier, string};

/// `INTEGER`, `ARRAY< STRING NOT NULL >`
pub(super) fn print(data_type: &DataType) -> String {
    let text = match &data_type.logical {
        LogicalType::Int => "INTEGER".to_owned(),
        LogicalType::Array(element) => format!("ARRAY< {} >", print(element)),
        LogicalType::Multiset(element) => format!("MULTISET< {} >", print(element)),
        LogicalType::Map(key, value) => format!("MAP< {}, {} >", print(key), print(value)),
        LogicalType::Row(fields) if fields.is_empty() => "ROW<>".to_owned(),
        LogicalType::Row(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|field| {
                    let comment = field.comment.as_ref().map(|c| format!(" {}", string(c))).unwrap_or_default();
                    format!("{} {}{comment}", identifier(&field.name), print(&field.data_type))
                })
                .collect();
            format!("ROW< {} >", fields.join(", "))
        }
        LogicalType::Time(0) => "TIME".to_owned(),
        LogicalType::Timestamp(6) => "TIMESTAMP".to_owned(),
        LogicalType::TimestampLtz(6) => "TIMESTAMP_LTZ".to_owned(),
        LogicalType::IntervalYearMonth { .. } | LogicalType::IntervalDayTime { .. } => {
            data_type.logical.to_string().replace("(2)", "").replace("(6)", "")
        }
        other => other.to_string(),
    };
    if data_type.nullable { text } else { format!("{text} NOT NULL") }
}
