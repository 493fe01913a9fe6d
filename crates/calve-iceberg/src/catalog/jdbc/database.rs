//! A database: its connections, and what it means that a statement fails.

use std::fmt;
use std::time::Duration;

use calve_types::Error;
use sqlx::postgres::{PgConnection, PgDatabaseError, PgPool, PgPoolOptions, PgSeverity};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use super::postgres::Server;
use crate::catalog::pointer::Failure;

/// How long another writer may hold a database of SQLite.
const BUSY: Duration = Duration::from_secs(30);

/// An open database.
pub(super) struct Database {
    pool: Pool,
    /// Its name in messages.
    shown: String,
    /// How long a connection may take.
    connecting: Duration,
    /// How long a statement may take.
    patience: Duration,
}

enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

// a pool knows the password
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// Runs `$answer` with a connection of the pool, of whichever database it is.
macro_rules! ask {
    ($database:ident, $what:ident, |$connection:ident| $answer:expr) => {
        match &$database.pool {
            Pool::Sqlite(pool) => ask!($database, $what, pool, |$connection| $answer),
            Pool::Postgres(pool) => ask!($database, $what, pool, |$connection| $answer),
        }
    };
    ($database:ident, $what:ident, $pool:ident, |$connection:ident| $answer:expr) => {{
        let mut pooled = $pool.acquire().await.map_err(|e| $database.not_connected($what, &e))?;
        let $connection = &mut *pooled;
        let answer = tokio::time::timeout($database.patience, $answer).await;
        if !matches!(&answer, Ok(Ok(_) | Err(sqlx::Error::Database(_)))) {
            // nobody knows what comes next on this connection
            drop(pooled.detach());
        }
        match answer {
            Ok(answer) => answer.map_err(|e| $database.failure($what, &e)),
            Err(_) => Err($database.silent($what)),
        }
    }};
}

impl Database {
    /// A file of SQLite, or one in memory.
    pub(super) async fn sqlite(shown: String, options: SqliteConnectOptions) -> Result<Self, Failure> {
        let options = options.busy_timeout(BUSY).disable_statement_logging();
        let pool = SqlitePoolOptions::new().max_connections(1).acquire_timeout(BUSY).connect_with(options).await;
        match pool {
            Ok(pool) => Ok(Self { pool: Pool::Sqlite(pool), shown, connecting: BUSY, patience: BUSY * 2 }),
            Err(error) => Err(Failure::Refused(told(&shown, "open", &error))),
        }
    }

    /// A database of a PostgreSQL server.
    pub(super) async fn postgres(server: &Server) -> Result<Self, Failure> {
        let options = server.options.clone().disable_statement_logging();
        let connecting = tokio::time::timeout(server.connecting, PgConnection::connect_with(&options));
        // a pool would try again and again, and not tell why
        let first =
            connecting.await.map_err(|_| Failure::Refused(unheard(&server.shown, "open", server.connecting)))?;
        let first = first.map_err(|e| Failure::Refused(told(&server.shown, "open", &e)))?;
        let _ = tokio::time::timeout(server.connecting, first.close()).await;
        let pool = PgPoolOptions::new().max_connections(server.clients).acquire_timeout(server.connecting);
        let pool = Pool::Postgres(pool.connect_lazy_with(options));
        Ok(Self { pool, shown: server.shown.clone(), connecting: server.connecting, patience: server.patience })
    }

    /// Whether its SQL is SQLite's.
    pub(super) fn is_sqlite(&self) -> bool {
        matches!(self.pool, Pool::Sqlite(_))
    }

    /// How many rows a statement changed. `what` is said in an error: `write to`.
    pub(super) async fn execute(&self, what: &str, sql: &str, values: &[&str]) -> Result<u64, Failure> {
        ask!(self, what, |connection| {
            let mut query = sqlx::query(AssertSqlSafe(sql.to_owned()));
            for value in values {
                query = query.bind((*value).to_owned());
            }
            async move { query.execute(connection).await.map(|done| done.rows_affected()) }
        })
    }

    /// The rows of a query of one column.
    pub(super) async fn rows(&self, sql: &str, values: &[&str]) -> Result<Vec<Option<String>>, Failure> {
        let what = "read";
        ask!(self, what, |connection| {
            let mut query = sqlx::query_scalar::<_, Option<String>>(AssertSqlSafe(sql.to_owned()));
            for value in values {
                query = query.bind((*value).to_owned());
            }
            query.fetch_all(connection)
        })
    }

    /// Nothing was sent.
    fn not_connected(&self, what: &str, error: &sqlx::Error) -> Failure {
        match error {
            sqlx::Error::PoolTimedOut if self.is_sqlite() => {
                Failure::Busy(told(&self.shown, what, error).with_hint(HELD))
            }
            sqlx::Error::PoolTimedOut => Failure::Refused(unheard(&self.shown, what, self.connecting)),
            _ => Failure::Refused(told(&self.shown, what, error)),
        }
    }

    fn silent(&self, what: &str) -> Failure {
        let waited = self.patience.as_secs();
        let why = format!("cannot {what} the catalog database '{}': no answer within {waited} s", self.shown);
        Failure::Lost(Error::new("io", why))
    }

    fn failure(&self, what: &str, error: &sqlx::Error) -> Failure {
        let told = told(&self.shown, what, error);
        let Some(database) = error.as_database_error() else { return Failure::Lost(told) };
        if database.is_unique_violation() {
            return Failure::Taken(told);
        }
        if let Some(postgres) = database.try_downcast_ref::<PgDatabaseError>() {
            return match (postgres.severity(), postgres.code()) {
                // serialization failure, deadlock, a lock or the statement took too long
                (PgSeverity::Error, "40001" | "40P01" | "55P03" | "57014") => Failure::Busy(told.with_hint(HELD)),
                // the statement's transaction is rolled back
                (PgSeverity::Error, _) => Failure::Refused(told),
                // the connection ends, maybe behind the commit
                _ => Failure::Lost(told),
            };
        }
        let code = database.code().and_then(|code| code.parse::<u32>().ok());
        // extended codes have the code in their last byte
        match code.map(|code| code & 0xff) {
            Some(SQLITE_BUSY | SQLITE_LOCKED) => Failure::Busy(told.with_hint(HELD)),
            Some(SQLITE_ERROR | SQLITE_READONLY) => Failure::Refused(told),
            // a full or broken disk: what is done is done by this process, and it has ended
            _ => Failure::Unclear(told),
        }
    }
}

const SQLITE_ERROR: u32 = 1;
const SQLITE_BUSY: u32 = 5;
const SQLITE_LOCKED: u32 = 6;
const SQLITE_READONLY: u32 = 8;

const HELD: &str = "another program holds the database; run the statement again";

/// No connection.
fn unheard(shown: &str, what: &str, waited: Duration) -> Error {
    let waited = waited.as_secs();
    Error::new("io", format!("cannot {what} the catalog database '{shown}': no connection within {waited} s"))
        .with_hint("look whether the server runs; 'jdbc.connectTimeout' says how many seconds to wait")
}

fn told(shown: &str, what: &str, error: &sqlx::Error) -> Error {
    let code =
        error.as_database_error().and_then(|e| e.try_downcast_ref::<PgDatabaseError>()).map(PgDatabaseError::code);
    let message = format!("cannot {what} the catalog database '{shown}': {error}");
    match code {
        // invalid authorization
        Some(code) if code.starts_with("28") => {
            Error::new("access-denied", message).with_hint("look at the options 'jdbc.user' and 'jdbc.password'")
        }
        // insufficient privilege
        Some("42501") => Error::new("access-denied", message),
        _ => Error::new("io", message),
    }
}
