//! Foreign errors become [`calve_types::Error`], with a sentence about what was being done.

use std::fmt::Display;

use calve_types::{Error, Result};
use datafusion::common::DataFusionError;

/// A calve error on its way through DataFusion.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Adds what was being done to an error of a library.
pub trait Context<T> {
    /// `Err` becomes `cannot <what>: <error>`; `what` is an infinitive with its object, such as `read the manifest '/x'`.
    ///
    /// # Errors
    /// The receiver's, with a code: `io`, `access-denied`, `not-supported`, `invalid-table` or `commit-conflict`.
    fn context<D: Display>(self, what: impl FnOnce() -> D) -> Result<T>;
}

impl<T> Context<T> for iceberg::Result<T> {
    fn context<D: Display>(self, what: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|e| {
            // one of ours that came through iceberg
            if let Some(ours) = std::error::Error::source(&e).and_then(|source| source.downcast_ref::<Error>()) {
                let mut ours = ours.clone();
                if !ours.message.starts_with("cannot ") {
                    ours.message = format!("cannot {}: {}", what(), ours.message);
                }
                return ours;
            }
            let code = match e.kind() {
                iceberg::ErrorKind::FeatureUnsupported => "not-supported",
                iceberg::ErrorKind::CatalogCommitConflicts => "commit-conflict",
                iceberg::ErrorKind::Unexpected => "io",
                _ => "invalid-table",
            };
            Error::new(code, format!("cannot {}: {}", what(), e.message()))
        })
    }
}

macro_rules! io_context {
    ($($error:ty),*) => {$(
        impl<T> Context<T> for Result<T, $error> {
            fn context<D: Display>(self, what: impl FnOnce() -> D) -> Result<T> {
                self.map_err(|e| Error::new("io", format!("cannot {}: {e}", what())))
            }
        }
    )*};
}

io_context!(std::io::Error, object_store::path::Error, parquet::errors::ParquetError);

impl<T> Context<T> for object_store::Result<T> {
    fn context<D: Display>(self, what: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|e| crate::io::explain(&e).error(what()))
    }
}

macro_rules! data_context {
    ($($error:ty),*) => {$(
        impl<T> Context<T> for Result<T, $error> {
            fn context<D: Display>(self, what: impl FnOnce() -> D) -> Result<T> {
                self.map_err(|e| Error::new("invalid-table", format!("cannot {}: {e}", what())))
            }
        }
    )*};
}

data_context!(serde_json::Error, arrow::error::ArrowError);
