//! How names of functions are spelled: those that Flink's parser resolves stand in upper case, others in backticks as
//! they were written.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::Style;

/// Functions of the SQL standard and of Calcite.
const STANDARD: &str = "\
    ABS ACOS APPROX_COUNT_DISTINCT ARRAY_AGG ASCII ASIN ATAN ATAN2 AVG CARDINALITY CHARACTER_LENGTH CHAR_LENGTH \
    COALESCE COLLECT COS COT COUNT CUME_DIST CURRENT_CATALOG CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DAYOFMONTH \
    DAYOFWEEK DAYOFYEAR DEGREES DENSE_RANK DESCRIPTOR ELEMENT EXP FIRST_VALUE GROUPING GROUPING_ID GROUP_ID HOUR \
    INITCAP LAG LAST_VALUE LEAD LISTAGG LN LOCALTIME LOCALTIMESTAMP LOG10 LOWER MAX MIN MINUTE MOD MONTH NTILE NULLIF \
    PERCENT_RANK PI POWER QUARTER RADIANS RAND RAND_INTEGER RANK REPLACE ROUND ROW ROW_NUMBER SECOND SIGN SIN \
    SINGLE_VALUE SQRT STDDEV STDDEV_POP STDDEV_SAMP SUM TAN TIMESTAMPADD TIMESTAMPDIFF TRANSLATE TRUNCATE UPPER VARIANCE VAR_POP \
    VAR_SAMP WEEK YEAR";

/// Functions of Flink's own operator table, which a view does not resolve.
const FLINK: &str = "\
    BIN CHR CONCAT CONCAT_WS CONVERT_TZ COSH CURRENT_DATABASE CURRENT_ROW_TIMESTAMP DATE_FORMAT DECODE E ENCODE \
    FROM_BASE64 FROM_UNIXTIME HASH_CODE HEX IF INSTR IS_ALPHA IS_DECIMAL IS_DIGIT LEFT LOCATE LOG LOG2 LPAD LTRIM \
    MD5 NOW PARSE_URL PROCTIME REGEXP REGEXP_EXTRACT REGEXP_REPLACE REPEAT REVERSE RIGHT RPAD RTRIM SHA1 SHA2 SHA224 \
    SHA256 SHA384 SHA512 SINH SPLIT_INDEX STR_TO_MAP SUBSTR TANH TO_BASE64 TO_DATE TO_TIMESTAMP UNIX_TIMESTAMP UUID";

static STANDARD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STANDARD.split_ascii_whitespace().collect());
static FLINK_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| FLINK.split_ascii_whitespace().collect());

/// The name in upper case, if Flink resolves it.
pub(super) fn resolved(name: &str, style: Style) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    if upper == "CEILING" {
        return Some("CEIL".to_owned());
    }
    let known = STANDARD_SET.contains(upper.as_str()) || style == Style::Column && FLINK_SET.contains(upper.as_str());
    known.then_some(upper)
}

/// The field that a function such as YEAR extracts.
pub(super) fn extracted(name: &str) -> Option<&'static str> {
    Some(match name {
        "YEAR" => "YEAR",
        "QUARTER" => "QUARTER",
        "MONTH" => "MONTH",
        "WEEK" => "WEEK",
        "DAYOFYEAR" => "DOY",
        "DAYOFMONTH" => "DAY",
        "DAYOFWEEK" => "DOW",
        "HOUR" => "HOUR",
        "MINUTE" => "MINUTE",
        "SECOND" => "SECOND",
        _ => return None,
    })
}
