//! The `warehouse` of a catalog: a local folder.

use std::path::{Component, PathBuf};

use calve_types::{Error, Result};

use crate::io::local_path;

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
