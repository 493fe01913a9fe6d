//! Signals that end a run, and one that must not.

use std::task::{Context, Poll, Waker};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT, which Ctrl-C sends.
pub const INTERRUPT: u8 = libc::SIGINT as u8;
/// SIGTERM.
pub const TERMINATE: u8 = libc::SIGTERM as u8;
/// SIGHUP: the terminal is gone.
pub const HANG_UP: u8 = libc::SIGHUP as u8;

/// Requests to end that come from no key: SIGTERM and SIGHUP.
#[derive(Debug)]
pub struct End {
    terminate: Signal,
    /// `None` if it is ignored, as `nohup` wants it: a handler would undo that.
    hang_up: Option<Signal>,
}

impl End {
    /// Installs the handlers; must be called inside a tokio runtime.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn install() -> std::io::Result<Self> {
        let hang_up = if may_hang_up() { Some(signal(SignalKind::hangup())?) } else { None };
        Ok(Self { terminate: signal(SignalKind::terminate())?, hang_up })
    }

    /// The number of the next signal.
    pub async fn next(&mut self) -> u8 {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(()) = self.terminate.recv() => TERMINATE,
            Some(()) = hang_up => HANG_UP,
            else => std::future::pending().await,
        }
    }
}

/// Whether SIGHUP is known not to be ignored. Where the system does not tell, it keeps its meaning.
fn may_hang_up() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| !ignored(&status, libc::SIGHUP))
}

/// Whether a process with that `/proc/PID/status` ignores a signal: bit n - 1 of `SigIgn` (proc_pid_status(5)). A text that
/// does not tell says yes.
fn ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Waits for somebody to end the run.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    end: End,
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
            end: End::install()?,
            _file_size: signal(SignalKind::from_raw(libc::SIGXFSZ))?,
        })
    }

    /// The number of the next signal that asks for an end.
    pub async fn next(&mut self) -> u8 {
        tokio::select! {
            Some(()) = self.interrupt.recv() => INTERRUPT,
            number = self.end.next() => number,
            else => std::future::pending().await,
        }
    }

    /// Forgets the interrupts (Ctrl-C) that arrived up to now. A request to terminate is not forgotten.
    pub fn forget(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        while matches!(self.interrupt.poll_recv(&mut context), Poll::Ready(Some(()))) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nohup_is_seen() {
        let status = |mask: &str| format!("Name:\tcalve\nSigBlk:\t0000000000000000\nSigIgn:\t{mask}\nSigCgt:\t0\n");
        assert!(ignored(&status("0000000000000001"), libc::SIGHUP));
        assert!(ignored(&status("0000000000001001"), libc::SIGHUP));
        assert!(!ignored(&status("0000000000001000"), libc::SIGHUP));
        assert!(ignored("Name:\tcalve\n", libc::SIGHUP));
    }
}
