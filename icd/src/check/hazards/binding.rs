//! Sparse resources, and the bindings that vkQueueBindSparse makes to them.

use super::{At, Found, Hazards};
use pellucid_memory::commands::{Payload, QueueId, Range};

impl Hazards {
    /// These are the addresses of a sparse resource from now on.
    pub fn sparse(&self, address: u64, size: u64) {
        self.state.lock().tracker.sparse(Range::new(address, size));
    }

    /// The batch of bindings that a queue executes begins to bind.
    pub fn begin_bindings(&self, at: &At<'_>) {
        let mut state = self.state.lock();
        let tag = state.name(at, "vkQueueBindSparse", None);
        state.tracker.begin_bindings(QueueId(at.queue), tag);
    }

    /// It binds memory to bytes of a sparse resource, from these addresses on, or unbinds what is there.
    /// Nothing that follows conflicts with what was done to the bytes before.
    pub fn bind(&self, queue: u32, parts: &[(Range, Option<u64>)]) -> Vec<Found> {
        let mut state = self.state.lock();
        let hazards = state.tracker.bind(QueueId(queue), parts);
        for &(bytes, _) in parts {
            state.ownership.forget(bytes);
            state.tracker.forget(bytes);
        }
        hazards.into_iter().map(|hazard| state.found(hazard)).collect()
    }

    /// The batch signals a semaphore: what that carries.
    pub fn signal_bindings(&self, queue: u32) -> Payload {
        self.state.lock().tracker.signal_bindings(QueueId(queue))
    }

    /// The batch has ended.
    pub fn end_bindings(&self, queue: u32) {
        self.state.lock().tracker.end_bindings(QueueId(queue));
    }
}
