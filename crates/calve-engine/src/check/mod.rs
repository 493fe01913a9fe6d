//! `check`: what is wrong with a script, without running it.
//!
//! A [`Checker`] is a session that binds statements and does not run them (`dry`). Its Iceberg catalogs are images: DDL
//! changes them in memory alone, so that later statements see what earlier ones define. A statement that fails takes
//! the names that it would have defined with it (`lost`), so that one fault is told once. What is no error and still
//! most likely wrong is told by `rules`, some of which are warnings of the session as well.

mod dry;
mod finding;
mod lost;
mod names;
pub(crate) mod rules;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calve_planner::TablePath;
use calve_planner::tables::Reference;
use calve_sql::{Insert, Name, ScriptStatement, Statement};
use calve_types::{Error, Result, Span};
use futures::FutureExt;

pub use finding::{Finding, Severity};

use crate::catalogs::object::CatalogObject;
use crate::catalogs::{CatalogKind, Images};
use crate::mapping::{Target, is_mapping};
use crate::resolve::{Resolved, full_path};
use crate::result::Warning;
use crate::secrets;
use crate::session::{Session, SessionConfig, panicked};
use lost::{Defined, Lost};
use rules::Seen;
use rules::key_without_upsert::KeyedTables;

/// How scripts are checked.
#[derive(Debug, Clone, Default)]
pub struct CheckConfig {
    /// Options, as `-D` gives them; later ones win.
    pub options: Vec<(String, String)>,
    /// No catalog is read: what the script defines is all there is.
    pub offline: bool,
    /// What Flink does not run is an error, not a note.
    pub portable: bool,
}

/// A script being checked, statement by statement.
#[derive(Debug)]
pub struct Checker {
    session: Session,
    offline: bool,
    portable: bool,
    lost: Lost,
    /// Problems that a script may meet again and again, and that are told once.
    told: BTreeSet<String>,
    keyed: KeyedTables,
    /// The BEGIN of the statement set that is open.
    begun: Option<Span>,
    /// The line where the last statement ended.
    last_line: Option<u32>,
}

impl Checker {
    /// A checker for one script; no statement was seen yet.
    ///
    /// # Errors
    /// `invalid-option` for an option with a wrong value.
    pub fn new(config: CheckConfig) -> Result<Self> {
        let mut session = Session::new(SessionConfig { options: config.options, ..SessionConfig::default() })?;
        session.dry = true;
        session.catalogs.use_images(if config.offline { Images::Empty } else { Images::Full });
        Ok(Self {
            session,
            offline: config.offline,
            portable: config.portable,
            lost: Lost::default(),
            told: BTreeSet::new(),
            keyed: KeyedTables::default(),
            begun: None,
            last_line: None,
        })
    }

    /// The script of interest begins: what came before belongs to a script that others begin with, too.
    pub fn begin_script(&mut self) {
        self.keyed = KeyedTables::default();
        self.begun = None;
        self.last_line = None;
    }

    /// What is wrong with the next statement of the script, by place.
    pub async fn statement(&mut self, statement: &ScriptStatement) -> Vec<Finding> {
        let place = names::place(statement);
        let mut found = vec![];
        let pending = std::mem::take(&mut self.session.pending);
        found.extend(pending.into_iter().filter_map(|warning| self.of_warning(warning, place)));
        if let Some(finding) = rules::not_portable::on_one_line(self.last_line, place) {
            found.push(self.rated(finding));
        }
        self.last_line = Some(place.end.line);
        let parsed = catch_unwind(AssertUnwindSafe(|| secrets::parse(statement)))
            .unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
        match parsed {
            Err(error) => {
                found.push(Finding::of_error(error, place));
                self.lose(&statement.text).await;
            }
            // each INSERT has its own faults
            Ok(Statement::StatementSet(set)) if !self.session.has_open_statement_set() => {
                for insert in set.inserts {
                    found.extend(self.part(Statement::Insert(insert), &statement.text, place).await);
                }
            }
            Ok(parsed) => found.extend(self.part(parsed, &statement.text, place).await),
        }
        finding::in_order(&mut found);
        found
    }

    /// What is wrong with the script as a whole, after its last statement.
    pub fn end(&mut self) -> Vec<Finding> {
        let mut found = vec![];
        if self.session.has_open_statement_set() {
            let message = "the script ends before the END of its statement set: the INSERTs of the set would not run";
            let place = self.begun.unwrap_or_default();
            found.push(Finding::new(Severity::Warning, "open-statement-set", message, place));
        }
        self.keyed.end(&mut found);
        finding::in_order(&mut found);
        found
    }

    /// A statement, or one INSERT of a set.
    async fn part(&mut self, statement: Statement, text: &str, place: Span) -> Vec<Finding> {
        let mut found = vec![];
        let named = names::of(&statement);
        if self.offline {
            self.assume_databases(&statement).await;
        }
        match &statement {
            Statement::CreateCatalog(create) => self.session.catalogs.remove_stand_in(&create.name.value),
            // the statement that would have made it was told of
            Statement::AlterCatalog { name, .. } if self.session.catalogs.is_stand_in(&name.value) => return found,
            _ => {}
        }
        let run = AssertUnwindSafe(self.session.run(statement.clone()));
        let outcome = run.catch_unwind().await.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
        let ran = outcome.is_ok();
        match outcome {
            Ok(result) => {
                if matches!(statement, Statement::BeginStatementSet { .. }) {
                    self.begun = Some(place);
                }
                self.lost.find(&Defined::by(text), &self.session.catalogs);
                let exact = |warning| names::in_hint(warning, &statement, &named);
                let warnings = result.warnings.into_iter().map(exact);
                found.extend(warnings.filter_map(|warning| self.of_warning(warning, place)));
            }
            Err(error) => {
                let exists = error.code.ends_with("-exists");
                found.extend(self.of_failure(error, &statement, &named, text, place));
                if !exists {
                    self.lose(text).await;
                }
            }
        }
        if let Some(name) = names::written(&statement) {
            let hints = named.iter().find(|reference| reference.span == name.span).map(|r| r.hints.as_slice());
            self.assume_written(name, hints.unwrap_or_default());
        }
        // after the statement: it may have made the tables that it names
        let resolved = Resolved::load(&self.session.catalogs, &self.session.options, named.clone()).await.ok();
        let seen = Seen {
            session: &self.session,
            statement: &statement,
            named: &named,
            resolved: resolved.as_ref(),
            ran,
            place,
        };
        let mut by_rules = vec![];
        rules::check(&seen, &mut by_rules);
        self.keyed.see(&seen, &mut by_rules);
        for finding in by_rules {
            let finding = self.rated(finding);
            // a rule that the session warns of as well; what is not portable is told once for each statement
            let is_portability = finding.code == rules::not_portable::CODE;
            if !found.iter().any(|other| other.is_like(&finding) || is_portability && other.code == finding.code) {
                found.push(finding);
            }
        }
        found
    }

    /// A warning of the session; what is said of no place is told once.
    fn of_warning(&mut self, warning: Warning, place: Span) -> Option<Finding> {
        let Warning { code, message, span } = warning;
        if span.is_none() && !self.told.insert(format!("{code} {message}")) {
            return None;
        }
        Some(self.rated(Finding::new(Severity::Warning, code, message, span.unwrap_or(place))))
    }

    /// What is not portable is an error if it has to be portable, and otherwise nothing to worry about.
    fn rated(&self, mut finding: Finding) -> Finding {
        if finding.code == rules::not_portable::CODE {
            finding.severity = if self.portable { Severity::Error } else { Severity::Note };
        }
        finding
    }

    /// What to tell of a failed statement; nothing if it fails because an earlier one did.
    fn of_failure(
        &mut self,
        error: Error,
        statement: &Statement,
        named: &[Reference],
        text: &str,
        place: Span,
    ) -> Option<Finding> {
        if self.lost.explains(&error, named, text, place, &self.session.catalogs) {
            return None;
        }
        if self.offline && matches!(error.code, "unknown-table" | "unknown-view" | "unknown-database") {
            if error.code == "unknown-database"
                || matches!(statement, Statement::DropTable { .. } | Statement::DropView { .. })
            {
                return None;
            }
            if let Some(path) = self.undefined(&error, named) {
                return self
                    .told
                    .insert(format!("undefined {path}"))
                    .then(|| undefined_table(&path, error.span.unwrap_or(place)));
            }
        }
        if self.offline && matches!(error.code, "unknown-snapshot" | "unknown-ref") {
            return None;
        }
        if error.code == "io" && !self.told.insert(format!("io {}", error.message)) {
            return None;
        }
        Some(Finding::of_error(error, place))
    }

    /// The table of an Iceberg catalog that the script does not define and that an error is about. One that resembles a
    /// table of the script is a misspelt one.
    fn undefined(&self, error: &Error, named: &[Reference]) -> Option<TablePath> {
        if error.hint.is_some() {
            return None;
        }
        let reference = named.iter().find(|reference| Some(reference.span) == error.span)?;
        let path = full_path(&self.session.catalogs, &reference.parts)?;
        let entry = self.session.catalogs.get(&path.catalog).ok()?;
        matches!(entry.kind, CatalogKind::Iceberg(_)).then_some(path)
    }

    /// After rows would have been written to a table, nobody knows its snapshots, branches and tags.
    fn assume_written(&self, name: &Name, hints: &[(String, String)]) {
        let catalogs = &self.session.catalogs;
        let Some(path) = full_path(catalogs, &name.parts) else { return };
        let written = match catalogs.object(&path) {
            Some(CatalogObject::Table(table)) if is_mapping(table) => {
                let hints = hints.iter().cloned().collect();
                let Ok(target) = Target::of(&path, &table.options, &hints) else { return };
                let Ok(catalog) = catalogs.of_connector(&target.catalog, &target.options) else { return };
                Some((catalog, target.database, target.table))
            }
            Some(_) => None,
            None => match catalogs.get(&path.catalog).map(|entry| &entry.kind) {
                Ok(CatalogKind::Iceberg(catalog)) => Some((catalog.clone(), path.database, path.table)),
                _ => None,
            },
        };
        if let Some((catalog, database, table)) = written
            && let Ok(ident) = catalog.ident(&database, &table)
        {
            catalog.assume_written(&ident);
        }
    }

    /// Without a look at the catalogs, a database that a script uses is one that is there.
    async fn assume_databases(&mut self, statement: &Statement) {
        for parts in names::databases(statement) {
            self.assume_database(&parts).await;
        }
    }

    /// Makes a database in the image of a catalog; the name is the database's, or `catalog.database`.
    async fn assume_database(&mut self, parts: &[String]) {
        let (catalog, database) = match parts {
            [database] => (self.session.catalogs.current().0.to_owned(), database.clone()),
            [catalog, database] => (catalog.clone(), database.clone()),
            _ => return,
        };
        let Ok(entry) = self.session.catalogs.get_mut(&catalog) else { return };
        match &mut entry.kind {
            CatalogKind::Memory(memory) => memory.create_database(&database),
            CatalogKind::Iceberg(iceberg) => {
                let Ok(namespace) = iceberg.namespace(&database) else { return };
                // one that is there stays as it is
                let _ = iceberg.create_namespace(namespace.as_ref(), Default::default()).await;
            }
        }
    }

    /// Remembers what a failed statement would have defined, and goes on as if a catalog or a database were there.
    async fn lose(&mut self, text: &str) {
        let defined = Defined::by(text);
        self.lost.add(&defined, &self.session.catalogs);
        match defined {
            Defined::Catalog { name, used } => {
                self.session.catalogs.add_stand_in(&name);
                if used {
                    // it was added, or is there
                    let _ = self.session.catalogs.use_catalog(&name);
                }
            }
            Defined::Database { parts, used } => {
                if let [catalog, _] = parts.as_slice() {
                    self.session.catalogs.add_stand_in(catalog);
                }
                self.assume_database(&parts).await;
                match parts.as_slice() {
                    [database] if used => {
                        let catalog = self.session.catalogs.current().0.to_owned();
                        self.session.catalogs.use_database(&catalog, database);
                    }
                    [catalog, database] if used => self.session.catalogs.use_database(catalog, database),
                    _ => {}
                }
            }
            Defined::Object(_) | Defined::Columns { .. } | Defined::Function(_) | Defined::Nothing => {}
        }
    }
}

fn undefined_table(path: &TablePath, place: Span) -> Finding {
    let message = format!("table '{path}' is not defined in the script");
    Finding::new(Severity::Warning, "undefined-table", message, place)
        .with_detail("Catalogs are not read with --offline: statements with this table were not checked.")
        .with_hint("put its CREATE TABLE into the script or into a file for -i, or check without --offline")
}

/// The INSERT of a statement.
fn insert_of(statement: &Statement) -> Option<&Insert> {
    match statement {
        Statement::Insert(insert) => Some(insert),
        Statement::Explain { statement, .. } => insert_of(statement),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
