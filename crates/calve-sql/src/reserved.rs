//! Flink's reserved words, which are names only in backticks.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use calve_types::{Error, Result, Span};
use sqlparser::ast::{self, Visit, Visitor};

use crate::parser::depth::on_deep_stack;
use crate::tokens::span_of;

/// The words that Flink 2.1's parser calls reserved.
const WORDS: &str = "\
    ABS ALL ALLOCATE ALLOW ALTER AND ANY ARE ARRAY ARRAY_CONCAT_AGG ARRAY_MAX_CARDINALITY AS ASENSITIVE ASYMMETRIC \
    AT ATOMIC AUTHORIZATION AVG BEGIN BEGIN_FRAME BEGIN_PARTITION BETWEEN BIGINT BINARY BIT BLOB BOOLEAN BOTH \
    BUCKETS BY BYTES CALL CALLED CARDINALITY CASCADED CASE CAST CATALOGS CEIL CEILING CHAR CHARACTER \
    CHARACTER_LENGTH CHAR_LENGTH CHECK CLASSIFIER CLOB CLOSE COALESCE COLLATE COLLECT COLUMN COMMENT COMMIT \
    CONDITION CONNECT CONSTRAINT CONTAINS CONTINUOUS CONVERT CORR CORRESPONDING COUNT COVAR_POP COVAR_SAMP CREATE \
    CROSS CUBE CUME_DIST CURRENT CURRENT_CATALOG CURRENT_DATE CURRENT_DEFAULT_TRANSFORM_GROUP CURRENT_PATH \
    CURRENT_ROLE CURRENT_ROW CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_TRANSFORM_GROUP_FOR_TYPE \
    CURRENT_USER CURSOR CYCLE DATABASES DATE DATETIME DATE_TRUNC DAY DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFINE \
    DELETE DENSE_RANK DEREF DESCRIBE DETERMINISTIC DISALLOW DISCONNECT DISTINCT DISTRIBUTED DISTRIBUTION DOT DOUBLE \
    DROP DYNAMIC EACH ELEMENT ELSE EMPTY END END_FRAME END_PARTITION EQUALS ESCAPE EVERY EXCEPT EXEC EXECUTE EXISTS \
    EXP EXPLAIN EXTEND EXTENDED EXTERNAL EXTRACT FALSE FETCH FILTER FIRST_VALUE FLOAT FLOOR FOR FOREIGN FRAME_ROW \
    FREE FRESHNESS FRIDAY FROM FULL FUNCTION FUNCTIONS FUSION GET GLOBAL GRANT GROUP GROUPING GROUPS GROUP_CONCAT \
    HASH HAVING HOLD HOUR IDENTITY ILIKE IMPORT IN INCLUDE INDICATOR INITIAL INNER INOUT INSENSITIVE INSERT INT \
    INTEGER INTERSECT INTERSECTION INTERVAL INTO IS JOIN JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT \
    JSON_OBJECTAGG JSON_QUERY JSON_VALUE LAG LANGUAGE LARGE LAST_VALUE LATERAL LEAD LEADING LEFT LIKE LIKE_REGEX \
    LIMIT LN LOCAL LOCALTIME LOCALTIMESTAMP LOWER MATCH MATCHES MATCH_NUMBER MATCH_RECOGNIZE MATERIALIZED MAX \
    MEASURES MEMBER MERGE METHOD MIN MINUS MINUTE MOD MODELS MODIFIES MODIFY MODULE MODULES MONDAY MONTH MULTISET \
    NATIONAL NATURAL NCHAR NCLOB NEW NEXT NO NONE NORMALIZE NOT NTH_VALUE NTILE NULL NULLIF NUMERIC \
    OCCURRENCES_REGEX OCTET_LENGTH OF OFFSET OLD OMIT ON ONE ONLY OPEN OR ORDER OUT OUTER OVER OVERLAPS OVERLAY \
    PARAMETER PARTITION PATTERN PER PERCENT PERCENTILE_CONT PERCENTILE_DISC PERCENT_RANK PERIOD PERMUTE PIVOT \
    PORTION POSITION POSITION_REGEX POWER PRECEDES PRECISION PREPARE PREV PRIMARY PROCEDURE PROCEDURES QUALIFY \
    QUARTERS RANGE RANK RAW READS REAL RECURSIVE REF REFERENCES REFERENCING REFRESH REFRESH_MODE REGR_AVGX REGR_AVGY \
    REGR_COUNT REGR_INTERCEPT REGR_R2 REGR_SLOPE REGR_SXX REGR_SXY REGR_SYY RELEASE RENAME RESET RESULT RESUME \
    RETURN RETURNS REVOKE RIGHT RLIKE ROLLBACK ROLLUP ROW ROWS ROW_NUMBER RUNNING SATURDAY SAVEPOINT SCALA SCOPE \
    SCROLL SEARCH SECOND SEEK SELECT SENSITIVE SEPARATOR SESSION_USER SET SHOW SIMILAR SKIP SMALLINT SOME SPECIFIC \
    SPECIFICTYPE SQL SQLEXCEPTION SQLSTATE SQLWARNING SQRT START STATEMENT STATIC STDDEV_POP STDDEV_SAMP STREAM \
    STRING STRING_AGG STRUCTURED SUBMULTISET SUBSET SUBSTRING SUBSTRING_REGEX SUCCEEDS SUM SUNDAY SUSPEND SYMMETRIC \
    SYSTEM SYSTEM_TIME SYSTEM_USER TABLE TABLES TABLESAMPLE THEN THURSDAY TIME TIMESTAMP TIMESTAMP_DIFF \
    TIMESTAMP_LTZ TIMESTAMP_TRUNC TIMEZONE_HOUR TIMEZONE_MINUTE TIME_DIFF TIME_TRUNC TINYINT TO TRAILING TRANSLATE \
    TRANSLATE_REGEX TRANSLATION TREAT TRIGGER TRIM TRIM_ARRAY TRUE TRUNCATE TUESDAY UESCAPE UNION UNIQUE UNKNOWN \
    UNNEST UNPIVOT UPDATE UPPER UPSERT USE USER USING VALUE VALUES VALUE_OF VARBINARY VARCHAR VARIANT VARYING \
    VAR_POP VAR_SAMP VERSIONING VIEWS WATERMARK WATERMARKS WEDNESDAY WEEKS WHEN WHENEVER WHERE WIDTH_BUCKET WINDOW \
    WITH WITHIN WITHOUT YEAR";

static RESERVED: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.split_ascii_whitespace().collect());

/// Reserved words that are values by themselves, or stand for one as an argument.
const VALUES: [&str; 16] = [
    "CURRENT_CATALOG",
    "CURRENT_DATE",
    "CURRENT_DEFAULT_TRANSFORM_GROUP",
    "CURRENT_PATH",
    "CURRENT_ROLE",
    "CURRENT_SCHEMA",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "DEFAULT",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "SESSION_USER",
    "SYSTEM_USER",
    "UNKNOWN",
    "USER",
];

/// Functions whose first argument is a unit of time.
const UNIT_FIRST: [&str; 2] = ["TIMESTAMPADD", "TIMESTAMPDIFF"];

/// Whether an unquoted word cannot be a name.
pub fn is_reserved(word: &str) -> bool {
    word.len() <= 40 && RESERVED.contains(word.to_ascii_uppercase().as_str())
}

/// Whether an unquoted word is a value by itself.
pub(crate) fn is_value(word: &str) -> bool {
    VALUES.iter().any(|value| word.eq_ignore_ascii_case(value))
}

/// The error for a reserved word at a place where `what` must stand.
pub(crate) fn reserved_word(what: &str, word: &str, span: Span) -> Error {
    Error::new("syntax-error", format!("expected {what}, found the reserved word '{word}'"))
        .with_hint(format!("a reserved word is a name only in backticks: `{word}`"))
        .at(span)
}

/// Refuses reserved words that stand unquoted where names do.
///
/// # Errors
/// `syntax-error` for the first one.
pub(crate) fn check<T: Visit>(tree: &T) -> Result<()> {
    match on_deep_stack(|| tree.visit(&mut Names { units: HashSet::new() })) {
        ControlFlow::Break(error) => Err(*error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Names {
    /// Places of units of time, which look like names.
    units: HashSet<Span>,
}

type Flow = ControlFlow<Box<Error>>;

fn name(what: &str, ident: &ast::Ident) -> Flow {
    if ident.quote_style.is_none() && is_reserved(&ident.value) {
        return ControlFlow::Break(Box::new(reserved_word(what, &ident.value, span_of(ident.span))));
    }
    ControlFlow::Continue(())
}

fn table_alias(alias: Option<&ast::TableAlias>) -> Flow {
    let Some(alias) = alias else { return ControlFlow::Continue(()) };
    name("an alias", &alias.name)?;
    alias.columns.iter().try_for_each(|column| name("a column name", &column.name))
}

fn select(select: &ast::Select) -> Flow {
    for item in &select.projection {
        if let ast::SelectItem::ExprWithAlias { alias, .. } = item {
            name("an alias", alias)?;
        }
    }
    ControlFlow::Continue(())
}

impl Visitor for Names {
    type Break = Box<Error>;

    fn pre_visit_query(&mut self, query: &ast::Query) -> Flow {
        if let Some(with) = &query.with {
            with.cte_tables.iter().try_for_each(|cte| table_alias(Some(&cte.alias)))?;
        }
        let mut bodies = vec![query.body.as_ref()];
        while let Some(body) = bodies.pop() {
            match body {
                ast::SetExpr::Select(body) => select(body)?,
                ast::SetExpr::SetOperation { left, right, .. } => bodies.extend([left.as_ref(), right.as_ref()]),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ast::ObjectName) -> Flow {
        relation.0.iter().filter_map(|part| part.as_ident()).try_for_each(|part| name("the name of a table", part))
    }

    fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> Flow {
        match factor {
            ast::TableFactor::Table { alias, .. }
            | ast::TableFactor::Derived { alias, .. }
            | ast::TableFactor::TableFunction { alias, .. }
            | ast::TableFactor::Function { alias, .. }
            | ast::TableFactor::UNNEST { alias, .. }
            | ast::TableFactor::NestedJoin { alias, .. } => table_alias(alias.as_ref()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> Flow {
        match expr {
            ast::Expr::Function(function) => {
                let takes_unit = matches!(function.name.0.as_slice(), [ast::ObjectNamePart::Identifier(name)]
                    if UNIT_FIRST.iter().any(|f| name.value.eq_ignore_ascii_case(f)));
                if takes_unit
                    && let ast::FunctionArguments::List(list) = &function.args
                    && let Some(ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Identifier(unit)))) =
                        list.args.first()
                {
                    self.units.insert(span_of(unit.span));
                }
                ControlFlow::Continue(())
            }
            ast::Expr::Identifier(ident) => {
                if is_value(&ident.value) || self.units.contains(&span_of(ident.span)) {
                    return ControlFlow::Continue(());
                }
                name("an expression", ident)
            }
            ast::Expr::CompoundIdentifier(parts) => parts.iter().try_for_each(|part| name("a column name", part)),
            _ => ControlFlow::Continue(()),
        }
    }
}
