//! Where tables are: a catalog and its storage, which can be put back as they were, and fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calve_engine::{Session, SessionConfig};
use calve_iceberg::catalog::{Catalog, open};

use crate::common::run;
use crate::disk;
use crate::injector::{Act, Injector, Kind};
use crate::rest_server::{Fault, Gate, RestServer, Saved, Settings};
use crate::s3::{BUCKET, Objects, S3};

/// Kinds of catalogs, and where their tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lake {
    /// In S3.
    Hadoop,
    /// In S3, with a database of SQLite; the faults are those of storage.
    Jdbc,
    /// In S3, with transactions of several tables; the faults are those of both.
    Rest,
    /// On a disk.
    HadoopDisk,
    /// On a disk, with a database of SQLite; the faults are those of both.
    JdbcDisk,
}

impl Lake {
    pub fn is_on_disk(self) -> bool {
        matches!(self, Lake::HadoopDisk | Lake::JdbcDisk)
    }

    /// The ways in which its calls go wrong.
    pub fn kinds(self) -> &'static [Kind] {
        if self.is_on_disk() { &disk::KINDS } else { &Kind::REMOTE }
    }

    fn kind(self) -> &'static str {
        match self {
            Lake::Hadoop | Lake::HadoopDisk => "hadoop",
            Lake::Jdbc | Lake::JdbcDisk => "jdbc",
            Lake::Rest => "rest",
        }
    }
}

impl fmt::Display for Lake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Lake::Hadoop => "hadoop on S3",
            Lake::Jdbc => "jdbc on S3",
            Lake::Rest => "rest on S3",
            Lake::HadoopDisk => "hadoop on disk",
            Lake::JdbcDisk => "jdbc on disk",
        })
    }
}

/// All that is stored.
#[derive(Clone)]
pub struct State {
    objects: Objects,
    tables: Saved,
    /// What is below the folder; `None` for a folder.
    disk: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

/// A lake and its servers.
pub struct World {
    pub lake: Lake,
    injector: Injector,
    s3: S3,
    rest: RestServer,
    /// Of the database, and of the warehouse on a disk.
    folder: tempfile::TempDir,
}

impl World {
    pub fn new(lake: Lake) -> Self {
        let injector = Injector::default();
        let s3 = S3::start(&injector);
        let rest = RestServer::start(Settings { warehouse: format!("s3://{BUCKET}/wh"), ..Settings::full() });
        let judge = injector.clone();
        rest.set_hook(Arc::new(move |method, target| {
            let hold = || {
                let injector = judge.clone();
                Gate::new(move || injector.hold())
            };
            match judge.judge(format_args!("REST {method} {target}")) {
                Act::Do => None,
                Act::Refuse(503) => Some(Fault::Refuse(503, "ServiceUnavailableException")),
                Act::Refuse(status) => Some(Fault::Refuse(status, "ForbiddenException")),
                Act::DoRefuse(status) => Some(Fault::DoneBut(status)),
                Act::Close => Some(Fault::LoseRequest),
                Act::DoClose => Some(Fault::LoseReply),
                Act::DoCut => Some(Fault::CutReply),
                Act::Hold => Some(Fault::Hold(hold())),
                Act::DoHold => Some(Fault::DoneHold(hold())),
            }
        }));
        let folder = match disk::root() {
            Some(root) if lake.is_on_disk() => tempfile::tempdir_in(root).unwrap(),
            _ => tempfile::tempdir().unwrap(),
        };
        Self { lake, injector, s3, rest, folder }
    }

    fn warehouse(&self) -> String {
        match self.lake.is_on_disk() {
            true => self.folder.path().join("wh").display().to_string(),
            false => format!("s3://{BUCKET}/wh"),
        }
    }

    /// From now on calls count; the one with a number goes wrong.
    pub fn arm(&self, fault: Option<(usize, Kind)>) {
        if self.lake.is_on_disk() { disk::arm(fault) } else { self.injector.arm(fault) }
    }

    /// From now on all is well. How many calls there were, and at which something went wrong.
    pub fn disarm(&self) -> (usize, Vec<String>) {
        if self.lake.is_on_disk() { disk::disarm() } else { self.injector.disarm() }
    }

    /// Waits for a call that hangs.
    pub async fn held(&self) {
        if self.lake.is_on_disk() { disk::held().await } else { self.injector.held().await }
    }

    /// Ends what hangs.
    pub fn release(&self) {
        if self.lake.is_on_disk() { disk::release() } else { self.injector.release() }
    }

    /// The options of the catalog. Requests are tried again, or not.
    pub fn options(&self, retried: bool) -> BTreeMap<String, String> {
        let mut options: BTreeMap<String, String> = [
            ("type", "iceberg"),
            ("s3.path-style-access", "true"),
            ("s3.access-key-id", "admin"),
            ("s3.secret-access-key", "secret"),
            ("s3.retry.num-retries", if retried { "3" } else { "0" }),
            ("s3.retry.min-wait-ms", "1"),
            ("s3.retry.max-wait-ms", "5"),
            ("rest.client.max-retries", if retried { "3" } else { "0" }),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
        let mut set = |key: &str, value: String| options.insert(key.to_owned(), value);
        set("s3.endpoint", self.s3.endpoint());
        set("catalog-type", self.lake.kind().to_owned());
        match self.lake.kind() {
            "hadoop" => drop(set("warehouse", self.warehouse())),
            "jdbc" => {
                set("warehouse", self.warehouse());
                set("uri", format!("jdbc:sqlite:{}", self.folder.path().join("catalog.db").display()));
            }
            _ => drop(set("uri", self.rest.uri())),
        }
        options
    }

    /// A new session in database `db`, under a job's id.
    pub async fn session(&self, retried: bool, parallelism: usize, job: &str) -> Session {
        let options = [
            ("execution.runtime-mode", "batch"),
            ("parallelism.default", &parallelism.to_string()),
            ("calve.job-id", job),
        ];
        let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut session = Session::new(SessionConfig { options, ..SessionConfig::default() }).unwrap();
        let with: Vec<String> =
            self.options(retried).iter().map(|(key, value)| format!("'{key}' = '{value}'")).collect();
        let script = format!("CREATE CATALOG lake WITH ({}); USE CATALOG lake; USE db", with.join(", "));
        run(&mut session, &script).await;
        session
    }

    /// A new catalog.
    pub fn catalog(&self) -> Arc<dyn Catalog> {
        open("lake", &self.options(true)).unwrap()
    }

    /// Empties everything, but for the database `db`.
    pub async fn reset(&self) {
        *self.s3.objects() = Objects::default();
        self.rest.restore(&Saved::default());
        self.restore_disk(&BTreeMap::new());
        let catalog = self.catalog();
        catalog.create_namespace(&["db".to_owned()], BTreeMap::new()).await.unwrap();
    }

    pub fn save(&self) -> State {
        State {
            objects: self.s3.objects().clone(),
            tables: self.rest.save(),
            disk: self
                .paths()
                .into_iter()
                .map(|path| (path.clone(), path.is_file().then(|| std::fs::read(path).unwrap())))
                .collect(),
        }
    }

    pub fn restore(&self, state: &State) {
        *self.s3.objects() = state.objects.clone();
        self.rest.restore(&state.tables);
        self.restore_disk(&state.disk);
    }

    /// Everything below the folder, folders before what is in them.
    fn paths(&self) -> Vec<PathBuf> {
        let (mut all, mut next) = (vec![], 0);
        let inside = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        all.extend(inside(self.folder.path()));
        while next < all.len() {
            if all[next].is_dir() {
                let found: Vec<PathBuf> = inside(&all[next]).collect();
                all.extend(found);
            }
            next += 1;
        }
        all
    }

    fn restore_disk(&self, disk: &BTreeMap<PathBuf, Option<Vec<u8>>>) {
        for path in self.paths() {
            let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        }
        // folders come before what is in them
        for (path, bytes) in disk {
            match bytes {
                Some(bytes) => std::fs::write(path, bytes).unwrap(),
                None => std::fs::create_dir(path).unwrap(),
            }
        }
    }

    /// The locations of all files.
    pub fn files(&self) -> BTreeSet<String> {
        if self.lake.is_on_disk() {
            let files = self.paths().into_iter().filter(|path| path.is_file() && path.starts_with(self.warehouse()));
            return files.map(|path| path.display().to_string()).collect();
        }
        self.s3.objects().files.keys().map(|key| format!("s3://{BUCKET}/{key}")).collect()
    }

    /// Uploads that were begun and neither ended nor given up.
    pub fn uploads(&self) -> usize {
        self.s3.objects().uploads.len()
    }

    /// Whether metadata files are in storage, where they can be looked for.
    pub fn has_metadata_files(&self) -> bool {
        self.lake != Lake::Rest
    }
}
