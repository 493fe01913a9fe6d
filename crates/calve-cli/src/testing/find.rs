//! Which tests there are.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// A script, and where its recorded results are or will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// The path below the folder that was named, without `.sql`, with `/` between its parts.
    pub name: String,
    /// The script, as the command line leads to it.
    pub script: PathBuf,
}

impl Test {
    /// The file with the recorded results.
    pub fn recorded(&self) -> PathBuf {
        self.script.with_extension("out")
    }
}

/// The scripts below the paths, sorted by name within each; a path may be a script itself. Folders that begin with a dot
/// and links to folders are not entered.
///
/// # Errors
/// A sentence about a path that cannot be read.
pub fn tests(paths: &[PathBuf]) -> Result<Vec<Test>, String> {
    let mut tests: Vec<Test> = Vec::new();
    let mut known = HashSet::new();
    for path in paths {
        let unreadable = |e: io::Error| format!("cannot read '{}': {e}", path.display());
        let mut found = Vec::new();
        if std::fs::metadata(path).map_err(unreadable)?.is_dir() {
            collect(path, path, &mut found)?;
        } else if path.extension().is_some_and(|e| e == "sql") {
            let name = path.with_extension("").file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.push(Test { name, script: path.clone() });
        } else {
            return Err(format!("'{}' is neither a folder nor a .sql file", path.display()));
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        tests.extend(found.into_iter().filter(|test| known.insert(test.script.clone())));
    }
    Ok(tests)
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Test>) -> Result<(), String> {
    // folders that wait: a deep tree costs no stack
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let unreadable = |e: io::Error| format!("cannot read '{}': {e}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            let path = entry.path();
            if entry.file_type().map_err(unreadable)?.is_dir() {
                if !hidden {
                    folders.push(path);
                }
            } else if !hidden && path.extension().is_some_and(|e| e == "sql") {
                let name = path.with_extension("");
                let name = name.strip_prefix(root).unwrap_or(&name).to_string_lossy().into_owned();
                found.push(Test { name, script: path });
            }
        }
    }
    Ok(())
}

/// Whether a pattern names a test: `*` is any number of characters and `?` one, but no slash. A pattern without a slash
/// looks at the last part of the name.
pub fn selects(pattern: &str, name: &str) -> bool {
    let pattern = pattern.strip_suffix(".sql").unwrap_or(pattern);
    let name = match name.rsplit_once('/') {
        Some((_, last)) if !pattern.contains('/') => last,
        _ => name,
    };
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // the last star, and where the text behind what it stands for begins
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p), name.get(n)) {
            (None, None) => return true,
            (Some('*'), _) => {
                star = Some((p, n));
                p += 1;
            }
            (Some('?'), Some(c)) if *c != '/' => (p, n) = (p + 1, n + 1),
            (Some(a), Some(b)) if a == b => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, taken)) if name.get(taken).is_some_and(|c| *c != '/') => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn patterns_select_by_name() {
        for (pattern, name, selected) in [
            ("*", "orders", true),
            ("*", "daily/orders", true),
            ("orders", "daily/orders", true),
            ("orders.sql", "daily/orders", true),
            ("ord*", "daily/orders", true),
            ("*er*s", "orders", true),
            ("o?ders", "orders", true),
            ("daily/*", "daily/orders", true),
            ("*/orders", "daily/orders", true),
            ("*/orders", "a/b/orders", false),
            ("daily", "daily/orders", false),
            ("ord", "orders", false),
            ("", "orders", false),
            ("日*", "日本", true),
            ("a*b*c", "abbbbbbbbbb", false),
        ] {
            assert_eq!(selects(pattern, name), selected, "{pattern} {name}");
        }
        let (stars, letters) = ("a*".repeat(50), "a".repeat(5_000));
        assert!(!selects(&format!("{stars}b"), &letters), "no time to speak of");
    }

    #[test]
    fn scripts_are_found_in_folders() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["b.sql", "a/x.sql", "a/x.out", ".git/y.sql", "c.txt", "a/é b.sql"] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
        let names = |paths: &[PathBuf]| tests(paths).map(|t| t.into_iter().map(|t| t.name).collect::<Vec<_>>());
        assert_eq!(names(&[dir.path().to_path_buf()]).unwrap(), ["a/x", "a/é b", "b"]);
        assert_eq!(names(&[dir.path().join("b.sql"), dir.path().join("b.sql")]).unwrap(), ["b"]);
        assert!(names(&[dir.path().join("nothing")]).unwrap_err().contains("cannot read"));
        assert!(names(&[dir.path().join("c.txt")]).unwrap_err().contains("neither"));
    }
}
