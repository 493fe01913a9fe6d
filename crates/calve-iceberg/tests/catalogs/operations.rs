//! What every catalog has to do, one function each. Each works in databases of its own, so that all may run in one catalog.
//! An error of code `not-supported` is a refusal, any other one, or a panic, a failure.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use calve_iceberg::Table;
use calve_iceberg::catalog::{Catalog, TableCreation};
use calve_iceberg::commit::{CommitError, JobInfo, TableChange, commit};
use calve_iceberg::scan::{ScanOptions, provider};
use calve_iceberg::schema::{to_arrow, to_iceberg};
use calve_iceberg::write::{WriteOptions, prepare};
use calve_types::{Error, LogicalType, Result};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionContext;
use futures::future::{BoxFuture, join_all};
use futures::{FutureExt, TryStreamExt};
use iceberg::spec::Transform;
use iceberg::{TableIdent, TableRequirement, TableUpdate};

/// One catalog, opened twice as two processes would.
pub struct Sessions {
    pub one: Arc<dyn Catalog>,
    pub other: Arc<dyn Catalog>,
}

/// What a catalog has to do.
pub type Operation = for<'a> fn(&'a Sessions) -> BoxFuture<'a, Result<()>>;

/// All of them, by name.
pub const OPERATIONS: [(&str, Operation); 26] = [
    ("create a database", |s| create_database(s).boxed()),
    ("list databases", |s| list_databases(s).boxed()),
    ("database with properties", |s| database_with_properties(s).boxed()),
    ("change properties of a database", |s| change_properties(s).boxed()),
    ("nested databases", |s| nested_databases(s).boxed()),
    ("drop a database", |s| drop_database(s).boxed()),
    ("create a database at once", |s| databases_at_once(s).boxed()),
    ("create a table", |s| create_table(s).boxed()),
    ("partitions, properties, comment", |s| described_table(s).boxed()),
    ("create what is there", |s| create_what_is_there(s).boxed()),
    ("create a table at once", |s| tables_at_once(s).boxed()),
    ("unknown tables and databases", |s| unknown(s).boxed()),
    ("list tables", |s| list_tables(s).boxed()),
    ("odd names", |s| odd_names(s).boxed()),
    ("a commit is seen by others", |s| commit_is_seen(s).boxed()),
    ("a stale commit is a conflict", |s| stale_commit(s).boxed()),
    ("requirements hold", |s| requirements(s).boxed()),
    ("no lost update", |s| no_lost_update(s).boxed()),
    ("two sessions append", |s| two_sessions_append(s).boxed()),
    ("several tables at once", |s| several_tables(s).boxed()),
    ("compressed metadata", |s| compressed_metadata(s).boxed()),
    ("rename a table", |s| rename(s).boxed()),
    ("drop a table", |s| drop_table(s).boxed()),
    ("purge a table", |s| purge_table(s).boxed()),
    ("drop and create again", |s| create_again(s).boxed()),
    ("commit to a dropped table", |s| commit_to_dropped(s).boxed()),
];

fn text(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn levels(catalog: &dyn Catalog, database: &str) -> Vec<String> {
    catalog.namespace(database).unwrap().to_vec()
}

/// A table of one column, `id`.
pub fn creation(with: &[(&str, &str)]) -> TableCreation {
    let columns = [("id".to_owned(), LogicalType::BigInt.not_null(), None)];
    let quick = [("commit.retry.min-wait-ms", "1"), ("commit.retry.num-retries", "100")];
    TableCreation {
        schema: to_iceberg(&columns, &[]).unwrap(),
        partition: Vec::new(),
        properties: text(&[with, &quick].concat()),
        comment: None,
    }
}

/// Makes a database with a table in it.
async fn table(sessions: &Sessions, database: &str, with: &[(&str, &str)]) -> Result<Table> {
    let catalog = sessions.one.as_ref();
    catalog.create_namespace(&levels(catalog, database), BTreeMap::new()).await?;
    catalog.create_table(&catalog.ident(database, "t")?, creation(with)).await
}

/// Sets a property of a table.
pub fn set(key: &str, value: &str) -> Vec<TableUpdate> {
    vec![TableUpdate::SetProperties { updates: HashMap::from([(key.to_owned(), value.to_owned())]) }]
}

/// The newest version of a table that is there.
async fn load(catalog: &dyn Catalog, ident: &TableIdent) -> Result<Table> {
    Ok(catalog.load_table(ident).await?.expect("the table is there"))
}

/// Sets a property of a table on its newest version, again and again.
async fn change(
    catalog: &dyn Catalog,
    ident: &TableIdent,
    key: &str,
    next: impl Fn(Option<&str>) -> String,
) -> Result<()> {
    for _ in 0..1000 {
        let base = catalog.refresh(ident).await?;
        match catalog.commit(&base, vec![], set(key, &next(base.property(key)))).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Conflict) => tokio::task::yield_now().await,
            Err(CommitError::Rejected(error) | CommitError::Unknown(error)) => return Err(error),
        }
    }
    panic!("a thousand conflicts");
}

/// Appends a range of ids to a table.
pub async fn append(catalog: &dyn Catalog, ident: &TableIdent, ids: Range<i64>) -> Result<()> {
    let table = load(catalog, ident).await?;
    let schema = to_arrow(table.metadata().current_schema())?;
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from_iter_values(ids))]).unwrap();
    let stream = RecordBatchStreamAdapter::new(schema, futures::stream::iter([Ok(batch)]));
    let options = WriteOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new(), false)?;
    let written = prepare(&table, options).await?.write(Box::pin(stream), Arc::default()).await?;
    let job_id = format!("{:032x}", rand::random::<u128>());
    let job = JobInfo { job_id, operator_id: "b".repeat(32), checkpoint_id: i64::MAX, place: None };
    commit(catalog, &table, "main", written.to_operation(), &job).await.map(drop)
}

/// The ids in a table, sorted.
pub async fn ids(catalog: &dyn Catalog, ident: &TableIdent) -> Result<Vec<i64>> {
    let table = load(catalog, ident).await?;
    let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new())?;
    let rows = SessionContext::new().read_table(provider(table, options)?).unwrap().collect().await.unwrap();
    let mut ids: Vec<i64> =
        rows.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// The files in a table's folder.
pub async fn files(table: &Table) -> Result<Vec<String>> {
    let listed: Vec<_> = table.io().list(table.metadata().location())?.try_collect().await?;
    Ok(listed.into_iter().map(|file| file.location).collect())
}

async fn create_database(s: &Sessions) -> Result<()> {
    let name = levels(s.one.as_ref(), "made");
    assert!(!s.other.namespace_exists(&name).await?);
    s.one.create_namespace(&name, BTreeMap::new()).await?;
    assert!(s.other.namespace_exists(&name).await?);
    assert_eq!(s.other.create_namespace(&name, BTreeMap::new()).await.unwrap_err().code, "database-exists");
    assert_eq!(s.one.list_tables(&name).await?, Vec::<String>::new());
    Ok(())
}

async fn list_databases(s: &Sessions) -> Result<()> {
    for name in ["list_b", "list_a", "list_c"] {
        s.one.create_namespace(&levels(s.one.as_ref(), name), BTreeMap::new()).await?;
    }
    let all = s.other.list_namespaces(s.other.base_namespace()).await?;
    let listed: Vec<&str> =
        all.iter().filter_map(|l| l.last()).map(String::as_str).filter(|n| n.starts_with("list_")).collect();
    assert_eq!(listed, ["list_a", "list_b", "list_c"]);
    let unknown = levels(s.one.as_ref(), "list_none");
    assert_eq!(s.one.list_namespaces(&unknown).await.unwrap_err().code, "unknown-database");
    Ok(())
}

async fn database_with_properties(s: &Sessions) -> Result<()> {
    let name = levels(s.one.as_ref(), "owned");
    let properties = text(&[("owner", "ann"), ("comment", "it's hers")]);
    let checked = s.one.check_new_namespace(&name, &properties);
    let made = s.one.create_namespace(&name, properties).await;
    assert_eq!(checked.is_ok(), made.is_ok(), "what is refused is refused before anything is done");
    made?;
    assert!(s.other.namespace_exists(&name).await?);
    Ok(())
}

async fn change_properties(s: &Sessions) -> Result<()> {
    let name = levels(s.one.as_ref(), "changed");
    s.one.check_namespace_properties(&name)?;
    let missing = s.one.set_namespace_properties(&name, text(&[("a", "1")])).await;
    assert_eq!(missing.unwrap_err().code, "unknown-database");
    s.one.create_namespace(&name, text(&[("a", "1")])).await?;
    s.one.set_namespace_properties(&name, text(&[("a", "2"), ("b", "3")])).await?;
    s.other.set_namespace_properties(&name, text(&[("b", "4")])).await?;
    assert!(s.other.namespace_exists(&name).await?);
    Ok(())
}

async fn nested_databases(s: &Sessions) -> Result<()> {
    let outer = levels(s.one.as_ref(), "outer");
    let inner = [outer.clone(), vec!["inner".to_owned()]].concat();
    s.one.create_namespace(&outer, BTreeMap::new()).await?;
    s.one.create_namespace(&inner, BTreeMap::new()).await?;
    assert_eq!(s.other.list_namespaces(&outer).await?, std::slice::from_ref(&inner));
    assert_eq!(s.other.list_namespaces(&inner).await?, Vec::<Vec<String>>::new());
    let ident = TableIdent::from_strs(inner.iter().map(String::as_str).chain(["t"])).unwrap();
    let made = s.one.create_table(&ident, creation(&[])).await?;
    assert_eq!(load(s.other.as_ref(), &ident).await?.metadata(), made.metadata());
    assert_eq!(s.other.list_tables(&outer).await?, Vec::<String>::new());
    assert_eq!(s.other.list_tables(&inner).await?, ["t"]);
    assert_eq!(s.other.drop_namespace(&outer).await.unwrap_err().code, "database-not-empty");
    Ok(())
}

async fn drop_database(s: &Sessions) -> Result<()> {
    let name = levels(s.one.as_ref(), "dropped");
    assert_eq!(s.one.drop_namespace(&name).await.unwrap_err().code, "unknown-database");
    let ident = table(s, "dropped", &[]).await?.ident().clone();
    assert_eq!(s.other.drop_namespace(&name).await.unwrap_err().code, "database-not-empty");
    assert!(s.one.drop_table(&ident, true).await?);
    s.other.drop_namespace(&name).await?;
    assert!(!s.one.namespace_exists(&name).await?);
    assert_eq!(s.one.drop_namespace(&name).await.unwrap_err().code, "unknown-database");
    Ok(())
}

async fn databases_at_once(s: &Sessions) -> Result<()> {
    let name = levels(s.one.as_ref(), "race");
    let all = (0..8).map(|i| if i % 2 == 0 { &s.one } else { &s.other });
    let made = join_all(all.map(|catalog| catalog.create_namespace(&name, BTreeMap::new()))).await;
    let refused: Vec<&Error> = made.iter().filter_map(|made| made.as_ref().err()).collect();
    assert_eq!(refused.len(), 7, "{refused:?}");
    assert!(refused.iter().all(|error| error.code == "database-exists"), "{refused:?}");
    Ok(())
}

async fn create_table(s: &Sessions) -> Result<()> {
    let made = table(s, "tables", &[("p", "1")]).await?;
    assert!(s.other.table_exists(made.ident()).await?);
    let loaded = load(s.other.as_ref(), made.ident()).await?;
    assert_eq!(loaded.metadata(), made.metadata());
    assert_eq!(loaded.metadata_location(), made.metadata_location());
    assert_eq!(loaded.property("p"), Some("1"));
    assert_eq!(ids(s.other.as_ref(), made.ident()).await?, Vec::<i64>::new());
    Ok(())
}

async fn described_table(s: &Sessions) -> Result<()> {
    let catalog = s.one.as_ref();
    catalog.create_namespace(&levels(catalog, "described"), BTreeMap::new()).await?;
    let mut new = creation(&[("format-version", "3"), ("write.format.default", "avro")]);
    new.partition = vec![("id".to_owned(), Transform::Bucket(4))];
    new.comment = Some("all of it".to_owned());
    let ident = catalog.ident("described", "t")?;
    let draft = catalog.draft(&ident, &new)?;
    catalog.create_table(&ident, new).await?;
    let loaded = load(s.other.as_ref(), &ident).await?;
    assert_eq!(loaded.metadata().default_partition_spec().fields().len(), 1);
    assert_eq!(loaded.metadata().format_version(), draft.format_version());
    for (key, value) in draft.properties() {
        assert_eq!(loaded.property(key), Some(value.as_str()), "{key}");
    }
    append(s.other.as_ref(), &ident, 0..20).await?;
    assert_eq!(ids(s.one.as_ref(), &ident).await?, (0..20).collect::<Vec<_>>());
    Ok(())
}

async fn create_what_is_there(s: &Sessions) -> Result<()> {
    let ident = s.one.ident("nowhere", "t")?;
    if s.one.needs_database() {
        assert_eq!(s.one.create_table(&ident, creation(&[])).await.unwrap_err().code, "unknown-database");
    }
    let made = table(s, "there", &[("p", "1")]).await?;
    let before = files(&made).await?;
    assert_eq!(s.other.create_table(made.ident(), creation(&[])).await.unwrap_err().code, "table-exists");
    assert_eq!(files(&made).await?, before, "no file of the refused table");
    assert_eq!(load(s.other.as_ref(), made.ident()).await?.property("p"), Some("1"));
    Ok(())
}

async fn tables_at_once(s: &Sessions) -> Result<()> {
    s.one.create_namespace(&levels(s.one.as_ref(), "once"), BTreeMap::new()).await?;
    let ident = s.one.ident("once", "t")?;
    let all = (0..8).map(|i| (i, if i % 2 == 0 { &s.one } else { &s.other }));
    let made = join_all(all.map(|(i, catalog)| {
        let number = i.to_string();
        let ident = &ident;
        async move { catalog.create_table(ident, creation(&[("by", &number)])).await }
    }))
    .await;
    let refused: Vec<&Error> = made.iter().filter_map(|made| made.as_ref().err()).collect();
    assert_eq!(refused.len(), 7, "{refused:?}");
    assert!(refused.iter().all(|error| error.code == "table-exists"), "{refused:?}");
    let winner = made.into_iter().find_map(Result::ok).expect("one is made");
    let loaded = load(s.other.as_ref(), &ident).await?;
    assert_eq!(loaded.property("by"), winner.property("by"));
    let kept = files(&loaded).await?.into_iter().filter(|file| file.ends_with(".json")).count();
    assert_eq!(kept, 1, "no file of the others");
    Ok(())
}

async fn unknown(s: &Sessions) -> Result<()> {
    let none = levels(s.one.as_ref(), "none");
    assert_eq!(s.one.list_tables(&none).await.unwrap_err().code, "unknown-database");
    s.one.create_namespace(&levels(s.one.as_ref(), "some"), BTreeMap::new()).await?;
    for database in ["none", "some"] {
        let ident = s.one.ident(database, "none")?;
        assert!(!s.one.table_exists(&ident).await?);
        assert!(s.one.load_table(&ident).await?.is_none());
        assert!(!s.one.drop_table(&ident, true).await?);
        let error = s.one.refresh(&ident).await.unwrap_err();
        assert_eq!((error.code, error.message), ("unknown-table", format!("unknown table '{ident}'")));
    }
    Ok(())
}

async fn list_tables(s: &Sessions) -> Result<()> {
    let name = levels(s.one.as_ref(), "listed");
    s.one.create_namespace(&name, BTreeMap::new()).await?;
    for table in ["b", "B", "a", "_"] {
        s.one.create_table(&s.one.ident("listed", table)?, creation(&[])).await?;
    }
    assert_eq!(s.other.list_tables(&name).await?, ["B", "_", "a", "b"]);
    Ok(())
}

async fn odd_names(s: &Sessions) -> Result<()> {
    let database = "o d'd \"q\" ü+&=#%41";
    let name = levels(s.one.as_ref(), database);
    s.one.create_namespace(&name, BTreeMap::new()).await?;
    assert!(s.other.list_namespaces(s.other.base_namespace()).await?.contains(&name));
    for table in ["t'ä%20", "a b", "100%", "日本", "x?y=1#z&;"] {
        let ident = s.one.ident(database, table)?;
        s.one.create_table(&ident, creation(&[])).await?;
        append(s.other.as_ref(), &ident, 0..3).await?;
        assert_eq!(ids(s.one.as_ref(), &ident).await?, [0, 1, 2], "{table}");
        assert!(s.other.list_tables(&name).await?.contains(&table.to_owned()), "{table}");
        assert!(s.other.drop_table(&ident, true).await?);
    }
    s.other.drop_namespace(&name).await?;
    Ok(())
}

async fn commit_is_seen(s: &Sessions) -> Result<()> {
    let made = table(s, "seen", &[]).await?;
    let next = s.one.commit(&made, vec![], set("p", "1")).await.expect("the commit is in");
    assert_ne!(next.metadata_location(), made.metadata_location());
    let loaded = load(s.other.as_ref(), made.ident()).await?;
    assert_eq!((loaded.property("p"), loaded.metadata()), (Some("1"), next.metadata()));
    let last = s.other.commit(&loaded, vec![], set("p", "2")).await.expect("the commit is in");
    assert_eq!(s.one.refresh(made.ident()).await?.metadata(), last.metadata());
    assert_eq!(last.metadata().metadata_log().len(), 2);
    Ok(())
}

async fn stale_commit(s: &Sessions) -> Result<()> {
    let theirs = table(s, "stale", &[]).await?;
    append(s.one.as_ref(), theirs.ident(), 0..3).await?;
    let before = files(&theirs).await?;
    // it holds for the version that is replaced: a catalog may take what does not collide, as REST servers do
    let empty = TableRequirement::RefSnapshotIdMatch { r#ref: "main".to_owned(), snapshot_id: None };
    let stale = s.other.commit(&theirs, vec![empty], set("p", "2")).await;
    assert!(matches!(stale, Err(CommitError::Conflict)), "{stale:?}");
    assert_eq!(load(s.other.as_ref(), theirs.ident()).await?.property("p"), None);
    assert_eq!(files(&theirs).await?, before, "no file of the refused commit");
    assert_eq!(ids(s.other.as_ref(), theirs.ident()).await?, [0, 1, 2]);
    Ok(())
}

async fn requirements(s: &Sessions) -> Result<()> {
    let made = table(s, "required", &[]).await?;
    append(s.other.as_ref(), made.ident(), 0..3).await?;
    let newest = load(s.one.as_ref(), made.ident()).await?;
    let empty = TableRequirement::RefSnapshotIdMatch { r#ref: "main".to_owned(), snapshot_id: None };
    let refused = s.one.commit(&newest, vec![empty], set("p", "1")).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    let head = newest.metadata().current_snapshot_id();
    let right = TableRequirement::RefSnapshotIdMatch { r#ref: "main".to_owned(), snapshot_id: head };
    s.one.commit(&newest, vec![right], set("p", "1")).await.expect("the commit is in");
    Ok(())
}

async fn no_lost_update(s: &Sessions) -> Result<()> {
    let ident = table(s, "counted", &[]).await?.ident().clone();
    let add = |value: Option<&str>| (value.map_or(0, |v| v.parse::<u32>().unwrap()) + 1).to_string();
    // a property of each writer, and their sum over all versions: REST servers add what does not collide
    let writers = (0..4).map(|writer| {
        let catalog = if writer % 2 == 0 { s.one.clone() } else { s.other.clone() };
        let ident = ident.clone();
        tokio::spawn(async move {
            for _ in 0..10 {
                change(catalog.as_ref(), &ident, &format!("count-{writer}"), add).await?;
            }
            Ok::<(), Error>(())
        })
    });
    for written in join_all(writers).await {
        written.unwrap()?;
    }
    let newest = load(s.one.as_ref(), &ident).await?;
    for writer in 0..4 {
        assert_eq!(newest.property(&format!("count-{writer}")), Some("10"));
    }
    assert_eq!(newest.metadata().metadata_log().len(), 40, "a version for each commit");
    Ok(())
}

async fn two_sessions_append(s: &Sessions) -> Result<()> {
    let ident = table(s, "appended", &[]).await?.ident().clone();
    let writers = (0..4_i64).map(|writer| {
        let catalog = if writer % 2 == 0 { s.one.clone() } else { s.other.clone() };
        let ident = ident.clone();
        tokio::spawn(async move {
            for round in 0..4 {
                let from = (writer * 4 + round) * 10;
                append(catalog.as_ref(), &ident, from..from + 10).await?;
            }
            Ok::<(), Error>(())
        })
    });
    for written in join_all(writers).await {
        written.unwrap()?;
    }
    assert_eq!(ids(s.one.as_ref(), &ident).await?, (0..160).collect::<Vec<_>>(), "no row is lost or doubled");
    assert_eq!(load(s.other.as_ref(), &ident).await?.metadata().snapshots().len(), 16);
    Ok(())
}

async fn several_tables(s: &Sessions) -> Result<()> {
    let first = table(s, "several", &[]).await?;
    let second = s.one.create_table(&s.one.ident("several", "u")?, creation(&[])).await?;
    let changes = |requirement: Option<TableRequirement>, value: &str| {
        let change =
            |base: &Table, requirements| TableChange { base: base.clone(), requirements, updates: set("p", value) };
        vec![change(&first, vec![]), change(&second, requirement.into_iter().collect())]
    };
    let wrong = TableRequirement::LastAssignedFieldIdMatch { last_assigned_field_id: 99 };
    match s.one.commit_all(changes(Some(wrong), "1")).await {
        Ok(None) => return Err(Error::unsupported("commits of several tables at once")),
        Err(CommitError::Conflict) => {}
        other => panic!("{other:?}"),
    }
    for ident in [first.ident(), second.ident()] {
        assert_eq!(load(s.other.as_ref(), ident).await?.property("p"), None, "all or none");
    }
    let done = s.one.commit_all(changes(None, "2")).await.expect("the commit is in").expect("it is offered");
    assert_eq!(done.iter().map(Table::ident).collect::<Vec<_>>(), [first.ident(), second.ident()]);
    for ident in [first.ident(), second.ident()] {
        assert_eq!(load(s.other.as_ref(), ident).await?.property("p"), Some("2"));
    }
    Ok(())
}

async fn compressed_metadata(s: &Sessions) -> Result<()> {
    let made = table(s, "compressed", &[("write.metadata.compression-codec", "gzip")]).await?;
    append(s.other.as_ref(), made.ident(), 0..3).await?;
    assert_eq!(ids(s.one.as_ref(), made.ident()).await?, [0, 1, 2]);
    Ok(())
}

async fn rename(s: &Sessions) -> Result<()> {
    let ident = s.one.ident("renamed", "t")?;
    s.one.check_rename(&ident)?;
    let old = table(s, "renamed", &[]).await?;
    append(s.one.as_ref(), &ident, 0..3).await?;
    s.one.create_table(&s.one.ident("renamed", "taken")?, creation(&[])).await?;
    assert_eq!(s.other.rename_table(&ident, "taken").await.unwrap_err().code, "table-exists");
    let missing = s.other.rename_table(&s.one.ident("renamed", "none")?, "new").await;
    assert_eq!(missing.unwrap_err().code, "unknown-table");
    s.other.rename_table(&ident, "new").await?;
    let new = s.one.ident("renamed", "new")?;
    assert!(!s.one.table_exists(&ident).await?);
    assert_eq!(ids(s.one.as_ref(), &new).await?, [0, 1, 2]);
    assert!(s.one.commit(&old, vec![], set("p", "1")).await.is_err(), "its old name is gone");
    append(s.one.as_ref(), &new, 3..5).await?;
    assert_eq!(ids(s.other.as_ref(), &new).await?, [0, 1, 2, 3, 4]);
    Ok(())
}

async fn drop_table(s: &Sessions) -> Result<()> {
    let ident = table(s, "removed", &[]).await?.ident().clone();
    append(s.other.as_ref(), &ident, 0..3).await?;
    assert!(s.one.drop_table(&ident, false).await?);
    assert!(!s.other.table_exists(&ident).await?);
    assert!(!s.other.drop_table(&ident, false).await?);
    assert_eq!(s.other.list_tables(&levels(s.one.as_ref(), "removed")).await?, Vec::<String>::new());
    Ok(())
}

async fn purge_table(s: &Sessions) -> Result<()> {
    let ident = table(s, "purged", &[]).await?.ident().clone();
    append(s.other.as_ref(), &ident, 0..3).await?;
    append(s.one.as_ref(), &ident, 3..5).await?;
    let newest = load(s.one.as_ref(), &ident).await?;
    assert!(files(&newest).await?.len() > 6);
    assert!(s.other.drop_table(&ident, true).await?);
    assert_eq!(files(&newest).await?, Vec::<String>::new());
    Ok(())
}

async fn create_again(s: &Sessions) -> Result<()> {
    let first = table(s, "again", &[]).await?;
    let ident = first.ident().clone();
    append(s.one.as_ref(), &ident, 0..3).await?;
    assert_eq!(ids(s.other.as_ref(), &ident).await?, [0, 1, 2]);
    assert!(s.one.drop_table(&ident, true).await?);
    let second = s.one.create_table(&ident, creation(&[])).await?;
    assert_ne!(second.metadata().uuid(), first.metadata().uuid());
    assert_eq!(ids(s.other.as_ref(), &ident).await?, Vec::<i64>::new());
    append(s.other.as_ref(), &ident, 5..7).await?;
    assert_eq!(ids(s.one.as_ref(), &ident).await?, [5, 6]);
    Ok(())
}

async fn commit_to_dropped(s: &Sessions) -> Result<()> {
    let made = table(s, "gone", &[]).await?;
    assert!(s.other.drop_table(made.ident(), true).await?);
    let refused = s.one.commit(&made, vec![], set("p", "1")).await;
    assert!(matches!(refused, Err(CommitError::Conflict | CommitError::Rejected(_))), "{refused:?}");
    assert!(!s.other.table_exists(made.ident()).await?);
    assert_eq!(files(&made).await?, Vec::<String>::new(), "nothing is left");
    assert_eq!(s.one.refresh(made.ident()).await.unwrap_err().code, "unknown-table");
    Ok(())
}
