//! What DESCRIBE FUNCTION EXTENDED tells of Flink's functions.

/// One of Flink's functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signature {
    /// Its name, in Flink's spelling.
    pub name: &'static str,
    /// `SCALAR`, `AGGREGATE` or `OTHER`.
    pub kind: &'static str,
    /// Whether equal arguments give equal results.
    pub is_deterministic: bool,
    /// Its argument lists, without the name, one or more.
    arguments: &'static str,
}

impl Signature {
    /// The signatures, one a line, of the function by the name that a statement calls it.
    pub fn lines(&self, name: &str) -> String {
        self.arguments.split(';').map(|arguments| format!("{name}{arguments}")).collect::<Vec<_>>().join("\n")
    }
}

/// The function of a name in any case.
pub(super) fn find(name: &str) -> Option<Signature> {
    all().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// All functions.
pub(super) fn all() -> impl Iterator<Item = Signature> {
    TABLE.lines().filter_map(|line| {
        let (name, rest) = line.split_once(';')?;
        let (kind, arguments) = rest.split_once(';')?;
        let (kind, is_deterministic) = match kind {
            "scalar" => ("SCALAR", true),
            "random" => ("SCALAR", false),
            "aggregate" => ("AGGREGATE", true),
            _ => ("OTHER", true),
        };
        Some(Signature { name, kind, is_deterministic, arguments })
    })
}

/// `name;kind;arguments;arguments..`, as Flink 2.1 prints them; `random` is a scalar function that is not deterministic.
const TABLE: &str = "\
abs;scalar;(<NUMERIC>);(<INTERVAL>)
acos;scalar;(<NUMERIC>)
AGG_DECIMAL_MINUS;scalar;(<DECIMAL>, <DECIMAL>)
AGG_DECIMAL_PLUS;scalar;(<DECIMAL>, <DECIMAL>)
and;scalar;(<BOOLEAN>, <BOOLEAN>, <BOOLEAN>...)
array;scalar;(<COMMON>, <COMMON>...)
ARRAY_AGG;aggregate;(*)
ARRAY_APPEND;scalar;(array <ARRAY>, element <ARRAY ELEMENT>)
ARRAY_CONCAT;scalar;(<COMMON>, <COMMON>...)
ARRAY_CONTAINS;scalar;(haystack <ARRAY>, needle <ARRAY ELEMENT>)
ARRAY_DISTINCT;scalar;(haystack <ARRAY>)
ARRAY_EXCEPT;scalar;(<COMMON>, <COMMON>)
ARRAY_INTERSECT;scalar;(<COMMON>, <COMMON>)
ARRAY_JOIN;scalar;(ARRAY<STRING>, <CHARACTER_STRING>);(ARRAY<STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)
ARRAY_MAX;scalar;(<ARRAY<COMPARABLE>>)
ARRAY_MIN;scalar;(<ARRAY<COMPARABLE>>)
ARRAY_POSITION;scalar;(haystack <ARRAY>, needle <ARRAY ELEMENT>)
ARRAY_PREPEND;scalar;(array <ARRAY>, element <ARRAY ELEMENT>)
ARRAY_REMOVE;scalar;(haystack <ARRAY>, needle <ARRAY ELEMENT>)
ARRAY_REVERSE;scalar;(haystack <ARRAY>)
ARRAY_SLICE;scalar;(<ARRAY>, <INTEGER>, <INTEGER>);(<ARRAY>, <INTEGER>)
ARRAY_SORT;scalar;(<ARRAY<COMPARABLE>>);(<ARRAY<COMPARABLE>>, <BOOLEAN>);(<ARRAY<COMPARABLE>>, <BOOLEAN>, <BOOLEAN>)
ARRAY_UNION;scalar;(<COMMON>, <COMMON>)
as;other;([<OUTPUT> | <ANY>], [<LITERAL NOT NULL> & <CHARACTER_STRING>], [<LITERAL NOT NULL> & <CHARACTER_STRING>]...)
asc;other;(<ANY>)
ascii;scalar;(<CHARACTER_STRING>)
asin;scalar;(<NUMERIC>)
ASSIGNMENT;other;(*)
at;scalar;([<ARRAY> | <MAP>], [<INTEGER NUMERIC> | <MAP_KEY_TYPE>])
atan;scalar;(<NUMERIC>)
atan2;scalar;(<NUMERIC>, <NUMERIC>)
avg;aggregate;(<NUMERIC>)
between;scalar;(<COMPARABLE>...)
bin;scalar;(<INTEGER_NUMERIC>)
BTRIM;scalar;(str <CHARACTER_STRING>);(str <CHARACTER_STRING>, trimStr <CHARACTER_STRING>)
cardinality;scalar;([<COLLECTION> | <MAP>])
cast;scalar;(<ANY>, <TYPE LITERAL>)
ceil;scalar;(<NUMERIC>);(<INTERVAL>);(<DATETIME>, <SYMBOL>)
charLength;scalar;(<CHARACTER_STRING>)
chr;scalar;(<INTEGER_NUMERIC>)
COALESCE;scalar;(<COMMON>, <COMMON>...)
collect;aggregate;(<ANY>)
concat;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>...);(<BINARY_STRING>, <BINARY_STRING>...)
concat_ws;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>...)
convertTz;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)
cos;scalar;(<NUMERIC>)
cosh;scalar;(<NUMERIC>)
cot;scalar;(<NUMERIC>)
count;aggregate;(<ANY>)
CURRENT_WATERMARK;random;(<TIMESTAMP_WITHOUT_TIME_ZONE *ROWTIME*>);(<TIMESTAMP_WITH_LOCAL_TIME_ZONE *ROWTIME*>)
currentDatabase;random;(*)
currentDate;scalar;(*)
currentRowTimestamp;random;(*)
currentTime;scalar;(*)
currentTimestamp;scalar;(*)
dateFormat;scalar;(<TIMESTAMP>, <CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>)
decode;scalar;(<BINARY_STRING>, <CHARACTER_STRING>)
DEFAULT;scalar;()
degrees;scalar;(<NUMERIC>)
desc;other;(<ANY>)
distinct;aggregate;(<ANY>)
divide;scalar;(<NUMERIC>, <NUMERIC>);(<INTERVAL>, <NUMERIC>)
e;scalar;()
element;scalar;(<ARRAY>)
ELT;scalar;(index <INTEGER_NUMERIC>, expr <CHARACTER_STRING>, exprs <CHARACTER_STRING>...);(index <INTEGER_NUMERIC>, expr <BINARY_STRING>, exprs <BINARY_STRING>...)
encode;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>)
end;other;(<WINDOW REFERENCE>)
ENDSWITH;scalar;(expr <CHARACTER_STRING>, endExpr <CHARACTER_STRING>);(expr <BINARY_STRING>, endExpr <BINARY_STRING>)
equals;scalar;(<COMPARABLE>...)
exp;scalar;(<NUMERIC>)
extract;scalar;(<TimeIntervalUnit>, <TEMPORAL>)
first_value;aggregate;(*)
flatten;other;(<COMPOSITE>)
floor;scalar;(<NUMERIC>);(<INTERVAL>);(<DATETIME>, <SYMBOL>)
fromBase64;scalar;(<CHARACTER_STRING>)
fromUnixtime;scalar;(<NUMERIC>);(<NUMERIC>, <CHARACTER_STRING>)
get;other;(<COMPOSITE>, [<LITERAL NOT NULL> & [<INTEGER> | <CHARACTER_STRING>]])
greaterThan;scalar;(<COMPARABLE>...)
greaterThanOrEqual;scalar;(<COMPARABLE>...)
GREATEST;scalar;(<COMPARABLE>...)
hex;scalar;(<INTEGER_NUMERIC>);(<CHARACTER_STRING>)
HIVE_AGG_DECIMAL_PLUS;scalar;(<DECIMAL>, <DECIMAL>)
IFNULL;scalar;(input <COMMON>, null_replacement <COMMON>)
ifThenElse;scalar;(<BOOLEAN>, <COMMON>, <COMMON>)
in;scalar;(<COMPARABLE>, <COMPARABLE>...);(<COMPARABLE>, <SUBQUERY>)
initCap;scalar;(<CHARACTER_STRING>)
instr;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>)
IS_JSON;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <JsonType>)
isFalse;scalar;(<BOOLEAN>)
isNotFalse;scalar;(<BOOLEAN>)
isNotNull;scalar;(*)
isNotTrue;scalar;(<BOOLEAN>)
isNull;scalar;(*)
isTrue;scalar;(<BOOLEAN>)
JSON;scalar;(<CHARACTER_STRING>)
JSON_ARRAY;scalar;(<JsonOnNull>, [<CHARACTER_STRING> | <BINARY_STRING> | <TIMESTAMP> | <CONSTRUCTED> | <NUMERIC> | <STRUCTURED_TYPE> | <DISTINCT_TYPE> | <BOOLEAN>]...)
JSON_ARRAYAGG_ABSENT_ON_NULL;aggregate;([<CHARACTER_STRING> | <BINARY_STRING> | <TIMESTAMP> | <CONSTRUCTED> | <NUMERIC> | <STRUCTURED_TYPE> | <DISTINCT_TYPE> | <BOOLEAN>])
JSON_ARRAYAGG_NULL_ON_NULL;aggregate;([<CHARACTER_STRING> | <BINARY_STRING> | <TIMESTAMP> | <CONSTRUCTED> | <NUMERIC> | <STRUCTURED_TYPE> | <DISTINCT_TYPE> | <BOOLEAN>])
JSON_EXISTS;scalar;(<CHARACTER_STRING>, [<CHARACTER_STRING> & <LITERAL NOT NULL>]);(<CHARACTER_STRING>, [<CHARACTER_STRING> & <LITERAL NOT NULL>], <JsonExistsOnError>)
JSON_OBJECT;scalar;(<JsonOnNull>, [[<CHARACTER_STRING> & <LITERAL NOT NULL>], [<CHARACTER_STRING> | <BINARY_STRING> | <TIMESTAMP> | <CONSTRUCTED> | <NUMERIC> | <STRUCTURED_TYPE> | <DISTINCT_TYPE> | <BOOLEAN>]]...)
JSON_OBJECTAGG_ABSENT_ON_NULL;aggregate;(<CHARACTER_STRING>, [<CHARACTER_STRING> | <BINARY_STRING> | <TIMESTAMP> | <CONSTRUCTED> | <NUMERIC> | <STRUCTURED_TYPE> | <DISTINCT_TYPE> | <BOOLEAN>])
JSON_OBJECTAGG_NULL_ON_NULL;aggregate;(<CHARACTER_STRING>, [<CHARACTER_STRING> | <BINARY_STRING> | <TIMESTAMP> | <CONSTRUCTED> | <NUMERIC> | <STRUCTURED_TYPE> | <DISTINCT_TYPE> | <BOOLEAN>])
JSON_QUERY;scalar;(<CHARACTER_STRING>, [<CHARACTER_STRING> & <LITERAL NOT NULL>], <DATA TYPE NOT NULL>, <JsonQueryWrapper>, <JsonQueryOnEmptyOrError>, <JsonQueryOnEmptyOrError>)
JSON_QUOTE;scalar;(<CHARACTER_STRING>)
JSON_STRING;scalar;([<CHARACTER_STRING> | <BINARY_STRING> | <TIMESTAMP> | <CONSTRUCTED> | <NUMERIC> | <STRUCTURED_TYPE> | <DISTINCT_TYPE> | <BOOLEAN>])
JSON_UNQUOTE;scalar;(<CHARACTER_STRING>)
JSON_VALUE;scalar;(<CHARACTER_STRING>, [<CHARACTER_STRING> & <LITERAL NOT NULL>], <DATA TYPE NOT NULL>, <JsonValueOnEmptyOrError>, <ANY>, <JsonValueOnEmptyOrError>, <ANY>)
lag;aggregate;(<ANY>);(<ANY>, <NUMERIC>);(<COMMON>, <NUMERIC>, <COMMON>)
last_value;aggregate;(*)
lead;aggregate;(<ANY>);(<ANY>, <NUMERIC>);(<COMMON>, <NUMERIC>, <COMMON>)
LEAST;scalar;(<COMPARABLE>...)
left;scalar;(<CHARACTER_STRING>, <INTEGER_NUMERIC>)
lessThan;scalar;(<COMPARABLE>...)
lessThanOrEqual;scalar;(<COMPARABLE>...)
LIKE;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)
listAgg;aggregate;(<ANY>, <CHARACTER_STRING>)
ln;scalar;(<NUMERIC>)
localTime;scalar;(*)
localTimestamp;scalar;(*)
locate;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>, <INTEGER_NUMERIC>)
log;scalar;(<NUMERIC>);(<NUMERIC>, <NUMERIC>)
log10;scalar;(<NUMERIC>)
log2;scalar;(<NUMERIC>)
lower;scalar;(<CHARACTER_STRING>)
lowerCase;scalar;(<CHARACTER_STRING>)
lpad;scalar;(<CHARACTER_STRING>, <INTEGER>, <CHARACTER_STRING>)
ltrim;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>)
map;scalar;(*)
MAP_ENTRIES;scalar;(input <MAP>)
MAP_FROM_ARRAYS;scalar;(keysArray <ARRAY>, valuesArray <ARRAY>)
MAP_KEYS;scalar;(input <MAP>)
MAP_UNION;scalar;(<COMMON>, <COMMON>...)
MAP_VALUES;scalar;(input <MAP>)
max;aggregate;(<COMPARABLE>...)
md5;scalar;(<CHARACTER_STRING>)
min;aggregate;(<COMPARABLE>...)
minus;scalar;(<NUMERIC>, <NUMERIC>);(<INTERVAL_DAY_TIME>, <INTERVAL_DAY_TIME>);(<INTERVAL_YEAR_MONTH>, <INTERVAL_YEAR_MONTH>);(<DATETIME>, <INTERVAL>)
minusPrefix;scalar;(<OUTPUT>);(<NUMERIC>);(<INTERVAL>)
mod;scalar;(<EXACT_NUMERIC>, <EXACT_NUMERIC>)
not;scalar;(<BOOLEAN>)
notBetween;scalar;(<COMPARABLE>...)
notEquals;scalar;(<COMPARABLE>...)
now;scalar;(*)
or;scalar;(<BOOLEAN>, <BOOLEAN>, <BOOLEAN>...)
over;other;(<INTERNAL>...)
overlay;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>, <INTEGER>);(<CHARACTER_STRING>, <CHARACTER_STRING>, <INTEGER>, <INTEGER>)
PARSE_JSON;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <BOOLEAN>)
parseUrl;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)
PERCENTILE;aggregate;(expr <NUMERIC>, percentage [<NUMERIC NOT NULL> | ARRAY<NUMERIC NOT NULL> NOT NULL]);(expr <NUMERIC>, percentage [<NUMERIC NOT NULL> | ARRAY<NUMERIC NOT NULL> NOT NULL], frequency <INTEGER_NUMERIC>)
pi;scalar;()
plus;scalar;(<NUMERIC>, <NUMERIC>);(<INTERVAL_DAY_TIME>, <INTERVAL_DAY_TIME>);(<INTERVAL_YEAR_MONTH>, <INTERVAL_YEAR_MONTH>);(<DATETIME>, <INTERVAL>);(<INTERVAL>, <DATETIME>);(<CHARACTER_STRING>, <PREDEFINED>)
position;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>)
power;scalar;(<NUMERIC>, <NUMERIC>)
PRINTF;scalar;(format <CHARACTER_STRING>, obj <ANY>...)
proctime;other;(<WINDOW REFERENCE>)
radians;scalar;(<NUMERIC>)
rand;random;();(<INTEGER>)
randInteger;random;(<INTEGER>);(<INTEGER>, <INTEGER>)
rangeTo;other;(*)
regexp;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>)
REGEXP_COUNT;scalar;(str <CHARACTER_STRING>, regex <CHARACTER_STRING>)
REGEXP_EXTRACT_ALL;scalar;(str <CHARACTER_STRING>, regex <CHARACTER_STRING>);(str <CHARACTER_STRING>, regex <CHARACTER_STRING>, extractIndex <INTEGER_NUMERIC>)
REGEXP_INSTR;scalar;(str <CHARACTER_STRING>, regex <CHARACTER_STRING>)
REGEXP_SUBSTR;scalar;(str <CHARACTER_STRING>, regex <CHARACTER_STRING>)
regexpExtract;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>, <INTEGER>)
regexpReplace;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)
reinterpretCast;scalar;(<ANY>, <TYPE LITERAL>, <TRUE | FALSE>)
repeat;scalar;(<CHARACTER_STRING>, <INTEGER>)
replace;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)
reverse;scalar;(<CHARACTER_STRING>)
right;scalar;(<CHARACTER_STRING>, <INTEGER_NUMERIC>)
round;scalar;(<NUMERIC>);(<NUMERIC>, <INTEGER>)
row;scalar;(*)
rowtime;other;(<WINDOW REFERENCE>)
rpad;scalar;(<CHARACTER_STRING>, <INTEGER>, <CHARACTER_STRING>)
rtrim;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>)
sha1;scalar;(<CHARACTER_STRING>)
sha2;scalar;(<CHARACTER_STRING>, <INTEGER>)
sha224;scalar;(<CHARACTER_STRING>)
sha256;scalar;(<CHARACTER_STRING>)
sha384;scalar;(<CHARACTER_STRING>)
sha512;scalar;(<CHARACTER_STRING>)
sign;scalar;(<NUMERIC>)
similar;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>)
sin;scalar;(<NUMERIC>)
sinh;scalar;(<NUMERIC>)
SOURCE_WATERMARK;scalar;()
SPLIT;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>)
splitIndex;scalar;(<CHARACTER_STRING>, <CHARACTER_STRING>, <INTEGER>)
sqrt;scalar;(<NUMERIC>)
start;other;(<WINDOW REFERENCE>)
STARTSWITH;scalar;(expr <CHARACTER_STRING>, startExpr <CHARACTER_STRING>);(expr <BINARY_STRING>, startExpr <BINARY_STRING>)
stddevPop;aggregate;(<NUMERIC>)
stddevSamp;aggregate;(<NUMERIC>)
streamRecordTimestamp;other;()
strToMap;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)
substr;scalar;(<CHARACTER_STRING>, <INTEGER>);(<CHARACTER_STRING>, <INTEGER>, <INTEGER>)
substring;scalar;(<CHARACTER_STRING>, <INTEGER>);(<CHARACTER_STRING>, <INTEGER>, <INTEGER>)
sum;aggregate;(<NUMERIC>)
sum0;aggregate;(<NUMERIC>)
tan;scalar;(<NUMERIC>)
tanh;scalar;(<NUMERIC>)
temporalOverlaps;scalar;(leftTimePoint <DATETIME>, leftTemporal <TEMPORAL>, rightTimePoint <DATETIME>, rightTemporal <TEMPORAL>)
times;scalar;(<NUMERIC>, <NUMERIC>);(<INTERVAL>, <NUMERIC>);(<NUMERIC>, <INTERVAL>)
timestampDiff;scalar;(<TimePointUnit>, <DATETIME>, <DATETIME>)
TO_TIMESTAMP_LTZ;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>);(<NUMERIC>);(<NUMERIC>, <INTEGER_NUMERIC>)
toBase64;scalar;(<CHARACTER_STRING>)
toDate;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>)
toTimestamp;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>)
TRANSLATE3;scalar;(expr <CHARACTER_STRING>, fromStr <CHARACTER_STRING>, toStr <CHARACTER_STRING>)
trim;scalar;(<BOOLEAN>, <BOOLEAN>, <CHARACTER_STRING>, <CHARACTER_STRING>)
truncate;scalar;(<NUMERIC>);(<NUMERIC>, <INTEGER>)
TRY_CAST;scalar;(<ANY>, <TYPE LITERAL>)
TRY_PARSE_JSON;scalar;(<CHARACTER_STRING>);(<CHARACTER_STRING>, <BOOLEAN>)
TYPEOF;scalar;(input <ANY>);(input <ANY>, force_serializable [<BOOLEAN> & <LITERAL NOT NULL>])
UNHEX;scalar;(expr <CHARACTER_STRING>)
unixTimestamp;scalar;();(<CHARACTER_STRING>);(<CHARACTER_STRING>, <CHARACTER_STRING>)
upper;scalar;(<CHARACTER_STRING>)
upperCase;scalar;(<CHARACTER_STRING>)
URL_DECODE;scalar;(<CHARACTER_STRING>)
URL_ENCODE;scalar;(<CHARACTER_STRING>)
uuid;random;()
varPop;aggregate;(<NUMERIC>)
varSamp;aggregate;(<NUMERIC>)
withColumns;other;(*)
withoutColumns;other;(*)
";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_listed_function_has_one() {
        let mut described: Vec<_> = all().map(|function| function.name).collect();
        described.sort_unstable();
        let mut listed = calve_functions::names();
        listed.sort_unstable();
        assert_eq!(described, listed);
    }

    #[test]
    fn signatures_have_the_name_as_written() {
        assert_eq!(find("ABS").unwrap().lines("Abs"), "Abs(<NUMERIC>)\nAbs(<INTERVAL>)");
        assert_eq!(find("listagg").unwrap().kind, "AGGREGATE");
        assert!(!find("rand").unwrap().is_deterministic);
        assert!(find("date_format").is_none());
    }
}
