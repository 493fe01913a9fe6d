//! SHOW.

mod create;
mod describe;
mod partitions;

use calve_planner::TablePath;
use calve_planner::tables::Reference;
use calve_sql::{Name, Show, ShowWhat};
use calve_types::{Error, Result};

use crate::catalogs::Catalogs;
use crate::ddl::database::database_path;
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
        let context = self.context()?;
        let catalogs = &self.catalogs;
        let (catalog, database) = catalogs.current();
        let column = match show.what {
            ShowWhat::Catalogs => "catalog name",
            ShowWhat::CurrentCatalog => "current catalog name",
            ShowWhat::CurrentDatabase => "current database name",
            ShowWhat::Databases => "database name",
            ShowWhat::Tables => "table name",
            ShowWhat::Views => "view name",
            ShowWhat::Functions { .. } => "function name",
            ShowWhat::Modules { .. } => "module name",
            ShowWhat::Jars => "jars",
            ShowWhat::Columns => return self.show_columns(show).await,
        };
        let mut names = match show.what {
            ShowWhat::Catalogs => catalogs.names(),
            ShowWhat::CurrentCatalog => vec![catalog.to_owned()],
            ShowWhat::CurrentDatabase => vec![database.to_owned()],
            ShowWhat::Databases => databases(catalogs, show).await?,
            ShowWhat::Tables => objects(catalogs, show, false).await?,
            ShowWhat::Views => objects(catalogs, show, true).await?,
            ShowWhat::Functions { user: false } => calve_functions::names().into_iter().map(str::to_owned).collect(),
            // calve's functions are those of Flink's module `core`; nobody can add one, or a jar
            ShowWhat::Modules { .. } => vec!["core".to_owned()],
            ShowWhat::Functions { user: true } | ShowWhat::Jars | ShowWhat::Columns => vec![],
        };
        names.retain(|name| matches(show, name));
        names.sort();
        if show.what == (ShowWhat::Modules { full: true }) {
            let used = vec![true; names.len()];
            let names = names.into_iter().map(Some).collect();
            return listing::rows(vec![Column::Text(column, names), Column::Flag("used", used)], &context);
        }
        listing::names(column, names, &context)
    }

    /// The table or view of a name, loaded.
    pub(crate) async fn load_one(&self, name: &Name) -> Result<(TablePath, Resolved<'_>)> {
        let path = table_path(&self.catalogs, name)?;
        let reference = Reference { parts: name.parts.clone(), hints: vec![], span: name.span };
        Ok((path, Resolved::load(&self.catalogs, &self.options, vec![reference]).await?))
    }

    /// The table or view that DESCRIBE names.
    async fn described(&self, name: &Name) -> Result<Described> {
        let (path, resolved) = self.load_one(name).await?;
        definition::find(&self.catalogs, &resolved, &path)?.ok_or_else(|| {
            let error = Error::new("unknown-table", format!("table '{}' does not exist", name.parts.join(".")))
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
    let catalog = match &show.from {
        None => catalogs.current().0,
        Some(Name { parts, .. }) if parts.len() == 1 => parts[0].as_str(),
        Some(name) => {
            return Err(Error::new("invalid-name", format!("'{}' is not the name of a catalog", name.parts.join(".")))
                .at(name.span));
        }
    };
    let place = show.from.as_ref().map_or(show.span, |n| n.span);
    let entry = catalogs.get(catalog).map_err(|e| e.at(place))?;
    entry.databases().await.map_err(|e| e.at(place))
}

/// The tables and views of a database, or its views.
async fn objects(catalogs: &Catalogs, show: &Show, views: bool) -> Result<Vec<String>> {
    let (catalog, database) = match &show.from {
        None => {
            let (catalog, database) = catalogs.current();
            (catalog.to_owned(), database.to_owned())
        }
        Some(name) => database_path(catalogs, name)?,
    };
    let place = show.from.as_ref().map_or(show.span, |n| n.span);
    let entry = catalogs.get(&catalog).map_err(|e| e.at(place))?;
    if !entry.database_exists(&database).await.map_err(|e| e.at(place))? {
        return Err(Error::new(
            "unknown-database",
            format!("database '{database}' does not exist in catalog '{catalog}'"),
        )
        .with_detail(format!("Database '{catalog}'.'{database}' doesn't exist."))
        .at(place));
    }
    let names = catalogs.objects(&catalog, &database, views).await.map_err(|e| e.at(place))?;
    Ok(names.into_iter().collect())
}
