//! What became of tests: for people, and for CI servers as JUnit XML.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Blanks in a report for a tab of a difference: its control characters are removed, and columns must not run together.
const TAB: &str = "    ";

/// What became of a test.
#[derive(Debug)]
pub enum Outcome {
    /// The results are the recorded ones.
    Passed,
    /// They are recorded now.
    Recorded(Counts),
    /// They differ; the difference in plain text.
    Differs(String),
    /// There are no results, or they could not be read or recorded.
    Broken(String),
}

/// Statements of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// All that ran.
    pub statements: usize,
    /// Those that failed.
    pub failed: usize,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let s = if self.statements == 1 { "" } else { "s" };
        write!(f, "{} statement{s}", self.statements)?;
        match self.failed {
            0 => Ok(()),
            1 => f.write_str(", 1 of them an error"),
            n => write!(f, ", {n} of them errors"),
        }
    }
}

impl Outcome {
    /// Whether all is well.
    pub fn is_good(&self) -> bool {
        matches!(self, Self::Passed | Self::Recorded(_))
    }
}

/// Writes a JUnit report of tests: names, outcomes and times.
///
/// # Errors
/// A sentence about a file that cannot be written.
pub fn junit(path: &Path, results: &[(&str, &Outcome, Duration)], elapsed: Duration) -> Result<(), String> {
    let mut suite = TestSuite::new("calve test");
    suite.set_time(elapsed);
    for (name, outcome, time) in results {
        let failure = |kind, message: &str, description: &str| {
            let mut status = TestCaseStatus::non_success(kind);
            status.set_message(message).set_description(description.replace('\t', TAB));
            status
        };
        let status = match outcome {
            Outcome::Passed | Outcome::Recorded(_) => TestCaseStatus::success(),
            Outcome::Differs(difference) => {
                failure(NonSuccessKind::Failure, "the results differ from the recorded ones", difference)
            }
            Outcome::Broken(why) => failure(NonSuccessKind::Error, why.lines().next().unwrap_or_default(), why),
        };
        let mut case = TestCase::new(*name, status);
        case.set_classname(name.rsplit_once('/').map_or("calve test", |(folder, _)| folder)).set_time(*time);
        suite.add_test_case(case);
    }
    let mut report = Report::new("calve test");
    report.set_time(elapsed).add_test_suite(suite);
    let text = report.to_string().map_err(|e| format!("cannot write '{}': {e}", path.display()))?;
    write_whole(path, &text)
}

/// Checks that a file can be written later, and leaves everything as it is.
///
/// # Errors
/// A sentence about why not.
pub fn can_write(path: &Path) -> Result<(), String> {
    let check = || {
        if path.is_dir() {
            return Err(std::io::ErrorKind::IsADirectory.into());
        }
        beside(path).map(|_| ())
    };
    check().map_err(|e| cannot_write(path, &e))
}

/// A new file that is to take the place of another, and that place.
fn beside(path: &Path) -> std::io::Result<(tempfile::NamedTempFile, PathBuf)> {
    use std::os::unix::fs::PermissionsExt;
    // what a link leads to is replaced, not the link
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mode = std::fs::metadata(&target).map_or(0o666, |old| old.permissions().mode() & 0o777);
    let permissions = std::fs::Permissions::from_mode(mode);
    let file = tempfile::Builder::new().prefix(".calve-").permissions(permissions).tempfile_in(folder)?;
    Ok((file, target))
}

/// Names the file that was asked for; the error may name the new one beside it.
fn cannot_write(path: &Path, e: &std::io::Error) -> String {
    let why = e.to_string();
    let why = why.split_once(" at path ").map_or(why.as_str(), |(why, _)| why);
    format!("cannot write '{}': {why}", path.display())
}

/// Writes a file so that a reader sees the old or the new one, never a part.
///
/// # Errors
/// A sentence about what failed.
pub fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    let write = || -> std::io::Result<()> {
        let (mut file, target) = beside(path)?;
        file.write_all(text.as_bytes())?;
        file.persist(&target)?;
        Ok(())
    };
    write().map_err(|e| cannot_write(path, &e))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn ci_servers_get_failures_with_their_difference() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.xml");
        std::fs::write(&path, "old").unwrap();
        let results = [
            ("a", &Outcome::Passed, Duration::from_millis(10)),
            ("daily/b", &Outcome::Differs("-1\tx\n+<2>\u{1b}[m\ty\n".to_owned()), Duration::from_millis(20)),
            ("c", &Outcome::Broken("no\nfile".to_owned()), Duration::ZERO),
        ];
        junit(&path, &results, Duration::from_secs(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(r#"tests="3" skipped="0" failures="1" errors="1""#), "{text}");
        assert!(text.contains(r#"<testcase name="daily/b" classname="daily" time="0.020">"#), "{text}");
        assert!(text.contains("-1    x\n+&lt;2&gt;    y\n") && text.contains(r#"<error message="no">"#), "{text}");
        assert!(junit(&dir.path().join("no/such/folder.xml"), &[], Duration::ZERO).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (file, missing) = (dir.path().join("report.xml"), dir.path().join("no/such/report.xml"));
        std::fs::write(&file, "old").unwrap();
        assert_eq!(can_write(&file), Ok(()));
        assert_eq!(can_write(&dir.path().join("new.xml")), Ok(()));
        let why = format!("cannot write '{}': No such file or directory (os error 2)", missing.display());
        assert_eq!(can_write(&missing), Err(why.clone()));
        assert_eq!(write_whole(&missing, ""), Err(why));
        assert!(can_write(&file.join("x")).is_err() && can_write(dir.path()).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn counts_are_told_in_words() {
        let told = |statements, failed| Counts { statements, failed }.to_string();
        assert_eq!(told(1, 0), "1 statement");
        assert_eq!(told(2, 1), "2 statements, 1 of them an error");
        assert_eq!(told(17, 12), "17 statements, 12 of them errors");
    }
}
