//! Whether a commit happened: what `calve verify-commit` asks.

use calve_iceberg::commit::{CommitMark, CommitVerdict, parse_job_id, verdict};
use calve_sql::Statement;
use calve_types::{Error, Result};

use crate::catalogs::CatalogKind;
use crate::resolve::full_path;
use crate::session::Session;

impl Session {
    /// Asks a table of an Iceberg catalog whether a commit to one of its branches happened. `table` is a name as it stands in
    /// SQL. The answer comes with the table's full name.
    ///
    /// # Errors
    /// `syntax-error` for what is no name; `unknown-catalog`, `unknown-table`, `unknown-ref`; `not-supported` for a table
    /// that is not Iceberg's; what the catalog answers.
    pub async fn verify_commit(&self, table: &str, branch: &str, mark: &CommitMark) -> Result<(String, CommitVerdict)> {
        let statement =
            calve_sql::parse_one(&format!("DESCRIBE {table}")).map_err(|error| Error { span: None, ..error })?;
        let Statement::DescribeTable { name, .. } = statement else {
            return Err(Error::new("syntax-error", format!("'{table}' is not the name of a table")));
        };
        let path = full_path(&self.catalogs, &name.parts)
            .ok_or_else(|| Error::new("invalid-name", format!("'{table}' is not the name of a table")))?;
        let CatalogKind::Iceberg(catalog) = &self.catalogs.get(&path.catalog)?.kind else {
            return Err(Error::unsupported(format!("commits to '{path}', which is not in an Iceberg catalog"))
                .with_hint("name the table by its catalog, its database and its name"));
        };
        let found = catalog.load_table(&catalog.ident(&path.database, &path.table)?).await?;
        let found = found.ok_or_else(|| Error::new("unknown-table", format!("table '{path}' does not exist")))?;
        Ok((path.to_string(), verdict(&found, branch, mark)?))
    }
}

/// A job id, or an operator id, as it is written into snapshots: 32 hexadecimal digits, also in the form of a UUID. `None`
/// for other texts.
pub fn job_id(text: &str) -> Option<String> {
    parse_job_id(text)
}
