//! A bounded queue of batches with several writers and several readers, for one consumer of a shared scan.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use arrow::record_batch::RecordBatch;
use calve_types::{Error, Result};

/// See the module. Readers may come and go, and a reader that waits and is never polled again holds nobody up: whoever
/// asks gets the next batch. (Tokio's channel has one reader, and a lock around it would be held by one that waits.)
#[derive(Debug)]
pub(super) struct Queue {
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    batches: VecDeque<RecordBatch>,
    /// `Ok` is the end of the rows.
    end: Option<Result<()>>,
    /// Nobody reads any more.
    left: bool,
    readers: Vec<Waker>,
    writers: Vec<Waker>,
}

impl Queue {
    /// A queue of at most `capacity` batches, at least one.
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), state: Mutex::default() }
    }

    /// Adds a batch as soon as there is room. False if nobody wants it: the readers have left, or the queue has failed.
    pub async fn push(&self, batch: RecordBatch) -> bool {
        let mut batch = Some(batch);
        poll_fn(|context| {
            let mut state = self.state();
            if state.left || state.end.is_some() {
                return Poll::Ready(false);
            }
            if state.batches.len() >= self.capacity {
                wait(&mut state.writers, context);
                return Poll::Pending;
            }
            state.batches.extend(batch.take());
            wake(state, |state| &mut state.readers);
            Poll::Ready(true)
        })
        .await
    }

    /// Ends the queue after its last batch; an error goes to every reader at once. The first end counts.
    pub fn end(&self, end: Result<()>) {
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        if end.is_err() {
            state.batches.clear();
        }
        state.end = Some(end);
        let writers = std::mem::take(&mut state.writers);
        wake(state, |state| &mut state.readers);
        writers.into_iter().for_each(Waker::wake);
    }

    /// Nobody will read any more.
    pub fn leave(&self) {
        let mut state = self.state();
        state.left = true;
        let batches = std::mem::take(&mut state.batches);
        wake(state, |state| &mut state.writers);
        drop(batches);
    }

    /// The next batch, `None` at the end.
    pub fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        let mut state = self.state();
        if let Some(batch) = state.batches.pop_front() {
            wake(state, |state| &mut state.writers);
            return Poll::Ready(Some(Ok(batch)));
        }
        match &state.end {
            Some(Err(error)) => Poll::Ready(Some(Err(error.clone()))),
            // a queue that was left has lost batches: who reads it all the same must not take that for the end
            _ if state.left => Poll::Ready(Some(Err(Error::internal("a shared scan is read after its end")))),
            Some(Ok(())) => Poll::Ready(None),
            None => {
                wait(&mut state.readers, context);
                Poll::Pending
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait(waiting: &mut Vec<Waker>, context: &Context<'_>) {
    if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
        waiting.push(context.waker().clone());
    }
}

/// Wakes all, outside of the lock. One would do if it were sure to be polled.
fn wake(mut state: MutexGuard<'_, State>, of: fn(&mut State) -> &mut Vec<Waker>) {
    let waiting = std::mem::take(of(&mut state));
    drop(state);
    waiting.into_iter().for_each(Waker::wake);
}
