//! Errors of DataFusion as errors of calve.

use calve_types::Error;
use datafusion::common::DataFusionError;

/// The calve error inside a DataFusion error, or one that carries its text.
pub(crate) fn from_datafusion(error: DataFusionError) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<Error>() {
            return error.clone();
        }
        cause = error.source();
    }
    let text = error.strip_backtrace();
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => out_of_memory(text),
        DataFusionError::NotImplemented(_) => Error::unsupported(text),
        DataFusionError::Internal(_) => Error::internal(text),
        _ => Error::new("runtime", text),
    }
}

/// A calve error on its way through DataFusion; [`from_datafusion`] finds it again.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The code of [`out_of_memory`].
pub(crate) const OUT_OF_MEMORY: &str = "out-of-memory";

/// The error of a statement that the memory pool refused more.
pub(crate) fn out_of_memory(detail: impl Into<String>) -> Error {
    Error::new(OUT_OF_MEMORY, "the statement needs more memory than it may have")
        .with_detail(detail)
        .with_hint("give it more with --memory-limit, or run fewer parts at once: SET 'parallelism.default' = '1'")
}
