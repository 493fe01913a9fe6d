//! Writing a table of files.
//!
//! Part files are written in a hidden folder within the table's; [`Pending::commit`] moves them to their places and
//! [`Pending::discard`] removes the folder, as does dropping what is neither committed nor discarded. The folder of a
//! writer that was killed is removed by the table's next writer.
//!
//! An overwrite replaces the table's files, or those of the partitions that rows were written to. It moves the new files in
//! before it moves the old ones out: killed in between, it leaves both, and running it again leaves the new ones.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use calve_types::{DataType, Error, Result};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use super::encode::Encoder;
use super::lock::Lock;
use super::{FilesystemTable, listing, partition};
use crate::{Pending, Sink, SinkMode, from_datafusion};

/// Partitions that are written at the same time; of more, the one written to longest ago gets another file.
const OPEN_FILES: usize = 64;
/// Bytes gathered before they go to the file.
const BUFFER: usize = 1 << 20;
/// Batches that wait for the writer.
const BATCHES_AHEAD: usize = 2;
/// How often the table's folder is made again if others remove it.
const ATTEMPTS: usize = 10;

/// The sink of a table.
///
/// # Errors
/// A static partition that is none.
pub(crate) fn sink(table: FilesystemTable, mode: &SinkMode) -> Result<Box<dyn Sink>> {
    for (name, _) in &mode.static_partition {
        let is_key = table.keys.iter().any(|key| table.columns.get(*key).is_some_and(|(column, _)| column == name));
        if !is_key {
            return Err(Error::new(
                "invalid-partition",
                format!("'{name}' is no partition key of table '{}'", table.name),
            ));
        }
    }
    Ok(Box::new(FilesystemSink { table: Arc::new(table), overwrite: mode.overwrite }))
}

struct FilesystemSink {
    table: Arc<FilesystemTable>,
    overwrite: bool,
}

#[async_trait]
impl Sink for FilesystemSink {
    async fn write(self: Box<Self>, mut rows: SendableRecordBatchStream) -> Result<Box<dyn Pending>> {
        let (sender, mut receiver) = tokio::sync::mpsc::channel::<RecordBatch>(BATCHES_AHEAD);
        let (table, overwrite) = (self.table, self.overwrite);
        let writing = tokio::task::spawn_blocking(move || {
            let mut writer = Writer::new(table)?;
            while let Some(batch) = receiver.blocking_recv() {
                writer.write(&batch)?;
            }
            Ok::<_, Error>(writer)
        });
        let mut failure = None;
        while let Some(batch) = rows.next().await {
            match batch {
                // a writer that is gone has failed, and says why
                Ok(batch) => {
                    if sender.send(batch).await.is_err() {
                        break;
                    }
                }
                Err(error) => {
                    failure = Some(from_datafusion(error));
                    break;
                }
            }
        }
        drop(sender);
        let writer = writing.await.map_err(Error::internal)??;
        match failure {
            Some(error) => {
                // what was written goes with the writer
                let _ = tokio::task::spawn_blocking(move || drop(writer)).await;
                Err(error)
            }
            None => tokio::task::spawn_blocking(move || writer.finish(overwrite))
                .await
                .map_err(Error::internal)?
                .map(|written| Box::new(written) as Box<dyn Pending>),
        }
    }
}

/// What the name of a staging folder begins with; the writer's id is the rest.
const STAGING: &str = ".staging-";

/// A hidden folder that is removed in the end.
#[derive(Debug)]
struct Staging {
    path: PathBuf,
    root: PathBuf,
    /// On the folder: it is in use.
    _lock: Option<Lock>,
    /// Folders that did not exist before, the innermost first.
    created: Vec<PathBuf>,
}

impl Staging {
    fn new(root: &Path, id: &str) -> Result<Self> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let created = root.ancestors().take_while(missing).map(Path::to_owned).collect();
        if root.is_file() {
            return Err(Error::new("io", format!("cannot write to '{}': it is a file", root.display()))
                .with_detail("A table that is written needs a folder for its part files.")
                .with_hint("set 'path' to a folder"));
        }
        let path = root.join(format!("{STAGING}{id}"));
        // made before the folder, so that what it made is removed if it fails half-way
        let mut staging = Self { path, root: root.to_owned(), _lock: None, created };
        let mut attempts = 0;
        loop {
            match staging.make() {
                // another writer that made the table's folder took it away again
                Err(e) if e.kind() == ErrorKind::NotFound && attempts < ATTEMPTS => attempts += 1,
                made => return made.map(|()| staging).map_err(|e| write_error(root, &e)),
            }
        }
    }

    /// Makes the folder and holds it. Nobody sees it before it is held, because the table is locked.
    fn make(&mut self) -> std::io::Result<()> {
        fs::create_dir_all(&self.root)?;
        let table = Lock::exclusive(&self.root)?;
        if table.is_held() {
            remove_dead(&self.root);
        }
        fs::create_dir(&self.path)?;
        self._lock = Lock::try_exclusive(&self.path);
        if table.is_held() && self._lock.is_none() {
            // others would take the writer for dead
            return Err(std::io::Error::other(format!("cannot lock '{}'", self.path.display())));
        }
        Ok(())
    }
}

/// Removes the staging folders that no writer holds; the table is locked. What cannot be removed is left: it is hidden.
fn remove_dead(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.filter_map(std::result::Result::ok) {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(STAGING));
        let is_ours = id.is_some_and(|id| uuid::Uuid::try_parse(id).is_ok());
        // a link is no folder here
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if let Some(_dead) = Lock::try_exclusive(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Nothing more can be done about what cannot be removed; it is hidden.
        let _ = fs::remove_dir_all(&self.path);
        if self.created.is_empty() {
            return;
        }
        // others are about to write here if it is locked
        let Some(_table) = Lock::try_exclusive(&self.root) else { return };
        for folder in &self.created {
            // only empty folders go
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

fn write_error(path: &Path, error: &std::io::Error) -> Error {
    Error::new("io", format!("cannot write '{}': {error}", path.display()))
}

/// A part file that is being written.
struct Part {
    encoder: Encoder,
    buffer: Vec<u8>,
    file: File,
    path: PathBuf,
    bytes: u64,
    /// When it was last written to, in batches.
    used: u64,
}

impl Part {
    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.buffer).map_err(|e| write_error(&self.path, &e))?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn close(mut self) -> Result<()> {
        self.encoder.finish(&mut self.buffer)?;
        self.flush()?;
        self.file.sync_all().map_err(|e| write_error(&self.path, &e))
    }
}

/// Writes batches to the part files of their partitions.
struct Writer {
    table: Arc<FilesystemTable>,
    staging: Staging,
    id: String,
    /// By the partition's folders, `k=1/j=2`; empty for a table without partitions.
    open: HashMap<String, Part>,
    /// All part files: their partition's folders and their names.
    parts: Vec<(String, String)>,
    rows: u64,
    batches: u64,
}

impl Writer {
    fn new(table: Arc<FilesystemTable>) -> Result<Self> {
        let id = uuid::Uuid::new_v4().to_string();
        let staging = Staging::new(&table.root, &id)?;
        Ok(Self { table, staging, id, open: HashMap::new(), parts: Vec::new(), rows: 0, batches: 0 })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        self.batches += 1;
        let table = self.table.clone();
        // the kinds of changes, if there are any, stand behind the table's columns
        let wanted = table.in_files.iter().copied().chain([table.columns.len()]);
        let in_files: Vec<ArrayRef> = wanted.filter_map(|i| batch.columns().get(i)).cloned().collect();
        if table.keys.is_empty() {
            return if batch.num_rows() == 0 { Ok(()) } else { self.write_part(String::new(), &in_files) };
        }
        let mut rows_of: HashMap<String, Vec<u32>> = HashMap::new();
        let mut order = Vec::new();
        for (row, folder) in partition::folders(batch, &table)?.into_iter().enumerate() {
            let row = u32::try_from(row).map_err(Error::internal)?;
            match rows_of.get_mut(&folder) {
                Some(rows) => rows.push(row),
                None => {
                    order.push(folder.clone());
                    rows_of.insert(folder, vec![row]);
                }
            }
        }
        for folder in order {
            let indices = UInt32Array::from(rows_of.remove(&folder).unwrap_or_default());
            let columns = in_files
                .iter()
                .map(|array| arrow::compute::take(array, &indices, None).map_err(Error::internal))
                .collect::<Result<Vec<_>>>()?;
            self.write_part(folder, &columns)?;
        }
        Ok(())
    }

    fn write_part(&mut self, folder: String, columns: &[ArrayRef]) -> Result<()> {
        if !self.open.contains_key(&folder) {
            self.make_room()?;
            let part = self.begin(&folder)?;
            self.open.insert(folder.clone(), part);
        }
        let Some(part) = self.open.get_mut(&folder) else { return Err(Error::internal("a part is missing")) };
        part.used = self.batches;
        part.encoder.write(columns, &mut part.buffer)?;
        if part.buffer.len() >= BUFFER {
            part.flush()?;
        }
        if part.bytes + part.encoder.gathered() >= self.table.rolling_size
            && let Some(part) = self.open.remove(&folder)
        {
            part.close()?;
        }
        Ok(())
    }

    /// Closes the part that was written to longest ago if too many are open.
    fn make_room(&mut self) -> Result<()> {
        if self.open.len() < OPEN_FILES {
            return Ok(());
        }
        let oldest = self.open.iter().min_by_key(|(_, part)| part.used).map(|(folder, _)| folder.clone());
        match oldest.and_then(|folder| self.open.remove(&folder)) {
            Some(part) => part.close(),
            None => Ok(()),
        }
    }

    fn begin(&mut self, folder: &str) -> Result<Part> {
        let name = format!("part-{}-{}{}", self.id, self.parts.len(), self.table.format.extension());
        let inside = self.staging.path.join(folder);
        fs::create_dir_all(&inside).map_err(|e| write_error(&inside, &e))?;
        let path = inside.join(&name);
        let file = File::create(&path).map_err(|e| write_error(&path, &e))?;
        self.parts.push((folder.to_owned(), name));
        let columns: Vec<(String, DataType)> =
            self.table.in_files.iter().filter_map(|i| self.table.columns.get(*i)).cloned().collect();
        let encoder = Encoder::new(&self.table.format, columns)?;
        Ok(Part { encoder, buffer: Vec::new(), file, path, bytes: 0, used: self.batches })
    }

    fn finish(mut self, overwrite: bool) -> Result<Written> {
        for (_, part) in self.open.drain() {
            part.close()?;
        }
        Ok(Written { table: self.table, staging: self.staging, parts: self.parts, rows: self.rows, overwrite })
    }
}

/// Files that nobody sees yet.
struct Written {
    table: Arc<FilesystemTable>,
    staging: Staging,
    parts: Vec<(String, String)>,
    rows: u64,
    overwrite: bool,
}

impl Written {
    fn commit(mut self) -> Result<()> {
        let root = self.table.root.clone();
        // before `undo`, which goes first
        let lock = if self.overwrite { Lock::exclusive(&root) } else { Lock::shared(&root) };
        let _lock = lock.map_err(|e| write_error(&root, &e))?;
        let mut undo = Undo(Vec::new());
        let old = if self.overwrite { self.old_files(&root)? } else { Vec::new() };
        for (folder, name) in &self.parts {
            let target = root.join(folder);
            undo.create_folders(&target)?;
            undo.rename(&self.staging.path.join(folder).join(name), &target.join(name))?;
        }
        self.write_success_files(&root, &mut undo)?;
        self.set_aside(&old, &mut undo)?;
        undo.0.clear();
        // the table's folder stays, even if it is empty
        self.staging.created.clear();
        Ok(())
    }

    /// What an overwrite replaces: everything that is not hidden in the table's folder, or in those of the partitions that
    /// were written.
    fn old_files(&self, root: &Path) -> Result<Vec<PathBuf>> {
        let folders = if self.table.keys.is_empty() { BTreeSet::from([""]) } else { self.folders() };
        let mut old = Vec::new();
        for folder in folders.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir()) {
            old.extend(listing::entries(&folder)?);
        }
        Ok(old)
    }

    /// Moves files to the staging folder, which goes in the end.
    fn set_aside(&self, old: &[PathBuf], undo: &mut Undo) -> Result<()> {
        let aside = self.staging.path.join(".old");
        if !old.is_empty() {
            fs::create_dir_all(&aside).map_err(|e| write_error(&aside, &e))?;
        }
        for (n, path) in old.iter().enumerate() {
            undo.rename(path, &aside.join(n.to_string()))?;
        }
        Ok(())
    }

    fn write_success_files(&self, root: &Path, undo: &mut Undo) -> Result<()> {
        let Some(name) = &self.table.success_file else { return Ok(()) };
        for folder in self.folders() {
            undo.create_file(&root.join(folder).join(name))?;
        }
        Ok(())
    }

    /// The folders that rows were written to.
    fn folders(&self) -> BTreeSet<&str> {
        self.parts.iter().map(|(folder, _)| folder.as_str()).collect()
    }
}

/// Takes back what was done unless it is cleared: a commit that fails half-way leaves the table as it was.
struct Undo(Vec<Step>);

enum Step {
    Renamed(PathBuf, PathBuf),
    CreatedFolder(PathBuf),
    CreatedFile(PathBuf),
}

impl Undo {
    fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to).map_err(|e| write_error(to, &e))?;
        self.0.push(Step::Renamed(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn create_folders(&mut self, path: &Path) -> Result<()> {
        let missing: Vec<PathBuf> = path.ancestors().take_while(|p| !p.exists()).map(Path::to_owned).collect();
        self.0.extend(missing.into_iter().rev().map(Step::CreatedFolder));
        fs::create_dir_all(path).map_err(|e| write_error(path, &e))
    }

    /// Makes an empty file, or empties the one that is there.
    fn create_file(&mut self, path: &Path) -> Result<()> {
        if !path.exists() {
            self.0.push(Step::CreatedFile(path.to_owned()));
        }
        fs::write(path, b"").map_err(|e| write_error(path, &e))
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        while let Some(step) = self.0.pop() {
            // The first failure is reported; a second one while it is taken back changes nothing about that.
            let _ = match step {
                Step::Renamed(from, to) => fs::rename(to, from),
                Step::CreatedFolder(path) => fs::remove_dir(path),
                Step::CreatedFile(path) => fs::remove_file(path),
            };
        }
    }
}

#[async_trait]
impl Pending for Written {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn files(&self) -> usize {
        self.parts.len()
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        tokio::task::spawn_blocking(move || Written::commit(*self)).await.map_err(Error::internal)?
    }

    async fn discard(self: Box<Self>) {
        // Dropping the staging folder removes it; a panic in there is none of the caller's concern.
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }
}
