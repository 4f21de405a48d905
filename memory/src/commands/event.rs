//! Events: dependencies whose halves are two commands, or a call of the host and a command.

use super::clock::Knowledge;
use super::dependency::{Dependency, Stages};
use super::explain::Hazard;
use super::id::QueueId;
use super::tracker::Tracker;
use std::collections::BTreeMap;

/// What a set event carries to its waits.
#[derive(Clone, Debug)]
pub struct EventToken {
    /// Where it was set; `None` for the host.
    pub(super) queue: Option<QueueId>,
    pub(super) stages: Stages,
    pub(super) knowledge: Knowledge,
    pub(super) counts: BTreeMap<Stages, u64>,
}

impl Tracker {
    /// vkCmdSetEvent: the first scope of the waits for it.
    pub fn set_event(&mut self, queue: QueueId, stages: Stages) -> EventToken {
        let state = self.queues.entry(queue).or_default();
        let knowledge = state.first_scope(queue, Some(stages.with_earlier()));
        state.everything.join(&knowledge);
        EventToken { queue: Some(queue), stages, knowledge, counts: state.counts.clone() }
    }

    /// vkCmdWaitEvents2: each dependency with what the event carries that it is for. They do not chain with
    /// one another.
    pub fn wait_each(
        &mut self,
        queue: QueueId,
        waits: &[(&[&EventToken], &Dependency)],
        tag: u64,
    ) -> Vec<Hazard> {
        let begun = waits.iter().map(|(events, dependency)| self.begin_wait(queue, events, dependency));
        let begun = begun.collect();
        self.finish(queue, begun, tag)
    }

    /// The first half of a wait: what precedes it, and is available.
    fn begin_wait<'a>(
        &mut self,
        queue: QueueId,
        events: &[&EventToken],
        dependency: &'a Dependency,
    ) -> (&'a Dependency, Knowledge, BTreeMap<Stages, u64>) {
        let state = self.queues.entry(queue).or_default();
        let mut known = state.always.clone();
        let mut counts: BTreeMap<Stages, u64> = BTreeMap::new();
        if dependency.source.contains(Stages::HOST) {
            known.join_host(&state.everything);
        }
        for event in events {
            // Of the host's signals only a scope that names HOST takes in any.
            let source = dependency.source.with_earlier();
            if event.queue.is_none_or(|q| q == queue) && source.contains(event.stages) {
                known.join(&event.knowledge);
                for (&stage, &n) in &event.counts {
                    let entry = counts.entry(stage).or_default();
                    *entry = (*entry).max(n);
                }
            }
        }
        state.make_available(queue, &mut known, &dependency.available, &counts);
        (dependency, known, counts)
    }
}
