//! Names for completion: looked up in the background and kept, so that a slow catalog never holds up the prompt.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use calve_engine::NameSource;
use tokio::runtime::Handle;

/// How long the Tab key waits for names that are not known yet.
const PATIENCE: Duration = Duration::from_millis(700);
/// How long a lookup may take in the background.
const LOOKUP: Duration = Duration::from_secs(20);
/// Lists that are kept; beyond them all are forgotten.
const KEPT: usize = 500;
/// Names of a list that are kept.
const LONGEST: usize = 10_000;

/// A list of names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The databases of a catalog.
    Databases(String),
    /// The tables of a database.
    Tables(String, String),
    /// The columns of a table.
    Columns(String, String, String),
}

/// A list as far as it is known.
#[derive(Debug, Default)]
struct Known {
    names: Vec<String>,
    /// The generation that the names are of, or that could not be looked up; 0 is none.
    of: u64,
    /// The generation that was asked for.
    asked: u64,
}

#[derive(Debug)]
struct State {
    source: NameSource,
    /// Counts the changes of the source, from 1.
    generation: u64,
    known: HashMap<Key, Known>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
    runtime: Handle,
}

/// The names of a session.
#[derive(Debug, Clone)]
pub struct Names(Arc<Shared>);

impl Names {
    /// Names from that source, looked up on that runtime.
    pub fn new(source: NameSource, runtime: Handle) -> Self {
        let state = State { source, generation: 1, known: HashMap::new() };
        let names = Self(Arc::new(Shared { state: Mutex::new(state), arrived: Condvar::new(), runtime }));
        names.look_ahead();
        names
    }

    /// A statement ran: what is known may have changed.
    pub fn refresh(&self, source: NameSource) {
        let mut state = self.lock();
        state.source = source;
        state.generation += 1;
        if state.known.len() > KEPT {
            state.known.clear();
        }
        drop(state);
        self.look_ahead();
    }

    /// The current catalog and database.
    pub fn current(&self) -> (String, String) {
        let state = self.lock();
        let (catalog, database) = state.source.current();
        (catalog.to_owned(), database.to_owned())
    }

    /// The catalogs.
    pub fn catalogs(&self) -> Vec<String> {
        self.lock().source.catalogs()
    }

    /// Whether a catalog holds Iceberg tables.
    pub fn is_iceberg(&self, catalog: &str) -> bool {
        self.lock().source.is_iceberg(catalog)
    }

    /// The databases of a catalog, as far as they are known.
    pub fn databases(&self, catalog: &str) -> Vec<String> {
        self.get(Key::Databases(catalog.to_owned()))
    }

    /// The tables of a database, as far as they are known.
    pub fn tables(&self, catalog: &str, database: &str) -> Vec<String> {
        self.get(Key::Tables(catalog.to_owned(), database.to_owned()))
    }

    /// The columns of a table of one to three names, as far as they are known.
    pub fn columns(&self, path: &[String]) -> Vec<String> {
        let (catalog, database) = self.current();
        let key = match path {
            [table] => Key::Columns(catalog, database, table.clone()),
            [database, table] => Key::Columns(catalog, database.clone(), table.clone()),
            [catalog, database, table] => Key::Columns(catalog.clone(), database.clone(), table.clone()),
            _ => return vec![],
        };
        self.get(key)
    }

    /// Begins to look up what is asked for most.
    fn look_ahead(&self) {
        let (catalog, database) = self.current();
        let mut state = self.lock();
        self.ask(&mut state, &Key::Databases(catalog.clone()));
        self.ask(&mut state, &Key::Tables(catalog, database));
    }

    fn get(&self, key: Key) -> Vec<String> {
        let until = Instant::now() + PATIENCE;
        let mut state = self.lock();
        loop {
            self.ask(&mut state, &key);
            let generation = state.generation;
            let (known, of) = state.known.get(&key).map_or((vec![], 0), |known| (known.names.clone(), known.of));
            let left = until.saturating_duration_since(Instant::now());
            if of == generation || left.is_zero() {
                return known;
            }
            state = self.0.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Has a list looked up unless it is known or on its way.
    fn ask(&self, state: &mut State, key: &Key) {
        let generation = state.generation;
        let known = state.known.entry(key.clone()).or_default();
        if known.asked == generation {
            return;
        }
        known.asked = generation;
        let (source, key, this) = (state.source.clone(), key.clone(), self.clone());
        self.0.runtime.spawn(async move {
            let lookup = async {
                match &key {
                    Key::Databases(catalog) => source.databases(catalog).await,
                    Key::Tables(catalog, database) => source.tables(catalog, database).await,
                    Key::Columns(catalog, database, table) => source.columns(catalog, database, table).await,
                }
            };
            // a catalog that cannot answer has nothing to offer; statements tell why
            let found = tokio::time::timeout(LOOKUP, lookup).await.ok().and_then(Result::ok);
            let mut state = this.lock();
            let known = state.known.entry(key).or_default();
            if known.of <= generation {
                known.of = generation;
                if let Some(mut names) = found {
                    names.truncate(LONGEST);
                    known.names = names;
                }
            }
            drop(state);
            this.0.arrived.notify_all();
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
