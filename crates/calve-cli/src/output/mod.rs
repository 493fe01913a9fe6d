//! How results reach standard output.

pub mod jsonl;
pub mod table;

use calve_types::Error;

/// Why a result was not given out completely.
#[derive(Debug)]
pub enum Failure {
    /// The statement failed while its rows were read.
    Statement(Error),
    /// Standard output cannot be written.
    Stdout(std::io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Statement(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Stdout(error)
    }
}
