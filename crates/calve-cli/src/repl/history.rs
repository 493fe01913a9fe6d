//! What was typed before, kept in a file.
//!
//! Each entry is a line of the file, its line breaks as `\n`. Sessions add to the file as they go, several at a time;
//! the next one that reads it drops what is doubled or too old.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use calve_engine::masked;
use rustyline::history::{History, SearchDirection, SearchResult};

/// Entries that are kept.
const KEPT: usize = 5_000;
/// Longer entries are not kept, in bytes.
const LONGEST: usize = 256 * 1024;
/// What is read of a file, in bytes.
const READ: u64 = 64 << 20;

/// Where the history of this user is by default; `None` without a home.
pub fn default_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("calve/history"))
}

/// Entries, oldest first, each once.
#[derive(Debug, Default)]
pub struct Entries {
    entries: VecDeque<String>,
    /// Where they are kept; `None` if they are not.
    file: Option<PathBuf>,
}

impl Entries {
    /// The entries of a file, which need not exist.
    ///
    /// # Errors
    /// The file cannot be read or written. The entries work all the same, and are not kept.
    pub fn open(file: PathBuf) -> (Self, io::Result<()>) {
        let mut entries = Self::default();
        let opened = entries.read(&file);
        if opened.is_ok() {
            entries.file = Some(file);
        }
        (entries, opened)
    }

    /// Takes in what was typed, and adds it to the file, but for the values of secret options. Text that begins with a space
    /// is not kept.
    ///
    /// # Errors
    /// The file cannot be written; it is not tried again.
    pub fn keep(&mut self, text: &str) -> io::Result<()> {
        if text.starts_with(char::is_whitespace) || !self.push(text) {
            return Ok(());
        }
        let Some(file) = &self.file else { return Ok(()) };
        let written = append(file, &masked(text));
        if written.is_err() {
            self.file = None;
        }
        written
    }

    /// Where the entries are kept.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The newest entry is the only one of its text. `false` if the text is no entry.
    fn push(&mut self, text: &str) -> bool {
        if text.trim().is_empty() || text.len() > LONGEST {
            return false;
        }
        self.entries.retain(|known| known != text);
        if self.entries.len() >= KEPT {
            self.entries.pop_front();
        }
        self.entries.push_back(text.to_owned());
        true
    }

    fn read(&mut self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = private().read(true).append(true).create(true).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut bytes = vec![];
        file.take(READ).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut seen = HashSet::new();
        let mut lines = 0_usize;
        // the newest of equal entries counts
        let mut kept: VecDeque<String> = VecDeque::new();
        for line in text.lines().rev() {
            lines += 1;
            if kept.len() < KEPT && !line.trim().is_empty() && line.len() <= 2 * LONGEST && seen.insert(line) {
                kept.push_front(unescaped(line));
            }
        }
        self.entries = kept;
        if lines > self.entries.len() + KEPT / 4 {
            self.rewrite(path)?;
        }
        Ok(())
    }

    fn rewrite(&self, path: &Path) -> io::Result<()> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}", std::process::id()));
        let new = path.with_file_name(name);
        let text: String = self.entries.iter().map(|entry| escaped(entry) + "\n").collect();
        let written = private()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&new)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| std::fs::rename(&new, path));
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written
    }

    fn find(
        &self,
        start: usize,
        dir: SearchDirection,
        test: impl Fn(&str) -> Option<usize>,
    ) -> Option<SearchResult<'_>> {
        let hit = |(idx, entry): (usize, &'_ String)| test(entry).map(|pos| (idx, pos));
        let (idx, pos) = match dir {
            SearchDirection::Forward => self.entries.iter().enumerate().skip(start).find_map(hit),
            SearchDirection::Reverse => {
                self.entries.iter().enumerate().take(start.saturating_add(1)).rev().find_map(hit)
            }
        }?;
        Some(SearchResult { entry: Cow::Borrowed(self.entries.get(idx)?), idx, pos })
    }
}

/// Statements may hold what is nobody else's business: the file is for its owner alone.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// One write, so that sessions do not mix their entries.
fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = private().append(true).create(true).open(path)?;
    file.write_all((escaped(text) + "\n").as_bytes())
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            c => text.push(c),
        }
    }
    text
}

type Result<T> = rustyline::Result<T>;

/// How the line editor sees the entries. It never adds to them by itself.
impl History for Entries {
    fn get(&self, index: usize, _: SearchDirection) -> Result<Option<SearchResult<'_>>> {
        Ok(self.entries.get(index).map(|entry| SearchResult { entry: Cow::Borrowed(entry), idx: index, pos: 0 }))
    }

    fn add(&mut self, line: &str) -> Result<bool> {
        Ok(self.push(line))
    }

    fn add_owned(&mut self, line: String) -> Result<bool> {
        Ok(self.push(&line))
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn set_max_len(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn ignore_dups(&mut self, _: bool) -> Result<()> {
        Ok(())
    }

    fn ignore_space(&mut self, _: bool) {}

    fn save(&mut self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn append(&mut self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn load(&mut self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.entries.clear();
        Ok(())
    }

    fn search(&self, term: &str, start: usize, dir: SearchDirection) -> Result<Option<SearchResult<'_>>> {
        Ok(if term.is_empty() { None } else { self.find(start, dir, |entry| entry.find(term)) })
    }

    fn starts_with(&self, term: &str, start: usize, dir: SearchDirection) -> Result<Option<SearchResult<'_>>> {
        let test = |entry: &str| entry.starts_with(term).then_some(term.len());
        Ok(if term.is_empty() { None } else { self.find(start, dir, test) })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn all(entries: &Entries) -> Vec<&str> {
        entries.entries.iter().map(String::as_str).collect()
    }

    #[test]
    fn entries_come_back_with_all_their_lines() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new/history");
        let (mut entries, opened) = Entries::open(file.clone());
        opened.unwrap();
        let texts = ["SELECT 1;", "SELECT\n  'a\\nb'\n;", "x\r\ny;", "\\", "é日本;"];
        for text in texts {
            entries.keep(text).unwrap();
        }
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), texts.len());
        assert_eq!(all(&Entries::open(file).0), texts);
    }

    #[test]
    fn secrets_are_not_kept_beyond_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("history");
        let (mut entries, _) = Entries::open(file.clone());
        let typed = "CREATE CATALOG c WITH (\n  's3.secret-access-key'='hush'\n);";
        entries.keep(typed).unwrap();
        assert_eq!(all(&entries), [typed], "it may be put right and run again");
        assert!(!std::fs::read_to_string(&file).unwrap().contains("hush"));
        assert_eq!(all(&Entries::open(file).0), ["CREATE CATALOG c WITH (\n  's3.secret-access-key'='******'\n);"]);
    }

    #[test]
    fn an_entry_is_kept_once_and_the_newest_place_counts() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("history");
        let (mut entries, _) = Entries::open(file.clone());
        for text in ["a;", "b;", "a;", " secret;", "", "\n"] {
            entries.keep(text).unwrap();
        }
        assert_eq!(all(&entries), ["b;", "a;"]);
        assert_eq!(all(&Entries::open(file).0), ["b;", "a;"]);
    }

    #[test]
    fn the_file_does_not_grow_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("history");
        let text: String = (0..3 * KEPT).map(|n| format!("SELECT {n};\n")).collect();
        std::fs::write(&file, text).unwrap();
        let (entries, opened) = Entries::open(file.clone());
        opened.unwrap();
        assert_eq!(entries.len(), KEPT);
        assert_eq!(entries.entries.back().map(String::as_str), Some(format!("SELECT {};", 3 * KEPT - 1).as_str()));
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), KEPT);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_used_breaks_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_owned(), PathBuf::from("/dev/null"), PathBuf::from("/dev/null/x")] {
            let (mut entries, opened) = Entries::open(path.clone());
            assert!(opened.is_err(), "{path:?}");
            entries.keep("SELECT 1;").unwrap();
            assert_eq!(all(&entries), ["SELECT 1;"]);
        }
        let file = dir.path().join("bytes");
        std::fs::write(&file, b"SELECT '\xff';\n\n\\x\\").unwrap();
        let (entries, opened) = Entries::open(file);
        opened.unwrap();
        assert_eq!(all(&entries), ["SELECT '\u{fffd}';", "x\\"]);
    }

    #[test]
    fn searching_goes_both_ways() {
        let mut entries = Entries::default();
        for text in ["SELECT 1;", "SHOW TABLES;", "SELECT 2;"] {
            entries.push(text);
        }
        let at = |found: Option<SearchResult<'_>>| found.map(|r| (r.idx, r.pos));
        assert_eq!(at(entries.search("SELECT", 2, SearchDirection::Reverse).unwrap()), Some((2, 0)));
        assert_eq!(at(entries.search("SELECT", 1, SearchDirection::Reverse).unwrap()), Some((0, 0)));
        assert_eq!(at(entries.search("TABLES", 0, SearchDirection::Forward).unwrap()), Some((1, 5)));
        assert_eq!(at(entries.search("nothing", 2, SearchDirection::Reverse).unwrap()), None);
        assert_eq!(at(entries.starts_with("SHOW", 9, SearchDirection::Reverse).unwrap()), Some((1, 4)));
    }
}
