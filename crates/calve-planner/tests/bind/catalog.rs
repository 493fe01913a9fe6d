//! Tables in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_planner::catalog::{Column, ColumnKind, View};
use calve_planner::{CatalogReader, Rel, Sink, TableEntry, TablePath, bind};
use calve_sql::{Statement, parse_one, parse_type};
use calve_types::{DataType, Error, Result};

pub const CATALOG: &str = "default_catalog";
pub const DATABASE: &str = "default_database";

const TABLES: &[(&str, &[&str], &str)] = &[
    ("t", &[], "id INT, name STRING, amt DECIMAL(10, 2)"),
    ("f", &[], "a INT, b STRING, c DOUBLE"),
    ("nn", &[], "id INT NOT NULL, s STRING NOT NULL"),
    ("num", &[], "i INT, b BIGINT, f FLOAT, d DOUBLE, c DECIMAL(5, 2)"),
    ("tiny", &[], "t TINYINT, i INT"),
    ("tt", &[], "d DATE, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3), t TIME(0), s STRING, v VARCHAR(5), c CHAR(5), by_ BYTES"),
    ("l", &[], "id INT, lv STRING"),
    ("r", &[], "id INT, rv STRING"),
    ("j", &[], "id INT, tags ARRAY<STRING>, attrs MAP<STRING, INT>, r ROW<a INT, b ROW<c STRING NOT NULL>>"),
    ("part", &["dt", "hr"], "id INT, dt STRING, hr INT"),
    ("t$snapshots", &[], "snapshot_id BIGINT NOT NULL"),
];

/// Views, their columns when they were made, and their queries.
const VIEWS: &[(&str, &str, &str)] = &[
    ("v", "k INT, word STRING", "SELECT id, name FROM t"),
    ("v_of_v", "k BIGINT", "SELECT k FROM v WHERE word = 'x'"),
    ("itself", "k INT", "SELECT k FROM other"),
    ("other", "k INT", "SELECT k FROM itself"),
    ("stale", "k INT", "SELECT * FROM t"),
    ("broken", "k INT", "SELECT nope FROM t"),
    ("around_broken", "k INT", "SELECT k FROM broken"),
    ("around_around", "k INT", "SELECT k FROM around_broken"),
    ("outermost", "k INT", "SELECT k FROM around_around"),
    ("of_rows", "r ROW<a INT>", "SELECT CAST(ROW(id) AS ROW<a INT>) AS r FROM t"),
];

fn entry(path: &TablePath, partitions: &[&str], columns: &str) -> TableEntry {
    let row = parse_type(&format!("ROW<{columns}>")).unwrap();
    let calve_types::LogicalType::Row(fields) = row.logical else { panic!("no row") };
    TableEntry {
        path: path.clone(),
        columns: fields.into_iter().map(|f| Column::physical(f.name, f.data_type)).collect(),
        primary_key: vec![],
        watermark: None,
        partition_keys: partitions.iter().map(|p| (*p).to_owned()).collect(),
        options: BTreeMap::new(),
        writable: !path.table.contains('$'),
        view: None,
        handle: Arc::new(()),
    }
}

pub fn expression(sql: &str) -> calve_sql::ast::Expr {
    let Statement::Query(query) = parse_one(&format!("SELECT {sql} FROM t")).unwrap() else { panic!("no query") };
    let calve_sql::ast::SetExpr::Select(select) = *query.ast.body else { panic!("no select") };
    let calve_sql::ast::SelectItem::UnnamedExpr(e) = select.projection[0].clone() else { panic!("no expression") };
    e
}

pub struct Tables;

/// The same tables in streaming mode, `timed`, which has a rowtime attribute, and sinks.
pub struct Streaming;

/// Sinks of streams: their connectors and keys; the last two are Iceberg's.
const SINKS: &[(&str, Option<&str>, &[&str])] = &[
    ("files", Some("filesystem"), &[]),
    ("printed", Some("print"), &[]),
    ("nowhere", Some("blackhole"), &[]),
    ("keyless", None, &[]),
    ("keyed", None, &["k"]),
];

impl CatalogReader for Streaming {
    fn current(&self) -> (&str, &str) {
        Tables.current()
    }

    fn table(&self, path: &TablePath, hints: &[(String, String)]) -> Result<Option<Arc<TableEntry>>> {
        if let Some((_, connector, key)) = SINKS.iter().find(|(name, ..)| *name == path.table) {
            let mut table = entry(path, &[], "k INT NOT NULL, c BIGINT");
            table.options.extend(connector.map(|c| ("connector".to_owned(), c.to_owned())));
            table.primary_key = key.iter().map(|k| (*k).to_owned()).collect();
            return Ok(Some(Arc::new(table)));
        }
        if path.table == "timed" {
            let mut table = entry(path, &[], "ts TIMESTAMP(3), a INT, m TIMESTAMP(3)");
            table.columns[2].kind = ColumnKind::Metadata { key: "v".to_owned(), is_virtual: true };
            let column = if hints.is_empty() { "ts" } else { "m" };
            let expr = Arc::new(calve_sql::ast::Expr::Identifier(calve_sql::ast::Ident::new(column)));
            table.watermark = Some(calve_planner::Watermark { column: column.to_owned(), expr });
            return Ok(Some(Arc::new(table)));
        }
        Tables.table(path, hints)
    }

    fn similar_tables(&self, path: &TablePath) -> Vec<String> {
        Tables.similar_tables(path)
    }

    fn metadata(&self, table: &TableEntry) -> Vec<(String, DataType)> {
        let data_type = if table.path.table == "timed" { "TIMESTAMP(6)" } else { "INT" };
        vec![("v".to_owned(), parse_type(data_type).unwrap())]
    }

    fn option(&self, _: &str) -> Option<String> {
        None
    }
}

impl CatalogReader for Tables {
    fn current(&self) -> (&str, &str) {
        (CATALOG, DATABASE)
    }

    fn table(&self, path: &TablePath, hints: &[(String, String)]) -> Result<Option<Arc<TableEntry>>> {
        if path.catalog != CATALOG || path.database != DATABASE {
            return Ok(None);
        }
        if hints.iter().any(|(key, _)| key == "broken") {
            return Err(Error::new("unknown-option", "unknown option 'broken'"));
        }
        if let Some((_, columns, query)) = VIEWS.iter().find(|(name, ..)| *name == path.table) {
            let Statement::Query(query) = parse_one(query)? else { panic!("no query") };
            let view = View { query, catalog: CATALOG.to_owned(), database: DATABASE.to_owned() };
            return Ok(Some(Arc::new(TableEntry { view: Some(Arc::new(view)), ..entry(path, &[], columns) })));
        }
        if path.table == "computed" {
            let mut table = entry(path, &[], "a INT, b INT, c STRING NOT NULL, d STRING NOT NULL");
            table.columns[1].kind = ColumnKind::Computed(Arc::new(expression("a + 1")));
            table.columns[3].kind = ColumnKind::Computed(Arc::new(expression("UPPER(c)")));
            return Ok(Some(Arc::new(table)));
        }
        if path.table == "metadata" {
            let mut table = entry(path, &[], "a INT, v INT, w BIGINT, c INT");
            table.columns[1].kind = ColumnKind::Metadata { key: "v".to_owned(), is_virtual: true };
            table.columns[3].kind = ColumnKind::Computed(Arc::new(expression("v + a")));
            if !hints.is_empty() {
                table.columns[2].kind = ColumnKind::Metadata { key: "ww".to_owned(), is_virtual: false };
            }
            return Ok(Some(Arc::new(table)));
        }
        let Some((_, partitions, columns)) = TABLES.iter().find(|(name, ..)| *name == path.table) else {
            return Ok(None);
        };
        Ok(Some(Arc::new(entry(path, partitions, columns))))
    }

    fn similar_tables(&self, _: &TablePath) -> Vec<String> {
        TABLES.iter().map(|(name, ..)| (*name).to_owned()).collect()
    }

    fn metadata(&self, _: &TableEntry) -> Vec<(String, DataType)> {
        vec![("v".to_owned(), parse_type("BIGINT NOT NULL").unwrap())]
    }

    fn option(&self, key: &str) -> Option<String> {
        (key == "execution.runtime-mode").then(|| "batch".to_owned())
    }
}

pub fn query(sql: &str) -> Result<Rel> {
    match parse_one(sql)? {
        Statement::Query(query) => bind::query(&query, &Tables),
        other => panic!("no query: {other:?}"),
    }
}

/// As [`query`], in streaming mode.
pub fn stream(sql: &str) -> Result<Rel> {
    match parse_one(sql)? {
        Statement::Query(query) => bind::query(&query, &Streaming),
        other => panic!("no query: {other:?}"),
    }
}

/// As [`insert`], in streaming mode.
pub fn stream_insert(sql: &str) -> Result<Sink> {
    match parse_one(sql)? {
        Statement::Insert(insert) => bind::insert(&insert, &Streaming),
        other => panic!("no insert: {other:?}"),
    }
}

pub fn insert(sql: &str) -> Result<Sink> {
    match parse_one(sql)? {
        Statement::Insert(insert) => bind::insert(&insert, &Tables),
        other => panic!("no insert: {other:?}"),
    }
}

/// Names and types as a transcript prints them.
pub fn schema(rel: &Rel) -> String {
    rel.fields.iter().map(|f| format!("{} {}", f.name, f.data_type)).collect::<Vec<_>>().join("\t")
}

/// Place and Flink's sentence of an error; calve's own line where Flink has none.
pub fn refusal<T: std::fmt::Debug>(result: Result<T>) -> String {
    let error = result.expect_err("a refusal");
    let span = error.span.unwrap_or_default();
    assert!(!span.is_known() || span.start < span.end, "an empty place: {error:?}");
    let text = error.detail.unwrap_or(error.message);
    format!("{}:{}-{}:{} {text}", span.start.line, span.start.column, span.end.line, span.end.column)
}
