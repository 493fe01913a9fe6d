//! The memory that a session's statements share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

/// Operators that can spill get equal shares of at most three quarters; the rest is for those that cannot, among them the
/// merge that ends every sort. (DataFusion's `FairSpillPool` lets sorts take everything, and then a sort cannot merge
/// what it has spilled.)
#[derive(Debug)]
pub(crate) struct Pool {
    size: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    spillers: usize,
    spillable: usize,
    unspillable: usize,
}

impl Pool {
    /// A pool of this many bytes.
    pub fn new(size: usize) -> Self {
        Self { size, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryPool for Pool {
    fn register(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            self.state().spillers += 1;
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            let mut state = self.state();
            state.spillers = state.spillers.saturating_sub(1);
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        let mut state = self.state();
        let used = state.used(reservation);
        *used = used.saturating_add(additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let mut state = self.state();
        let used = state.used(reservation);
        *used = used.saturating_sub(shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let mut state = self.state();
        let free = if reservation.consumer().can_spill() {
            let all = self.size.saturating_sub(state.unspillable.max(self.size / 4));
            (all / state.spillers.max(1)).saturating_sub(reservation.size())
        } else {
            self.size.saturating_sub(state.unspillable.saturating_add(state.spillable))
        };
        if additional > free {
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{} needs {additional} bytes besides its {}, {free} of {} are free for it.",
                reservation.consumer().name(),
                reservation.size(),
                self.size
            )));
        }
        *state.used(reservation) += additional;
        Ok(())
    }

    fn reserved(&self) -> usize {
        let state = self.state();
        state.spillable.saturating_add(state.unspillable)
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.size)
    }
}

impl State {
    fn used(&mut self, reservation: &MemoryReservation) -> &mut usize {
        if reservation.consumer().can_spill() { &mut self.spillable } else { &mut self.unspillable }
    }
}
