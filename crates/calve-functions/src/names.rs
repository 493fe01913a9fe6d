//! The names of functions.

use crate::aggregate::aggregate_names;
use crate::function::scalar_names;

/// Functions that need `OVER`, by the names one writes.
const WINDOW: [&str; 8] = ["CUME_DIST", "DENSE_RANK", "LAG", "LEAD", "NTILE", "PERCENT_RANK", "RANK", "ROW_NUMBER"];

/// What Flink 2.1 lists in `SHOW FUNCTIONS`: its internal names, among them a few of its Table API alone.
const LISTED: &str = "\
    AGG_DECIMAL_MINUS AGG_DECIMAL_PLUS ARRAY_AGG ARRAY_APPEND ARRAY_CONCAT ARRAY_CONTAINS ARRAY_DISTINCT \
    ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX ARRAY_MIN ARRAY_POSITION ARRAY_PREPEND ARRAY_REMOVE \
    ARRAY_REVERSE ARRAY_SLICE ARRAY_SORT ARRAY_UNION ASSIGNMENT BTRIM COALESCE CURRENT_WATERMARK DEFAULT ELT \
    ENDSWITH GREATEST HIVE_AGG_DECIMAL_PLUS IFNULL IS_JSON JSON JSON_ARRAY JSON_ARRAYAGG_ABSENT_ON_NULL \
    JSON_ARRAYAGG_NULL_ON_NULL JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG_ABSENT_ON_NULL JSON_OBJECTAGG_NULL_ON_NULL \
    JSON_QUERY JSON_QUOTE JSON_STRING JSON_UNQUOTE JSON_VALUE LEAST LIKE MAP_ENTRIES MAP_FROM_ARRAYS MAP_KEYS \
    MAP_UNION MAP_VALUES PARSE_JSON PERCENTILE PRINTF REGEXP_COUNT REGEXP_EXTRACT_ALL REGEXP_INSTR REGEXP_SUBSTR \
    SOURCE_WATERMARK SPLIT STARTSWITH TO_TIMESTAMP_LTZ TRANSLATE3 TRY_CAST TRY_PARSE_JSON TYPEOF UNHEX URL_DECODE \
    URL_ENCODE abs acos and array as asc ascii asin at atan atan2 avg between bin cardinality cast ceil charLength \
    chr collect concat concat_ws convertTz cos cosh cot count currentDatabase currentDate currentRowTimestamp \
    currentTime currentTimestamp dateFormat decode degrees desc distinct divide e element encode end equals exp \
    extract first_value flatten floor fromBase64 fromUnixtime get greaterThan greaterThanOrEqual hex ifThenElse in \
    initCap instr isFalse isNotFalse isNotNull isNotTrue isNull isTrue lag last_value lead left lessThan \
    lessThanOrEqual listAgg ln localTime localTimestamp locate log log10 log2 lower lowerCase lpad ltrim map max \
    md5 min minus minusPrefix mod not notBetween notEquals now or over overlay parseUrl pi plus position power \
    proctime radians rand randInteger rangeTo regexp regexpExtract regexpReplace reinterpretCast repeat replace \
    reverse right round row rowtime rpad rtrim sha1 sha2 sha224 sha256 sha384 sha512 sign similar sin sinh \
    splitIndex sqrt start stddevPop stddevSamp strToMap streamRecordTimestamp substr substring sum sum0 tan tanh \
    temporalOverlaps times timestampDiff toBase64 toDate toTimestamp trim truncate unixTimestamp upper upperCase \
    uuid varPop varSamp withColumns withoutColumns";

/// The built-in functions that `SHOW FUNCTIONS` lists, as Flink lists them and in its order.
pub fn names() -> Vec<&'static str> {
    LISTED.split_whitespace().collect()
}

/// The functions one can call, by the names one writes, in alphabetical order: for completion and suggestions.
pub fn callable() -> Vec<&'static str> {
    let mut all: Vec<_> = scalar_names().chain(aggregate_names()).chain(WINDOW).collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let names = names();
        assert_eq!(names.len(), 226);
        assert!(names.is_sorted());
        assert!(names.contains(&"toBase64") && names.contains(&"ARRAY_AGG"));
        let callable = callable();
        assert!(["SUBSTRING", "COUNT", "ROW_NUMBER"].iter().all(|name| callable.contains(name)));
        assert!(callable.windows(2).all(|w| w.first() < w.last()), "each name once");
    }
}
