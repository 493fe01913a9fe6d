//! Functions of other databases: what Flink SQL has in their place.

/// Names of functions that Flink does not have, in upper case, and what to write instead.
const FUNCTIONS: &[(&str, &str)] = &[
    ("ADD_MONTHS", "add an interval: ts + INTERVAL '1' MONTH"),
    ("ANY_VALUE", "use FIRST_VALUE(x) or MIN(x)"),
    ("APPROX_DISTINCT", "use APPROX_COUNT_DISTINCT(x)"),
    ("ARRAY_LENGTH", "use CARDINALITY(xs)"),
    ("ARRAY_SIZE", "use CARDINALITY(xs)"),
    ("ARRAY_TO_STRING", "use ARRAY_JOIN(xs, ',')"),
    ("CHARINDEX", "use LOCATE(part, s)"),
    ("COUNTIF", "use COUNT(*) FILTER (WHERE condition)"),
    ("COUNT_IF", "use COUNT(*) FILTER (WHERE condition)"),
    ("CURDATE", "use CURRENT_DATE"),
    ("CONTAINS", "use LOCATE(part, s) > 0"),
    ("CONVERT", "use CAST(x AS type)"),
    ("DATEADD", "add an interval: ts + INTERVAL '1' DAY"),
    ("DATEDIFF", "use TIMESTAMPDIFF(DAY, earlier, later)"),
    ("DATEPART", "use EXTRACT(DAY FROM ts)"),
    ("DATE_ADD", "add an interval: ts + INTERVAL '1' DAY"),
    ("DATE_DIFF", "use TIMESTAMPDIFF(DAY, earlier, later)"),
    ("DATE_PART", "use EXTRACT(DAY FROM ts)"),
    ("DATE_SUB", "subtract an interval: ts - INTERVAL '1' DAY"),
    ("DATE_TRUNC", "use FLOOR(ts TO DAY)"),
    ("EXPLODE", "use CROSS JOIN UNNEST(xs) AS t (x)"),
    ("FLATTEN", "use CROSS JOIN UNNEST(xs) AS t (x)"),
    ("FORMAT_TIMESTAMP", "use DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')"),
    ("GENERATE_UUID", "use UUID()"),
    ("GEN_RANDOM_UUID", "use UUID()"),
    ("GETDATE", "use CURRENT_TIMESTAMP or LOCALTIMESTAMP"),
    ("GET_JSON_OBJECT", "use JSON_VALUE(s, '$.path')"),
    ("GROUP_CONCAT", "use LISTAGG(s, ',')"),
    ("IFF", "use IF(condition, x, y) or CASE WHEN"),
    ("IIF", "use IF(condition, x, y) or CASE WHEN"),
    ("ILIKE", "write LOWER(s) LIKE 'pattern in lower case'"),
    ("ISNULL", "use x IS NULL, or COALESCE(x, y) for a value in its place"),
    ("JSON_EXTRACT", "use JSON_VALUE(s, '$.path') or JSON_QUERY(s, '$.path')"),
    ("JSON_EXTRACT_SCALAR", "use JSON_VALUE(s, '$.path')"),
    ("LCASE", "use LOWER(s)"),
    ("LEN", "use CHAR_LENGTH(s)"),
    ("LENGTH", "use CHAR_LENGTH(s)"),
    ("MEDIAN", "use PERCENTILE(x, 0.5)"),
    ("NVL", "use COALESCE(x, y) or IFNULL(x, y)"),
    ("NVL2", "use CASE WHEN x IS NOT NULL THEN y ELSE z END"),
    ("POW", "use POWER(x, y)"),
    ("RANDOM", "use RAND()"),
    ("REGEXP_LIKE", "use REGEXP(s, 'pattern')"),
    ("SAFE_CAST", "use TRY_CAST(x AS type)"),
    ("SIZE", "use CARDINALITY(xs)"),
    ("SPLIT_PART", "use SPLIT_INDEX(s, ',', 0): it counts from 0"),
    ("STRFTIME", "use DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')"),
    ("STRING_AGG", "use LISTAGG(s, ',')"),
    ("STRPOS", "use LOCATE(part, s) or INSTR(s, part)"),
    ("SYSDATE", "use CURRENT_TIMESTAMP or LOCALTIMESTAMP"),
    ("TIMESTAMP_DIFF", "use TIMESTAMPDIFF(DAY, earlier, later)"),
    ("TIMESTAMP_TRUNC", "use FLOOR(ts TO DAY)"),
    ("TIME_DIFF", "use TIMESTAMPDIFF(MINUTE, earlier, later)"),
    ("TIME_TRUNC", "use FLOOR(ts TO HOUR)"),
    ("TODAY", "use CURRENT_DATE"),
    ("TO_CHAR", "use DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss'), or CAST(x AS STRING) for a number"),
    ("TO_NUMBER", "use CAST(s AS DECIMAL(38, 10)) or the type that it should be"),
    ("TRUNC", "use TRUNCATE(x, digits), or FLOOR(ts TO DAY) for a time"),
    ("UCASE", "use UPPER(s)"),
];

/// What Flink SQL has in the place of a function that other databases know, as a hint; `None` for every other name.
/// Case does not count.
pub fn instead_of(function: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(function)).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_any_case_has_one_way_out() {
        assert_eq!(instead_of("nvl"), Some("use COALESCE(x, y) or IFNULL(x, y)"));
        assert_eq!(instead_of("COALESCE"), None);
        for (i, (name, _)) in FUNCTIONS.iter().enumerate() {
            assert_eq!(FUNCTIONS.iter().position(|(other, _)| other == name), Some(i), "{name} twice");
        }
    }
}
