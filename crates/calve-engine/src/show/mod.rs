//! SHOW.

mod create;
mod describe;
mod functions;
mod partitions;
mod signatures;

use calve_planner::TablePath;
use calve_planner::tables::Reference;
use calve_sql::{Name, Show, ShowWhat};
use calve_types::{Error, Result};

use crate::catalogs::Catalogs;
use crate::ddl::database::database_path;
use crate::ddl::refuse::NO_PROCEDURES;
use crate::ddl::table::table_path;
use crate::definition::{self, Described};
use crate::listing::{self, Column};
use crate::resolve::Resolved;
use crate::result::Rows;
use crate::session::Session;

pub(crate) use describe::catalog as describe_catalog;

impl Session {
    /// SHOW of something that is listed.
    pub(crate) async fn show(&self, show: &Show) -> Result<Rows> {
        let catalogs = &self.catalogs;
        let (catalog, database) = catalogs.current();
        let (column, mut names) = match show.what {
            ShowWhat::Catalogs => ("catalog name", catalogs.names()),
            ShowWhat::CurrentCatalog => ("current catalog name", vec![catalog.to_owned()]),
            ShowWhat::CurrentDatabase => ("current database name", vec![database.to_owned()]),
            ShowWhat::Databases => ("database name", databases(catalogs, show).await?),
            ShowWhat::Tables => ("table name", objects(catalogs, show, false).await?),
            ShowWhat::Views => ("view name", objects(catalogs, show, true).await?),
            ShowWhat::Functions { user } => ("function name", self.function_names(show, user)?),
            // nobody can add one
            ShowWhat::Jars => ("jars", vec![]),
            ShowWhat::Models => ("model name", vec![]),
            ShowWhat::Columns => return self.show_columns(show).await,
            ShowWhat::Modules { full } => return self.show_modules(full),
            ShowWhat::Jobs => return self.show_jobs(),
            ShowWhat::Procedures => {
                return Err(Error::unsupported("SHOW PROCEDURES").with_hint(NO_PROCEDURES).at(show.span));
            }
        };
        names.retain(|name| matches(show, name));
        names.sort();
        listing::names(column, names, &self.context()?)
    }

    /// SHOW MODULES: those in use, or with `full` all that are loaded.
    fn show_modules(&self, full: bool) -> Result<Rows> {
        let loaded = self.modules.loaded().into_iter().filter(|(_, used)| full || *used);
        let (names, used) = loaded.map(|(name, used)| (Some(name), used)).unzip();
        let mut columns = vec![Column::Text("module name", names)];
        if full {
            columns.push(Column::Flag("used", used));
        }
        listing::rows(columns, &self.context()?)
    }

    /// SHOW JOBS: every job is over when the statement after it runs.
    fn show_jobs(&self) -> Result<Rows> {
        let text = |name| Column::Text(name, vec![]);
        let columns = vec![text("job id"), text("job name"), text("status"), Column::NoTimes("start time")];
        listing::rows(columns, &self.context()?)
    }

    /// The table or view of a name, loaded.
    pub(crate) async fn load_one(&self, name: &Name) -> Result<(TablePath, Resolved<'_>)> {
        let path = table_path(&self.catalogs, name)?;
        let reference = Reference { parts: name.parts.clone(), hints: vec![], span: name.span };
        Ok((path, Resolved::load_definitions(&self.catalogs, &self.options, vec![reference]).await?))
    }

    /// The table or view that DESCRIBE names.
    async fn described(&self, name: &Name) -> Result<Described> {
        let (path, resolved) = self.load_one(name).await?;
        definition::find(&self.catalogs, &resolved, &path)?.ok_or_else(|| {
            let error = Error::new("unknown-table", format!("table '{path}' does not exist"))
                .with_detail(format!("Tables or views with the identifier '{path}' doesn't exist."))
                .at(name.span);
            definition::did_you_mean(error, &resolved, &path)
        })
    }
}

/// Whether SHOW's LIKE takes a name.
fn matches(show: &Show, name: &str) -> bool {
    show.like.as_ref().is_none_or(|like| listing::like(name, &like.pattern, like.ignore_case) != like.negated)
}

async fn databases(catalogs: &Catalogs, show: &Show) -> Result<Vec<String>> {
    let place = show.from.as_ref().map_or(show.span, |n| n.span);
    let parts = show.from.as_ref().map(|name| name.parts.as_slice());
    let catalog = match parts {
        None => catalogs.current().0,
        Some([catalog]) => catalog.as_str(),
        Some(parts) => {
            let name = parts.join(".");
            return Err(Error::new("invalid-name", format!("'{name}' is not the name of a catalog"))
                .with_detail(format!(
                    "Show databases from/in identifier [ {name} ] format error, catalog must be a single part identifier."
                ))
                .at(place));
        }
    };
    let missing = |e: Error| e.with_detail(format!("Catalog {catalog} does not exist")).at(place);
    let entry = catalogs.get(catalog).map_err(missing)?;
    entry.databases().await.map_err(|e| e.at(place))
}

/// The tables and views of a database, or its views.
async fn objects(catalogs: &Catalogs, show: &Show, views: bool) -> Result<Vec<String>> {
    let (catalog, database) = match &show.from {
        None => {
            let (catalog, database) = catalogs.current();
            (catalog.to_owned(), database.to_owned())
        }
        Some(name) => database_path(catalogs, name).map_err(|e| {
            e.with_detail(format!(
                "SHOW {} from/in identifier [ {} ] format error, it should be [catalog_name.]database_name.",
                if views { "VIEWS" } else { "TABLES" },
                name.parts.join(".")
            ))
        })?,
    };
    let place = show.from.as_ref().map_or(show.span, |n| n.span);
    let missing = |e: Error| e.with_detail(format!("Catalog {catalog} does not exist")).at(place);
    let entry = catalogs.get(&catalog).map_err(missing)?;
    if !entry.database_exists(&database).await.map_err(|e| e.at(place))? {
        let what = format!("database '{database}' does not exist in catalog '{catalog}'");
        let error = Error::new("unknown-database", what)
            .with_detail(format!("Database '{catalog}'.'{database}' doesn't exist."))
            .at(place);
        return Err(catalogs.with_missing_warehouse(error, &catalog).await);
    }
    let names = catalogs.objects(&catalog, &database, views).await.map_err(|e| e.at(place))?;
    Ok(names.into_iter().collect())
}
