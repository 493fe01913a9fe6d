//! What goes wrong, and when: the calls that a statement makes on its storage and its catalog are counted, and one of them,
//! or all from one on, fail in the way that is asked for.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Ways in which a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is not done, and the answer says so: there is no right to it, or the device failed.
    Refused,
    /// It is not done, the answer says that it may be tried again, and calve tries again.
    Busy,
    /// It is not done, there is no answer, and calve tries again.
    LostRequest,
    /// It is done, there is no answer, and calve tries again.
    LostReply,
    /// It is done, there is no answer, and calve does not try again.
    LostForGood,
    /// It is done, the answer says that the server has a defect, and calve does not try again.
    DoneBut,
    /// It is done, and the answer ends in its middle.
    CutReply,
    /// It is not done before the statement is cancelled, and not after that.
    Hang,
    /// It is done, and does not answer before the statement is cancelled.
    DoneHang,
    /// It and all calls behind it get no answer and are not done, until the statement has ended.
    Gone,
    /// It and all calls behind it are refused, until the statement has ended.
    AllRefused,
}

impl Kind {
    /// All of them for servers.
    pub const REMOTE: [Kind; 11] = [
        Kind::Refused,
        Kind::Busy,
        Kind::LostRequest,
        Kind::LostReply,
        Kind::LostForGood,
        Kind::DoneBut,
        Kind::CutReply,
        Kind::Hang,
        Kind::DoneHang,
        Kind::Gone,
        Kind::AllRefused,
    ];

    /// Whether all calls behind it go wrong as well.
    pub fn lasts(self) -> bool {
        matches!(self, Kind::Gone | Kind::AllRefused)
    }

    /// Whether requests are to be tried again.
    pub fn is_retried(self) -> bool {
        matches!(self, Kind::Busy | Kind::LostRequest | Kind::LostReply | Kind::CutReply)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Refused => "refused",
            Kind::Busy => "busy",
            Kind::LostRequest => "no-request",
            Kind::LostReply => "no-reply",
            Kind::LostForGood => "lost",
            Kind::DoneBut => "done-500",
            Kind::CutReply => "cut",
            Kind::Hang => "hang",
            Kind::DoneHang => "done-hang",
            Kind::Gone => "gone",
            Kind::AllRefused => "all-refused",
        })
    }
}

/// What a server does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// What it is asked for.
    Do,
    /// Nothing, and says so with a status.
    Refuse(u16),
    /// What it is asked for, and says something else with a status.
    DoRefuse(u16),
    /// Nothing, and closes the connection.
    Close,
    /// What it is asked for, and closes the connection.
    DoClose,
    /// What it is asked for, and closes the connection in the middle of the answer.
    DoCut,
    /// Nothing, and closes the connection when [`Injector::release`] says so.
    Hold,
    /// What it is asked for, and closes the connection when [`Injector::release`] says so.
    DoHold,
}

#[derive(Default)]
struct State {
    /// Calls count.
    armed: bool,
    calls: usize,
    fault: Option<(usize, Kind)>,
    /// The calls at which something happened.
    hit: Vec<String>,
    /// A call hangs.
    held: bool,
    released: bool,
}

/// Counts calls, and makes them go wrong. Cheap to clone.
#[derive(Clone, Default)]
pub struct Injector(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    release: Condvar,
}

impl Injector {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on calls count; the one with a number goes wrong.
    pub fn arm(&self, fault: Option<(usize, Kind)>) {
        *self.state() = State { armed: true, fault, ..State::default() };
    }

    /// From now on all is well. How many calls there were, and what went wrong.
    pub fn disarm(&self) -> (usize, Vec<String>) {
        let mut state = self.state();
        (state.armed, state.released) = (false, true);
        self.0.release.notify_all();
        (state.calls, std::mem::take(&mut state.hit))
    }

    /// What is to become of a call.
    pub fn judge(&self, what: impl fmt::Display) -> Act {
        let mut state = self.state();
        if !state.armed {
            return Act::Do;
        }
        state.calls += 1;
        let calls = state.calls;
        let Some((at, kind)) = state.fault else { return Act::Do };
        if calls < at || calls > at && !kind.lasts() {
            return Act::Do;
        }
        state.hit.push(format!("call {calls}, {what}"));
        match kind {
            Kind::Refused | Kind::AllRefused => Act::Refuse(403),
            Kind::Busy => Act::Refuse(503),
            Kind::LostRequest | Kind::Gone => Act::Close,
            Kind::LostReply | Kind::LostForGood => Act::DoClose,
            Kind::DoneBut => Act::DoRefuse(500),
            Kind::CutReply => Act::DoCut,
            Kind::Hang => Act::Hold,
            Kind::DoneHang => Act::DoHold,
        }
    }

    /// Waits for a call that hangs.
    pub async fn held(&self) {
        while !self.state().held {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// A call hangs here, until it is released.
    pub fn hold(&self) {
        let mut state = self.state();
        state.held = true;
        while !state.released {
            let (next, waited) =
                self.0.release.wait_timeout(state, Duration::from_secs(60)).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() {
                return;
            }
        }
    }

    /// Ends what hangs.
    pub fn release(&self) {
        self.state().released = true;
        self.0.release.notify_all();
    }
}
