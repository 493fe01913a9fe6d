//! The `uri` of a JDBC catalog.

use std::path::{Path, PathBuf};

use calve_types::{Error, Result};

/// The file of `jdbc:sqlite:FILE` (also `jdbc:sqlite:file:FILE?parameters`, as Java's SQLite driver reads it), absolute.
///
/// # Errors
/// `not-supported` for another database or one in memory; `invalid-option` for what is no JDBC URI.
pub(super) fn sqlite_file(uri: &str) -> Result<PathBuf> {
    let hint = "use 'uri' = 'jdbc:sqlite:/path/catalog.db'";
    let invalid = |why: &str| Error::new("invalid-option", format!("the uri '{uri}' {why}")).with_hint(hint);
    let rest = uri.strip_prefix("jdbc:").ok_or_else(|| invalid("does not begin with 'jdbc:'"))?;
    let Some(file) = rest.strip_prefix("sqlite:") else {
        let database = rest.split(':').next().unwrap_or(rest);
        return Err(Error::unsupported(format!("a JDBC catalog in '{database}'")).with_hint(hint));
    };
    let file = file.split('?').next().unwrap_or(file);
    let file = file.strip_prefix("file:").unwrap_or(file);
    let file = file.strip_prefix("//").filter(|f| f.starts_with('/')).unwrap_or(file);
    if file.is_empty() || file == ":memory:" {
        return Err(Error::unsupported("a JDBC catalog in memory").with_hint(hint));
    }
    let path = std::path::absolute(file).map_err(|e| invalid(&format!("is not a file: {e}")))?;
    if path.is_dir() {
        return Err(invalid("is a folder, not a file"));
    }
    Ok(path)
}

/// Checks that the folder of a URI's file is there.
///
/// # Errors
/// `invalid-option`.
pub(super) fn check_folder(uri: &str, file: &Path) -> Result<()> {
    match file.parent() {
        Some(parent) if !parent.is_dir() => Err(Error::new(
            "invalid-option",
            format!("the uri '{uri}' names a file in a folder that does not exist: '{}'", parent.display()),
        )
        .with_hint("create the folder first")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn spellings() {
        for uri in ["jdbc:sqlite:/tmp/c.db", "jdbc:sqlite:file:/tmp/c.db?cache=shared", "jdbc:sqlite:file:///tmp/c.db"]
        {
            assert_eq!(sqlite_file(uri).unwrap(), PathBuf::from("/tmp/c.db"), "{uri}");
        }
        assert!(sqlite_file("jdbc:sqlite:c.db").unwrap().is_absolute());
        for (uri, message) in [
            ("sqlite:/tmp/c.db", "the uri 'sqlite:/tmp/c.db' does not begin with 'jdbc:'"),
            ("jdbc:postgresql://h/db", "not supported: a JDBC catalog in 'postgresql'"),
            ("jdbc:sqlite::memory:", "not supported: a JDBC catalog in memory"),
            ("jdbc:sqlite:", "not supported: a JDBC catalog in memory"),
            ("jdbc:sqlite:/tmp", "the uri 'jdbc:sqlite:/tmp' is a folder, not a file"),
        ] {
            assert_eq!(sqlite_file(uri).unwrap_err().message, message);
        }
        let uri = "jdbc:sqlite:/no/such/c.db";
        let error = check_folder(uri, &sqlite_file(uri).unwrap()).unwrap_err();
        assert!(error.message.ends_with("in a folder that does not exist: '/no/such'"), "{error}");
    }
}
