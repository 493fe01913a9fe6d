//! The `uri` of a JDBC catalog.

use std::collections::BTreeMap;
use std::path::PathBuf;

use calve_types::{Error, Result};

use super::postgres::Server;
use crate::catalog::open::Access;

/// Which URIs there are.
pub(super) const HINT: &str = "use 'uri' = 'jdbc:sqlite:/path/catalog.db' or 'jdbc:postgresql://host:port/database'";

/// Where the database of a catalog is.
#[derive(Debug)]
pub(super) enum Place {
    /// A file of SQLite, absolute.
    Sqlite(PathBuf),
    /// A database of a PostgreSQL server.
    Postgres(Box<Server>),
}

impl Place {
    /// From `jdbc:sqlite:FILE` or `jdbc:postgresql://HOST:PORT/DATABASE`, and the options `jdbc.*`. Nothing is contacted.
    ///
    /// # Errors
    /// `not-supported` for another database; `invalid-option` for what is no such URI, or names a folder that is not there.
    pub(super) fn parse(uri: &str, options: &BTreeMap<String, String>, access: Access) -> Result<Self> {
        // what follows may be a password
        let shown = uri.split('?').next().unwrap_or(uri);
        let invalid = |why: &str| Error::new("invalid-option", format!("the uri '{shown}' {why}")).with_hint(HINT);
        let rest = uri.strip_prefix("jdbc:");
        let rest = rest.ok_or_else(|| {
            if shown.contains('@') {
                return Error::new("invalid-option", "the uri of a JDBC catalog does not begin with 'jdbc:'")
                    .with_hint(HINT);
            }
            invalid("does not begin with 'jdbc:'")
        })?;
        if let Some(rest) = rest.strip_prefix("postgresql:") {
            return Ok(Self::Postgres(Box::new(Server::parse(rest, options, access)?)));
        }
        let Some(file) = rest.strip_prefix("sqlite:") else {
            let database = rest.split([':', '/']).next().unwrap_or(rest);
            return Err(Error::unsupported(format!("a JDBC catalog in '{database}'")).with_hint(HINT));
        };
        let file = sqlite_file(file, invalid)?;
        match file.parent() {
            Some(parent) if access == Access::Full && !parent.is_dir() => Err(Error::new(
                "invalid-option",
                format!("the uri '{shown}' names a file in a folder that does not exist: '{}'", parent.display()),
            )
            .with_hint("create the folder first")),
            _ => Ok(Self::Sqlite(file)),
        }
    }
}

/// The file of `FILE` (also `file:FILE?parameters`, as Java's SQLite driver reads it), absolute.
fn sqlite_file(file: &str, invalid: impl Fn(&str) -> Error) -> Result<PathBuf> {
    let file = file.split('?').next().unwrap_or(file);
    let file = file.strip_prefix("file:").unwrap_or(file);
    let file = file.strip_prefix("//").filter(|f| f.starts_with('/')).unwrap_or(file);
    if file.is_empty() || file == ":memory:" {
        return Err(Error::unsupported("a JDBC catalog in memory").with_hint(HINT));
    }
    let path = std::path::absolute(file).map_err(|e| invalid(&format!("is not a file: {e}")))?;
    if path.is_dir() {
        return Err(invalid("is a folder, not a file"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn parse(uri: &str) -> Result<Place> {
        Place::parse(uri, &BTreeMap::new(), Access::Full)
    }

    #[test]
    fn spellings() {
        for uri in ["jdbc:sqlite:/tmp/c.db", "jdbc:sqlite:file:/tmp/c.db?cache=shared", "jdbc:sqlite:file:///tmp/c.db"]
        {
            assert!(matches!(parse(uri).unwrap(), Place::Sqlite(file) if file.ends_with("tmp/c.db")), "{uri}");
        }
        assert!(matches!(parse("jdbc:sqlite:c.db").unwrap(), Place::Sqlite(file) if file.is_absolute()));
        assert!(matches!(parse("jdbc:postgresql://h/db").unwrap(), Place::Postgres(_)));
        for (uri, message) in [
            ("sqlite:/tmp/c.db?key=x", "the uri 'sqlite:/tmp/c.db' does not begin with 'jdbc:'"),
            ("postgresql://ann:x@h/db", "the uri of a JDBC catalog does not begin with 'jdbc:'"),
            ("jdbc:mysql://h/db", "not supported: a JDBC catalog in 'mysql'"),
            ("jdbc:sqlite::memory:", "not supported: a JDBC catalog in memory"),
            ("jdbc:sqlite:", "not supported: a JDBC catalog in memory"),
            ("jdbc:sqlite:/tmp", "the uri 'jdbc:sqlite:/tmp' is a folder, not a file"),
        ] {
            assert_eq!(parse(uri).unwrap_err().message, message);
        }
        let error = parse("jdbc:sqlite:/no/such/c.db").unwrap_err();
        assert!(error.message.ends_with("in a folder that does not exist: '/no/such'"), "{error}");
    }
}
