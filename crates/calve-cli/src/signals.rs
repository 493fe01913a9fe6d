//! Signals that end a run, and one that must not.

use std::task::{Context, Poll, Waker};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for somebody to end the run.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// A write beyond RLIMIT_FSIZE raises SIGXFSZ, which kills the process unless it is handled; handled, the write fails
    /// with EFBIG and the statement cleans up after itself. Nobody reads this one.
    _file_size: Signal,
}

impl Signals {
    /// Installs the handlers; must be called inside a tokio runtime.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn install() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            _file_size: signal(SignalKind::from_raw(libc::SIGXFSZ))?,
        })
    }

    /// The number of the next signal that asks for an end.
    pub async fn next(&mut self) -> u8 {
        tokio::select! {
            Some(()) = self.interrupt.recv() => 2,
            Some(()) = self.terminate.recv() => 15,
            else => std::future::pending().await,
        }
    }

    /// Forgets the interrupts (Ctrl-C) that arrived up to now. A request to terminate is not forgotten.
    pub fn forget(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        while matches!(self.interrupt.poll_recv(&mut context), Poll::Ready(Some(()))) {}
    }
}
