//! Names that become folders: what cannot be one is refused before any file is touched.

use calve_types::{Error, Result};
use iceberg::TableIdent;

/// File systems allow this many bytes in one name.
const MAX_BYTES: usize = 255;

/// Checks the levels of a namespace.
///
/// # Errors
/// `invalid-name`.
pub(crate) fn check_namespace(levels: &[String]) -> Result<()> {
    levels.iter().try_for_each(|level| check("database", level))
}

/// Checks a table's namespace and name.
///
/// # Errors
/// `invalid-name`; a `$` is not part of a table's name, it leads to a metadata table.
pub(crate) fn check_table(ident: &TableIdent) -> Result<()> {
    check_namespace(ident.namespace())?;
    let name = ident.name();
    check("table", name)?;
    if name.contains('$') {
        return Err(Error::new("invalid-name", format!("'{name}' is not a table name"))
            .with_detail(format!("Illegal table name:{name}"))
            .with_hint("'$' separates a table's name from that of a metadata table, as in 't$snapshots'"));
    }
    Ok(())
}

fn check(kind: &str, name: &str) -> Result<()> {
    let reason = if name.is_empty() {
        "it is empty"
    } else if name == "." || name == ".." {
        "it would leave its folder"
    } else if name.contains(['/', '\\', '\0']) {
        "it contains a path separator"
    } else if name.len() > MAX_BYTES {
        "it is longer than 255 bytes"
    } else {
        return Ok(());
    };
    Err(Error::new("invalid-name", format!("'{}' is not a {kind} name: {reason}", name.escape_debug())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use iceberg::NamespaceIdent;

    use super::*;

    #[test]
    fn traversal_is_refused() {
        for name in ["", ".", "..", "a/b", "../x", "/", "a\\b", "a\0", &"x".repeat(256)] {
            assert_eq!(check_namespace(&["ok".into(), name.into()]).unwrap_err().code, "invalid-name");
            let ident = TableIdent::new(NamespaceIdent::new("d".into()), name.into());
            assert_eq!(check_table(&ident).unwrap_err().code, "invalid-name");
        }
        for name in ["a", "a.b", "ünï", "with blank", "..a", "p=1", "100%"] {
            check_table(&TableIdent::new(NamespaceIdent::new(name.into()), name.into())).unwrap();
        }
        let metadata = TableIdent::new(NamespaceIdent::new("d".into()), "x$y".into());
        assert_eq!(check_table(&metadata).unwrap_err().detail.unwrap(), "Illegal table name:x$y");
    }
}
