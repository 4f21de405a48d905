//! Image layout transitions and queue family ownership transfers (Vulkan 1.3, 7.1.2 *Image Layout
//! Transitions*, 7.7.4 *Queue Family Ownership Transfer*).
//!
//! A transition happens after the availability operation of the dependency that performs it and before its
//! visibility operation. It reads and writes all memory of its range; "available memory is automatically made
//! visible to a layout transition, and writes performed by a layout transition are automatically made
//! available". So it asks of an earlier write that it is available, of an earlier read that it happens
//! before, and of a later access what any write would, its own availability excepted. Transitions of one
//! queue execute in submission order.
//!
//! Unlike stages, transitions of a queue are no prefix: what follows one need not follow those before it.
//! That it is known is therefore kept for its own bytes, on which older transitions are superseded; only
//! scopes that hold all transitions (ALL_COMMANDS) raise the whole stream.

use super::clock::{Knowledge, Stream};
use super::comb::Runs;
use super::dependency::{Accesses, Stages};
use super::explain::Hazard;
use super::id::QueueId;
use super::past::PastBarrier;
use super::shadow::Operand;
use super::tracker::{Performing, Tracker};

impl Tracker {
    /// Performs the transitions of a dependency that knows `known` after its availability operation.
    pub(super) fn transitions(
        &mut self,
        queue: QueueId,
        known: &mut Knowledge,
        barrier: &mut PastBarrier,
    ) -> Vec<Hazard> {
        let state = self.queues.entry(queue).or_default();
        if let Some(more) = state.inherit.get(&Stages::TRANSITION) {
            known.join(more);
        }
        let first = state.counts.get(&Stages::TRANSITION).copied().unwrap_or(0) + 1;
        let performing = PastBarrier { frozen: known.available.clone(), ..barrier.clone() };
        state.performing = Some(Performing { start: known.clone(), barrier: performing });
        let mut hazards: Vec<Hazard> = Vec::new();
        for transition in &barrier.dependency.transitions {
            let operation = self.begin(queue, Stages::TRANSITION, transition.tag, None);
            for &range in &transition.ranges {
                let operand = Operand::fixed(Accesses::empty(), Accesses::TRANSITION);
                let mut found = self.access(operation, range, operand);
                found.extend(self.uses(operation, &Runs::from_iter([(range, operand)])));
                for hazard in found {
                    match hazards.iter_mut().find(|h| h.is_same_pair(&hazard)) {
                        Some(known) => known.bytes.extend(hazard.bytes),
                        None => hazards.push(hazard),
                    }
                }
            }
        }
        for (number, transition) in (first..).zip(&barrier.dependency.transitions) {
            known.available.raise(Stream::of_transitions(queue), number, Some(&transition.ranges));
        }
        let end = first + barrier.dependency.transitions.len() as u64;
        barrier.transitions = first..end;
        barrier.counts.insert(Stages::TRANSITION, end - 1);
        self.queues.entry(queue).or_default().performing = None;
        hazards
    }
}
