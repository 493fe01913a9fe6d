#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

/// The context at the `|` of a text.
fn at(text: &str) -> Context {
    let cursor = text.find('|').unwrap();
    context(&text.replacen('|', "", 1), cursor)
}

fn slot(text: &str) -> Slot {
    at(text).slot
}

fn offers(text: &str, word: &str) -> bool {
    match slot(text) {
        Slot::Words(words) | Slot::Table(words) => words.contains(&word),
        _ => false,
    }
}

#[test]
fn a_statement_begins_at_its_beginning() {
    for text in ["|", "sel|", "SELECT 1; |", "-- c\n|", "EXPLAIN |", "BEGIN STATEMENT SET;\nINS|", "EXPLAIN PLAN FOR |"]
    {
        assert_eq!(slot(text), Slot::Words(words::STARTS), "{text}");
    }
    assert_eq!(slot("EXECUTE STATEMENT SET BEGIN |"), Slot::Words(words::STARTS));
    assert_eq!(slot("EXPLAIN ESTIMATED_COST, CHANGELOG_MODE |"), Slot::Words(words::STARTS));
    assert_eq!(slot("EXPLAIN ANALYZE |"), Slot::Words(words::STARTS));
    assert!(offers("EXPLAIN |", "ANALYZE") && offers("EXPLAIN ANALYZE INSERT |", "INTO"));
}

#[test]
fn commands_take_their_words() {
    assert!(offers("CREATE |", "TABLE") && offers("create t|", "TEMPORARY"));
    assert!(offers("SHOW |", "TABLES") && offers("SHOW CREATE |", "VIEW"));
    assert!(offers("INSERT |", "INTO") && offers("DROP |", "TABLE"));
    assert!(offers("CREATE TABLE |", "IF NOT EXISTS") && offers("CREATE TABLE IF |", "NOT EXISTS"));
    assert!(offers("DROP TABLE IF |", "EXISTS"));
    assert!(offers("ALTER TABLE t |", "SET"));
    assert!(offers("SHOW TABLES |", "LIKE"));
    assert!(offers("CREATE TABLE t (a INT) |", "PARTITIONED BY"));
    assert!(offers("CREATE TABLE t (a INT) WITH ('a' = 'b') |", "LIKE"));
    assert!(offers("CREATE VIEW v |", "AS") && offers("CREATE VIEW v AS |", "SELECT"));
    assert!(offers("DESCRIBE |", "EXTENDED"));
}

#[test]
fn names_stand_where_they_are_asked_for() {
    for text in [
        "SELECT * FROM |",
        "SELECT * FROM or|",
        "SELECT * FROM a, |",
        "SELECT * FROM a JOIN |",
        "SELECT * FROM (|",
        "SELECT a, (SELECT max(b) FROM |",
        "INSERT INTO |",
        "INSERT OVERWRITE |",
        "EXPLAIN INSERT INTO |",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO |",
        "DROP TABLE |",
        "DROP TABLE IF EXISTS |",
        "DROP TEMPORARY VIEW |",
        "ALTER TABLE |",
        "DESCRIBE |",
        "DESC EXTENDED |",
        "SHOW CREATE TABLE |",
        "SHOW COLUMNS FROM |",
        "SHOW PARTITIONS |",
        "TRUNCATE TABLE |",
        "CREATE TABLE a (x INT) LIKE |",
        "DELETE FROM |",
        "UPDATE |",
    ] {
        assert!(matches!(slot(text), Slot::Table(_)), "{text}: {:?}", slot(text));
    }
    for text in ["USE |", "DROP DATABASE |", "SHOW TABLES FROM |", "SHOW VIEWS IN |", "DESCRIBE DATABASE |"] {
        assert_eq!(slot(text), Slot::Database, "{text}");
    }
    for text in
        ["USE CATALOG |", "DROP CATALOG |", "DROP CATALOG IF EXISTS |", "SHOW DATABASES IN |", "SHOW CREATE CATALOG |"]
    {
        assert_eq!(slot(text), Slot::Catalog, "{text}");
    }
}

#[test]
fn expressions_stand_where_values_do() {
    for text in [
        "SELECT |",
        "SELECT a, |",
        "SELECT DISTINCT |",
        "SELECT * FROM t WHERE |",
        "SELECT * FROM t WHERE a = |",
        "SELECT * FROM t WHERE a > 1 AND |",
        "SELECT * FROM t ORDER BY a, |",
        "SELECT count(|",
        "SELECT CASE WHEN |",
        "SELECT EXTRACT(YEAR FROM |",
        "SELECT * FROM a JOIN b ON |",
        "SELECT a * |",
        "INSERT INTO t SELECT |",
        "CREATE VIEW v AS SELECT |",
        "WITH q AS (SELECT |",
        "SELECT * FROM t WHERE a IN (|",
    ] {
        assert_eq!(slot(text), Slot::Expression, "{text}");
    }
    for text in ["SELECT a |", "SELECT * |", "SELECT * FROM t |", "SELECT f(a) |", "SELECT 'x' |", "SELECT t.* |"] {
        assert_eq!(slot(text), Slot::Words(words::AFTER_EXPRESSIONS), "{text}");
    }
    assert_eq!(slot("SELECT CAST(a AS |"), Slot::Words(words::TYPES));
    assert_eq!(slot("SELECT a AS |"), Slot::Nothing);
    assert!(offers("SELECT * FROM t ORDER |", "BY"));
    assert!(offers("SELECT * FROM t LEFT |", "JOIN"));
    assert!(offers("SELECT a IS |", "NOT NULL"));
    assert!(offers("SELECT sum(a) OVER (|", "PARTITION BY"));
}

#[test]
fn definitions_of_columns() {
    assert!(offers("CREATE TABLE t (|", "PRIMARY KEY"));
    assert_eq!(slot("CREATE TABLE t (a |"), Slot::Words(words::TYPES));
    assert_eq!(slot("CREATE TABLE t (a INT, b st|"), Slot::Words(words::TYPES));
    assert_eq!(slot("CREATE TABLE t (a INT |"), Slot::Words(words::IN_DEFINITIONS));
    assert_eq!(slot("INSERT INTO t (|"), Slot::TargetColumn);
    assert_eq!(slot("INSERT INTO t (a, |"), Slot::TargetColumn);
    assert_eq!(at("INSERT INTO c.d.t (a, |").target.unwrap(), ["c", "d", "t"]);
    assert!(offers("INSERT INTO t (a) |", "SELECT"));
}

#[test]
fn options_stand_in_strings() {
    assert_eq!(slot("SET '|"), Slot::OptionName(Options::Session));
    assert_eq!(slot("SET 'table.|'"), Slot::OptionName(Options::Session));
    assert_eq!(slot("RESET 'a|"), Slot::OptionName(Options::Session));
    assert_eq!(slot("SET 'k' = '|"), Slot::OptionValue(Options::Session, "k".to_owned()));
    assert_eq!(slot("CREATE CATALOG c WITH ('|"), Slot::OptionName(Options::Catalog));
    assert_eq!(
        slot("CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type'='|"),
        Slot::OptionValue(Options::Catalog, "catalog-type".to_owned())
    );
    let table = |path: &[&str], connector: Option<&str>| {
        Options::Table(path.iter().map(|s| (*s).to_owned()).collect(), connector.map(str::to_owned))
    };
    assert_eq!(
        slot("CREATE TABLE IF NOT EXISTS c.d.t (a INT) WITH ('|"),
        Slot::OptionName(table(&["c", "d", "t"], None))
    );
    assert_eq!(
        slot("CREATE TABLE t (a INT) WITH ('connector' = 'print', '|"),
        Slot::OptionName(table(&["t"], Some("print")))
    );
    assert_eq!(
        slot("CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = '|"),
        Slot::OptionValue(Options::Temporary(None), "connector".to_owned())
    );
    assert_eq!(slot("ALTER TABLE t SET ('|"), Slot::OptionName(table(&["t"], None)));
    assert_eq!(slot("SELECT * FROM t /*+ OPTIONS('|"), Slot::OptionName(Options::Read));
    assert_eq!(slot("INSERT INTO t /*+ OPTIONS('|"), Slot::OptionName(Options::Write));
    assert_eq!(slot("INSERT INTO t SELECT * FROM s /*+ OPTIONS('|"), Slot::OptionName(Options::Read));
    assert!(offers("SELECT * FROM t /*+ |", "OPTIONS"));
    for text in ["SELECT '|", "SELECT f('a', '|", "SHOW TABLES LIKE '|", "SELECT 'a'|", "-- SET '|", "/* SET '|"] {
        assert_eq!(slot(text), Slot::Nothing, "{text}");
    }
}

#[test]
fn the_unfinished_word_is_what_is_replaced() {
    let context = at("SELECT * FROM ice.`my db`.or|ders");
    assert_eq!((context.prefix.as_str(), context.start), ("or", 26));
    assert_eq!(context.qualifier, ["ice", "my db"]);
    let context = at("SELECT * FROM `or|");
    assert_eq!((context.prefix.as_str(), context.start, context.backtick), ("or", 14, true));
    let context = at("SET 'table.l|' = 'x'");
    assert_eq!((context.prefix.as_str(), context.start), ("table.l", 4));
}

#[test]
fn the_tables_of_the_statement_are_known() {
    let names = |text: &str| {
        at(text)
            .tables
            .iter()
            .map(|t| format!("{}{}", t.path.join("."), t.alias.as_ref().map(|a| format!(" {a}")).unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    assert_eq!(names("SELECT | FROM a, b.c AS x JOIN `d e` y ON x.i = y.i WHERE a.b = 1"), ["a", "b.c x", "d e y"]);
    assert_eq!(names("SELECT | FROM t /*+ OPTIONS('a'='b') */ AS o"), ["t o"]);
    assert_eq!(names("SELECT a, b FROM (SELECT x, y FROM t) AS s, u WHERE |"), ["t", "u"]);
    assert_eq!(names("SELECT 1 FROM x; SELECT | FROM y; SELECT 1 FROM z"), ["y"]);
    assert_eq!(names("SELECT | FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY))"), Vec::<String>::new());
    assert_eq!(at("WITH q AS (SELECT 1), r AS (SELECT 2) SELECT * FROM |").queries, ["q", "r"]);
}

#[test]
fn no_text_and_no_place_is_too_strange() {
    let texts = [
        "SELECT é日本 FROM `t` WHERE 'x''",
        "((((,,,.)))) SELECT FROM FROM , JOIN . ;",
        "INSERT INTO ( /*+ OPTIONS( ' = '",
        "CREATE TABLE IF WITH ( = , ) ; SET = '",
        "EXPLAIN EXPLAIN EXECUTE STATEMENT SET BEGIN END",
        "a.b.c.d.e.|",
    ];
    for text in texts {
        for at in 0..=text.len() + 1 {
            let found = context(text, at);
            assert!(found.start <= text.len() && text.is_char_boundary(found.start), "{text} {at}");
        }
    }
}
