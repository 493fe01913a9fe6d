//! Random sequences of operations against a model of the live files.

use iceberg::spec::ManifestStatus;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::*;

/// A live file as it should be.
#[derive(Clone, Debug)]
struct Expected {
    new: NewFile,
    partition: Option<i32>,
    sequence: i64,
    snapshot: i64,
    /// The data file that a position delete file or a deletion vector is about.
    about: Option<String>,
}

impl Expected {
    fn content(&self) -> DataContentType {
        self.new.file.content_type()
    }
}

type Files = BTreeMap<String, Expected>;

/// A new file, its partition, and the data file it deletes rows of.
type New = (NewFile, Option<i32>, Option<String>);

struct Model {
    random: StdRng,
    version: u8,
    partitions: Option<i32>,
    files: Files,
    next: u32,
    sequence: i64,
}

/// An operation and what it makes of the files: those it adds and the names of those it takes away.
struct Step {
    operation: Operation,
    added: Vec<New>,
    removed: BTreeSet<String>,
}

impl Model {
    fn partition(&mut self) -> Option<i32> {
        self.partitions.map(|n| self.random.random_range(0..n))
    }

    fn name(&mut self, kind: &str) -> String {
        self.next += 1;
        format!("{kind}{}", self.next)
    }

    fn data(&mut self, count: std::ops::Range<usize>) -> Vec<New> {
        let count = self.random.random_range(count);
        (0..count)
            .map(|_| {
                let (name, p) = (self.name("f"), self.partition());
                let rows = self.random.random_range(1..9);
                (file(&name, DataContentType::Data, rows, p), p, None)
            })
            .collect()
    }

    fn keys(&mut self) -> Vec<New> {
        let (name, p) = (self.name("e"), self.partition());
        vec![(file(&name, DataContentType::EqualityDeletes, 2, p), p, None)]
    }

    fn some_data(&mut self, count: usize) -> Vec<String> {
        let data: Vec<&String> =
            self.files.iter().filter(|(_, f)| f.content() == DataContentType::Data).map(|(name, _)| name).collect();
        let picked: BTreeSet<&String> = (0..count).filter_map(|_| data.choose(&mut self.random).copied()).collect();
        picked.into_iter().cloned().collect()
    }

    fn about<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a String> {
        let hit = |f: &Expected| f.about.as_ref().is_some_and(|about| names.contains(about));
        self.files.iter().filter(move |(_, f)| hit(f)).map(|(name, _)| name)
    }

    /// Position deletes for live data files, with the vectors that they replace.
    fn positions(&mut self) -> (Vec<New>, BTreeSet<String>) {
        let hit = self.some_data(2);
        let superseded = if self.version == 3 { self.about(&hit).cloned().collect() } else { BTreeSet::new() };
        let deletes = hit
            .into_iter()
            .map(|of| {
                let (name, p) = (self.name("d"), self.files[&of].partition);
                let new = match self.version {
                    3 => vector(&name, &of, 1, p),
                    _ => positions(&name, &of, 1, p),
                };
                (new, p, Some(of))
            })
            .collect();
        (deletes, superseded)
    }

    fn id(&self, name: &str) -> FileId {
        FileId::of(&self.files[name].new.file)
    }

    fn ids(&self, names: &BTreeSet<String>) -> Vec<FileId> {
        names.iter().map(|name| self.id(name)).collect()
    }

    fn step(&mut self, read: Option<i64>) -> Step {
        let news = |added: &[New]| -> Vec<NewFile> { added.iter().map(|(new, ..)| new.clone()).collect() };
        let choice = if self.version == 1 { self.random.random_range(0..3) } else { self.random.random_range(0..6) };
        match choice {
            0 => {
                let added = self.data(1..3);
                Step { operation: Operation::Append(Append { data: news(&added) }), added, removed: BTreeSet::new() }
            }
            1 => {
                let added = self.data(1..3);
                let parts: BTreeSet<Option<i32>> = added.iter().map(|(_, p, _)| *p).collect();
                let in_it = self.files.iter().filter(|(_, f)| parts.contains(&f.partition));
                let removed = in_it.map(|(name, _)| name.clone()).collect();
                let operation = Operation::ReplacePartitions(ReplacePartitions { data: news(&added) });
                Step { operation, added, removed }
            }
            2 => {
                let gone = self.some_data(3);
                let added = self.data(0..2);
                let mut removed: BTreeSet<String> = gone.iter().cloned().collect();
                let ids = self.ids(&removed);
                removed.extend(self.about(&gone).cloned());
                let operation =
                    Operation::Overwrite(Overwrite { read, removed: ids, data: news(&added), ..Overwrite::default() });
                Step { operation, added, removed }
            }
            3 => {
                let (mut added, removed) = self.positions();
                let deletes = news(&added);
                let data = self.data(0..2);
                let operation = Operation::Overwrite(Overwrite {
                    read,
                    removed: self.ids(&removed),
                    data: news(&data),
                    deletes,
                    ..Overwrite::default()
                });
                added.extend(data);
                Step { operation, added, removed }
            }
            _ => {
                let mut deletes = self.keys();
                let (more, removed) = if choice == 4 { self.positions() } else { Default::default() };
                deletes.extend(more);
                let data = self.data(0..3);
                let operation = Operation::RowDelta(RowDelta {
                    data: news(&data),
                    deletes: news(&deletes),
                    removed: self.ids(&removed),
                    omitted: None,
                });
                deletes.extend(data);
                Step { operation, added: deletes, removed }
            }
        }
    }

    /// Takes a step that was committed; the names of what it took away, and of what it added.
    fn take(&mut self, step: Step, snapshot: i64) -> (BTreeSet<String>, BTreeSet<String>) {
        let mut removed = step.removed;
        let stays = |name: &String| !removed.contains(name);
        let data = self.files.iter().filter(|(name, f)| f.content() == DataContentType::Data && stays(name));
        let oldest = data.map(|(_, f)| f.sequence).fold(self.sequence, i64::min);
        let old = self.files.iter().filter(|(_, f)| f.content() != DataContentType::Data && f.sequence < oldest);
        let old: Vec<String> = old.map(|(name, _)| name.clone()).collect();
        removed.extend(old);
        self.files.retain(|name, _| !removed.contains(name));
        if self.version > 1 {
            self.sequence += 1;
        }
        let mut added = BTreeSet::new();
        for (new, partition, about) in step.added {
            let name = new.file.file_path().trim_start_matches("/nowhere/").to_owned();
            added.insert(name.clone());
            let sequence = self.sequence;
            self.files.insert(name, Expected { new, partition, sequence, snapshot, about });
        }
        (removed, added)
    }

    fn counted(&self) -> BTreeMap<&'static str, u64> {
        let mut totals: BTreeMap<&'static str, u64> = [
            "total-data-files",
            "total-records",
            "total-delete-files",
            "total-position-deletes",
            "total-equality-deletes",
            "total-files-size",
        ]
        .map(|key| (key, 0))
        .into();
        let mut add = |key, count| *totals.get_mut(key).unwrap() += count;
        for Expected { new, .. } in self.files.values() {
            let file = &new.file;
            let rows = file.record_count();
            let whole = file.file_size_in_bytes();
            add("total-files-size", file.content_size_in_bytes().map_or(whole, |size| size as u64));
            match file.content_type() {
                DataContentType::Data => {
                    add("total-data-files", 1);
                    add("total-records", rows);
                }
                DataContentType::PositionDeletes => {
                    add("total-delete-files", 1);
                    add("total-position-deletes", rows);
                }
                DataContentType::EqualityDeletes => {
                    add("total-delete-files", 1);
                    add("total-equality-deletes", rows);
                }
            }
        }
        totals
    }
}

/// The names of a snapshot's entries by status; deleted ones must be of this snapshot.
async fn by_status(table: &Table, snapshot_id: i64) -> (BTreeSet<String>, BTreeSet<String>) {
    let snapshot = table.metadata().snapshot_by_id(snapshot_id).unwrap();
    let (mut deleted, mut added) = (BTreeSet::new(), BTreeSet::new());
    for manifest in table.manifests(snapshot).await.unwrap().iter() {
        let entries = table.entries(manifest).await.unwrap();
        let count = |status| entries.iter().filter(|e| e.status() == status).count() as u32;
        assert_eq!(manifest.added_files_count, Some(count(ManifestStatus::Added)));
        assert_eq!(manifest.existing_files_count, Some(count(ManifestStatus::Existing)));
        assert_eq!(manifest.deleted_files_count, Some(count(ManifestStatus::Deleted)));
        for entry in entries.iter() {
            let name = entry.file_path().trim_start_matches("/nowhere/").to_owned();
            let of_this = entry.snapshot_id() == Some(snapshot_id);
            match entry.status() {
                ManifestStatus::Deleted if manifest.added_snapshot_id == snapshot_id => {
                    assert!(of_this, "{name}");
                    deleted.insert(name);
                }
                ManifestStatus::Added if manifest.added_snapshot_id == snapshot_id => {
                    assert!(of_this, "{name}");
                    added.insert(name);
                }
                _ => assert!(!of_this, "{name}"),
            }
        }
    }
    (deleted, added)
}

async fn live_at(table: &Table, snapshot_id: i64) -> BTreeMap<String, (i64, i64, Option<i64>)> {
    let mut files = BTreeMap::new();
    let snapshot = table.metadata().snapshot_by_id(snapshot_id).unwrap();
    for manifest in table.manifests(snapshot).await.unwrap().iter() {
        for entry in table.entries(manifest).await.unwrap().iter().filter(|e| e.is_alive()) {
            let name = entry.file_path().trim_start_matches("/nowhere/").to_owned();
            let value =
                (entry.sequence_number().unwrap(), entry.snapshot_id().unwrap(), entry.data_file().first_row_id());
            assert!(files.insert(name, value).is_none(), "a file twice");
        }
    }
    files
}

async fn run(seed: u64, steps: usize) {
    let mut random = StdRng::seed_from_u64(seed);
    let version = *[1, 2, 2, 3, 3].choose(&mut random).unwrap();
    let partitions = *[None, Some(1), Some(3)].choose(&mut random).unwrap();
    let merge = *["2", "3", "5", "100"].choose(&mut random).unwrap();
    let jdbc = random.random_bool(0.5);
    let w = if jdbc { Warehouse::jdbc().await } else { Warehouse::new() };
    let format = version.to_string();
    let with = [("format-version", format.as_str()), ("commit.manifest.min-count-to-merge", merge)];
    let spec: &[(&str, Transform)] = if partitions.is_some() { &[("p", Transform::Identity)] } else { &[] };
    let table = w.partitioned(&with, spec).await;
    let mut model = Model { random, version, partitions, files: Files::new(), next: 0, sequence: 0 };
    let mut history = Vec::new();
    let mut row_ids: BTreeMap<String, i64> = BTreeMap::new();
    for step_number in 0..steps {
        let what = format!("seed {seed}, step {step_number}, version {version}");
        let read = w.catalog.refresh(table.ident()).await.unwrap().metadata().current_snapshot_id();
        let step = model.step(read);
        let operation = step.operation.clone();
        let done = commit(&*w.catalog, &table, "main", operation, &job()).await;
        let done = done.unwrap_or_else(|e| panic!("{what}: {e:?} of {:?}", step.operation));
        let (removed, added) = model.take(step, done.snapshot_id);

        // through a catalog of its own, that is without a cache
        let other = if jdbc { Warehouse::open_jdbc(&w.dir) } else { Warehouse::open(&w.dir) };
        let now = other.refresh(table.ident()).await.unwrap();
        let files = live_at(&now, done.snapshot_id).await;
        let found: BTreeMap<_, _> = files.iter().map(|(n, (seq, id, _))| (n.clone(), (*seq, *id))).collect();
        let expected: BTreeMap<_, _> = model.files.iter().map(|(n, f)| (n.clone(), (f.sequence, f.snapshot))).collect();
        assert_eq!(found, expected, "{what}");
        assert_eq!(by_status(&now, done.snapshot_id).await, (removed, added), "{what}");
        let summary = summary_of(&now);
        for (key, count) in model.counted() {
            assert_eq!(summary[key], count.to_string(), "{key}: {what}");
        }
        for (name, (_, _, first)) in &files {
            let is_data = model.files[name].content() == DataContentType::Data;
            assert_eq!(first.is_some(), version == 3 && is_data, "{what}: {name}");
            if let Some(first) = first {
                assert_eq!(row_ids.entry(name.clone()).or_insert(*first), first, "row ids stay: {what}: {name}");
            }
        }
        history.push((done.snapshot_id, files));
    }
    let now = w.catalog.refresh(table.ident()).await.unwrap();
    for (snapshot_id, files) in &history {
        assert_eq!(&live_at(&now, *snapshot_id).await, files, "an older snapshot, seed {seed}");
    }
    // the row ids of two files have nothing in common
    let rows = |name: &String| history.iter().any(|(_, files)| files.contains_key(name));
    assert!(row_ids.keys().all(rows));
    let mut ids: Vec<i64> = row_ids.values().copied().collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), row_ids.len(), "seed {seed}");
    let mut files = w.avro_files();
    files.retain(|name| name.ends_with(".avro"));
    assert_eq!(files, referenced(&now).await, "seed {seed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_operations_leave_the_files_of_the_model() {
    for seed in 0..12 {
        run(seed, 25).await;
    }
}
