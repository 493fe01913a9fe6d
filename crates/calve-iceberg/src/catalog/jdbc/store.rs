//! The two tables of a JDBC catalog, as `JdbcUtil` of the Java library lays them out.
//!
//! * `iceberg_tables`: where the metadata file of each table is; the one before in `previous_metadata_location`. Version
//!   V1 of the layout has `iceberg_type` (`TABLE` or `VIEW`; NULL is a table) too.
//! * `iceberg_namespace_properties`: a row for each property of a namespace, `exists` = `true` for every one.
//!
//! The levels of a namespace are joined by dots.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use calve_types::{Error, Result};
use iceberg::TableIdent;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tokio::sync::OnceCell;

use crate::catalog::open::Access;

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
/// How long another writer may hold the database.
const PATIENCE: Duration = Duration::from_secs(30);

/// A statement that the database did not answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another connection held the database for too long: nothing was changed.
    Busy(Error),
    /// Anything else: a change may have been made.
    Other(Error),
}

/// What became of a table that was to be renamed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Renamed {
    /// It has the new name.
    Done,
    /// Another table, or a view, has the name.
    Taken,
    /// There is no such table.
    Missing,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Busy(error) | Failure::Other(error) => error,
        }
    }
}

fn is_typed(columns: &[(String,)]) -> bool {
    columns.iter().any(|(name,)| name == "iceberg_type")
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
    file: PathBuf,
    catalog: String,
    opening: Opening,
    connected: OnceCell<Connected>,
}

#[derive(Debug)]
struct Connected {
    pool: SqlitePool,
    /// Whether `iceberg_tables` has the column `iceberg_type`.
    typed: bool,
}

impl Store {
    pub(super) fn new(file: PathBuf, catalog: String, opening: Opening) -> Self {
        Self { file, catalog, opening, connected: OnceCell::new() }
    }

    async fn connected(&self) -> Result<&Connected, Failure> {
        self.connected.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<Connected, Failure> {
        let Opening { access, create, typed: add_type } = self.opening;
        let options = SqliteConnectOptions::new().filename(&self.file).busy_timeout(PATIENCE);
        if access == Access::ReadOnly {
            if self.file.exists() {
                let pool = self.pool(options.read_only(true)).await?;
                let columns = self.columns(&pool).await?;
                if !columns.is_empty() {
                    return Ok(Connected { pool, typed: is_typed(&columns) });
                }
            }
            // nothing is there yet
            let pool = self.pool(SqliteConnectOptions::new().in_memory(true)).await?;
            self.create_tables(&pool).await?;
            return Ok(Connected { pool, typed: false });
        }
        let pool = self.pool(options.create_if_missing(create)).await?;
        if create {
            self.create_tables(&pool).await?;
        }
        let mut typed = is_typed(&self.columns(&pool).await?);
        if add_type && !typed {
            sqlx::query("ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)")
                .execute(&pool)
                .await
                .map_err(|e| self.failure("change the tables of", &e))?;
            typed = true;
        }
        Ok(Connected { pool, typed })
    }

    async fn pool(&self, options: SqliteConnectOptions) -> Result<SqlitePool, Failure> {
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await;
        pool.map_err(|e| self.failure("open", &e))
    }

    async fn create_tables(&self, pool: &SqlitePool) -> Result<(), Failure> {
        for statement in [CREATE_TABLES, CREATE_PROPERTIES] {
            sqlx::query(statement).execute(pool).await.map_err(|e| self.failure("create the tables of", &e))?;
        }
        Ok(())
    }

    /// The names of the columns of `iceberg_tables`; none if it is not there.
    async fn columns(&self, pool: &SqlitePool) -> Result<Vec<(String,)>, Failure> {
        sqlx::query_as("SELECT name FROM pragma_table_info('iceberg_tables')")
            .fetch_all(pool)
            .await
            .map_err(|e| self.failure("read", &e))
    }

    fn failure(&self, what: &str, error: &sqlx::Error) -> Failure {
        let file = self.file.display();
        let told = Error::new("io", format!("cannot {what} the catalog database '{file}': {error}"));
        let busy = "another program holds the database; run the statement again";
        // no connection came free: the statement was not sent
        if matches!(error, sqlx::Error::PoolTimedOut) {
            return Failure::Busy(told.with_hint(busy));
        }
        // SQLITE_BUSY (5) and SQLITE_LOCKED (6), extended codes included
        let code = error.as_database_error().and_then(|e| e.code()).and_then(|code| code.parse::<u32>().ok());
        match code.map(|code| code & 0xff) {
            Some(5 | 6) => Failure::Busy(told.with_hint(busy)),
            _ => Failure::Other(told),
        }
    }

    /// Which rows of `iceberg_tables` are tables.
    fn only_tables(connected: &Connected) -> &'static str {
        if connected.typed { " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)" } else { "" }
    }

    /// The namespaces of tables, and those that were created, level by level.
    pub(super) async fn namespaces(&self) -> Result<Vec<Vec<String>>> {
        let rows: Vec<(String,)> = sqlx::query_as(
            "SELECT DISTINCT table_namespace FROM iceberg_tables WHERE catalog_name = $1 \
             UNION SELECT DISTINCT namespace FROM iceberg_namespace_properties WHERE catalog_name = $1",
        )
        .bind(&self.catalog)
        .fetch_all(&self.connected().await?.pool)
        .await
        .map_err(|e| self.failure("read", &e))?;
        Ok(rows.into_iter().map(|(name,)| name.split('.').map(str::to_owned).collect()).collect())
    }

    /// Creates a namespace; `false` if another process was first.
    pub(super) async fn create_namespace(
        &self,
        namespace: &[String],
        properties: BTreeMap<String, String>,
    ) -> Result<bool> {
        let failed = |e: sqlx::Error| self.failure("write to", &e);
        let mut transaction = self.connected().await?.pool.begin().await.map_err(failed)?;
        let exists = [(EXISTS.to_owned(), "true".to_owned())];
        for (key, value) in properties.into_iter().filter(|(key, _)| key != EXISTS).chain(exists) {
            let inserted = sqlx::query(
                "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) \
                 VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            )
            .bind(&self.catalog)
            .bind(namespace.join("."))
            .bind(key)
            .bind(value)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
            if inserted.rows_affected() == 0 {
                return Ok(false);
            }
        }
        transaction.commit().await.map_err(failed)?;
        Ok(true)
    }

    /// Sets properties of a namespace, all or none.
    pub(super) async fn set_namespace_properties(
        &self,
        namespace: &[String],
        properties: BTreeMap<String, String>,
    ) -> Result<()> {
        let failed = |e: sqlx::Error| self.failure("write to", &e);
        let mut transaction = self.connected().await?.pool.begin().await.map_err(failed)?;
        for (key, value) in properties.into_iter().filter(|(key, _)| key != EXISTS) {
            sqlx::query(
                "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) \
                 VALUES ($1, $2, $3, $4) ON CONFLICT (catalog_name, namespace, property_key) \
                 DO UPDATE SET property_value = excluded.property_value",
            )
            .bind(&self.catalog)
            .bind(namespace.join("."))
            .bind(key)
            .bind(value)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        Ok(())
    }

    /// Removes a namespace; `false` if it has tables.
    pub(super) async fn drop_namespace(&self, namespace: &[String]) -> Result<bool> {
        let failed = |e: sqlx::Error| self.failure("write to", &e);
        // one statement: a table that is created meanwhile keeps the namespace
        let deleted = sqlx::query(
            "DELETE FROM iceberg_namespace_properties WHERE catalog_name = $1 AND namespace = $2 AND NOT EXISTS \
             (SELECT 1 FROM iceberg_tables WHERE catalog_name = $1 AND table_namespace = $2)",
        )
        .bind(&self.catalog)
        .bind(namespace.join("."))
        .execute(&self.connected().await?.pool)
        .await
        .map_err(failed)?;
        Ok(deleted.rows_affected() > 0)
    }

    /// The tables of a namespace, sorted.
    pub(super) async fn tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        let connected = self.connected().await?;
        let sql = format!(
            "SELECT table_name FROM iceberg_tables WHERE catalog_name = $1 AND table_namespace = $2{} ORDER BY table_name",
            Self::only_tables(connected)
        );
        let rows: Vec<(String,)> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(&self.catalog)
            .bind(namespace.join("."))
            .fetch_all(&connected.pool)
            .await
            .map_err(|e| self.failure("read", &e))?;
        Ok(rows.into_iter().map(|(name,)| name).collect())
    }

    /// Where the metadata of a table is; `None` without such a table.
    pub(super) async fn metadata_location(&self, ident: &TableIdent) -> Result<Option<String>> {
        let connected = self.connected().await?;
        let sql = format!(
            "SELECT metadata_location FROM iceberg_tables \
             WHERE catalog_name = $1 AND table_namespace = $2 AND table_name = $3{}",
            Self::only_tables(connected)
        );
        let row: Option<(Option<String>,)> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(&self.catalog)
            .bind(ident.namespace().join("."))
            .bind(ident.name())
            .fetch_optional(&connected.pool)
            .await
            .map_err(|e| self.failure("read", &e))?;
        match row {
            None => Ok(None),
            Some((Some(location),)) => Ok(Some(location)),
            Some((None,)) => {
                Err(Error::new("invalid-table", format!("table '{ident}' has no metadata file in its catalog")))
            }
        }
    }

    /// Adds a table; `false` if there is one of that name, or a view.
    pub(super) async fn create_table(&self, ident: &TableIdent, location: &str) -> Result<bool, Failure> {
        let connected = self.connected().await?;
        let sql = match connected.typed {
            true => {
                "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) \
                 VALUES ($1, $2, $3, $4, 'TABLE') ON CONFLICT DO NOTHING"
            }
            false => {
                "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) \
                 VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"
            }
        };
        let inserted = sqlx::query(sql)
            .bind(&self.catalog)
            .bind(ident.namespace().join("."))
            .bind(ident.name())
            .bind(location)
            .execute(&connected.pool)
            .await
            .map_err(|e| self.failure("write to", &e))?;
        Ok(inserted.rows_affected() == 1)
    }

    /// Replaces a table's metadata file; `false` if `old` is not the current one any more.
    pub(super) async fn replace(&self, ident: &TableIdent, old: &str, new: &str) -> Result<bool, Failure> {
        let updated = sqlx::query(
            "UPDATE iceberg_tables SET metadata_location = $1, previous_metadata_location = $2 \
             WHERE catalog_name = $3 AND table_namespace = $4 AND table_name = $5 AND metadata_location = $2",
        )
        .bind(new)
        .bind(old)
        .bind(&self.catalog)
        .bind(ident.namespace().join("."))
        .bind(ident.name())
        .execute(&self.connected().await?.pool)
        .await
        .map_err(|e| self.failure("write to", &e))?;
        Ok(updated.rows_affected() == 1)
    }

    /// Gives a table another name in its namespace.
    pub(super) async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<Renamed, Failure> {
        let connected = self.connected().await?;
        // OR IGNORE: the row stays as it is if the name is taken
        let sql = format!(
            "UPDATE OR IGNORE iceberg_tables SET table_name = $1 \
             WHERE catalog_name = $2 AND table_namespace = $3 AND table_name = $4{}",
            Self::only_tables(connected)
        );
        let updated = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(name)
            .bind(&self.catalog)
            .bind(ident.namespace().join("."))
            .bind(ident.name())
            .execute(&connected.pool)
            .await
            .map_err(|e| self.failure("write to", &e))?;
        if updated.rows_affected() == 1 {
            return Ok(Renamed::Done);
        }
        let taken: Option<(String,)> = sqlx::query_as(
            "SELECT table_name FROM iceberg_tables WHERE catalog_name = $1 AND table_namespace = $2 AND table_name = $3",
        )
        .bind(&self.catalog)
        .bind(ident.namespace().join("."))
        .bind(name)
        .fetch_optional(&connected.pool)
        .await
        .map_err(|e| self.failure("read", &e))?;
        Ok(if taken.is_some() { Renamed::Taken } else { Renamed::Missing })
    }

    /// Removes a table; `false` if there is none.
    pub(super) async fn drop_table(&self, ident: &TableIdent) -> Result<bool> {
        let connected = self.connected().await?;
        let sql = format!(
            "DELETE FROM iceberg_tables WHERE catalog_name = $1 AND table_namespace = $2 AND table_name = $3{}",
            Self::only_tables(connected)
        );
        let deleted = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(&self.catalog)
            .bind(ident.namespace().join("."))
            .bind(ident.name())
            .execute(&connected.pool)
            .await
            .map_err(|e| self.failure("write to", &e))?;
        Ok(deleted.rows_affected() == 1)
    }
}
