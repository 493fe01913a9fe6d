//! The two tables of a JDBC catalog, as `JdbcUtil` of the Java library lays them out.
//!
//! * `iceberg_tables`: where the metadata file of each table is; the one before in `previous_metadata_location`. Version
//!   V1 of the layout has `iceberg_type` (`TABLE` or `VIEW`; NULL is a table) too.
//! * `iceberg_namespace_properties`: a row for each property of a namespace, `exists` = `true` for every one.
//!
//! The levels of a namespace are joined by dots. Every change is one statement, and so done or not done, in each database.

use std::collections::BTreeMap;
use std::fmt::Write;

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::TableIdent;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::sync::OnceCell;

use super::database::Database;
use super::uri::Place;
use crate::catalog::open::Access;
use crate::catalog::pointer::{Failure, PointerStore, Version};

const TABLES: &str = "iceberg_tables";
const PROPERTIES: &str = "iceberg_namespace_properties";

const CREATE_TABLES: &str = "CREATE TABLE IF NOT EXISTS iceberg_tables(\
     catalog_name VARCHAR(255) NOT NULL, \
     table_namespace VARCHAR(255) NOT NULL, \
     table_name VARCHAR(255) NOT NULL, \
     metadata_location VARCHAR(1000), \
     previous_metadata_location VARCHAR(1000), \
     PRIMARY KEY (catalog_name, table_namespace, table_name))";
const CREATE_PROPERTIES: &str = "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties(\
     catalog_name VARCHAR(255) NOT NULL, \
     namespace VARCHAR(255) NOT NULL, \
     property_key VARCHAR(255), \
     property_value VARCHAR(1000), \
     PRIMARY KEY (catalog_name, namespace, property_key))";
/// The property every namespace has.
const EXISTS: &str = "exists";
/// What errors say of changes.
const WRITE: &str = "write to";

fn is_typed(columns: &[String]) -> bool {
    columns.iter().any(|name| name == "iceberg_type")
}

/// How the database is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    /// Whether it may be changed.
    pub(super) access: Access,
    /// `jdbc.init-catalog-tables`: creates what is missing.
    pub(super) create: bool,
    /// `jdbc.schema-version` = `V1`: adds `iceberg_type`.
    pub(super) typed: bool,
}

/// The database, connected when it is first used.
#[derive(Debug)]
pub(super) struct Store {
    place: Place,
    catalog: String,
    /// The folder of the tables, without slashes at the end: their locations start with it.
    warehouse: String,
    opening: Opening,
    connected: OnceCell<Connected>,
}

#[derive(Debug)]
struct Connected {
    database: Database,
    /// Whether `iceberg_tables` has the column `iceberg_type`.
    typed: bool,
}

impl Connected {
    /// Which rows of `iceberg_tables` are tables.
    fn only_tables(&self) -> &'static str {
        if self.typed { " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)" } else { "" }
    }
}

impl Store {
    pub(super) fn new(place: Place, catalog: String, warehouse: String, opening: Opening) -> Self {
        Self { place, catalog, warehouse, opening, connected: OnceCell::new() }
    }

    async fn connected(&self) -> Result<&Connected, Failure> {
        self.connected.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<Connected, Failure> {
        let Opening { access, create, typed } = self.opening;
        if access == Access::ReadOnly {
            if let Some(database) = self.existing().await? {
                let columns = columns(&database, TABLES).await?;
                if !columns.is_empty() {
                    return Ok(Connected { database, typed: is_typed(&columns) });
                }
            }
            // nothing is there yet
            let memory = SqliteConnectOptions::new().in_memory(true);
            let database = Database::sqlite("memory".to_owned(), memory).await?;
            create_tables(&database).await?;
            return Ok(Connected { database, typed: false });
        }
        let database = match &self.place {
            Place::Sqlite(file) => {
                let options = SqliteConnectOptions::new().filename(file).create_if_missing(create);
                Database::sqlite(file.display().to_string(), options).await?
            }
            Place::Postgres(server) => Database::postgres(server).await?,
        };
        if create {
            create_tables(&database).await?;
        }
        let mut found = is_typed(&columns(&database, TABLES).await?);
        if typed && !found {
            let add = "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)";
            if let Err(error) = database.execute("change the tables of", add, &[]).await {
                // another process may have been first
                if !is_typed(&columns(&database, TABLES).await?) {
                    return Err(error);
                }
            }
            found = true;
        }
        Ok(Connected { database, typed: found })
    }

    /// The database to be read; `None` if there is none.
    async fn existing(&self) -> Result<Option<Database>, Failure> {
        match &self.place {
            Place::Sqlite(file) if file.exists() => {
                let options = SqliteConnectOptions::new().filename(file).read_only(true);
                Database::sqlite(file.display().to_string(), options).await.map(Some)
            }
            Place::Sqlite(_) => Ok(None),
            Place::Postgres(server) => Database::postgres(server).await.map(Some),
        }
    }

    /// The namespaces of tables, and those that were created, level by level.
    async fn all_namespaces(&self) -> Result<Vec<Vec<String>>> {
        let sql = "SELECT DISTINCT table_namespace FROM iceberg_tables WHERE catalog_name = $1 \
             UNION SELECT DISTINCT namespace FROM iceberg_namespace_properties WHERE catalog_name = $1";
        let rows = self.connected().await?.database.rows(sql, &[&self.catalog]).await?;
        Ok(rows.into_iter().flatten().map(|name| name.split('.').map(str::to_owned).collect()).collect())
    }

    async fn insert_properties(
        &self,
        namespace: &[String],
        properties: &BTreeMap<String, String>,
        on_conflict: &str,
    ) -> Result<(), Failure> {
        if properties.is_empty() {
            return Ok(());
        }
        let name = namespace.join(".");
        let mut values = vec![self.catalog.as_str(), &name];
        let mut sql =
            format!("INSERT INTO {PROPERTIES} (catalog_name, namespace, property_key, property_value) VALUES");
        for (key, value) in properties {
            let comma = if values.len() > 2 { "," } else { "" };
            values.extend([key.as_str(), value]);
            // writing to a String does not fail
            let _ = write!(sql, "{comma} ($1, $2, ${}, ${})", values.len() - 1, values.len());
        }
        sql.push_str(on_conflict);
        self.connected().await?.database.execute(WRITE, &sql, &values).await.map(drop)
    }
}

#[async_trait]
impl PointerStore for Store {
    async fn connect(&self) -> Result<()> {
        self.connected().await?;
        Ok(())
    }

    fn check_new_namespace(&self, namespace: &[String]) -> Result<()> {
        if let Some(level) = namespace.iter().find(|level| level.contains('.')) {
            return Err(Error::new("invalid-name", format!("'{level}' is not a database name in a JDBC catalog"))
                .with_hint("a dot separates levels there"));
        }
        Ok(())
    }

    async fn namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        let mut below = self.all_namespaces().await?;
        below.retain(|levels| levels.len() > parent.len() && levels.starts_with(parent));
        Ok(below)
    }

    async fn has_namespace(&self, namespace: &[String]) -> Result<bool> {
        Ok(self.all_namespaces().await?.iter().any(|levels| levels.starts_with(namespace)))
    }

    async fn create_namespace(
        &self,
        namespace: &[String],
        mut properties: BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        properties.insert(EXISTS.to_owned(), "true".to_owned());
        self.insert_properties(namespace, &properties, "").await
    }

    async fn set_namespace_properties(
        &self,
        namespace: &[String],
        mut properties: BTreeMap<String, String>,
    ) -> Result<()> {
        properties.remove(EXISTS);
        let replace = " ON CONFLICT (catalog_name, namespace, property_key) \
             DO UPDATE SET property_value = excluded.property_value";
        Ok(self.insert_properties(namespace, &properties, replace).await?)
    }

    async fn drop_namespace(&self, namespace: &[String]) -> Result<bool, Failure> {
        // one statement: a table that is created meanwhile keeps the namespace
        let sql = "DELETE FROM iceberg_namespace_properties WHERE catalog_name = $1 AND namespace = $2 AND NOT EXISTS \
             (SELECT 1 FROM iceberg_tables WHERE catalog_name = $1 AND table_namespace = $2)";
        let values = [self.catalog.as_str(), &namespace.join(".")];
        Ok(self.connected().await?.database.execute(WRITE, sql, &values).await? > 0)
    }

    async fn tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        let connected = self.connected().await?;
        let sql = format!(
            "SELECT table_name FROM iceberg_tables WHERE catalog_name = $1 AND table_namespace = $2{}",
            connected.only_tables()
        );
        let rows = connected.database.rows(&sql, &[&self.catalog, &namespace.join(".")]).await?;
        let mut tables: Vec<String> = rows.into_iter().flatten().collect();
        // databases sort by rules of their own
        tables.sort();
        Ok(tables)
    }

    fn drafted_folder(&self, ident: &TableIdent) -> String {
        let levels = ident.namespace().iter().map(String::as_str).chain([ident.name()]);
        levels.fold(self.warehouse.clone(), |location, level| format!("{location}/{level}"))
    }

    async fn pointer(&self, ident: &TableIdent) -> Result<Option<String>> {
        let connected = self.connected().await?;
        let sql = format!(
            "SELECT metadata_location FROM iceberg_tables \
             WHERE catalog_name = $1 AND table_namespace = $2 AND table_name = $3{}",
            connected.only_tables()
        );
        let values = [self.catalog.as_str(), &ident.namespace().join("."), ident.name()];
        match connected.database.rows(&sql, &values).await?.into_iter().next() {
            None => Ok(None),
            Some(Some(location)) => Ok(Some(location)),
            Some(None) => {
                Err(Error::new("invalid-table", format!("table '{ident}' has no metadata file in its catalog")))
            }
        }
    }

    async fn create_table(&self, ident: &TableIdent, first: Version<'_>) -> Result<(), Failure> {
        let connected = self.connected().await?;
        let (column, kind) = if connected.typed { (", iceberg_type", ", 'TABLE'") } else { ("", "") };
        let sql = format!(
            "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location{column}) \
             VALUES ($1, $2, $3, $4{kind})"
        );
        let values = [self.catalog.as_str(), &ident.namespace().join("."), ident.name(), first.location];
        connected.database.execute(WRITE, &sql, &values).await.map(drop)
    }

    async fn replace(&self, ident: &TableIdent, old: &str, next: Version<'_>) -> Result<bool, Failure> {
        let sql = "UPDATE iceberg_tables SET metadata_location = $1, previous_metadata_location = $2 \
             WHERE catalog_name = $3 AND table_namespace = $4 AND table_name = $5 AND metadata_location = $2";
        let values = [next.location, old, &self.catalog, &ident.namespace().join("."), ident.name()];
        Ok(self.connected().await?.database.execute(WRITE, sql, &values).await? == 1)
    }

    async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<bool, Failure> {
        let connected = self.connected().await?;
        let sql = format!(
            "UPDATE iceberg_tables SET table_name = $1 \
             WHERE catalog_name = $2 AND table_namespace = $3 AND table_name = $4{}",
            connected.only_tables()
        );
        let values = [name, &self.catalog, &ident.namespace().join("."), ident.name()];
        Ok(connected.database.execute(WRITE, &sql, &values).await? == 1)
    }

    async fn drop_table(&self, ident: &TableIdent, old: Option<&str>) -> Result<bool, Failure> {
        let connected = self.connected().await?;
        let sql = format!(
            "DELETE FROM iceberg_tables WHERE catalog_name = $1 AND table_namespace = $2 AND table_name = $3{}{}",
            connected.only_tables(),
            if old.is_some() { " AND metadata_location = $4" } else { "" }
        );
        let namespace = ident.namespace().join(".");
        let mut values = vec![self.catalog.as_str(), namespace.as_str(), ident.name()];
        values.extend(old);
        Ok(connected.database.execute(WRITE, &sql, &values).await? == 1)
    }
}

/// The names of a table's columns; none if it is not there.
async fn columns(database: &Database, table: &str) -> Result<Vec<String>, Failure> {
    let sql = match database.is_sqlite() {
        true => "SELECT name FROM pragma_table_info($1)",
        false => {
            "SELECT attname::text FROM pg_attribute \
             WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped"
        }
    };
    Ok(database.rows(sql, &[table]).await?.into_iter().flatten().collect())
}

/// Creates what is missing; who has it need not be allowed to.
async fn create_tables(database: &Database) -> Result<(), Failure> {
    for (table, sql) in [(TABLES, CREATE_TABLES), (PROPERTIES, CREATE_PROPERTIES)] {
        if columns(database, table).await?.is_empty()
            && let Err(error) = database.execute("create the tables of", sql, &[]).await
            // another process may have been first
            && columns(database, table).await?.is_empty()
        {
            return Err(error);
        }
    }
    Ok(())
}
