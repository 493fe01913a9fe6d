//! The `warehouse` of a catalog: a folder of the local file system or of object storage.

use std::path::{Component, PathBuf};

use calve_types::{Error, Result};

use crate::io::{Place, local_path};

/// A warehouse in any storage, as locations begin with it, without slashes at the end: `s3://bucket/path` and its like as they
/// are, local folders as [`local_warehouse`] takes them.
///
/// # Errors
/// `invalid-option` if it is a relative URI, a file, or names no bucket; `not-supported` for another scheme.
pub(super) fn warehouse(warehouse: &str, catalog: &str) -> Result<String> {
    if !is_remote(warehouse) {
        return local_warehouse(warehouse, catalog).map(|(location, _)| location);
    }
    let warehouse = warehouse.trim_end_matches('/');
    let (scheme, rest) = warehouse.split_once("://").unwrap_or_default();
    let before = rest.split('/').next().and_then(|authority| authority.rsplit_once('@'));
    // Azure's containers stand before an '@', too
    if before
        .is_some_and(|(before, _)| before.contains(':') || !scheme.starts_with("abfs") && !scheme.starts_with("wasb"))
    {
        let why = format!("the warehouse of catalog '{catalog}' holds a user or a password");
        return Err(Error::new("invalid-option", why)
            .with_hint("use 's3://bucket/path', and options such as 's3.access-key-id' and 's3.secret-access-key'"));
    }
    match Place::parse(warehouse) {
        Ok(place) if place.key.split('/').any(|part| matches!(part, "." | "..")) => {
            let why = format!("the warehouse '{warehouse}' of catalog '{catalog}' contains '..'");
            Err(Error::new("invalid-option", why))
        }
        Ok(_) => Ok(warehouse.to_owned()),
        Err(error) if error.code == "not-supported" => {
            let scheme = warehouse.split("://").next().unwrap_or_default();
            Err(Error::unsupported(format!("a warehouse of scheme '{scheme}' ('{warehouse}')"))
                .with_hint("use a local folder, 's3://', 'gs://' or 'abfss://'"))
        }
        Err(_) => {
            let why = format!("the warehouse '{warehouse}' of catalog '{catalog}' names no bucket");
            Err(Error::new("invalid-option", why).with_hint("use 's3://bucket/path'"))
        }
    }
}

/// Whether a warehouse is a URI of another scheme than `file`.
pub(super) fn is_remote(warehouse: &str) -> bool {
    warehouse.split_once("://").is_some_and(|(scheme, _)| scheme != "file" && !scheme.contains('/'))
}

/// A warehouse as locations begin with it, without slashes at the end, and its folder: from `/x`, `file:/x`,
/// `file:///x`, or `x` in the working directory. The folder need not exist yet.
///
/// # Errors
/// `invalid-option` if it is a relative URI or a file; `not-supported` for another scheme.
pub(super) fn local_warehouse(warehouse: &str, catalog: &str) -> Result<(String, PathBuf)> {
    let absolute = from_working_directory(warehouse);
    let warehouse = absolute.as_deref().unwrap_or(warehouse);
    if let Some((scheme, _)) =
        warehouse.split_once("://").filter(|(scheme, _)| *scheme != "file" && !scheme.contains('/'))
    {
        return Err(Error::unsupported(format!("a warehouse of scheme '{scheme}' ('{warehouse}')"))
            .with_hint("use a local folder: '/path' or 'file:///path'"));
    }
    let invalid =
        |why: &str| Error::new("invalid-option", format!("the warehouse '{warehouse}' of catalog '{catalog}' {why}"));
    let root = local_path(warehouse)
        .map_err(|_| invalid("is not an absolute path").with_hint("use '/path' or 'file:///path'"))?;
    if root.components().any(|c| matches!(c, Component::ParentDir)) {
        return Err(invalid("contains '..'"));
    }
    if root.is_file() {
        return Err(invalid("is a file, not a folder"));
    }
    Ok((warehouse.trim_end_matches('/').to_owned(), root))
}

/// A relative path made absolute, as Hadoop does it; `None` for what is a URI or absolute already. Locations in metadata must
/// not depend on where the next reader starts.
fn from_working_directory(warehouse: &str) -> Option<String> {
    let first = warehouse.split('/').next().unwrap_or_default();
    if warehouse.starts_with('/') || first.contains(':') {
        return None;
    }
    let path = std::env::current_dir().ok()?.join(warehouse);
    let path: PathBuf = path.components().collect(); // without `.`
    path.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn a_warehouse_holds_no_password() {
        for with in ["s3://admin:hush@bucket/x", "gs://hush@bucket", "abfss://c:hush@account.dfs.core.windows.net/x"] {
            let error = warehouse(with, "c").unwrap_err();
            assert_eq!(error.code, "invalid-option", "{with}");
            assert!(!format!("{error:?}").contains("hush"), "{error:?}");
        }
        for without in ["s3://bucket/a@b", "abfss://container@account.dfs.core.windows.net/x"] {
            assert_eq!(warehouse(without, "c").unwrap(), without);
        }
    }
}
