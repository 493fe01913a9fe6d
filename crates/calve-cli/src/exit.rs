//! How a run ends.

use std::process::ExitCode;

/// The exit codes of `calve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything ran.
    Done,
    /// `calve check` found problems; `calve test` differences, or tests that could not be run.
    Problems,
    /// A statement failed, or standard output could not be written.
    Failed,
    /// A commit's outcome is unknown: look at the table before running the script again.
    CommitUnknown,
    /// The command line is wrong, or a script cannot be read.
    Usage,
    /// A signal ended the run.
    Signalled(u8),
}

impl Exit {
    /// The graver of two ends, for runs that go on after a failure.
    pub fn worst(self, other: Self) -> Self {
        if self.weight() >= other.weight() { self } else { other }
    }

    fn weight(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Problems => 1,
            Self::Failed => 2,
            Self::CommitUnknown => 3,
            Self::Usage => 4,
            Self::Signalled(_) => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Problems => 1,
            Exit::Failed => 2,
            Exit::CommitUnknown => 3,
            Exit::Usage => 64,
            // as shells report a process that died of the signal
            Exit::Signalled(number) => number.saturating_add(128),
        })
    }
}
