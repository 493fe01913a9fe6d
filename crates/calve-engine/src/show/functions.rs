//! SHOW FUNCTIONS and DESCRIBE FUNCTION.

use calve_sql::{Name, Show};
use calve_types::{Error, Result};

use super::signatures;
use crate::ddl::database::database_path;
use crate::listing::{self, Column};
use crate::result::Rows;
use crate::session::Session;

impl Session {
    /// The functions that SHOW FUNCTIONS lists: Flink's, unless only those of the `user` are asked for, and the user's in a
    /// database. That it exists does not matter, as in Flink.
    pub(super) fn function_names(&self, show: &Show, user: bool) -> Result<Vec<String>> {
        let (catalog, database) = match &show.from {
            None => {
                let (catalog, database) = self.catalogs.current();
                (catalog.to_owned(), database.to_owned())
            }
            Some(name) => database_path(&self.catalogs, name).map_err(|e| {
                e.with_detail(format!(
                    "SHOW FUNCTIONS from/in identifier [ {} ] format error, it should be [catalog_name.]database_name.",
                    name.parts.join(".")
                ))
            })?,
        };
        let mut names = self.catalogs.user_functions(&catalog, &database);
        if !user && self.modules.lists_core() {
            names.extend(calve_functions::names().into_iter().map(str::to_owned));
        }
        Ok(names.into_iter().collect())
    }

    /// DESCRIBE FUNCTION, of one of Flink's functions: the user's cannot be looked into.
    pub(crate) fn describe_function(&self, name: &Name, extended: bool) -> Result<Rows> {
        let builtin = match name.parts.as_slice() {
            [one] if self.modules.lists_core() => signatures::find(one),
            _ => None,
        };
        if let Some(function) = self.catalogs.user_function(&name.parts) {
            return Err(function.refused().at(name.span));
        }
        let Some(function) = builtin else {
            let identifier: Vec<String> = name.parts.iter().map(|part| format!("`{part}`")).collect();
            let error = Error::new("unknown-function", format!("function '{}' does not exist", name.parts.join(".")))
                .with_detail(format!("Function with the identifier '{}' doesn't exist.", identifier.join(".")))
                .at(name.span);
            let last = name.parts.last().map_or("", String::as_str);
            return Err(error.did_you_mean(last, signatures::all().map(|known| known.name)));
        };
        let mut rows = vec![("is system function", "true".to_owned()), ("is temporary", "false".to_owned())];
        if extended {
            rows.extend([
                ("kind", function.kind.to_owned()),
                ("requirements", "[]".to_owned()),
                ("is deterministic", function.is_deterministic.to_string()),
                ("supports constant folding", "true".to_owned()),
                ("signature", function.lines(name.parts.last().map_or("", String::as_str))),
            ]);
        }
        let (names, values) = rows.into_iter().map(|(name, value)| (Some(name.to_owned()), Some(value))).unzip();
        listing::rows(vec![Column::Text("info name", names), Column::Text("info value", values)], &self.context()?)
    }
}
