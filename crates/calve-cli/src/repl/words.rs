//! The words of the language where completion offers them.

/// What a statement begins with.
pub const STARTS: &[&str] = &[
    "ALTER", "ANALYZE", "BEGIN", "CALL", "CLEAR", "CREATE", "DELETE", "DESC", "DESCRIBE", "DROP", "END", "EXECUTE",
    "EXIT", "EXPLAIN", "HELP", "INSERT", "QUIT", "RESET", "SELECT", "SET", "SHOW", "TRUNCATE", "UPDATE", "USE",
    "VALUES", "WITH",
];

/// Beginnings of statements with the words that may follow.
pub const FOLLOWERS: &[(&[&str], &[&str])] = &[
    (&["ALTER"], &["CATALOG", "DATABASE", "TABLE", "VIEW"]),
    (&["ANALYZE"], &["TABLE"]),
    (&["BEGIN"], &["STATEMENT SET"]),
    (&["BEGIN", "STATEMENT"], &["SET"]),
    (&["CREATE"], &["CATALOG", "DATABASE", "TABLE", "TEMPORARY", "VIEW", "OR REPLACE"]),
    (&["CREATE", "OR"], &["REPLACE"]),
    (&["CREATE", "OR", "REPLACE"], &["TABLE", "VIEW"]),
    (&["CREATE", "TEMPORARY"], &["TABLE", "VIEW"]),
    (&["CREATE", "CATALOG"], &["IF NOT EXISTS"]),
    (&["CREATE", "DATABASE"], &["IF NOT EXISTS"]),
    (&["CREATE", "TABLE"], &["IF NOT EXISTS"]),
    (&["CREATE", "VIEW"], &["IF NOT EXISTS"]),
    (&["CREATE", "TEMPORARY", "TABLE"], &["IF NOT EXISTS"]),
    (&["CREATE", "TEMPORARY", "VIEW"], &["IF NOT EXISTS"]),
    (&["DELETE"], &["FROM"]),
    (&["DROP"], &["CATALOG", "DATABASE", "TABLE", "TEMPORARY", "VIEW"]),
    (&["DROP", "TEMPORARY"], &["TABLE", "VIEW"]),
    (&["EXECUTE"], &["STATEMENT SET"]),
    (&["EXECUTE", "STATEMENT"], &["SET"]),
    (&["EXECUTE", "STATEMENT", "SET"], &["BEGIN"]),
    (&["INSERT"], &["INTO", "OVERWRITE"]),
    (
        &["SHOW"],
        &[
            "CATALOGS",
            "COLUMNS FROM",
            "CREATE CATALOG",
            "CREATE TABLE",
            "CREATE VIEW",
            "CURRENT CATALOG",
            "CURRENT DATABASE",
            "DATABASES",
            "FUNCTIONS",
            "JARS",
            "MODULES",
            "PARTITIONS",
            "TABLES",
            "USER FUNCTIONS",
            "VIEWS",
        ],
    ),
    (&["SHOW", "CREATE"], &["CATALOG", "TABLE", "VIEW"]),
    (&["SHOW", "CURRENT"], &["CATALOG", "DATABASE"]),
    (&["SHOW", "COLUMNS"], &["FROM", "IN"]),
    (&["SHOW", "DATABASES"], &["FROM", "IN", "LIKE", "NOT LIKE"]),
    (&["SHOW", "FUNCTIONS"], &["FROM", "IN", "LIKE", "NOT LIKE"]),
    (&["SHOW", "TABLES"], &["FROM", "IN", "LIKE", "NOT LIKE"]),
    (&["SHOW", "USER"], &["FUNCTIONS"]),
    (&["SHOW", "VIEWS"], &["FROM", "IN", "LIKE", "NOT LIKE"]),
    (&["TRUNCATE"], &["TABLE"]),
];

/// What may stand where an expression does, beside columns and functions.
pub const IN_EXPRESSIONS: &[&str] = &[
    "AND",
    "ARRAY",
    "BETWEEN",
    "CASE",
    "CAST",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "DATE",
    "DISTINCT",
    "ELSE",
    "END",
    "EXISTS",
    "EXTRACT",
    "FALSE",
    "FROM",
    "IN",
    "INTERVAL",
    "IS",
    "LIKE",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "MAP",
    "NOT",
    "NULL",
    "OR",
    "OVERLAY",
    "POSITION",
    "ROW",
    "SELECT",
    "SUBSTRING",
    "THEN",
    "TIME",
    "TIMESTAMP",
    "TRIM",
    "TRUE",
    "TRY_CAST",
    "UNNEST",
    "WHEN",
];

/// What may follow an expression or a table.
pub const AFTER_EXPRESSIONS: &[&str] = &[
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "CROSS JOIN",
    "DESC",
    "ELSE",
    "END",
    "EXCEPT",
    "FETCH",
    "FILTER",
    "FROM",
    "FULL JOIN",
    "GROUP BY",
    "HAVING",
    "IN",
    "INNER JOIN",
    "INTERSECT",
    "IS",
    "JOIN",
    "LEFT JOIN",
    "LIKE",
    "LIMIT",
    "NATURAL JOIN",
    "NOT",
    "NULLS FIRST",
    "NULLS LAST",
    "OFFSET",
    "ON",
    "OR",
    "ORDER BY",
    "OVER",
    "RIGHT JOIN",
    "SELECT",
    "THEN",
    "UNION",
    "UNION ALL",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Types, as CREATE TABLE and CAST take them.
pub const TYPES: &[&str] = &[
    "ARRAY",
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "BYTES",
    "CHAR",
    "DATE",
    "DECIMAL",
    "DOUBLE",
    "FLOAT",
    "INT",
    "MAP",
    "MULTISET",
    "ROW",
    "SMALLINT",
    "STRING",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "TINYINT",
    "VARBINARY",
    "VARCHAR",
];

/// What a definition of CREATE TABLE may hold beside names and types.
pub const IN_DEFINITIONS: &[&str] =
    &["AS", "COMMENT", "CONSTRAINT", "METADATA", "NOT ENFORCED", "NOT NULL", "PRIMARY KEY", "WATERMARK FOR"];

/// What may follow the definitions of CREATE TABLE.
pub const AFTER_DEFINITIONS: &[&str] = &["AS", "COMMENT", "DISTRIBUTED", "LIKE", "PARTITIONED BY", "WITH"];

/// A name as it is written in a statement: in backticks where it has to be.
pub fn written(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !calve_sql::is_reserved(name);
    if plain { name.to_owned() } else { calve_sql::print::identifier(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_have_to_be() {
        for (name, expected) in [
            ("orders", "orders"),
            ("_x1", "_x1"),
            ("1x", "`1x`"),
            ("order", "`order`"),
            ("Order", "`Order`"),
            ("a b", "`a b`"),
            ("a`b", "`a``b`"),
            ("é", "`é`"),
            ("t$snapshots", "`t$snapshots`"),
            ("", "``"),
        ] {
            assert_eq!(written(name), expected);
        }
    }
}
