//! Decoders trust what they read, and some panic on a damaged file. Here that is an error with the file's name, and no text
//! of a panic.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::task::Poll;
use std::thread;

use arrow::array::RecordBatch;
use calve_types::Result;
use datafusion::common::Result as DfResult;
use futures::future::poll_fn;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};
use iceberg::spec::DataFile;

use super::external;
use super::reader::unreadable;

const DAMAGED: &str = "it is damaged";

thread_local! {
    /// Whether this thread decodes, and its panics are somebody's damaged file.
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// Lets the process's hook know only of panics of threads that do not decode.
fn tell_others_only() {
    let hook = take_hook();
    set_hook(Box::new(move |panic| {
        if !DECODES.get() {
            hook(panic);
        }
    }));
}

/// What `work` gives, or the panic it ended with, of which nothing is printed.
///
/// # Errors
/// The panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> thread::Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(tell_others_only);
    let before = DECODES.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    DECODES.set(before);
    result
}

/// As [`caught`], for work that waits.
///
/// # Errors
/// The panic.
pub(crate) async fn caught_async<T>(work: impl Future<Output = T>) -> thread::Result<T> {
    let mut work = Box::pin(work);
    poll_fn(move |context| match caught(|| work.as_mut().poll(context)) {
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// The items of a stream; if it panics, `panicked` is the last one.
pub(crate) fn caught_stream<T: 'static>(
    items: impl Stream<Item = T> + Send + 'static,
    panicked: impl Fn() -> T + Send + 'static,
) -> impl Stream<Item = T> + Send + 'static {
    let mut items = Some(items.boxed());
    stream::poll_fn(move |context| {
        let Some(open) = &mut items else { return Poll::Ready(None) };
        caught(|| open.poll_next_unpin(context)).unwrap_or_else(|_| {
            items = None;
            Poll::Ready(Some(panicked()))
        })
    })
}

/// What `work` on a file gives.
///
/// # Errors
/// Those of `work`; `io`, naming the file, if it panics.
pub(crate) async fn guarded<T>(file: &DataFile, work: impl Future<Output = Result<T>>) -> Result<T> {
    caught_async(work).await.unwrap_or_else(|_| Err(unreadable(file, &DAMAGED)))
}

/// The batches of a file; one that panics is an error, and the last.
pub(crate) fn guarded_batches(
    file: DataFile,
    batches: BoxStream<'static, DfResult<RecordBatch>>,
) -> BoxStream<'static, DfResult<RecordBatch>> {
    caught_stream(batches, move || Err(external(unreadable(&file, &DAMAGED)))).boxed()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_panic_of_a_decoder_is_not_printed_and_others_are() {
        assert_eq!(caught(|| 7).unwrap(), 7);
        let told = Arc::new(AtomicUsize::new(0));
        let (counted, others) = (told.clone(), take_hook());
        set_hook(Box::new(move |panic| match thread::current().name() {
            Some("told") => drop(counted.fetch_add(1, Ordering::SeqCst)),
            _ => others(panic),
        }));
        tell_others_only();
        let outside = || thread::Builder::new().name("told".to_owned());
        let work = || {
            assert!(caught(|| panic!("damaged")).is_err());
            assert!(caught(|| caught(|| panic!("inside")).is_err()).unwrap());
        };
        outside().spawn(work).unwrap().join().unwrap();
        assert_eq!(told.load(Ordering::SeqCst), 0);
        assert!(outside().spawn(|| panic!("a bug")).unwrap().join().is_err());
        assert_eq!(told.load(Ordering::SeqCst), 1);

        assert!(caught_async(async { panic!("damaged") }).await.is_err());
        assert_eq!(caught_async(async { tokio::task::yield_now().await }).await.ok(), Some(()));
        let numbers = stream::iter([1, 2, 3]).map(|n| if n == 2 { panic!("damaged") } else { n });
        assert_eq!(caught_stream(numbers, || -1).collect::<Vec<_>>().await, [1, -1]);
    }
}
