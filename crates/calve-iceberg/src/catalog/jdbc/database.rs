//! A database: its connections, and what it means that a statement fails.

use std::fmt;
use std::io::ErrorKind;
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
    let postgres = error.as_database_error().and_then(|e| e.try_downcast_ref::<PgDatabaseError>());
    // the driver adds a line of the server's own source
    let why = postgres.map_or_else(|| error.to_string(), |postgres| postgres.message().to_owned());
    let message = format!("cannot {what} the catalog database '{shown}': {why}");
    let (code, hint) = match postgres.map(PgDatabaseError::code) {
        Some(code) => hint_of_postgres(code),
        None => ("io", hint_of_connection(shown, error)),
    };
    let told = Error::new(code, message);
    let told = match postgres.and_then(PgDatabaseError::detail) {
        Some(detail) => told.with_detail(format!("The server says: {detail}")),
        None => told,
    };
    if hint.is_empty() { told } else { told.with_hint(hint) }
}

/// What to do about an error of PostgreSQL, by its code (SQLSTATE), and the code of the error here.
fn hint_of_postgres(code: &str) -> (&'static str, &'static str) {
    match code {
        // invalid authorization
        "28P01" => ("access-denied", "look at the options 'jdbc.user' and 'jdbc.password'"),
        code if code.starts_with("28") => (
            "access-denied",
            "look at the options 'jdbc.user' and 'jdbc.password', and at what the server's pg_hba.conf lets in from here",
        ),
        "42501" => ("access-denied", "have the owner GRANT the right to the user in 'jdbc.user'"),
        // database, schema, table
        "3D000" => ("io", "create the database first (CREATE DATABASE in psql), or correct its name in 'uri'"),
        "3F000" => ("io", "create the schema first, or correct 'jdbc.currentSchema'"),
        "42P01" => {
            ("io", "the catalog's tables are missing: leave 'jdbc.init-catalog-tables' = 'false' out to have them made")
        }
        "53300" => ("io", "the server has no connection left: try again later, or with fewer 'clients'"),
        // the server starts or stops
        "57P01" | "57P02" | "57P03" => ("io", "try again later"),
        // a disk
        code if code.starts_with("53") => ("io", "the server lacks disk or memory: ask who runs it"),
        "25006" => ("io", "the server, or the user, may only read: it may be a replica"),
        _ => ("io", ""),
    }
}

/// What to look at where the driver and not the server speaks.
fn hint_of_connection(shown: &str, error: &sqlx::Error) -> &'static str {
    let is_postgres = shown.starts_with("jdbc:postgresql:");
    match error {
        sqlx::Error::Io(e) if is_postgres => match e.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                "the server broke the connection: is it PostgreSQL, and is it alive?"
            }
            _ => "look whether the server runs, and whether the host and the port in 'uri' are right",
        },
        sqlx::Error::Tls(_) => {
            "look at 'jdbc.sslmode' ('disable', 'prefer', 'require', 'verify-ca', 'verify-full') and 'jdbc.sslrootcert', the file of \
             the certificates to trust"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_postgresql_says_has_a_way_out() {
        for (state, code, hint) in [
            ("28P01", "access-denied", "jdbc.password"),
            ("28000", "access-denied", "pg_hba.conf"),
            ("42501", "access-denied", "GRANT"),
            ("3D000", "io", "CREATE DATABASE"),
            ("3F000", "io", "jdbc.currentSchema"),
            ("42P01", "io", "jdbc.init-catalog-tables"),
            ("53300", "io", "'clients'"),
            ("53100", "io", "disk"),
            ("57P03", "io", "later"),
            ("25006", "io", "replica"),
        ] {
            let found = hint_of_postgres(state);
            assert!(found.0 == code && found.1.contains(hint), "{state}: {found:?}");
        }
        assert_eq!(hint_of_postgres("XX000"), ("io", ""));
        let refused = std::io::Error::from(ErrorKind::ConnectionRefused);
        let told = told("jdbc:postgresql://h/d", "open", &sqlx::Error::Io(refused));
        assert!(told.hint.is_some_and(|hint| hint.contains("'uri'")));
    }
}
