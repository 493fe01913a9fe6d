//! What became of tests: for people, and for CI servers as JUnit XML.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// What became of a test.
#[derive(Debug)]
pub enum Outcome {
    /// The results are the recorded ones.
    Passed,
    /// They are recorded now.
    Recorded,
    /// They differ; the difference in plain text.
    Differs(String),
    /// There are no results, or they could not be read or recorded.
    Broken(String),
}

impl Outcome {
    /// Whether all is well.
    pub fn is_good(&self) -> bool {
        matches!(self, Self::Passed | Self::Recorded)
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
            status.set_message(message).set_description(description);
            status
        };
        let status = match outcome {
            Outcome::Passed | Outcome::Recorded => TestCaseStatus::success(),
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

/// Writes a file so that a reader sees the old or the new one, never a part.
///
/// # Errors
/// A sentence about what failed.
pub fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let write = || -> std::io::Result<()> {
        // what a link leads to is replaced, not the link
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mode = std::fs::metadata(&target).map_or(0o666, |old| old.permissions().mode() & 0o777);
        let mut file = tempfile::Builder::new()
            .prefix(".calve-")
            .permissions(std::fs::Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&target)?;
        Ok(())
    };
    write().map_err(|e| format!("cannot write '{}': {e}", path.display()))
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
            ("daily/b", &Outcome::Differs("-1\n+<2>\u{1b}\n".to_owned()), Duration::from_millis(20)),
            ("c", &Outcome::Broken("no\nfile".to_owned()), Duration::ZERO),
        ];
        junit(&path, &results, Duration::from_secs(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(r#"tests="3" skipped="0" failures="1" errors="1""#), "{text}");
        assert!(text.contains(r#"<testcase name="daily/b" classname="daily" time="0.020">"#), "{text}");
        assert!(text.contains("&lt;2&gt;") && text.contains(r#"<error message="no">"#), "{text}");
        assert!(junit(&dir.path().join("no/such/folder.xml"), &[], Duration::ZERO).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    }
}
