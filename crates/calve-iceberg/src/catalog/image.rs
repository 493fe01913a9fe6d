//! A catalog whose changes stay in memory: what a script would do, without doing it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use calve_types::Result;
use iceberg::spec::TableMetadata;
use iceberg::{TableIdent, TableRequirement, TableUpdate};

use super::create::new_metadata;
use super::metadata::{apply, check_requirements};
use super::names::{check_namespace, check_table};
use super::settings::Settings;
use super::{Catalog, Staged, TableCreation};
use crate::commit::{CommitError, TableOps};
use crate::io::TableIo;
use crate::table::{ManifestCache, Table};

/// What there is to begin with.
#[derive(Debug, Clone)]
pub(super) enum ImageOf {
    /// What a catalog holds: it is read and never changed.
    Contents(Arc<dyn Catalog>),
    /// Nothing: the rules of a catalog, which is not asked for anything it holds.
    Rules(Arc<dyn Catalog>),
    /// Nothing, and the rules of no catalog: a name for a catalog that cannot be opened.
    Name(String),
}

/// An empty catalog in memory, for one that cannot be opened.
pub fn empty_image(name: &str) -> Arc<dyn Catalog> {
    image(ImageOf::Name(name.to_owned()))
}

/// A catalog that begins as another one is, and whose changes nobody else sees.
pub(super) fn image(of: ImageOf) -> Arc<dyn Catalog> {
    image_with(of, ImageChanges::default())
}

/// As [`image`], with changes that were made before.
pub(super) fn image_with(of: ImageOf, changes: ImageChanges) -> Arc<dyn Catalog> {
    let settings = match &of {
        ImageOf::Contents(catalog) | ImageOf::Rules(catalog) => catalog.settings().clone(),
        ImageOf::Name(name) => {
            Settings { name: name.clone(), default_database: "default".to_owned(), base_namespace: vec![] }
        }
    };
    Arc::new(Image { of, settings, changes })
}

#[derive(Debug)]
struct Image {
    of: ImageOf,
    settings: Settings,
    changes: ImageChanges,
}

/// What an image differs in from its beginning; a clone is the same.
#[derive(Debug, Clone, Default)]
pub struct ImageChanges(Arc<Mutex<Changes>>);

/// What differs from the beginning.
#[derive(Debug, Default)]
struct Changes {
    /// Whether a namespace was made or dropped.
    namespaces: BTreeMap<Vec<String>, bool>,
    /// New versions of tables; `None` for one that was dropped.
    tables: BTreeMap<(Vec<String>, String), Option<Table>>,
    /// Tables whose snapshots are not known, because rows would have been written to them.
    written: BTreeSet<(Vec<String>, String)>,
}

fn key(ident: &TableIdent) -> (Vec<String>, String) {
    (ident.namespace().to_vec(), ident.name().to_owned())
}

impl Image {
    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The catalog to ask for what it holds.
    fn contents(&self) -> Option<&Arc<dyn Catalog>> {
        match &self.of {
            ImageOf::Contents(catalog) => Some(catalog),
            ImageOf::Rules(_) | ImageOf::Name(_) => None,
        }
    }

    /// The catalog whose rules hold.
    fn rules(&self) -> Option<&Arc<dyn Catalog>> {
        match &self.of {
            ImageOf::Contents(catalog) | ImageOf::Rules(catalog) => Some(catalog),
            ImageOf::Name(_) => None,
        }
    }

    fn put(&self, ident: &TableIdent, metadata: TableMetadata, version: &str) -> Table {
        let location = format!("{}/metadata/{version}.metadata.json", metadata.location());
        let (io, manifests) = (TableIo::local(), ManifestCache::default());
        let table = Table::new(ident.clone(), Arc::new(metadata), location, io, manifests);
        self.changes().tables.insert(key(ident), Some(table.clone()));
        table
    }
}

#[async_trait]
impl TableOps for Image {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        self.load_table(ident).await?.ok_or_else(|| self.settings.unknown_table(ident))
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        check_requirements(base, &requirements)?;
        let built = apply(base, updates).map_err(CommitError::Rejected)?;
        if let Some(catalog) = self.rules() {
            catalog.check_change(base, &built.metadata).map_err(CommitError::Rejected)?;
        }
        Ok(self.put(base.ident(), built.metadata, "changed"))
    }
}

#[async_trait]
impl Catalog for Image {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    async fn connect(&self) -> Result<()> {
        match self.contents() {
            Some(catalog) => catalog.connect().await,
            None => Ok(()),
        }
    }

    async fn list_namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        let mut found: BTreeSet<Vec<String>> = match self.contents() {
            // a parent that was made here is unknown there
            Some(catalog) if parent.is_empty() || catalog.namespace_exists(parent).await? => {
                catalog.list_namespaces(parent).await?.into_iter().collect()
            }
            _ => BTreeSet::new(),
        };
        for (namespace, made) in &self.changes().namespaces {
            match made {
                true if namespace.len() > parent.len() && namespace.starts_with(parent) => {
                    found.extend(namespace.get(..=parent.len()).map(<[String]>::to_vec));
                }
                true => {}
                false => {
                    found.remove(namespace);
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    async fn namespace_exists(&self, namespace: &[String]) -> Result<bool> {
        check_namespace(namespace)?;
        let changed = self.changes().namespaces.get(namespace).copied();
        match (changed, self.contents()) {
            (Some(made), _) => Ok(made),
            (None, Some(catalog)) => catalog.namespace_exists(namespace).await,
            (None, None) => Ok(namespace.is_empty()),
        }
    }

    fn check_new_namespace(&self, namespace: &[String], properties: &BTreeMap<String, String>) -> Result<()> {
        self.rules().map_or(Ok(()), |catalog| catalog.check_new_namespace(namespace, properties))
    }

    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        self.check_new_namespace(namespace, &properties)?;
        if self.namespace_exists(namespace).await? {
            return Err(self.settings.database_exists(namespace));
        }
        self.changes().namespaces.insert(namespace.to_vec(), true);
        Ok(())
    }

    fn check_namespace_properties(&self, namespace: &[String]) -> Result<()> {
        self.rules().map_or(Ok(()), |catalog| catalog.check_namespace_properties(namespace))
    }

    async fn drop_namespace(&self, namespace: &[String]) -> Result<()> {
        if !self.namespace_exists(namespace).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        if !self.list_tables(namespace).await?.is_empty() || !self.list_namespaces(namespace).await?.is_empty() {
            return Err(self.settings.database_not_empty(namespace));
        }
        self.changes().namespaces.insert(namespace.to_vec(), false);
        Ok(())
    }

    fn assume_written(&self, ident: &TableIdent) {
        self.changes().written.insert(key(ident));
    }

    async fn list_tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        if !self.namespace_exists(namespace).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        let mut found: BTreeSet<String> = match self.contents() {
            Some(catalog) if catalog.namespace_exists(namespace).await? => {
                catalog.list_tables(namespace).await?.into_iter().collect()
            }
            _ => BTreeSet::new(),
        };
        for ((_, name), table) in self.changes().tables.iter().filter(|((levels, _), _)| levels == namespace) {
            match table {
                Some(_) => found.insert(name.clone()),
                None => found.remove(name),
            };
        }
        Ok(found.into_iter().collect())
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        check_table(ident)?;
        let changed = self.changes().tables.get(&key(ident)).map(Option::is_some);
        match (changed, self.contents()) {
            (Some(exists), _) => Ok(exists),
            (None, Some(catalog)) => catalog.table_exists(ident).await,
            (None, None) => Ok(false),
        }
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Option<Table>> {
        check_table(ident)?;
        let changed = self.changes().tables.get(&key(ident)).cloned();
        let table = match (changed, self.contents()) {
            (Some(table), _) => table,
            (None, Some(catalog)) => catalog.load_table(ident).await?,
            (None, None) => None,
        };
        // what a script says of a catalog that is not read may be all there or not
        let is_known = self.contents().is_some() && !self.changes().written.contains(&key(ident));
        Ok(if is_known { table } else { table.map(Table::assuming_snapshots) })
    }

    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata> {
        if let Some(catalog) = self.rules() {
            return catalog.draft(ident, creation);
        }
        check_table(ident)?;
        let levels = ident.namespace().iter().map(String::as_str).chain([ident.name()]);
        new_metadata(creation, &levels.fold(String::new(), |location, level| format!("{location}/{level}")))
    }

    fn needs_database(&self) -> bool {
        self.rules().is_some_and(|catalog| catalog.needs_database())
    }

    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        if self.table_exists(ident).await? {
            return Err(self.settings.table_exists(ident.namespace(), ident.name()));
        }
        let namespace = ident.namespace();
        let is_new = !self.namespace_exists(namespace).await?;
        if is_new && self.needs_database() {
            return Err(self.settings.unknown_database(namespace));
        }
        let metadata = self.draft(ident, &creation)?;
        if is_new {
            self.changes().namespaces.insert(namespace.to_vec(), true);
        }
        Ok(self.put(ident, metadata, "created"))
    }

    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Staged> {
        self.create_table(ident, creation).await.map(Staged::Created)
    }

    fn check_rename(&self, ident: &TableIdent) -> Result<()> {
        self.rules().map_or(Ok(()), |catalog| catalog.check_rename(ident))
    }

    async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<()> {
        self.check_rename(ident)?;
        let renamed = TableIdent::new(ident.namespace().clone(), name.to_owned());
        if self.table_exists(&renamed).await? {
            return Err(self.settings.table_exists(ident.namespace(), name));
        }
        let old = self.refresh(ident).await?;
        let (metadata, location) = (Arc::clone(old.metadata()), old.metadata_location().to_owned());
        let new = Table::new(renamed.clone(), metadata, location, old.io().clone(), old.cache().clone());
        let mut changes = self.changes();
        changes.tables.insert(key(ident), None);
        changes.tables.insert(key(&renamed), Some(new));
        if changes.written.remove(&key(ident)) {
            changes.written.insert(key(&renamed));
        }
        Ok(())
    }

    async fn drop_table(&self, ident: &TableIdent, _purge: bool) -> Result<bool> {
        let exists = self.table_exists(ident).await?;
        if exists {
            let mut changes = self.changes();
            changes.tables.insert(key(ident), None);
            changes.written.remove(&key(ident));
        }
        Ok(exists)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use calve_types::LogicalType;
    use iceberg::spec::Transform;

    use super::super::{open, open_image};
    use super::*;
    use crate::scan::ScanOptions;
    use crate::schema::to_iceberg;

    fn creation(partition: &[(String, Transform)]) -> TableCreation {
        let columns = [("id".to_owned(), LogicalType::BigInt.nullable(), None)];
        TableCreation {
            schema: to_iceberg(&columns, &[]).unwrap(),
            partition: partition.to_vec(),
            properties: BTreeMap::new(),
            comment: None,
        }
    }

    fn hadoop(folder: &std::path::Path) -> Arc<dyn Catalog> {
        let options = [("catalog-type", "hadoop"), ("warehouse", folder.to_str().unwrap())];
        open("lake", &options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()).unwrap()
    }

    #[tokio::test]
    async fn changes_of_an_image_are_seen_in_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let real = hadoop(dir.path());
        let old = real.ident("shop", "old").unwrap();
        real.create_table(&old, creation(&[])).await.unwrap();
        let shown = image(ImageOf::Contents(real.clone()));
        let new = shown.ident("shop", "new").unwrap();
        shown.create_table(&new, creation(&[])).await.unwrap();
        assert_eq!(shown.list_tables(&["shop".to_owned()]).await.unwrap(), ["new", "old"]);
        assert!(shown.drop_table(&old, true).await.unwrap());
        assert!(shown.load_table(&old).await.unwrap().is_none());
        shown.create_namespace(&["more".to_owned()], BTreeMap::new()).await.unwrap();
        assert_eq!(shown.list_namespaces(&[]).await.unwrap(), [["more"], ["shop"]]);
        assert_eq!(shown.drop_namespace(&["shop".to_owned()]).await.unwrap_err().code, "database-not-empty");
        let again = shown.create_table(&new, creation(&[])).await.unwrap_err();
        assert_eq!(again.code, "table-exists");
        assert_eq!(real.list_tables(&["shop".to_owned()]).await.unwrap(), ["old"]);
        assert_eq!(real.list_namespaces(&[]).await.unwrap(), [["shop"]]);
    }

    #[tokio::test]
    async fn an_image_of_rules_reads_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let real = hadoop(dir.path());
        let old = real.ident("shop", "old").unwrap();
        real.create_table(&old, creation(&[])).await.unwrap();
        for shown in [image(ImageOf::Rules(real.clone())), empty_image("lake")] {
            assert!(shown.load_table(&old).await.unwrap().is_none());
            assert!(!shown.namespace_exists(&["shop".to_owned()]).await.unwrap());
            shown.create_table(&old, creation(&[])).await.unwrap();
            assert!(shown.table_exists(&old).await.unwrap());
            let wrong = [("nope".to_owned(), Transform::Identity)];
            let other = shown.ident("shop", "other").unwrap();
            assert!(shown.create_table(&other, creation(&wrong)).await.is_err());
        }
    }

    #[tokio::test]
    async fn an_image_refuses_what_its_catalog_refuses() {
        let dir = tempfile::tempdir().unwrap();
        let shown = image(ImageOf::Contents(hadoop(dir.path())));
        let some = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
        let db = ["db".to_owned()];
        assert_eq!(shown.create_namespace(&db, some.clone()).await.unwrap_err().code, "not-supported");
        shown.create_namespace(&db, BTreeMap::new()).await.unwrap();
        assert_eq!(shown.set_namespace_properties(&db, some).await.unwrap_err().code, "not-supported");
        let ident = shown.ident("db", "t").unwrap();
        let table = shown.create_table(&ident, creation(&[])).await.unwrap();
        let metadata_path = [("write.metadata.path".to_owned(), "/elsewhere".to_owned())];
        for (change, detail) in [
            (TableUpdate::SetLocation { location: "/elsewhere".to_owned() }, "cannot be relocated"),
            (TableUpdate::SetProperties { updates: metadata_path.into() }, "cannot relocate metadata"),
        ] {
            let refused = shown.commit(&table, vec![], vec![change]).await;
            let Err(CommitError::Rejected(error)) = refused else { panic!("{refused:?}") };
            assert!(error.detail.unwrap().ends_with(detail));
        }
    }

    #[tokio::test]
    async fn images_of_one_place_share_their_changes() {
        let dir = tempfile::tempdir().unwrap();
        let changes = ImageChanges::default();
        let old = image_with(ImageOf::Contents(hadoop(dir.path())), changes.clone());
        let ident = old.ident("db", "t").unwrap();
        old.create_table(&ident, creation(&[])).await.unwrap();
        let new = image_with(ImageOf::Contents(hadoop(dir.path())), changes);
        assert!(new.table_exists(&ident).await.unwrap());
    }

    #[tokio::test]
    async fn snapshots_of_a_written_table_are_not_known() {
        let dir = tempfile::tempdir().unwrap();
        let (uri, warehouse) = (format!("jdbc:sqlite:{}/c.db", dir.path().display()), dir.path().to_str().unwrap());
        let options = [("catalog-type", "jdbc"), ("uri", uri.as_str()), ("warehouse", warehouse)];
        let real = open("lake", &options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect()).unwrap();
        real.create_namespace(&["shop".to_owned()], BTreeMap::new()).await.unwrap();
        let [a, b] = ["a", "b"].map(|name| real.ident("shop", name).unwrap());
        real.create_table(&a, creation(&[])).await.unwrap();
        let branch = BTreeMap::from([("branch".to_owned(), "b1".to_owned())]);
        let read = async |catalog: &Arc<dyn Catalog>, ident: &TableIdent| {
            let table = catalog.load_table(ident).await.unwrap().unwrap();
            ScanOptions::resolve(&table, &branch, &BTreeMap::new()).map(drop).map_err(|error| error.code)
        };
        let shown = image(ImageOf::Contents(real.clone()));
        assert_eq!(read(&shown, &a).await, Err("unknown-ref"));
        shown.assume_written(&a);
        assert_eq!(read(&shown, &a).await, Ok(()));
        shown.rename_table(&a, "b").await.unwrap();
        assert_eq!(read(&shown, &b).await, Ok(()));
        shown.drop_table(&b, true).await.unwrap();
        shown.create_table(&b, creation(&[])).await.unwrap();
        assert_eq!(read(&shown, &b).await, Err("unknown-ref"));
        assert_eq!(read(&real, &a).await, Err("unknown-ref"));
        let rules = image(ImageOf::Rules(real));
        rules.create_namespace(&["shop".to_owned()], BTreeMap::new()).await.unwrap();
        rules.create_table(&a, creation(&[])).await.unwrap();
        assert_eq!(read(&rules, &a).await, Ok(()));
    }

    #[tokio::test]
    async fn an_image_of_a_jdbc_catalog_makes_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let (uri, warehouse) =
            (format!("jdbc:sqlite:{}/none/c.db", dir.path().display()), dir.path().to_str().unwrap());
        let options = [("catalog-type", "jdbc"), ("uri", uri.as_str()), ("warehouse", warehouse)];
        let options: BTreeMap<String, String> = options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        assert_eq!(open("lake", &options).unwrap_err().code, "invalid-option");
        let shown = open_image("lake", &options, true, ImageChanges::default()).unwrap();
        let table = shown.ident("shop", "t").unwrap();
        assert!(!shown.table_exists(&table).await.unwrap());
        assert_eq!(shown.create_table(&table, creation(&[])).await.unwrap_err().code, "unknown-database");
        shown.create_namespace(&["shop".to_owned()], BTreeMap::new()).await.unwrap();
        shown.create_table(&table, creation(&[])).await.unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn an_image_of_a_jdbc_catalog_has_its_tables() {
        let dir = tempfile::tempdir().unwrap();
        let (uri, warehouse) = (format!("jdbc:sqlite:{}/c.db", dir.path().display()), dir.path().to_str().unwrap());
        let options = [("catalog-type", "jdbc"), ("uri", uri.as_str()), ("warehouse", warehouse)];
        let options: BTreeMap<String, String> = options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let real = open("lake", &options).unwrap();
        let namespace = ["shop".to_owned()];
        real.create_namespace(&namespace, BTreeMap::new()).await.unwrap();
        let (old, new) = (real.ident("shop", "old").unwrap(), real.ident("shop", "new").unwrap());
        real.create_table(&old, creation(&[])).await.unwrap();
        let shown = open_image("lake", &options, true, ImageChanges::default()).unwrap();
        shown.create_table(&new, creation(&[])).await.unwrap();
        assert_eq!(shown.list_tables(&namespace).await.unwrap(), ["new", "old"]);
        assert_eq!(real.list_tables(&namespace).await.unwrap(), ["old"]);
    }
}
