//! CREATE TABLE AS: makes a table with the columns of a query and fills it.

use std::sync::{Arc, OnceLock};

use calve_iceberg::Table;
use calve_iceberg::catalog::{Catalog, Creation, Replacement, Staged, TableCreation, tidy};
use calve_iceberg::commit::{Append, Operation, TableOps, commit};
use calve_planner::tables::{Reference, referenced};
use calve_planner::{Field, Sink, TablePath, bind};
use calve_sql::{ColumnKind, CreateTable, Insert, Name, Query, Statement};
use calve_types::{Error, Result, rules};
use iceberg::TableIdent;
use iceberg::spec::MAIN_BRANCH;

use super::define::Definition;
use super::properties;
use super::table::{exists, iceberg_creation, store, table_path, temporary_hides, warn_of_unique};
use crate::catalogs::CatalogKind;
use crate::catalogs::object::{BaseKind, TableDef};
use crate::definition::quoted;
use crate::jobs::{Job, committed_before, earlier_summary};
use crate::resolve::{Resolved, check_sink};
use crate::result::{ResultBody, StatementResult, Warning, WriteSummary};
use crate::session::Session;

/// What CREATE TABLE AS does, worked out before it does anything.
pub(crate) struct Planned {
    /// The table.
    table: TableDef,
    /// Whether it is there, and only gets the rows.
    exists: bool,
    /// The INSERT that fills it.
    pub insert: Insert,
    /// What takes the place of an Iceberg table.
    replacement: Option<Arc<Replacement>>,
}

/// The Iceberg table that a statement makes and fills.
#[derive(Debug)]
pub(crate) struct Filling {
    catalog: Arc<dyn Catalog>,
    ident: TableIdent,
    /// As soon as the table is begun.
    begun: Arc<OnceLock<Staged>>,
}

impl Filling {
    /// Removes what the statement made of the table, after the statement has failed; one in a memory catalog stays, as in
    /// Flink.
    pub(crate) async fn undo(&self) {
        let made = match self.begun.get() {
            None => return,
            Some(Staged::Ready(table)) => return tidy(table).await,
            Some(Staged::Created(made)) => made.metadata().uuid(),
        };
        let Ok(Some(table)) = self.catalog.load_table(&self.ident).await else { return };
        // it may be somebody else's by now, and another job may have written to it
        if table.metadata().uuid() == made && table.metadata().snapshots().len() == 0 {
            // the statement's own error is the one to tell of
            let _ = self.catalog.drop_table(&self.ident, true).await;
        }
    }
}

impl Session {
    /// CREATE TABLE AS, REPLACE TABLE AS. A table in an Iceberg catalog is created, or replaced, by the commit of the rows:
    /// if the query fails or the statement ends in whatever way before that, there is no table, or the old one.
    ///
    /// There are servers of REST catalogs that create a table at once or not at all. There it is created before its rows
    /// are written, and dropped again if the query fails or is cancelled; only a process that is killed leaves it empty.
    pub(crate) async fn create_table_as(&mut self, create: CreateTable) -> Result<StatementResult> {
        let mut warnings = vec![];
        let job = self.begin_job_of_text()?;
        if let Some(done) = self.table_as_before(&create, &job).await? {
            return Ok(self.written(&job, vec![done], warnings));
        }
        let (Planned { table, exists, insert, replacement }, resolved) =
            self.plan_table_as(&create, &mut warnings).await?;
        if let Some(replacement) = replacement {
            let sink = bind::insert(&insert, &resolved)?;
            return self.replace_table(replacement, sink, &job, warnings).await;
        }
        let path = table_path(&self.catalogs, &create.name)?;
        let mut staged = None;
        match &self.catalogs.get(&path.catalog)?.kind {
            CatalogKind::Memory(_) => {
                let commits = self.commits().clone();
                store(&mut self.catalogs, &commits, &create, table, &mut warnings).await?;
            }
            CatalogKind::Iceberg(_) if exists => {}
            CatalogKind::Iceberg(iceberg) => {
                let (iceberg, ident) = (iceberg.clone(), iceberg.ident(&path.database, &path.table)?);
                let creation = iceberg_creation(&create, table, &mut warnings)?;
                match self.begin_table(iceberg.clone(), ident, creation).await {
                    Err(error) if error.code == "table-exists" && create.if_not_exists => {}
                    Err(error) => return Err(error.at(create.name.span)),
                    Ok(Staged::Ready(table)) => staged = Some(Arc::new(Creation::new(iceberg, table))),
                    Ok(Staged::Created(_)) => {}
                }
            }
        }
        let insert = Statement::Insert(insert);
        let result = match staged {
            Some(creation) => {
                let created = self.create_with_rows(creation, &path, &insert, &job).await;
                created.map_err(|error| if error.code == "table-exists" { error.at(create.name.span) } else { error })
            }
            None => self.insert_as(&insert, &job).await,
        };
        if let (Err(error), Some(filling)) = (&result, &self.filling)
            && !error.may_have_committed()
        {
            filling.undo().await;
        }
        self.filling = None;
        let mut result = result?;
        result.warnings.splice(0..0, warnings);
        Ok(result)
    }

    /// Begins a table that goes again if the statement is cancelled. In a task: whoever cancels the statement waits for it,
    /// and knows then whether the table is there.
    ///
    /// # Errors
    /// As [`Catalog::stage_table`].
    async fn begin_table(
        &mut self,
        catalog: Arc<dyn Catalog>,
        ident: TableIdent,
        creation: TableCreation,
    ) -> Result<Staged> {
        let begun = Arc::new(OnceLock::new());
        self.filling = Some(Filling { catalog: catalog.clone(), ident: ident.clone(), begun: begun.clone() });
        let running = self.commits().running().await;
        let task = tokio::spawn(async move {
            let staged = catalog.stage_table(&ident, creation).await?;
            // the first one to say so
            let _ = begun.set(staged.clone());
            drop(running);
            Ok(staged)
        });
        task.await.map_err(Error::internal)?
    }

    /// Runs the query of a statement that creates an Iceberg table with its rows.
    async fn create_with_rows(
        &self,
        creation: Arc<Creation>,
        path: &TablePath,
        insert: &Statement,
        job: &Job,
    ) -> Result<StatementResult> {
        // what the statement reads, but for the table that is not there
        let mut names = referenced(insert);
        names.retain(|name| name.parts != parts(path));
        let mut resolved = Resolved::load(&self.catalogs, &self.options, names).await?;
        resolved.assume_staged(path, creation.clone(), creation.table().clone())?;
        let (sinks, warnings) = self.bind_inserts_in(&resolved, insert)?;
        let result = self.run_sinks(sinks, job, warnings).await?;
        if !has_snapshot(&result) {
            let table = creation.table().clone();
            self.commit_without_rows(creation.clone(), table, job, async move { creation.commit().await }).await?;
        }
        Ok(result)
    }

    /// Creates or replaces a table whose query gave no rows. In a job that may run again an empty snapshot tells its next
    /// run that this one has done it.
    async fn commit_without_rows(
        &self,
        home: Arc<dyn TableOps>,
        table: Table,
        job: &Job,
        plain: impl Future<Output = Result<Table>> + Send + 'static,
    ) -> Result<()> {
        let info = job.info()?.clone();
        let committed = self.commits().alter(async move {
            if info.place.is_none() {
                return plain.await.map(drop);
            }
            let nothing = Operation::Append(Append::default());
            Box::pin(commit(home.as_ref(), &table, MAIN_BRANCH, nothing, &info)).await.map(drop)
        });
        committed.await
    }

    /// What an earlier run of the job has committed to the table that the statement would make, or replace.
    ///
    /// # Errors
    /// As [`committed_before`]; what the catalog answers.
    async fn table_as_before(&self, create: &CreateTable, job: &Job) -> Result<Option<WriteSummary>> {
        if !job.is_given || create.temporary {
            return Ok(None);
        }
        let path = table_path(&self.catalogs, &create.name)?;
        let Ok(entry) = self.catalogs.get(&path.catalog) else { return Ok(None) };
        let CatalogKind::Iceberg(iceberg) = &entry.kind else { return Ok(None) };
        let table = iceberg.load_table(&iceberg.ident(&path.database, &path.table)?).await;
        let Some(table) = table.map_err(|e| e.at(create.name.span))? else { return Ok(None) };
        let done = committed_before(&table, "main", job.info()?, &path).map_err(|e| e.at(create.name.span))?;
        Ok(done.map(|snapshot| earlier_summary(&path, &snapshot)))
    }

    /// Runs the query of a statement that replaces an Iceberg table. Without rows the table is replaced by an empty one.
    async fn replace_table(
        &self,
        replacement: Arc<Replacement>,
        sink: Sink,
        job: &Job,
        warnings: Vec<Warning>,
    ) -> Result<StatementResult> {
        check_sink(&sink.table).map_err(|e| e.at(sink.span))?;
        let result = self.run_sinks(vec![sink], job, warnings).await?;
        if !has_snapshot(&result) {
            let table = replacement.table().clone();
            self.commit_without_rows(replacement.clone(), table, job, async move { replacement.commit().await })
                .await?;
        }
        Ok(result)
    }

    /// What CREATE TABLE AS will do, and the tables it was bound to.
    ///
    /// # Errors
    /// What is wrong with the table, its query, or the query's rows for it.
    pub(crate) async fn plan_table_as(
        &self,
        create: &CreateTable,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Planned, Resolved<'_>)> {
        let path = table_path(&self.catalogs, &create.name)?;
        let Some(query) = &create.query else { return Err(Error::internal("CREATE TABLE AS without a query")) };
        let replaces = create.or_replace || create.replace;
        if replaces {
            self.check_replace(create, &path).await?;
        }
        if create.temporary {
            return Err(Error::unsupported("CREATE TEMPORARY TABLE AS")
                .with_detail("CREATE TABLE AS SELECT syntax does not support to create temporary table yet.")
                .with_hint("CREATE the TEMPORARY TABLE with its columns and INSERT INTO it, or use a TEMPORARY VIEW")
                .at(create.name.span));
        }
        let exists = exists(&self.catalogs, &path).await.map_err(|e| e.at(create.name.span))?;
        if exists && !create.if_not_exists && !replaces {
            return Err(super::table::already_exists(&path).at(create.name.span));
        }
        warn_of_unique(create, warnings)?;
        let mut names = referenced(&Statement::Query(query.clone()));
        if !replaces {
            names.push(Reference { parts: parts(&path), hints: vec![], span: create.name.span });
        }
        let mut resolved = Resolved::load(&self.catalogs, &self.options, names).await?;
        if replaces && resolved.columns(&path).is_some() {
            return Err(Error::unsupported("replacing a table by a query that reads it")
                .with_hint("CREATE another TABLE AS this query")
                .at(create.name.span));
        }
        let fields = bind::query(query, &resolved)?.fields;
        let table = self.table_of(create, &fields, &resolved, warnings)?;
        // IF NOT EXISTS adds the rows to it, as in Flink
        let adds_to_existing = exists && !replaces;
        let insert = insert_of(&path, create, query, (!adds_to_existing).then_some(&fields));
        let replacement = match &self.catalogs.get(&path.catalog)?.kind {
            CatalogKind::Iceberg(iceberg) if exists && replaces => {
                let creation = iceberg_creation(create, table.clone(), warnings)?;
                let old = iceberg.load_table(&iceberg.ident(&path.database, &path.table)?).await?;
                let old = old.ok_or_else(|| Error::new("unknown-table", format!("table '{path}' does not exist")))?;
                let replacement = Replacement::prepare(iceberg.clone(), old, &creation);
                Some(Arc::new(replacement.map_err(|e| e.at(create.name.span))?))
            }
            _ => None,
        };
        match &replacement {
            Some(replacement) => resolved.assume_staged(&path, replacement.clone(), replacement.table().clone())?,
            None if !adds_to_existing => resolved.assume(&path, &table),
            None => {}
        }
        bind::insert(&insert, &resolved)?;
        Ok((Planned { table, exists: adds_to_existing, insert, replacement }, resolved))
    }

    /// Refuses what cannot be replaced by a query's rows.
    ///
    /// # Errors
    /// `unknown-table` where REPLACE TABLE finds none or a view has the name; `temporary-hides`; `not-supported`.
    async fn check_replace(&self, create: &CreateTable, path: &TablePath) -> Result<()> {
        let place = create.name.span;
        let statement = if create.replace { "REPLACE TABLE" } else { "CREATE OR REPLACE TABLE" };
        for (present, clause, what) in [
            (create.temporary, "TEMPORARY", "temporary table"),
            (create.if_not_exists, "IF NOT EXISTS", "IF NOT EXISTS statements"),
        ] {
            if present {
                return Err(Error::unsupported(format!("{clause} in {statement} AS"))
                    .with_detail(format!("{statement} AS SELECT syntax does not support {what} yet."))
                    .at(place));
            }
        }
        if self.catalogs.temporary(path).is_some_and(|object| object.is(BaseKind::Table)) {
            return Err(temporary_hides(path, BaseKind::Table).at(place));
        }
        let found = match exists(&self.catalogs, path).await {
            Err(error) if create.replace && matches!(error.code, "unknown-catalog" | "unknown-database") => false,
            found => found.map_err(|e| e.at(place))?,
        };
        if create.replace && !found {
            return Err(Error::new("unknown-table", format!("table '{path}' does not exist"))
                .with_detail(format!(
                    "The table {} to be replaced doesn't exist. You can try to use CREATE TABLE AS statement or CREATE OR \
                     REPLACE TABLE AS statement.",
                    quoted(path)
                ))
                .with_hint("use CREATE OR REPLACE TABLE")
                .at(place));
        }
        match self.catalogs.object(path) {
            Some(object) if self.catalogs.temporary(path).is_none() && object.is(BaseKind::View) => {
                Err(Error::new("not-a-table", format!("'{path}' is a view"))
                    .with_detail(format!("Table with identifier '{path}' does not exist."))
                    .with_hint("DROP the VIEW first")
                    .at(place))
            }
            _ => Ok(()),
        }
    }

    /// The table with the columns of the query and those of the statement.
    fn table_of(
        &self,
        create: &CreateTable,
        fields: &[Field],
        resolved: &Resolved<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<TableDef> {
        let mut definition = Definition::new(create, resolved, TableDef::default());
        if create.columns.iter().any(|c| c.kind == ColumnKind::OfQuery) {
            for field in in_listed_order(create, fields)? {
                definition.add_physical(&field.name, field.data_type.clone(), None);
            }
        } else {
            check_declared(create, fields)?;
            definition.add_declared(false, false)?;
            definition.add_of_query(fields);
        }
        definition.finish(properties(&create.properties, warnings), self.options.is_streaming())
    }
}

/// Whether a statement has committed rows.
fn has_snapshot(result: &StatementResult) -> bool {
    match &result.body {
        ResultBody::Written(written) => written.iter().any(|summary| summary.snapshot_id.is_some()),
        _ => false,
    }
}

fn parts(path: &TablePath) -> Vec<String> {
    vec![path.catalog.clone(), path.database.clone(), path.table.clone()]
}

/// The INSERT of the query's fields by their names; of none into an existing table by position.
fn insert_of(path: &TablePath, create: &CreateTable, query: &Query, fields: Option<&Vec<Field>>) -> Insert {
    let span = create.name.span;
    Insert {
        table: Name { parts: parts(path), span },
        hint: None,
        overwrite: false,
        partition: vec![],
        columns: fields.map(|fields| fields.iter().map(|f| Name { parts: vec![f.name.clone()], span }).collect()),
        query: query.clone(),
    }
}

/// The query's fields in the order of a list of names.
fn in_listed_order<'a>(create: &CreateTable, fields: &'a [Field]) -> Result<Vec<&'a Field>> {
    let mut ordered: Vec<&Field> = vec![];
    for column in &create.columns {
        let name = &column.name.value;
        let Some(field) = fields.iter().find(|f| f.name == *name) else {
            let error = Error::new("unknown-column", format!("the query has no column '{name}'"))
                .with_detail(format!("Column '{name}' not found in the source schema."))
                .at(column.name.span);
            return Err(error.did_you_mean(name, fields.iter().map(|f| f.name.as_str())));
        };
        if column.kind != ColumnKind::OfQuery {
            return Err(Error::new("syntax-error", "a column list has either names alone or names with types")
                .at(column.name.span));
        }
        if ordered.iter().any(|f| f.name == *name) {
            return Err(Error::new("duplicate-column", format!("column '{name}' is listed twice")).at(column.name.span));
        }
        ordered.push(field);
    }
    if ordered.len() != fields.len() {
        return Err(Error::new(
            "type-mismatch",
            format!("the list has {} columns, the query gives {}", ordered.len(), fields.len()),
        )
        .with_detail("The number of columns in the column list must match the number of columns in the source schema.")
        .at(create.name.span));
    }
    Ok(ordered)
}

/// Checks the statement's columns against the query's of the same names.
fn check_declared(create: &CreateTable, fields: &[Field]) -> Result<()> {
    for (position, column) in create.columns.iter().enumerate() {
        let name = &column.name.value;
        let Some(field) = fields.iter().find(|f| f.name == *name) else { continue };
        let overwrites = |kind: &str| {
            Error::new("duplicate-column", format!("the query has a column '{name}' too"))
                .with_detail(format!(
                    "A column named '{name}' already exists in the source schema. {kind} columns cannot overwrite \
                     columns from source."
                ))
                .at(column.name.span)
        };
        match &column.kind {
            ColumnKind::Computed(_) => return Err(overwrites("Computed")),
            ColumnKind::Metadata { is_virtual: true, .. } => return Err(overwrites("Virtual metadata")),
            ColumnKind::Physical { data_type, span } if !rules::supports_implicit_cast(&field.data_type, data_type) => {
                return Err(Error::new("type-mismatch", format!("column '{name}' of the query does not fit its type"))
                    .with_detail(format!(
                        "Incompatible types for sink column '{name}' at position {position}. The source column has type \
                         '{}', while the target column has type '{data_type}'.",
                        field.data_type
                    ))
                    .with_hint("CAST it in the query")
                    .at(*span));
            }
            _ => {}
        }
    }
    Ok(())
}
