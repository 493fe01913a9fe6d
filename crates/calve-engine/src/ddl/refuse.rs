//! Statements of Flink SQL that calve does not run: each is refused by its name, with Flink's own sentence where Flink
//! refuses it too.

use calve_planner::{CatalogReader, TableEntry, TablePath, bind};
use calve_sql::{Assignment, Delete, Ident, Name, Query, Statement, Update, ast};
use calve_types::{Error, Result};

use super::table::table_path;
use crate::definition::{did_you_mean, quoted};
use crate::mapping;
use crate::resolve::{IcebergHandle, Resolved, downcast};
use crate::session::Session;

/// The way out where a statement is for batch mode alone.
pub(super) const USE_BATCH: &str = "SET 'execution.runtime-mode' = 'batch'";

/// The way out where a table outside of Iceberg should lose its rows.
const EMPTY_TABLE: &str = "DROP the table and CREATE it again";

/// The way out where rows should be others: no mode runs UPDATE and DELETE.
const OTHER_ROWS: &str = "CREATE another TABLE AS a query for the rows as they should be";

/// The way out of a MERGE.
const UPSERT: &str = "INSERT INTO a table with a PRIMARY KEY and 'write.upsert.enabled' = 'true': it replaces the rows of \
                      the same key";

/// Why there is nothing to CALL.
pub(crate) const NO_PROCEDURES: &str = "neither Flink's memory catalog nor Iceberg's catalog for Flink has procedures";

impl Session {
    /// The refusal of a statement that calve does not run.
    pub(crate) async fn refusal(&self, statement: &Statement) -> Error {
        match statement {
            Statement::TruncateTable { table } => self.refuse_truncate(table).await,
            Statement::Delete(delete) => self.refuse_delete(delete).await,
            Statement::Update(update) => self.refuse_update(update).await,
            Statement::Merge(merge) => match self.changed(&merge.table, merge.alias.as_ref(), None, &[]).await {
                Err(error) => error,
                Ok((path, _)) => Error::unsupported("MERGE").with_hint(self.way_out(&path, UPSERT)).at(merge.span),
            },
            Statement::Call(call) => {
                let feature = format!("procedures (CALL {})", call.procedure.parts.join("."));
                Error::unsupported(feature).with_hint(NO_PROCEDURES).at(call.span)
            }
            Statement::AddJar { path } => jar("ADD JAR").at(path.span),
            Statement::RemoveJar { path } => jar("REMOVE JAR").at(path.span),
            Statement::CompilePlan(compile) if compile.execute => plan("COMPILE AND EXECUTE PLAN").at(compile.span),
            Statement::CompilePlan(compile) => plan("COMPILE PLAN").at(compile.span),
            Statement::ExecutePlan { file } => plan("EXECUTE PLAN").at(file.span),
            Statement::StopJob(stop) => job("STOP JOB").at(stop.span),
            Statement::DescribeJob { id } => job("DESCRIBE JOB").at(id.span),
            Statement::DescribeDatabase { name, .. } => Error::unsupported("DESCRIBE DATABASE").at(name.span),
            Statement::CreateModel(create) => Error::unsupported("CREATE MODEL").at(create.span),
            Statement::AlterModel(alter) => Error::unsupported("ALTER MODEL").at(alter.span),
            Statement::DropModel { name, .. } => Error::unsupported("DROP MODEL").at(name.span),
            Statement::DescribeModel { name, .. } => Error::unsupported("DESCRIBE MODEL").at(name.span),
            Statement::CreateMaterializedTable(create) => {
                Error::unsupported("CREATE MATERIALIZED TABLE").with_hint(NO_MATERIALIZED).at(create.span)
            }
            Statement::AlterMaterializedTable { span, .. } => {
                Error::unsupported("ALTER MATERIALIZED TABLE").with_hint(NO_MATERIALIZED).at(*span)
            }
            Statement::DropMaterializedTable { name, .. } => {
                Error::unsupported("DROP MATERIALIZED TABLE").with_hint(NO_MATERIALIZED).at(name.span)
            }
            Statement::Other { feature, span } => Error::unsupported(feature).at(*span),
            _ => Error::internal("a statement that is not refused"),
        }
    }

    /// The way out of what a table refuses: if it stands for an Iceberg table, that one in a catalog.
    fn way_out(&self, path: &TablePath, other: &str) -> String {
        mapping::way_out(&self.catalogs, path).unwrap_or_else(|| other.to_owned())
    }

    /// The way out where a table should lose its rows: no mode runs TRUNCATE TABLE.
    fn emptied(&self, name: &Name, path: &TablePath, entry: &TableEntry) -> String {
        let of_iceberg =
            downcast::<IcebergHandle>(&entry.handle).map(|_| format!("DELETE FROM {}", name.parts.join(".")));
        mapping::emptied(&self.catalogs, path).or(of_iceberg).unwrap_or_else(|| EMPTY_TABLE.to_owned())
    }

    /// TRUNCATE TABLE: of no table, in either mode.
    async fn refuse_truncate(&self, name: &Name) -> Error {
        let loaded = self.load_one(name).await;
        if self.options.is_streaming() {
            let found = loaded.ok().and_then(|(path, resolved)| Some((resolved.table(&path, &[]).ok()??, path)));
            let hint = found.map(|(entry, path)| self.emptied(name, &path, &entry));
            return Error::unsupported("TRUNCATE TABLE in streaming mode")
                .with_detail("TRUNCATE TABLE statement is not supported in streaming mode.")
                .with_hint(hint.unwrap_or_else(|| EMPTY_TABLE.to_owned()))
                .at(name.span);
        }
        let (path, resolved) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return error,
        };
        match resolved.table(&path, &[]) {
            Err(error) => error.at(name.span),
            Ok(None) => {
                let error = Error::new("unknown-table", format!("table '{path}' does not exist"))
                    .with_detail(format!(
                        "Cannot find table '{}' in any of the catalogs [{}], nor as a temporary table.",
                        quoted(&path),
                        self.catalogs.names().join(", ")
                    ))
                    .at(name.span);
                did_you_mean(error, &resolved, &path)
            }
            Ok(Some(entry)) if entry.view.is_some() => Error::new("not-a-table", format!("'{path}' is a view"))
                .with_detail("TRUNCATE TABLE statement is not supported for view.")
                .at(name.span),
            Ok(Some(entry)) => Error::unsupported("TRUNCATE TABLE")
                .with_detail(format!(
                    "TRUNCATE TABLE statement is not supported for the table {path} since the table hasn't implemented the \
                     interface org.apache.flink.table.connector.sink.abilities.SupportsTruncate."
                ))
                .with_hint(self.emptied(name, &path, &entry))
                .at(name.span),
        }
    }

    /// DELETE: of no table outside of Iceberg.
    async fn refuse_delete(&self, delete: &Delete) -> Error {
        let condition = delete.condition.as_ref();
        let (path, entry) = match self.changed(&delete.table, delete.alias.as_ref(), condition, &[]).await {
            Ok(found) => found,
            Err(error) => return error,
        };
        self.refused_change("DELETE", "delete", "SupportsRowLevelDelete", &path, &entry).at(delete.span)
    }

    /// UPDATE: of no table outside of Iceberg.
    async fn refuse_update(&self, update: &Update) -> Error {
        let changed =
            self.changed(&update.table, update.alias.as_ref(), update.condition.as_ref(), &update.assignments);
        let (path, entry) = match changed.await {
            Ok(found) => found,
            Err(error) => return error,
        };
        if self.options.is_streaming() {
            return Error::unsupported("UPDATE in streaming mode")
                .with_detail("UPDATE statement is not supported for streaming mode now.")
                .with_hint(self.way_out(&path, OTHER_ROWS))
                .at(update.span);
        }
        self.refused_change("UPDATE", "update", "SupportsRowLevelUpdate", &path, &entry).at(update.span)
    }

    /// The table of a DELETE or UPDATE, whose names are checked.
    async fn changed(
        &self,
        table: &Name,
        alias: Option<&Ident>,
        condition: Option<&ast::Expr>,
        assignments: &[Assignment],
    ) -> Result<(TablePath, std::sync::Arc<TableEntry>)> {
        let path = table_path(&self.catalogs, table)?;
        let query = rows_of(&path, alias, condition)?;
        let statement = Statement::Query(query.clone());
        let names = calve_planner::tables::referenced(&statement);
        let resolved = Resolved::load(&self.catalogs, &self.options, names).await.map_err(|e| e.at(table.span))?;
        let Some(entry) = resolved.table(&path, &[])? else {
            let name = table.parts.join(".");
            let error = Error::new("unknown-table", format!("table '{name}' does not exist"))
                .with_detail(format!("Object '{}' not found", table.parts.last().map_or("", String::as_str)))
                .at(table.span);
            return Err(did_you_mean(error, &resolved, &path));
        };
        for (at, Assignment { column, .. }) in assignments.iter().enumerate() {
            let name = column.parts.join(".");
            if assignments.iter().take(at).any(|earlier| earlier.column.parts == column.parts) {
                return Err(Error::new("duplicate-column", format!("column '{name}' is set twice"))
                    .with_detail(format!("Target column '{name}' is assigned more than once"))
                    .at(column.span));
            }
            if !entry.columns.iter().any(|c| c.name == name) {
                let error = Error::new("unknown-column", format!("column '{name}' not found in '{path}'"))
                    .with_detail(format!("Unknown target column '{name}'"))
                    .at(column.span);
                let known = entry.columns.iter().map(|c| c.name.as_str());
                return Err(error.did_you_mean(&name, known));
            }
        }
        bind::query(&query, &resolved)?;
        Ok((path, entry))
    }

    fn refused_change(
        &self,
        statement: &str,
        verb: &str,
        ability: &str,
        path: &TablePath,
        entry: &TableEntry,
    ) -> Error {
        if entry.view.is_some() {
            return Error::new("not-a-table", format!("'{path}' is a view"));
        }
        Error::unsupported(statement)
            .with_detail(format!(
                "Can't perform {verb} operation of the table {path} because the corresponding dynamic table sink has \
                 not yet implemented org.apache.flink.table.connector.sink.abilities.{ability}."
            ))
            .with_hint(self.way_out(path, OTHER_ROWS))
    }
}

/// `SELECT * FROM t AS alias WHERE condition`: to check the names of a condition.
fn rows_of(path: &TablePath, alias: Option<&Ident>, condition: Option<&ast::Expr>) -> Result<Query> {
    let alias = alias.map(|a| format!(" AS {}", calve_sql::print::identifier(&a.value))).unwrap_or_default();
    let statement = calve_sql::parse_one(&format!("SELECT * FROM {}{alias}", quoted(path)))?;
    let Statement::Query(mut query) = statement else { return Err(Error::internal("not a query")) };
    if let ast::SetExpr::Select(select) = query.ast.body.as_mut() {
        select.selection = condition.cloned();
    }
    Ok(query)
}

/// Why there are no materialized tables.
const NO_MATERIALIZED: &str = "Flink keeps a materialized table fresh by jobs that go on: INSERT INTO a table instead";

fn jar(statement: &str) -> Error {
    Error::unsupported(statement)
        .with_hint("calve runs no Java: its connectors and formats are built in, and it has no user-defined functions")
}

fn plan(statement: &str) -> Error {
    Error::unsupported(statement).with_hint("a compiled plan is for Flink's own runtime: run the statement itself")
}

fn job(statement: &str) -> Error {
    Error::unsupported(statement).with_hint("an INSERT waits for its job: when the next statement runs, no job is left")
}
