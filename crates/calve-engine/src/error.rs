//! Errors of DataFusion as errors of calve.

use calve_types::Error;
use datafusion::common::DataFusionError;

/// The calve error inside a DataFusion error, or one that carries its text.
pub(crate) fn from_datafusion(error: DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(inner) => match inner.downcast::<DataFusionError>() {
                Ok(error) => from_datafusion(*error),
                Err(inner) => Error::new("runtime", inner.to_string()),
            },
        },
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => from_datafusion(*inner),
        DataFusionError::Shared(inner) => match inner.as_ref() {
            DataFusionError::External(e) if e.is::<Error>() => {
                e.downcast_ref::<Error>().cloned().unwrap_or_else(|| Error::new("runtime", inner.to_string()))
            }
            other => from_text(other),
        },
        DataFusionError::ArrowError(inner, context) => match *inner {
            arrow::error::ArrowError::ExternalError(e) => from_datafusion(DataFusionError::External(e)),
            other => from_text(&DataFusionError::ArrowError(Box::new(other), context)),
        },
        other => from_text(&other),
    }
}

fn from_text(error: &DataFusionError) -> Error {
    let text = error.strip_backtrace();
    match error {
        DataFusionError::ResourcesExhausted(_) => Error::new("out-of-memory", text).with_hint(
            "give the statement more memory with --memory-limit, or fewer partitions with 'parallelism.default'",
        ),
        DataFusionError::NotImplemented(_) => Error::unsupported(text),
        DataFusionError::Internal(_) => Error::internal(text),
        _ => Error::new("runtime", text),
    }
}
