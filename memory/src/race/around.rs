//! The picture of a race: of its slice the steps that have to do with the pair.

use super::explain::Case;
use super::topology::AgentId;
use crate::agent::Invocation;
use crate::around::{Around, Arrow, Does, Leads, Reach, Step};
use crate::finding::AccessKind;
use crate::model::{Event, EventId, RelationName};
use crate::scope::Scope;
use std::collections::{BTreeMap, BTreeSet};

/// Steps of one agent of the pair that are told: the first ones after the earlier access, the last ones
/// before the later one.
const MOST_OF_PAIR: usize = 8;
/// Steps of all others.
const MOST_OF_OTHERS: usize = 12;

impl Case<'_> {
    /// What was executed around the pair, with the invocation that each agent is. `kind` says what a
    /// read-modify-write does. `None`: the axioms cannot judge the slice.
    pub fn around(
        &self,
        invocation: impl Fn(AgentId) -> Invocation,
        kind: impl Fn(&Event, EventId) -> AccessKind,
    ) -> Option<Around> {
        let (first, second) = (self.slice.first, self.slice.second);
        let events = self.slice.execution.events();
        let judged = self.judge(&self.slice.execution)?;
        let synchronizes = judged.relation(RelationName::SynchronizesWith);
        let reads_from: BTreeSet<(EventId, EventId)> = self.slice.reads_from.iter().copied().collect();
        let thread = |event: EventId| events[event as usize].agent.thread;
        let (earlier, later) = (thread(first), thread(second));
        let all = || 0..events.len() as EventId;
        let mut kept: BTreeSet<EventId> = BTreeSet::from([first, second]);
        kept.extend(all().filter(|e| *e > first && thread(*e) == earlier).take(MOST_OF_PAIR));
        let before = all().rev().filter(|e| *e < second && thread(*e) == later && later != earlier);
        kept.extend(before.take(MOST_OF_PAIR));
        // Others that carry a path, or would: what the two agents' steps synchronise with or read from.
        let of_pair = |e: EventId| thread(e) == earlier || thread(e) == later;
        let carries = |e: &EventId| {
            let path = judged.happens_before(first, *e) && judged.happens_before(*e, second);
            let told = |other: EventId| {
                of_pair(other) && (reads_from.contains(&(*e, other)) || reads_from.contains(&(other, *e)))
            };
            path || all().any(told)
        };
        let member = |e: &EventId| events[*e as usize].barrier.is_some();
        let others = all().filter(|e| !of_pair(*e) && !member(e) && carries(e));
        kept.extend(others.collect::<Vec<_>>().into_iter().rev().take(MOST_OF_OTHERS));

        let order: Vec<EventId> = kept.iter().copied().filter(|e| *e != second).chain([second]).collect();
        let index: BTreeMap<EventId, u32> = order.iter().copied().zip(0..).collect();
        let step = |e: &EventId| {
            let event = &events[*e as usize];
            let does = match event.barrier {
                Some(barrier) => {
                    Does::ControlBarrier { instance: barrier.instance, execution: barrier.execution }
                }
                None if event.fence => Does::MemoryBarrier,
                None => Does::Access(kind(event, *e)),
            };
            Step {
                site: self.sites()[*e as usize],
                by: invocation(event.agent.thread),
                does,
                atomic: event.atomic,
                scope: event.scope,
                semantics: event.semantics,
                class: event.storage_class,
                place: self.slice.places[*e as usize],
                available: event.available,
                visible: event.visible,
                access: [first, second].iter().zip(1..).find(|(of, _)| *of == e).map(|(_, n)| n),
                with: 0,
            }
        };
        let mut arrows: BTreeSet<Arrow> = BTreeSet::new();
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        for (e, at) in order.iter().zip(0..) {
            if let Some(from) = last.insert(thread(*e), at) {
                arrows.insert(Arrow { from, to: at, leads: Leads::ProgramOrder });
            }
        }
        let mut lead = |(a, b): (EventId, EventId), leads: Leads| {
            if let (Some(from), Some(to)) = (index.get(&a), index.get(&b))
                && thread(a) != thread(b)
            {
                arrows.insert(Arrow { from: *from, to: *to, leads });
            }
        };
        synchronizes.pairs().for_each(|pair| lead(pair, Leads::SynchronizesWith));
        reads_from.iter().for_each(|pair| lead(*pair, Leads::ReadsFrom));

        let needed = self.common_scope();
        let reach = |levels: [Option<EventId>; 4]| {
            let (level, by) = (0..4u8).zip(levels).rev().find(|(_, by)| by.is_some()).unzip();
            Reach {
                domain: level.map_or(Scope::Invocation, |level| Scope::of_level(Some(level))),
                by: by.flatten().and_then(|event| index.get(&event).copied()),
                needed,
            }
        };
        let writes = events[first as usize].write;
        Some(Around {
            steps: order.iter().map(step).collect(),
            arrows: arrows.into_iter().collect(),
            available: writes.then(|| reach(judged.available(first))),
            visible: (writes && events[second as usize].read).then(|| reach(judged.visible(second))),
            left_out: (events.len() - order.len()) as u32,
        })
    }
}
