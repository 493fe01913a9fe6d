//! Which files a table has.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use calve_types::{Error, Result};
use regex::Regex;

use super::lines::OVERWRITTEN;
use super::lock::Lock;
use crate::options::Options;

/// A file that is read.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// When it was last written, milliseconds since 1970-01-01T00:00:00Z.
    pub modified: i64,
    /// The values of the partition keys, as their folders' names have them; `None` is NULL.
    pub partition: Vec<Option<String>>,
}

impl DataFile {
    fn new(path: PathBuf, metadata: &fs::Metadata, partition: &[Option<String>]) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_default();
        Self { path, size: metadata.len(), modified, partition: partition.to_owned() }
    }
}

/// `source.path.regex-pattern`: a regular expression for whole paths.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern(Regex);

impl PathPattern {
    /// # Errors
    /// `invalid-option` if it is no regular expression.
    pub fn new(pattern: &str, options: &Options) -> Result<Self> {
        let whole = format!("^(?:{pattern})$");
        Regex::new(&whole).map(Self).map_err(|e| {
            options.refuse(
                "invalid-option",
                format!(
                    "invalid value '{pattern}' for option 'source.path.regex-pattern': expected a regular expression"
                ),
                e.to_string(),
            )
        })
    }

    /// Whether a file is read.
    pub fn matches(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.0.is_match(path))
    }
}

/// The folder or file of a `path` option: a path, or a URI with the scheme `file`.
///
/// # Errors
/// `not-supported` for any other scheme.
pub(crate) fn local_path(path: &str) -> Result<PathBuf> {
    let Some((scheme, rest)) = path.split_once(':') else { return Ok(PathBuf::from(path)) };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if scheme.is_empty() || !scheme.chars().all(is_scheme) || !rest.starts_with('/') {
        return Ok(PathBuf::from(path));
    }
    if scheme != "file" {
        return Err(Error::unsupported(format!("path '{path}' of a filesystem table: scheme '{scheme}'"))
            .with_detail(format!("Could not find a file system implementation for scheme '{scheme}'."))
            .with_hint("use a path or a file:// URI of this machine"));
    }
    // file:///p, file://host/p, file:/p
    let path = match rest.strip_prefix("//") {
        Some(authority) => authority.find('/').and_then(|start| authority.get(start..)).unwrap_or("/"),
        None => rest,
    };
    Ok(PathBuf::from(path))
}

/// Whether Flink leaves a file or folder out: its name begins with `.` or `_`.
fn is_hidden(path: &Path) -> bool {
    path.file_name().and_then(|name| name.as_encoded_bytes().first()).is_some_and(|b| matches!(b, b'.' | b'_'))
}

fn io(path: &Path, error: &std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::NotFound {
        return Error::new("io", format!("path '{}' does not exist", path.display()))
            .with_detail(format!("File {} does not exist or it cannot be accessed.", path.display()));
    }
    Error::new("io", format!("cannot read '{}': {error}", path.display()))
}

/// As [`io`], for what was there a moment ago.
fn listed_io(path: &Path, error: &std::io::Error) -> Error {
    let refused = io(path, error);
    if error.kind() == std::io::ErrorKind::NotFound { refused.with_hint(OVERWRITTEN) } else { refused }
}

/// All files under `root`, folders within it included; those of one folder by name. Waits for an overwrite that is being
/// committed.
///
/// With partition keys only the folders `key=value/...` count, one level for each key.
///
/// # Errors
/// `io` if a folder cannot be read.
pub(crate) fn files(root: &Path, keys: &[String], default_name: &str) -> Result<Vec<DataFile>> {
    let metadata = fs::metadata(root).map_err(|e| io(root, &e))?;
    if is_hidden(root) {
        return Err(Error::new("invalid-option", format!("path '{}' is hidden", root.display()))
            .with_detail("Files and folders whose names begin with '.' or '_' are never read.")
            .with_hint("give the file or folder another name"));
    }
    let mut found = Vec::new();
    if metadata.is_dir() {
        let _lock = Lock::shared(root).map_err(|e| io(root, &e))?;
        let mut partition = Vec::new();
        partitions(root, keys, default_name, &mut partition, &mut found)?;
    } else if keys.is_empty() {
        found.push(DataFile::new(root.to_owned(), &metadata, &[]));
    } else {
        return Err(Error::new(
            "io",
            format!("path '{}' is a file, and a partitioned table needs a folder", root.display()),
        ));
    }
    Ok(found)
}

/// The files and folders in a folder that are not hidden, by name.
///
/// # Errors
/// `io` if it cannot be read.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>())
        .map_err(|e| listed_io(folder, &e))?;
    entries.retain(|path| !is_hidden(path));
    entries.sort_unstable();
    Ok(entries)
}

fn partitions(
    folder: &Path,
    keys: &[String],
    default_name: &str,
    partition: &mut Vec<Option<String>>,
    found: &mut Vec<DataFile>,
) -> Result<()> {
    let Some((key, rest)) = keys.split_first() else { return all_files(folder, partition, found) };
    for path in entries(folder)? {
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        let Some((found_key, value)) = name.split_once('=') else { continue };
        if unescape(found_key) != *key || !path.is_dir() {
            continue;
        }
        let value = unescape(value);
        partition.push((value != default_name).then_some(value));
        partitions(&path, rest, default_name, partition, found)?;
        partition.pop();
    }
    Ok(())
}

/// All files in a folder and the folders in it, by their paths: changes are read in that order.
fn all_files(folder: &Path, partition: &[Option<String>], found: &mut Vec<DataFile>) -> Result<()> {
    let first = found.len();
    // Folders still to be read; links that lead back would never end.
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if depth > 100 {
            return Err(Error::new("io", format!("folders are nested too deep at '{}'", folder.display())));
        }
        for path in entries(&folder)? {
            let metadata = fs::metadata(&path).map_err(|e| listed_io(&path, &e))?;
            if metadata.is_dir() {
                folders.push((path, depth + 1));
            } else {
                found.push(DataFile::new(path, &metadata, partition));
            }
        }
    }
    found.get_mut(first..).unwrap_or_default().sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

/// Characters that stand as `%XX` in the name of a partition's folder (`PartitionPathUtils`).
fn needs_escape(c: char) -> bool {
    matches!(
        c,
        '\u{1}'
            ..='\u{1f}'
                | '"'
                | '#'
                | '%'
                | '\''
                | '*'
                | '/'
                | ':'
                | '='
                | '?'
                | '\\'
                | '\u{7f}'
                | '{'
                | '['
                | ']'
                | '^'
    )
}

/// The folder's name of a partition's value or key.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if needs_escape(c) {
            out.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// The text that [`escape`] was given.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('%') {
        out.push_str(plain);
        let code = escaped.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(code) => {
                out.push(char::from(code));
                rest = escaped.get(2..).unwrap_or_default();
            }
            None => {
                out.push('%');
                rest = escaped;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn paths() {
        for (text, path) in [
            ("/a/b", "/a/b"),
            ("a/b", "a/b"),
            ("file:///a/b", "/a/b"),
            ("file:/a/b", "/a/b"),
            ("file://host/a", "/a"),
            ("a:b", "a:b"),
        ] {
            assert_eq!(local_path(text).unwrap(), PathBuf::from(path), "{text}");
        }
        assert_eq!(local_path("s3://bucket/x").unwrap_err().code, "not-supported");
    }

    #[test]
    fn hidden_files_are_left_out() {
        let dir = tempfile::Builder::new().prefix("t").tempdir().unwrap();
        for name in ["a", ".h", "_u", "sub/b", "sub/deep/c", ".hid/d", "_sub/e"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let found = files(dir.path(), &[], "D").unwrap();
        let mut names: Vec<_> = found.iter().map(|f| f.path.file_name().unwrap().to_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c"]);
        let error = files(&dir.path().join("nope"), &[], "D").unwrap_err();
        assert!(error.message.contains("nope"), "{error}");
        assert!(files(&dir.path().join("_u"), &[], "D").is_err());
    }

    #[test]
    fn partitions_come_from_folders() {
        let dir = tempfile::Builder::new().prefix("t").tempdir().unwrap();
        for name in ["k=1/j=x%2Fy/f", "k=D/j=2/sub/f", "k=1/f", "f", "other=1/j=2/f"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let found = files(dir.path(), &["k".to_owned(), "j".to_owned()], "D").unwrap();
        let values: Vec<_> = found.iter().map(|f| f.partition.clone()).collect();
        assert_eq!(values, [vec![Some("1".to_owned()), Some("x/y".to_owned())], vec![None, Some("2".to_owned())]]);
    }

    #[test]
    fn names_of_folders() {
        for text in ["a b", "x/y", "é=:%", "%4", "", "{[^]}"] {
            assert_eq!(unescape(&escape(text)), text);
        }
        assert_eq!(escape("x/y:%"), "x%2Fy%3A%25");
    }
}
