//! ANALYZE TABLE: calve keeps no statistics of tables outside Iceberg, and those of Iceberg tables are in their files.
//! The statement is checked as Flink checks it, and does nothing.

use calve_planner::{CatalogReader, TablePath};
use calve_sql::{AnalyzeTable, AnalyzedColumns, Statement};
use calve_types::{Error, Result};

use super::refuse::USE_BATCH;
use super::table::table_path;
use crate::catalogs::object::{CatalogObject, TableDef};
use crate::definition::{did_you_mean, quoted};
use crate::resolve::Resolved;
use crate::result::ResultBody;
use crate::session::Session;

impl Session {
    /// ANALYZE TABLE.
    pub(crate) async fn analyze(&self, analyze: &AnalyzeTable) -> Result<ResultBody> {
        if self.options.is_streaming() {
            return Err(Error::unsupported("ANALYZE TABLE in streaming mode")
                .with_detail("ANALYZE TABLE is not supported for streaming mode now")
                .with_hint(USE_BATCH)
                .at(analyze.span));
        }
        let place = analyze.table.span;
        let path = table_path(&self.catalogs, &analyze.table)?;
        let (_, resolved) = self.load_one(&analyze.table).await?;
        let found = resolved.table(&path, &[])?.filter(|_| self.catalogs.temporary(&path).is_none());
        let Some(entry) = found else {
            let error = Error::new("unknown-table", format!("table '{path}' does not exist or is temporary"))
                .with_detail(format!("Table {} doesn't exist or is a temporary table.", quoted(&path)))
                .at(place);
            return Err(did_you_mean(error, &resolved, &path));
        };
        let table = match self.catalogs.object(&path) {
            Some(CatalogObject::View(_)) => {
                return Err(Error::new("not-a-table", format!("'{path}' is a view"))
                    .with_detail("ANALYZE TABLE for a view is not allowed.")
                    .at(place));
            }
            Some(CatalogObject::Table(table)) => Some(table.as_ref()),
            None => None,
        };
        check_partition(analyze, &path, &entry.partition_keys)?;
        check_columns(analyze, &path, &entry.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>())?;
        match table {
            Some(table) => self.check_readable(analyze, &path, table, &resolved),
            None => Err(Error::unsupported("ANALYZE TABLE of an Iceberg table")
                .with_hint("queries use the statistics in the table's own files")
                .at(analyze.span)),
        }
    }

    /// What Flink's query for the statistics would say of the table's options.
    fn check_readable(
        &self,
        analyze: &AnalyzeTable,
        path: &TablePath,
        table: &TableDef,
        resolved: &Resolved<'_>,
    ) -> Result<ResultBody> {
        if !table.partition_keys.is_empty() && analyze.partition.iter().any(|(_, value)| value.is_some()) {
            return Err(Error::unsupported("ANALYZE TABLE of one partition").at(analyze.span));
        }
        let Statement::Query(query) = calve_sql::parse_one(&format!("SELECT * FROM {}", quoted(path)))? else {
            return Err(Error::internal("not a query"));
        };
        self.check_sources(&query, resolved).map_err(|error| Error { span: None, ..error }.at(analyze.table.span))?;
        Ok(ResultBody::Done)
    }
}

/// All partition keys of a partitioned table, and none of another one, must be named.
fn check_partition(analyze: &AnalyzeTable, path: &TablePath, keys: &[String]) -> Result<()> {
    let given: Vec<&str> = analyze.partition.iter().map(|(column, _)| column.value.as_str()).collect();
    let place = analyze.partition.first().map_or(analyze.table.span, |(column, _)| column.span);
    if keys.is_empty() && !given.is_empty() {
        return Err(Error::new("not-partitioned", format!("table '{path}' is not partitioned"))
            .with_detail(format!(
                "Invalid ANALYZE TABLE statement. Table: {} is not a partition table, while partition values are given.",
                quoted(path)
            ))
            .at(place));
    }
    if given.len() != keys.len() || !keys.iter().all(|key| given.contains(&key.as_str())) {
        return Err(Error::new("invalid-partition", "all partition keys must be named, and nothing else")
            .with_detail(format!(
                "Invalid ANALYZE TABLE statement. For partition table, all partition keys should be specified explicitly. \
                 The given partition keys: [{}] are not match the target partition keys: [{}].",
                given.join(","),
                keys.join(",")
            ))
            .with_hint(format!("write PARTITION ({})", keys.join(", ")))
            .at(place));
    }
    Ok(())
}

fn check_columns(analyze: &AnalyzeTable, path: &TablePath, known: &[&str]) -> Result<()> {
    let AnalyzedColumns::Some(columns) = &analyze.columns else { return Ok(()) };
    for column in columns {
        if !known.contains(&column.value.as_str()) {
            let error = Error::new("unknown-column", format!("column '{}' not found in '{path}'", column.value))
                .with_detail(format!("Column: {} does not exist in the table: {}.", column.value, quoted(path)))
                .at(column.span);
            return Err(error.did_you_mean(&column.value, known.iter().copied()));
        }
    }
    Ok(())
}
