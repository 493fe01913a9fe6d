//! Rules: what runs and most likely is not meant, one file for each. Where a rule can be told while a statement runs, the
//! session warns of it, too, by the same code.

pub(crate) mod duplicate_option;
pub(crate) mod ineffective_option;
mod invalid_option;
pub(super) mod key_without_upsert;
pub(super) mod not_portable;
pub(super) mod streaming_upsert_read;
pub(crate) mod unknown_option;
pub(super) mod upsert_table;

use calve_iceberg::Table;
use calve_options::Place;
use calve_planner::CatalogReader;
use calve_planner::tables::Reference;
use calve_sql::{AlterTableChange, Property, Statement};
use calve_types::Span;

use super::Finding;
use super::names;
use crate::catalogs::CatalogKind;
use crate::resolve::{IcebergHandle, Resolved, downcast, full_path};
use crate::result::Warning;
use crate::session::Session;

/// A statement as rules see it.
pub(super) struct Seen<'a> {
    /// The session after the statement.
    pub session: &'a Session,
    /// The statement.
    pub statement: &'a Statement,
    /// The tables it names.
    pub named: &'a [Reference],
    /// Them, loaded; `None` if one of them cannot be.
    pub resolved: Option<&'a Resolved<'a>>,
    /// Whether it is without errors.
    pub ran: bool,
    /// Where it stands.
    pub place: Span,
}

/// Tells what rules find that look at one statement alone.
pub(super) fn check(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    ineffective_option::check(seen, found);
    upsert_table::check(seen, found);
    streaming_upsert_read::check(seen, found);
    not_portable::check(seen, found);
}

/// Warnings about each option that a statement gives to an Iceberg table: names that look misspelt, and values that do not
/// fit.
pub(crate) fn option_warnings(given: &[Property]) -> impl Iterator<Item = Warning> {
    given.iter().filter_map(|option| {
        unknown_option::misspelt(&option.key, Place::Table)
            .or_else(|| invalid_option::stored(option, Place::Table))
            .map(|warning| warning.at(option.span))
    })
}

/// An option of a statement.
pub(super) struct Given<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it stands among options.
    pub place: Place,
    /// Where it stands in the script.
    pub span: Span,
}

impl<'a> Seen<'a> {
    /// The Iceberg table of a reference, if it is one.
    pub fn iceberg(&self, reference: &Reference) -> Option<Table> {
        let path = full_path(&self.session.catalogs, &reference.parts)?;
        let entry = self.resolved?.table(&path, &reference.hints).ok().flatten()?;
        downcast::<IcebergHandle>(&entry.handle).map(|handle| handle.table.clone())
    }

    /// The Iceberg table that a CREATE or ALTER TABLE leaves, and the options that the statement gives it.
    pub fn defined(&self) -> Option<(Table, &'a [Property])> {
        let properties = match self.statement {
            Statement::CreateTable(create) if !create.temporary => create.properties.as_slice(),
            Statement::AlterTable(alter) => match &alter.change {
                AlterTableChange::Set(properties) => properties.as_slice(),
                _ => &[],
            },
            _ => return None,
        };
        let name = names::target(self.statement)?;
        let reference = Reference { parts: name.parts.clone(), hints: vec![], span: name.span };
        Some((self.iceberg(&reference)?, properties))
    }

    /// Whether the statement's own table is one of an Iceberg catalog.
    fn is_in_iceberg(&self) -> bool {
        let path = names::target(self.statement).and_then(|name| full_path(&self.session.catalogs, &name.parts));
        let entry = path.as_ref().and_then(|path| self.session.catalogs.get(&path.catalog).ok());
        entry.is_some_and(|entry| matches!(entry.kind, CatalogKind::Iceberg(_)))
    }

    /// The options that the statement gives to the session, to an Iceberg table, or to one use of it.
    pub fn options(&self) -> Vec<Given<'a>> {
        let of_table = |properties: &'a [Property]| {
            properties.iter().map(|p| Given { name: &p.key, place: Place::Table, span: p.span }).collect()
        };
        match self.statement {
            Statement::Set { option: Some((name, _)) } => {
                vec![Given { name, place: Place::Session, span: self.place }]
            }
            Statement::CreateTable(create) if !create.temporary && self.is_in_iceberg() => of_table(&create.properties),
            Statement::AlterTable(alter) if self.is_in_iceberg() => match &alter.change {
                AlterTableChange::Set(properties) => of_table(properties),
                _ => vec![],
            },
            statement => {
                let target =
                    super::insert_of(statement).map(|insert| &insert.table).or_else(|| names::written(statement));
                let target = target.map(|name| name.span);
                let of_iceberg = self.named.iter().filter(|reference| self.iceberg(reference).is_some());
                let options = of_iceberg.flat_map(|reference| {
                    let place = if Some(reference.span) == target { Place::Write } else { Place::Read };
                    let span = names::hint_place(statement, reference);
                    reference.hints.iter().map(move |(name, _)| Given { name, place, span })
                });
                options.collect()
            }
        }
    }
}
