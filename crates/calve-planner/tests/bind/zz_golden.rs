//! temporary
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use calve_planner::catalog::Column;
use calve_planner::{CatalogReader, TableEntry, TablePath, bind};
use calve_sql::{ColumnKind, Statement, parse_one};
use calve_types::Result;
#[derive(Default)]
struct Cat { tables: RefCell<BTreeMap<String, Vec<Column>>> }
impl CatalogReader for Cat {
    fn current(&self) -> (&str, &str) { ("default_catalog", "default_database") }
    fn table(&self, p: &TablePath, _: &[(String, String)]) -> Result<Option<Arc<TableEntry>>> {
        Ok(self.tables.borrow().get(&p.table).map(|c| Arc::new(TableEntry { path: p.clone(), columns: c.clone(), primary_key: vec![], partition_keys: vec![], options: BTreeMap::new(), writable: true, handle: Arc::new(()) })))
    }
    fn similar_tables(&self, _: &TablePath) -> Vec<String> { vec![] }
    fn option(&self, _: &str) -> Option<String> { None }
}
#[test]
fn golden() {
    let mut stats: BTreeMap<&str, usize> = BTreeMap::new();
    let dir = "/work/shared/golden";
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "out")).collect();
    files.sort();
    for f in files {
        let name = f.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&f).unwrap();
        let cat = Cat::default();
        let mut views = String::new();
        for block in text.split("\n=== [").map(|b| b.trim_start_matches("=== [")) {
            let Some((_, rest)) = block.split_once("] ") else { continue };
            let (sql, out) = rest.split_once('\n').unwrap_or((rest, ""));
            let sql = sql.replace("\\n", "\n").replace("\\\\", "\\");
            let up = sql.to_uppercase();
            if let Some(pos) = up.find(" AS ").filter(|_| up.starts_with("CREATE TEMPORARY VIEW") || up.starts_with("CREATE VIEW")) {
                let vname = sql[..pos].split_whitespace().last().unwrap();
                if views.is_empty() { views.push_str("WITH ") } else { views.push_str(", ") }
                views.push_str(&format!("{vname} AS ({})", sql[pos + 4..].trim_end_matches(';')));
                continue;
            }
            let is_query = up.starts_with("SELECT") || up.starts_with("VALUES") || up.starts_with("WITH") || up.starts_with('(');
            let is_insert = up.starts_with("INSERT");
            if up.starts_with("CREATE TABLE") || up.starts_with("CREATE TEMPORARY TABLE") {
                if let Ok(Statement::CreateTable(c)) = parse_one(&sql) {
                    if out.contains("--- OK") {
                    let cols = c.columns.iter().filter_map(|d| match &d.kind { ColumnKind::Physical { data_type, .. } => Some(Column { name: d.name.value.clone(), data_type: data_type.clone() }), _ => None }).collect();
                    cat.tables.borrow_mut().insert(c.name.parts.last().unwrap().clone(), cols);
                    }
                }
                continue;
            }
            if !is_query && !is_insert { continue; }
            let full = if views.is_empty() || is_insert { sql.clone() } else if up.starts_with("WITH") { format!("{views}, {}", &sql[4..]) } else { format!("{views} {sql}") };
            let expected = out.lines().find(|l| l.starts_with("--- schema:")).map(|l| l["--- schema: ".len()..].trim_start_matches("op\t").to_owned());
            let error = out.lines().find(|l| l.starts_with("--- ERROR")).map(|l| l.to_owned());
            let found = parse_one(&full).and_then(|s| match s {
                Statement::Query(q) => bind::query(&q, &cat).map(|r| crate::catalog::schema(&r)),
                Statement::Insert(i) => bind::insert(&i, &cat).map(|_| String::new()),
                o => panic!("{o:?}"),
            });
            let kind = match (&expected, &error, &found) {
                (Some(e), _, Ok(f)) if e == f => "same schema",
                (Some(e), _, Ok(f)) => { println!("SCHEMA {name}: {sql}\n   want {e}\n   have {f}"); "other schema" }
                (Some(_), _, Err(e)) => { println!("REFUSED {name}: {sql}\n   {}: {} | {:?}", e.code, e.message, e.detail); "refused" }
                (None, Some(x), Ok(_)) => { println!("ACCEPTED {name}: {sql}\n   {}", &x[..x.len().min(250)]); "accepted" }
                (None, Some(x), Err(e)) => {
                    let want = x.split_once(": ").map_or("", |(_, m)| m).replace("\\n", "\n");
                    let have = e.detail.clone().unwrap_or_default();
                    if want == have { "same error" } else if e.code != "syntax-error" && e.code != "not-supported" { println!("ERROR {name}: {sql}\n   want {want}\n   have {}: {} | {have}", e.code, e.message); "other error" } else { "syntax/unsupported" }
                }
                (None, None, Ok(_)) => "ok",
                (None, None, Err(e)) => { println!("REFUSED {name}: {sql}\n   {}: {} | {:?}", e.code, e.message, e.detail); "refused" }
            };
            *stats.entry(kind).or_default() += 1;
        }
    }
    println!("{stats:?}");
}
