//! The user's functions: their names and classes. calve runs none of them; they can be made, listed and dropped, as
//! scripts do, and a use of one is refused by name.

use std::collections::{BTreeMap, BTreeSet};

use calve_planner::TablePath;
use calve_types::Error;

use super::{CatalogKind, Catalogs};

/// A user's function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FunctionDef {
    /// The class, or the path in Python.
    pub class: String,
}

impl FunctionDef {
    /// The refusal of a use.
    pub fn refused(&self) -> Error {
        Error::unsupported(format!("user-defined functions (class '{}')", self.class)).with_hint(
            "calve runs Flink's own functions alone: write the expression with them, or run the script on Flink",
        )
    }
}

/// Temporary functions: they live in the session.
#[derive(Debug, Default)]
pub(crate) struct TemporaryFunctions {
    /// `TEMPORARY SYSTEM`, by name in lower case.
    pub system: BTreeMap<String, FunctionDef>,
    /// `TEMPORARY`, by full name, its last part in lower case.
    pub catalog: BTreeMap<TablePath, FunctionDef>,
}

impl Catalogs {
    /// The function of a full name, whose last part is in lower case: a temporary one before that of the catalog.
    fn catalog_function(&self, path: &TablePath) -> Option<&FunctionDef> {
        self.functions.catalog.get(path).or_else(|| match &self.entries.get(&path.catalog)?.kind {
            CatalogKind::Memory(memory) => memory.functions(&path.database)?.get(&path.table),
            CatalogKind::Iceberg(_) => None,
        })
    }

    /// The user's function that a name means, as Flink looks for it. Of one part it is first a temporary system function,
    /// then one of those that SHOW FUNCTIONS lists, which are not the user's; last those of the current database.
    pub fn user_function(&self, parts: &[String]) -> Option<&FunctionDef> {
        let mut parts = parts.to_vec();
        let name = parts.last_mut()?;
        *name = name.to_lowercase();
        let is_builtin = |name: &str| calve_functions::names().iter().any(|builtin| builtin.eq_ignore_ascii_case(name));
        let system = match parts.as_slice() {
            [name] => self.functions.system.get(name),
            _ => None,
        };
        system.or_else(|| {
            let function = self.catalog_function(&crate::resolve::full_path(self, &parts)?)?;
            match parts.as_slice() {
                [name] if is_builtin(name) => None,
                _ => Some(function),
            }
        })
    }

    /// The names of the user's functions in a database, which need not exist, and of temporary system functions.
    pub fn user_functions(&self, catalog: &str, database: &str) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self.functions.system.keys().cloned().collect();
        let in_database = |path: &&TablePath| path.catalog == catalog && path.database == database;
        names.extend(self.functions.catalog.keys().filter(in_database).map(|path| path.table.clone()));
        if let Some(CatalogKind::Memory(memory)) = self.entries.get(catalog).map(|entry| &entry.kind) {
            names.extend(memory.functions(database).into_iter().flatten().map(|(name, _)| name.clone()));
        }
        names
    }
}
