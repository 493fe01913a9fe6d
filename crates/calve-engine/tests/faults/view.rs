//! What a reader sees: rows, columns, properties, branches, and the files behind them.

use std::collections::{BTreeMap, BTreeSet};

use calve_engine::Session;
use calve_types::Error;

use crate::common::try_rows;
use crate::world::World;

/// All tables, by table and what it is of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View(BTreeMap<(String, String), Vec<String>>);

/// Rows of a query, in order of text.
async fn lines(session: &mut Session, query: &str) -> Result<Vec<String>, Error> {
    let rows = try_rows(session, query).await?.into_iter();
    let cell = |cell: Option<String>| match cell {
        // a megabyte says no more than its length
        Some(text) if text.len() > 10_000 => format!("{}..{}", &text[..1], text.len()),
        other => other.unwrap_or_else(|| "NULL".to_owned()),
    };
    let mut lines: Vec<String> = rows.map(|row| row.into_iter().map(cell).collect::<Vec<_>>().join(", ")).collect();
    lines.sort();
    Ok(lines)
}

impl View {
    /// What a session sees.
    pub async fn read(session: &mut Session) -> Result<Self, Error> {
        let mut view = Self::default();
        for table in lines(session, "SHOW TABLES").await? {
            let mut put = |what: &str, lines| view.0.insert((table.clone(), what.to_owned()), lines);
            put("rows", lines(session, &format!("SELECT * FROM {table}")).await?);
            put("definition", lines(session, &format!("SHOW CREATE TABLE {table}")).await?);
            let refs = lines(session, &format!("SELECT name FROM {table}$refs")).await?;
            if refs.iter().any(|name| name == "b") {
                let query = format!("SELECT * FROM {table} /*+ OPTIONS('branch' = 'b') */");
                put("rows of b", lines(session, &query).await?);
            }
            put("branches", refs);
        }
        Ok(view)
    }

    /// The number of rows of all tables and branches.
    pub fn rows(&self) -> usize {
        self.0.iter().filter(|((_, what), _)| what.starts_with("rows")).map(|(_, lines)| lines.len()).sum()
    }

    /// Of one table.
    pub fn only(&self, table: &str) -> Self {
        Self(self.0.iter().filter(|((name, _), _)| name == table).map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    /// With what the other has of other tables.
    pub fn over(mut self, other: &Self) -> Self {
        let own: BTreeSet<String> = self.0.keys().map(|(table, _)| table.clone()).collect();
        let more = other.0.iter().filter(|((table, _), _)| !own.contains(table));
        self.0.extend(more.map(|(key, lines)| (key.clone(), lines.clone())));
        self
    }

    /// How it differs from what was expected.
    pub fn difference(&self, expected: &Self) -> String {
        let keys: BTreeSet<_> = self.0.keys().chain(expected.0.keys()).collect();
        let differs = keys.into_iter().filter(|key| self.0.get(*key) != expected.0.get(*key));
        let shown = differs.map(|key| format!("{key:?} {:?} instead of {:?}", self.0.get(key), expected.0.get(key)));
        shown.collect::<Vec<_>>().join("; ")
    }
}

/// The files of the tables.
pub struct Files {
    /// What a table needs and is not there.
    pub missing: Vec<String>,
    /// What is there and no table names.
    pub left: BTreeSet<String>,
}

impl Files {
    /// Walks from the catalog to every file.
    pub async fn read(world: &World) -> Self {
        let (catalog, there) = (world.catalog(), world.files());
        let (mut named, mut old, mut missing) = (BTreeSet::new(), BTreeSet::new(), vec![]);
        for name in catalog.list_tables(&["db".to_owned()]).await.unwrap() {
            let ident = catalog.ident("db", &name).unwrap();
            let table = catalog.load_table(&ident).await.unwrap().unwrap();
            let metadata = table.metadata();
            if world.has_metadata_files() {
                named.insert(table.metadata_location().to_owned());
                old.extend(metadata.metadata_log().iter().map(|log| log.metadata_file.clone()));
            }
            for snapshot in metadata.snapshots() {
                named.insert(snapshot.manifest_list().to_owned());
                let manifests = match table.manifests(snapshot).await {
                    Ok(manifests) => manifests,
                    Err(error) => {
                        missing.push(error.to_string());
                        continue;
                    }
                };
                for manifest in manifests.iter() {
                    named.insert(manifest.manifest_path.clone());
                    match table.entries(manifest).await {
                        Ok(entries) => {
                            named.extend(entries.iter().filter(|e| e.is_alive()).map(|e| e.file_path().to_owned()));
                        }
                        Err(error) => missing.push(error.to_string()),
                    }
                }
            }
        }
        missing.extend(named.difference(&there).cloned());
        let is_catalogs = |file: &&String| file.ends_with("/version-hint.text") || file.ends_with("/.database");
        let left =
            there.difference(&named).filter(|file| !old.contains(*file) && !is_catalogs(file)).cloned().collect();
        Self { missing, left }
    }
}
