//! Files whose rows are changes: what Debezium, Canal, Maxwell and Oracle GoldenGate write as JSON, a message on each line.
//!
//! | format | says what happens | rows |
//! |---|---|---|
//! | `debezium-json` | `op`: c, r, u, d | `before`, `after`; inside of `payload` with `schema-include` |
//! | `canal-json` | `type`: INSERT, UPDATE, DELETE, CREATE (left out) | arrays `data`, `old` with the changed fields |
//! | `maxwell-json` | `type`: insert, update, delete | `data`, `old` with the changed fields |
//! | `ogg-json` | `op_type`: I, U, D | `before`, `after` |
//!
//! A reader gives the kinds of changes as one column behind those of the table.

mod read;
mod write;

use std::sync::Arc;

use calve_types::Result;
use regex::Regex;

pub(crate) use self::read::ChangelogReader;
use super::json::JsonFormat;
use crate::options::{Options, Purpose};

/// Who wrote the messages.
#[derive(Debug, Clone)]
enum Dialect {
    /// Whether the message lies inside of one with its schema.
    Debezium {
        schema_include: bool,
    },
    /// The databases and tables whose changes are read.
    Canal {
        database: Option<Regex>,
        table: Option<Regex>,
    },
    Maxwell,
    Ogg,
}

/// A format of changes.
#[derive(Debug, Clone)]
pub(crate) struct ChangelogFormat {
    /// Its name, with which its options begin.
    name: &'static str,
    dialect: Dialect,
    json: Arc<JsonFormat>,
}

impl ChangelogFormat {
    /// The formats of changes.
    pub const NAMES: [&'static str; 4] = ["canal-json", "debezium-json", "maxwell-json", "ogg-json"];

    /// The format with that name, of a table's options; `None` for another one.
    ///
    /// # Errors
    /// Values that Flink refuses.
    pub fn new(name: &str, options: &Options, purpose: Purpose) -> Result<Option<Self>> {
        let Some(name) = Self::NAMES.into_iter().find(|known| *known == name) else { return Ok(None) };
        let json = Arc::new(match purpose {
            Purpose::Read => JsonFormat::of_messages(options, name)?,
            Purpose::Write => JsonFormat::for_writing(options, name)?,
        });
        let dialect = match name {
            "canal-json" => Dialect::Canal {
                database: pattern(options, "canal-json.database.include")?,
                table: pattern(options, "canal-json.table.include")?,
            },
            "debezium-json" => {
                let schema_include = options.boolean("debezium-json.schema-include")?;
                if schema_include && purpose == Purpose::Write {
                    return Err(options.refuse(
                        "invalid-option",
                        "option 'debezium-json.schema-include' is for tables that are read",
                        "Debezium JSON serialization doesn't support 'debezium-json.schema-include' option been set to true.",
                    ));
                }
                Dialect::Debezium { schema_include }
            }
            "maxwell-json" => Dialect::Maxwell,
            _ => Dialect::Ogg,
        };
        Ok(Some(Self { name, dialect, json }))
    }

    /// What Flink calls the messages.
    fn title(&self) -> &'static str {
        match self.dialect {
            Dialect::Debezium { .. } => "Debezium",
            Dialect::Canal { .. } => "Canal",
            Dialect::Maxwell => "Maxwell",
            Dialect::Ogg => "Ogg",
        }
    }
}

/// A regular expression that a whole name has to match.
fn pattern(options: &Options, name: &str) -> Result<Option<Regex>> {
    let Some(pattern) = options.get(name) else { return Ok(None) };
    Regex::new(&format!("^(?:{pattern})$")).map(Some).map_err(|e| {
        options.refuse(
            "invalid-option",
            format!("invalid value '{pattern}' for option '{name}': expected a regular expression"),
            e.to_string(),
        )
    })
}

#[cfg(test)]
mod tests;
