//! The memory that a session's statements share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

/// Operators that can spill get equal shares of at most three quarters; the rest is for those that cannot, among them the
/// merge that ends every sort. (DataFusion's `FairSpillPool` lets sorts take everything, and then a sort cannot merge
/// what it has spilled.)
#[derive(Debug)]
pub(crate) struct Pool {
    /// Bytes; without a limit as many as there can be.
    size: usize,
    is_limited: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    spillers: usize,
    spillable: usize,
    unspillable: usize,
    /// Merges that end sorts, and their part of `unspillable`.
    mergers: usize,
    merging: usize,
    /// The most that was held at a time.
    peak: usize,
}

/// What DataFusion calls the consumer of a merge that ends a sort. It takes what it can get, and another sort, which is not
/// there yet, fails if there is nothing left for its own.
fn is_merge(consumer: &MemoryConsumer) -> bool {
    consumer.name().starts_with("ExternalSorterMerge")
}

impl Pool {
    /// A pool of this many bytes; `None` is no limit.
    pub fn new(size: Option<usize>) -> Self {
        Self { size: size.unwrap_or(usize::MAX), is_limited: size.is_some(), state: Mutex::default() }
    }

    /// The most bytes that were held at a time since [`Self::begin`].
    pub fn peak(&self) -> usize {
        self.state().peak
    }

    /// A statement begins: the peak is what is held now.
    pub fn begin(&self) {
        let mut state = self.state();
        state.peak = state.held();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryPool for Pool {
    fn register(&self, consumer: &MemoryConsumer) {
        let mut state = self.state();
        state.spillers += usize::from(consumer.can_spill());
        state.mergers += usize::from(is_merge(consumer));
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        let mut state = self.state();
        state.spillers = state.spillers.saturating_sub(usize::from(consumer.can_spill()));
        state.mergers = state.mergers.saturating_sub(usize::from(is_merge(consumer)));
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        let mut state = self.state();
        state.add(reservation, additional);
        state.peak = state.peak.max(state.held());
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let mut state = self.state();
        let used = state.used(reservation);
        *used = used.saturating_sub(shrink);
        if is_merge(reservation.consumer()) {
            state.merging = state.merging.saturating_sub(shrink);
        }
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let mut state = self.state();
        let free = if reservation.consumer().can_spill() {
            let all = self.size.saturating_sub(state.unspillable.max(self.size / 4));
            (all / state.spillers.max(1)).saturating_sub(reservation.size())
        } else {
            let free = self.size.saturating_sub(state.unspillable.saturating_add(state.spillable));
            match is_merge(reservation.consumer()) {
                true => free.saturating_sub(state.kept_for_others(self.size, reservation.size())),
                false => free,
            }
        };
        if additional > free {
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{} needs {additional} bytes besides its {}, {free} of {} are free for it.",
                reservation.consumer().name(),
                reservation.size(),
                self.size
            )));
        }
        state.add(reservation, additional);
        state.peak = state.peak.max(state.held());
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.state().held()
    }

    fn memory_limit(&self) -> MemoryLimit {
        if self.is_limited { MemoryLimit::Finite(self.size) } else { MemoryLimit::Infinite }
    }
}

impl State {
    fn add(&mut self, reservation: &MemoryReservation, additional: usize) {
        let used = self.used(reservation);
        *used = used.saturating_add(additional);
        if is_merge(reservation.consumer()) {
            self.merging = self.merging.saturating_add(additional);
        }
    }

    /// What a merge that has `own` leaves to the other merges, which share a quarter of all memory with it.
    fn kept_for_others(&self, size: usize, own: usize) -> usize {
        let share = size / 4 / self.mergers.max(1);
        share.saturating_mul(self.mergers.saturating_sub(1)).saturating_sub(self.merging.saturating_sub(own))
    }

    fn held(&self) -> usize {
        self.spillable.saturating_add(self.unspillable)
    }

    fn used(&mut self, reservation: &MemoryReservation) -> &mut usize {
        if reservation.consumer().can_spill() { &mut self.spillable } else { &mut self.unspillable }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_merge_leaves_the_others_their_share() {
        let pool: Arc<dyn MemoryPool> = Arc::new(Pool::new(Some(1_000)));
        let register = |name: &str| MemoryConsumer::new(name).register(&pool);
        let (first, second) = (register("ExternalSorterMerge[0]"), register("ExternalSorterMerge[1]"));
        let other = register("a join");
        assert!(first.try_grow(876).is_err() && first.try_grow(875).is_ok());
        assert!(second.try_grow(125).is_ok() && other.try_grow(1).is_err());
        first.free();
        assert!(other.try_grow(875).is_ok() && first.try_grow(1).is_err());
        drop((second, other));
        assert!(first.try_grow(1_000).is_ok());
        drop(first);
        assert_eq!(pool.reserved(), 0);
    }
}
