//! CREATE TABLE AS: makes a table with the columns of a query and fills it.

use std::collections::HashSet;

use calve_planner::tables::{Reference, referenced};
use calve_planner::{Field, TablePath, bind};
use calve_sql::{ColumnKind, CreateTable, Ident, Insert, Name, Query, Statement};
use calve_types::{Error, Result, rules};

use super::define::Definition;
use super::properties;
use super::table::{Stored, exists, store, table_path, warn_of_unique};
use crate::catalogs::CatalogKind;
use crate::catalogs::object::TableDef;
use crate::resolve::Resolved;
use crate::result::{StatementResult, Warning};
use crate::session::Session;

/// What CREATE TABLE AS does, worked out before it does anything.
pub(crate) struct Planned {
    /// The table.
    table: TableDef,
    /// The INSERT that fills it.
    pub insert: Insert,
}

impl Session {
    /// CREATE TABLE AS. A table that the statement made in an Iceberg catalog is gone again if its query fails or is
    /// cancelled.
    pub(crate) async fn create_table_as(&mut self, create: CreateTable) -> Result<StatementResult> {
        let mut warnings = vec![];
        let (Planned { table, insert }, _) = self.plan_table_as(&create, &mut warnings).await?;
        let path = table_path(&self.catalogs, &create.name)?;
        let stored = store(&mut self.catalogs, &create, table, &mut warnings).await?;
        self.filling = Some(path).filter(|_| stored == Stored::Created);
        let result = self.insert(&Statement::Insert(insert)).await;
        let filling = self.filling.take();
        let mut result = match result {
            Ok(result) => result,
            Err(error) => {
                if let Some(path) = filling.filter(|_| !error.may_have_committed()) {
                    self.drop_failed(&path).await;
                }
                return Err(error);
            }
        };
        result.warnings.splice(0..0, warnings);
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
        if create.temporary {
            return Err(Error::unsupported("CREATE TEMPORARY TABLE AS")
                .with_detail("CREATE TABLE AS SELECT syntax does not support to create temporary table yet.")
                .with_hint("CREATE the TEMPORARY TABLE with its columns and INSERT INTO it, or use a TEMPORARY VIEW")
                .at(create.name.span));
        }
        let exists = exists(&self.catalogs, &path).await.map_err(|e| e.at(create.name.span))?;
        if exists && !create.if_not_exists && !create.or_replace {
            return Err(super::table::already_exists(&path).at(create.name.span));
        }
        warn_of_unique(create, warnings);
        let mut names = referenced(&Statement::Query(query.clone()));
        names.push(Reference { parts: parts(&path), hints: vec![], span: create.name.span });
        let mut resolved = Resolved::load(&self.catalogs, &self.options, names).await?;
        let fields = bind::query(query, &resolved)?.fields;
        let table = self.table_of(create, &fields, &resolved, warnings)?;
        // IF NOT EXISTS adds the rows to it, as in Flink
        let adds_to_existing = exists && !create.or_replace;
        let insert = insert_of(&path, create, query, (!adds_to_existing).then_some(&fields));
        if !adds_to_existing {
            resolved.assume(&path, &table);
        }
        bind::insert(&insert, &resolved)?;
        Ok((Planned { table, insert }, resolved))
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
            let declared: HashSet<String> = definition.columns().iter().map(|c| c.column.name.clone()).collect();
            for field in fields.iter().filter(|f| !declared.contains(&f.name)) {
                definition.add_physical(&field.name, field.data_type.clone(), None);
            }
        }
        definition.finish(properties(&create.properties, warnings), self.options.is_streaming())
    }

    /// Removes the Iceberg table of a failed statement; one in a memory catalog stays, as in Flink.
    pub(crate) async fn drop_failed(&self, path: &TablePath) {
        let Ok(entry) = self.catalogs.get(&path.catalog) else { return };
        let CatalogKind::Iceberg(iceberg) = &entry.kind else { return };
        let Ok(ident) = iceberg.ident(&path.database, &path.table) else { return };
        let Ok(Some(table)) = iceberg.load_table(&ident).await else { return };
        // another job may have written to it meanwhile
        if table.metadata().snapshots().len() == 0 {
            // the statement's own error is the one to tell of
            let _ = iceberg.drop_table(&ident, true).await;
        }
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
        columns: fields.map(|fields| fields.iter().map(|f| Ident { value: f.name.clone(), span }).collect()),
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
            return Err(match calve_options::nearest(name, fields.iter().map(|f| f.name.as_str())) {
                Some(near) => error.with_hint(format!("did you mean '{near}'?")),
                None => error,
            });
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
