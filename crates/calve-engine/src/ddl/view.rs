//! CREATE and ALTER VIEW.

use std::sync::Arc;

use calve_planner::catalog::View;
use calve_planner::tables::referenced;
use calve_planner::{TablePath, bind};
use calve_sql::{AlterView, CreateView, Ident, Name, Query, Statement};
use calve_types::{Error, Result};

use super::expand;
use super::table::{already_exists, exists, put_temporary, table_path};
use crate::catalogs::CatalogKind;
use crate::catalogs::object::{CatalogObject, DefinedColumn, ViewDef};
use crate::definition;
use crate::resolve::Resolved;
use crate::result::{ResultBody, Warning};
use crate::session::Session;

impl Session {
    /// CREATE VIEW.
    pub(crate) async fn create_view(&mut self, create: CreateView) -> Result<ResultBody> {
        let path = table_path(&self.catalogs, &create.name)?;
        let span = create.name.span;
        let view = self.define_view(&path, create.query, &create.columns, create.comment).await?;
        let object = CatalogObject::View(view);
        if create.temporary {
            put_temporary(&mut self.catalogs, path, object, create.if_not_exists).map_err(|e| e.at(span))?;
            return Ok(ResultBody::Done);
        }
        if exists(&self.catalogs, &path).await.map_err(|e| e.at(span))? {
            return match create.if_not_exists {
                true => Ok(ResultBody::Done),
                false => Err(already_exists(&path).at(span)),
            };
        }
        match &mut self.catalogs.get_mut(&path.catalog)?.kind {
            CatalogKind::Memory(memory) => memory.put(&path.database, &path.table, object),
            CatalogKind::Iceberg(_) => {
                return Err(Error::unsupported("views in an Iceberg catalog")
                    .with_detail(
                        "Expected a ResolvedCatalogTable but got a view (Materialized tables and other table kinds are \
                         not supported)",
                    )
                    .with_hint("use CREATE TEMPORARY VIEW, or make the view in 'default_catalog'")
                    .at(span));
            }
        }
        Ok(ResultBody::Done)
    }

    /// ALTER VIEW.
    pub(crate) async fn alter_view(
        &mut self,
        name: &Name,
        change: AlterView,
        warnings: &mut Vec<Warning>,
    ) -> Result<ResultBody> {
        let path = table_path(&self.catalogs, name)?;
        let old = self.permanent_view(&path).map_err(|e| e.at(name.span))?;
        match change {
            AlterView::Rename(new) => self.rename_view(&path, old, &new, warnings).await?,
            AlterView::As { query, .. } => {
                let view = self.define_view(&path, query, &[], old.comment).await?;
                self.memory_of(&path)?.put(&path.database, &path.table, CatalogObject::View(view));
            }
        }
        Ok(ResultBody::Done)
    }

    fn permanent_view(&self, path: &TablePath) -> Result<ViewDef> {
        let missing = || {
            Error::new("unknown-view", format!("view '{path}' does not exist or is a temporary view"))
                .with_detail(format!("View {} doesn't exist or is a temporary view.", definition::quoted(path)))
        };
        if self.catalogs.temporary(path).is_some() {
            return Err(missing().with_hint("drop the temporary one and make it anew"));
        }
        match self.catalogs.object(path) {
            Some(CatalogObject::View(view)) => Ok(view.clone()),
            Some(CatalogObject::Table(_)) => Err(Error::new("not-a-view", format!("'{path}' is a table"))
                .with_detail("ALTER VIEW for a table is not allowed")),
            None => Err(missing()),
        }
    }

    fn memory_of(&mut self, path: &TablePath) -> Result<&mut crate::catalogs::memory::MemoryCatalog> {
        match &mut self.catalogs.get_mut(&path.catalog)?.kind {
            CatalogKind::Memory(memory) => Ok(memory),
            CatalogKind::Iceberg(_) => Err(Error::internal("a view in an Iceberg catalog")),
        }
    }

    /// Gives a view another name in its database.
    async fn rename_view(
        &mut self,
        path: &TablePath,
        view: ViewDef,
        new: &Name,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let written = table_path(&self.catalogs, new)?;
        let target = TablePath { table: written.table.clone(), ..path.clone() };
        if new.parts.len() > 1 && (&written.catalog, &written.database) != (&path.catalog, &path.database) {
            let message = format!("the view stays in its database, as in Flink: its name is '{target}' now");
            warnings.push(Warning::new("rename-stays", message).at(new.span));
        }
        if exists(&self.catalogs, &target).await.map_err(|e| e.at(new.span))? {
            return Err(already_exists(&target).at(new.span));
        }
        self.check_rename(path, &target).await.map_err(|e| e.at(new.span))?;
        let memory = self.memory_of(path)?;
        memory.remove(&path.database, &path.table);
        memory.put(&target.database, &target.table, CatalogObject::View(view));
        Ok(())
    }

    /// Refuses a new name under which a view would read itself: it, or a view that it reads, reads that name.
    async fn check_rename(&self, path: &TablePath, target: &TablePath) -> Result<()> {
        let statement = calve_sql::parse_one(&format!("SELECT * FROM {}", definition::quoted(path)))?;
        let Statement::Query(query) = &statement else { return Err(Error::internal("not a query")) };
        let names = referenced(&statement);
        let resolved = Resolved::load(&self.catalogs, &self.options, names).await?.defining(target.clone());
        match bind::query(query, &resolved) {
            Err(error) if error.code == "recursive-view" => Err(Error { span: None, ..error }),
            // a view that cannot be read for another reason can be renamed
            _ => Ok(()),
        }
    }

    /// A view of this query.
    async fn define_view(
        &self,
        path: &TablePath,
        query: Query,
        listed: &[Ident],
        comment: Option<String>,
    ) -> Result<ViewDef> {
        let statement = Statement::Query(query.clone());
        let names = referenced(&statement);
        let resolved = Resolved::load(&self.catalogs, &self.options, names).await?.defining(path.clone());
        let columns = bind::view_columns(&query, listed, &resolved)?;
        // a source that calve cannot read may stand in a view: reading the view is refused
        match self.check_sources(&query, &resolved) {
            Err(error) if error.code != "not-supported" => return Err(error),
            _ => {}
        }
        let rel = bind::query(&query, &resolved)?;
        let times = (0..columns.len()).map(|column| rel.printed_time(column)).collect();
        let text = expand::text(&query, &resolved);
        let (catalog, database) = self.catalogs.current();
        Ok(ViewDef {
            columns: columns.into_iter().map(|column| DefinedColumn { column, comment: None }).collect(),
            times,
            comment,
            view: Arc::new(View { query, catalog: catalog.to_owned(), database: database.to_owned() }),
            text,
        })
    }

    /// Opens what a query reads, for the options of tables that are wrong and for tables that cannot be read.
    pub(crate) fn check_sources(&self, query: &Query, resolved: &Resolved<'_>) -> Result<()> {
        self.open_sources(&bind::query(query, resolved)?)
    }
}
