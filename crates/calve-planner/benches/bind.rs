//! Parsing and binding a script of 300 statements in some 2,000 lines: `cargo bench --workspace --bench bind`.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use calve_planner::catalog::Column;
use calve_planner::{CatalogReader, TableEntry, TablePath, bind};
use calve_sql::{Statement, parse, parse_type, split};
use calve_types::{LogicalType, Result};
use criterion::{Criterion, criterion_group, criterion_main};

const STATEMENTS: usize = 300;
const COLUMNS: &str = "id BIGINT NOT NULL, customer STRING, city STRING, amount DECIMAL(12, 2), placed TIMESTAMP(3), \
                       tags ARRAY<STRING>, address ROW<street STRING, zip STRING>";

/// The same columns for every table.
struct Tables {
    columns: Vec<Column>,
}

impl CatalogReader for Tables {
    fn current(&self) -> (&str, &str) {
        ("lake", "shop")
    }

    fn table(&self, path: &TablePath, _: &[(String, String)]) -> Result<Option<Arc<TableEntry>>> {
        Ok(Some(Arc::new(TableEntry {
            path: path.clone(),
            columns: self.columns.clone(),
            primary_key: vec![],
            watermark: None,
            partition_keys: vec![],
            options: BTreeMap::new(),
            writable: true,
            view: None,
            handle: Arc::new(()),
        })))
    }

    fn similar_tables(&self, _: &TablePath) -> Vec<String> {
        vec![]
    }

    fn option(&self, key: &str) -> Option<String> {
        (key == "execution.runtime-mode").then(|| "batch".to_owned())
    }
}

/// Statements of the kinds that pipelines have.
fn script() -> String {
    let mut script = String::new();
    for n in 0..STATEMENTS {
        let statement = match n % 5 {
            0 => format!(
                "CREATE TABLE IF NOT EXISTS orders_{n} (\n  id BIGINT NOT NULL,\n  city STRING,\n  amount DECIMAL(12, 2),\n  \
                 PRIMARY KEY (id) NOT ENFORCED\n) WITH (\n  'format-version' = '2',\n  'write.upsert.enabled' = 'true'\n)"
            ),
            1 => format!(
                "-- totals of a day\nINSERT INTO totals_{n} (id, city, amount)\nSELECT MAX(o.id), UPPER(TRIM(o.city)) AS c, \
                 SUM(o.amount)\nFROM orders AS o\nWHERE o.placed >= TIMESTAMP '2026-01-01 00:00:00' AND o.city LIKE \
                 'B%'\nGROUP BY UPPER(TRIM(o.city))\nHAVING COUNT(*) > {n}"
            ),
            2 => format!(
                "WITH ranked AS (\n  SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY placed DESC) AS rn\n  FROM \
                 orders\n)\nSELECT id, customer, CASE WHEN amount > {n} THEN 'large' ELSE 'small' END AS size\nFROM ranked\n\
                 WHERE rn = 1"
            ),
            3 => format!(
                "SELECT o.id, c.city, COALESCE(o.amount, 0) * 1.2 AS gross, DATE_FORMAT(o.placed, 'yyyy-MM-dd') AS d,\n  \
                 o.address.zip\nFROM orders AS o\nJOIN customers AS c ON o.id = c.id\nLEFT JOIN cities AS k ON c.city = \
                 k.city AND k.id > {n}\nWHERE o.id IN (SELECT id FROM paid)\n  AND c.customer IS NOT NULL"
            ),
            _ => format!("SET 'pipeline.name' = 'step {n}'"),
        };
        writeln!(script, "{statement};\n").unwrap();
    }
    script
}

fn parse_and_bind(script: &str, tables: &Tables) -> usize {
    let mut bound = 0;
    for statement in split(script) {
        bound += match parse(&statement).unwrap() {
            Statement::Query(query) => bind::query(&query, tables).unwrap().fields.len(),
            Statement::Insert(insert) => bind::insert(&insert, tables).unwrap().input.fields.len(),
            _ => 1,
        };
    }
    bound
}

fn benchmark(criterion: &mut Criterion) {
    let LogicalType::Row(fields) = parse_type(&format!("ROW<{COLUMNS}>")).unwrap().logical else { panic!("no row") };
    let tables = Tables { columns: fields.into_iter().map(|f| Column::physical(f.name, f.data_type)).collect() };
    let script = script();
    let lines = script.lines().count();
    criterion.bench_function(&format!("parse and bind {STATEMENTS} statements, {lines} lines"), |bencher| {
        bencher.iter(|| parse_and_bind(&script, &tables));
    });
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
