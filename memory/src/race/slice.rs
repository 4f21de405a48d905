//! Slices: the part of the execution that can order one pair of accesses, as the axiomatic engine takes it.
//!
//! While a dispatch runs, its synchronising operations and its accesses with availability or visibility
//! operations are traced, per workgroup, the newest first to stay. A slice starts at the later access and
//! follows program order, reads-from and barrier instances backwards to the earlier one.

use super::agents::Operation;
use super::order::{Record, StaticAccess};
use super::topology::{AgentId, Level, Topology};
use super::vector_clock::Time;
use crate::access::{Reference, Site};
use crate::finding::Place;
use crate::model::{self, BarrierInstance, Event, EventId, Execution, LocationSet};
use crate::outline::Outline;
use crate::scope::Scope;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Which memory an address is in: device memory, or that of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Device addresses.
    Device,
    /// Offsets into the memory of this workgroup.
    Workgroup(u32),
}

/// A traced operation.
#[derive(Clone, Copy, Debug)]
enum What {
    Fence(Operation),
    Barrier { operation: Operation, execution: Level, instance: u32 },
    Access { kind: u32, space: Space, address: u64, reads: Option<Record> },
}

#[derive(Clone, Copy, Debug)]
struct Traced {
    sequence: u64,
    first: AgentId,
    /// Which of the 32 agents from `first`; 0: all `count`.
    mask: u32,
    count: u32,
    time: Time,
    what: What,
}

impl Traced {
    fn by(&self, agent: AgentId) -> bool {
        let lane = agent.wrapping_sub(self.first);
        if self.mask == 0 { lane < self.count } else { lane < 32 && self.mask >> lane & 1 != 0 }
    }
}

const MOST_TRACED: usize = 4096;
const MOST_ENDED: usize = 512;
const MOST_EVENTS: usize = 120;
/// How far back the last operation of an agent that spins is looked for: the lanes of a subgroup take turns.
const MOST_TURNS: usize = 64;
const MOST_AGENTS: usize = 24;
const MOST_MEMBERS: usize = 4;

/// The recent operations of a workgroup.
#[derive(Clone, Default)]
struct Recent {
    events: Vec<Traced>,
    /// The sequence number of the last one that is not there any more; 0: all are.
    forgotten: u64,
}

/// The recent synchronisation of all workgroups.
#[derive(Clone, Default)]
pub struct Trace {
    groups: FxHashMap<u32, Recent>,
    ended: VecDeque<u32>,
    sequence: u64,
    instances: u32,
    /// By the word's first byte: its writes in their modification order, where that is not the order in which
    /// they executed.
    placed: FxHashMap<(Space, u64), Vec<Record>>,
}

/// Two conflicting accesses to one location.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The earlier access.
    pub earlier: Record,
    /// How it is made.
    pub earlier_kind: &'a StaticAccess,
    /// The later access, which happens now.
    pub later: Record,
    /// How it is made.
    pub later_kind: &'a StaticAccess,
    /// Where both go.
    pub space: Space,
    /// Device address or offset of the later access.
    pub address: u64,
}

impl Pair<'_> {
    /// Whether the later access has bytes of those from an address on.
    fn meets(&self, space: Space, address: u64, size: u8) -> bool {
        space == self.space
            && address < self.address + u64::from(self.later_kind.size)
            && self.address < address + u64::from(size)
    }
}

/// The events that can order a pair.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// As the axioms take it.
    pub execution: Execution,
    /// The instruction of each event.
    pub sites: Vec<Site>,
    /// The memory of each event that is an access.
    pub places: Vec<Option<Place>>,
    /// The earlier access.
    pub first: EventId,
    /// The later access.
    pub second: EventId,
    /// Reads-from pairs besides that of the later access.
    pub reads_from: Vec<(EventId, EventId)>,
    /// The events in an order that has that of scoped modification order; the execution has it, too.
    pub modification: Option<Vec<EventId>>,
    /// Whether nothing was left out for lack of space.
    pub complete: bool,
}

impl Trace {
    /// Forgets everything: a new dispatch begins.
    pub fn clear(&mut self) {
        *self = Trace::default();
    }

    fn push(&mut self, group: u32, (first, mask, count): (AgentId, u32, u32), time: Time, what: What) {
        self.sequence += 1;
        let Recent { events, forgotten } = self.groups.entry(group).or_default();
        if events.len() >= MOST_TRACED {
            let mut oldest = events.drain(..MOST_TRACED / 2);
            *forgotten = oldest.next_back().map_or(0, |event| event.sequence);
        }
        events.push(Traced { sequence: self.sequence, first, mask, count, time, what });
    }

    /// A fence by lanes of one subgroup (lane `i` is agent `first + i`), at their time before it.
    pub fn fence(&mut self, group: u32, first: AgentId, mask: u32, time: Time, operation: &Operation) {
        self.push(group, (first, mask, 32), time, What::Fence(*operation));
    }

    /// The number of a new barrier instance.
    pub fn instance(&mut self) -> u32 {
        self.instances += 1;
        self.instances
    }

    /// Lanes of one subgroup pass a barrier.
    #[allow(clippy::too_many_arguments)]
    pub fn barrier(
        &mut self,
        group: u32,
        first: AgentId,
        mask: u32,
        time: Time,
        execution: Level,
        instance: u32,
        operation: &Operation,
    ) {
        self.push(
            group,
            (first, mask, 32),
            time,
            What::Barrier { operation: *operation, execution, instance },
        );
    }

    /// All `count` agents of a workgroup pass a barrier.
    pub fn whole_barrier(
        &mut self,
        group: u32,
        first: AgentId,
        count: u32,
        time: Time,
        instance: u32,
        operation: &Operation,
    ) {
        self.push(
            group,
            (first, 0, count),
            time,
            What::Barrier { operation: *operation, execution: 1, instance },
        );
    }

    /// An atomic access, or one with an availability or visibility operation. A turn of a spin loop replaces
    /// the one before.
    pub fn access(
        &mut self,
        group: u32,
        record: Record,
        space: Space,
        address: u64,
        reads: Option<Record>,
        writes: bool,
    ) {
        if self.spins(group, &record, space, address, reads, writes) {
            return;
        }
        self.push(
            group,
            (record.agent, 1, 1),
            record.time,
            What::Access { kind: record.kind, space, address, reads },
        );
    }

    /// Whether this access repeats the last operation of its agent: a read of the same write by the same
    /// instruction, or an update of what it wrote itself. Then that operation moves to now; it says the same
    /// to everyone.
    fn spins(
        &mut self,
        group: u32,
        record: &Record,
        space: Space,
        address: u64,
        reads: Option<Record>,
        writes: bool,
    ) -> bool {
        let Some(recent) = self.groups.get_mut(&group) else { return false };
        let Some(last) = recent.events.iter_mut().rev().take(MOST_TURNS).find(|event| event.by(record.agent))
        else {
            return false;
        };
        let What::Access { kind, space: s, address: a, reads: before } = last.what else { return false };
        let again = if writes { reads == Some(*record) && last.time == record.time } else { reads == before };
        if !(again && kind == record.kind && s == space && a == address) {
            return false;
        }
        self.sequence += 1;
        last.sequence = self.sequence;
        last.time = record.time;
        true
    }

    /// A write of the word at this address has entered its history, which is `records` now; `in_front`: in
    /// front of one that executed before it.
    pub fn place(&mut self, space: Space, word: u64, in_front: bool, records: impl Iterator<Item = Record>) {
        if in_front || self.placed.contains_key(&(space, word)) {
            self.placed.insert((space, word), records.collect());
        }
    }

    /// A workgroup has ended: its trace stays until many others have ended.
    pub fn end(&mut self, group: u32) {
        if !self.groups.contains_key(&group) {
            return;
        }
        self.ended.push_back(group);
        if self.ended.len() > MOST_ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.groups.remove(&oldest);
        }
    }

    fn recent(&self, topology: &Topology, agent: AgentId) -> Option<&Recent> {
        let range = topology.range(agent, 1);
        let group = range.start / range.len().max(1) as u32;
        self.groups.get(&group)
    }

    fn events(&self, topology: &Topology, agent: AgentId) -> &[Traced] {
        self.recent(topology, agent).map_or(&[], |recent| &recent.events[..])
    }

    /// The traced access that made this record, before `sequence`.
    fn find(
        &self,
        topology: &Topology,
        record: &Record,
        space: Space,
        address: u64,
        before: u64,
    ) -> Option<u64> {
        let found = self.events(topology, record.agent).iter().rev().find(|event| {
            event.sequence < before
                && event.first == record.agent
                && event.time == record.time
                && matches!(event.what, What::Access { kind, space: s, address: a, .. }
                    if kind == record.kind && s == space && a == address)
        });
        found.map(|event| event.sequence)
    }

    /// The slice of a pair; the shader's text says which of an agent's operations come first where times do
    /// not.
    pub fn slice(
        &self,
        topology: &Topology,
        kinds: &[StaticAccess],
        pair: &Pair<'_>,
        outline: Option<&dyn Outline>,
    ) -> Slice {
        // Nothing before the earlier access can order it: start after its agent's last operation of an
        // earlier time.
        let since = self
            .events(topology, pair.earlier.agent)
            .iter()
            .rev()
            .find(|event| event.by(pair.earlier.agent) && event.time < pair.earlier.time)
            .map_or(0, |event| event.sequence);
        let mut until: BTreeMap<AgentId, u64> = BTreeMap::new();
        // The later access's agent comes first: what its operations lead to must not use up the agents that
        // there is room for.
        let mut open = vec![(pair.earlier.agent, u64::MAX), (pair.later.agent, u64::MAX)];
        // Members of barriers may carry a path too: they come last, and only those with atomics.
        let mut members: VecDeque<(AgentId, u64)> = VecDeque::new();
        let mut instances: BTreeSet<u32> = BTreeSet::new();
        let mut complete = true;
        while let Some((agent, before)) = open.pop().or_else(|| members.pop_front()) {
            let known = until.get(&agent).copied().unwrap_or(0);
            if known >= before {
                continue;
            }
            if known == 0 && until.len() >= MOST_AGENTS && agent != pair.earlier.agent {
                complete = false;
                continue;
            }
            until.insert(agent, before);
            complete &= self.recent(topology, agent).is_none_or(|recent| recent.forgotten <= since);
            let events = self.events(topology, agent);
            let within = events.partition_point(|event| event.sequence <= since.max(known));
            for event in events[within..].iter().filter(|event| event.sequence <= before && event.by(agent)) {
                match event.what {
                    // What the earlier access's agent reads is behind it: no path from there leads on to the
                    // later access.
                    What::Access { reads: Some(write), space, address, .. }
                        if agent != pair.earlier.agent =>
                    {
                        if let Some(at) = self.find(topology, &write, space, address, event.sequence) {
                            open.push((write.agent, at));
                        }
                    }
                    What::Barrier { instance, .. } if instances.insert(instance) => {
                        let atomics = events.iter().rev().filter(|other| {
                            other.sequence > since
                                && other.sequence < event.sequence
                                && matches!(other.what, What::Access { kind, .. } if kinds[kind as usize].atomic)
                        });
                        members.extend(atomics.take(MOST_MEMBERS).map(|other| (other.first, event.sequence)));
                    }
                    _ => {}
                }
            }
        }
        let mut chosen: BTreeMap<u64, Vec<AgentId>> = BTreeMap::new();
        let mut traced: BTreeMap<u64, &Traced> = BTreeMap::new();
        for (agent, before) in &until {
            let mut own: Vec<&Traced> = self
                .events(topology, *agent)
                .iter()
                .filter(|event| {
                    let member =
                        matches!(event.what, What::Barrier { instance, .. } if instances.contains(&instance));
                    event.by(*agent) && event.sequence > since && (event.sequence <= *before || member)
                })
                .collect();
            // Of the earlier access's agent the operations right after it matter, of all others those right
            // before the pair.
            let most = match (*agent == pair.earlier.agent, *agent == pair.later.agent) {
                (true, _) | (_, true) => MOST_EVENTS / 3,
                _ => MOST_EVENTS / 8,
            };
            if own.len() > most {
                // What is not atomic says nothing of others' locations.
                own.retain(|event| match event.what {
                    What::Access { kind, space, address, .. } => {
                        let kind = &kinds[kind as usize];
                        kind.atomic || pair.meets(space, address, kind.size)
                    }
                    _ => true,
                });
            }
            let from = if *agent == pair.earlier.agent { 0 } else { own.len().saturating_sub(most) };
            complete &= own.len() <= most;
            for event in own.into_iter().skip(from).take(most) {
                chosen.entry(event.sequence).or_default().push(*agent);
                traced.insert(event.sequence, event);
            }
        }
        // What is still too much goes from those who are not of the pair, the oldest first.
        let of_pair = |agent: &AgentId| *agent == pair.earlier.agent || *agent == pair.later.agent;
        let mut count: usize = chosen.values().map(Vec::len).sum();
        for agents in chosen.values_mut() {
            if count <= MOST_EVENTS {
                break;
            }
            count -= agents.len();
            agents.retain(of_pair);
            count += agents.len();
            complete = false;
        }
        let mut builder = Builder {
            topology,
            kinds,
            outline,
            slice: Slice { complete, ..Slice::default() },
            made: BTreeMap::new(),
            sets: Vec::new(),
        };
        builder.build(&chosen, &traced, pair);
        if !self.placed.is_empty() {
            builder.order(&self.placed);
        }
        builder.slice
    }
}

struct Builder<'a> {
    topology: &'a Topology,
    kinds: &'a [StaticAccess],
    outline: Option<&'a dyn Outline>,
    slice: Slice,
    /// Accesses by the record they made, and where.
    made: BTreeMap<(AgentId, Time, u32, Space, u64), EventId>,
    sets: Vec<(Space, u64, u8)>,
}

impl Builder<'_> {
    fn agent(&self, agent: AgentId) -> model::Agent {
        let start = |level| self.topology.range(agent, level).start;
        model::Agent::invocation(agent, start(0), start(1), start(2))
    }

    fn push(&mut self, event: Event, site: Site) -> EventId {
        self.slice.sites.push(site);
        self.slice.places.push(None);
        self.slice.execution.push(event)
    }

    /// The locations of an access: byte sets that are equal, disjoint or neither keep being so within the few
    /// words of a slice.
    fn locations(&mut self, space: Space, address: u64, size: u8) -> LocationSet {
        let word = address / 16;
        let base = match self.sets.iter().position(|(s, w, _)| *s == space && *w == word) {
            Some(index) => index,
            None => {
                self.sets.push((space, word, 0));
                self.sets.len() - 1
            }
        };
        LocationSet { first: base as u32 * 64 + (address % 16) as u32, count: u32::from(size.max(1)) }
    }

    fn access(&mut self, record: &Record, space: Space, address: u64) -> EventId {
        let kind = self.kinds[record.kind as usize];
        let locations = self.locations(space, address, kind.size);
        let event = Event {
            read: kind.read,
            write: kind.write,
            atomic: kind.atomic,
            available: kind.available,
            visible: kind.visible,
            non_private: kind.non_private,
            scope: Scope::of_level(kind.level),
            semantics: kind.semantics,
            ..Event::read(self.agent(record.agent), locations, kind.reference, kind.class)
        };
        let id = self.push(event, kind.site);
        let (class, reference) = (kind.class, Reference(kind.variable));
        self.slice.places[id as usize] =
            Some(Place { class, reference, address, offset: address, size: u32::from(kind.size) });
        self.made.insert((record.agent, record.time, record.kind, space, address), id);
        id
    }

    /// Whether an operation of the agent that made this access comes before it in the text, at the same time:
    /// relaxed atomics leave the time as it is.
    fn is_before(&self, event: &Traced, earlier: &Record) -> bool {
        let What::Access { kind, .. } = event.what else { return false };
        let site = |kind: u32| self.kinds[kind as usize].site;
        event.time == earlier.time
            && self.outline.is_some_and(|outline| outline.precedes(site(kind), site(earlier.kind)))
    }

    fn build(
        &mut self,
        chosen: &BTreeMap<u64, Vec<AgentId>>,
        traced: &BTreeMap<u64, &Traced>,
        pair: &Pair<'_>,
    ) {
        let earlier = pair.earlier;
        let itself = |event: &Traced| {
            matches!(event.what, What::Access { kind, space, address, .. }
                if kind == earlier.kind && event.time == earlier.time
                    && pair.meets(space, address, pair.earlier_kind.size))
        };
        // Of several at one time the last is the one that is remembered.
        let traced_at = chosen.iter().rev().find_map(|(sequence, agents)| {
            (agents.contains(&earlier.agent) && itself(traced[sequence])).then_some(*sequence)
        });
        let mut first = None;
        for (sequence, agents) in chosen {
            let event = traced[sequence];
            for agent in agents {
                if first.is_none() && *agent == earlier.agent {
                    if traced_at == Some(*sequence) {
                        first = Some(self.slice.execution.events().len() as EventId);
                    } else if traced_at.is_none()
                        && event.time >= earlier.time
                        && !self.is_before(event, &earlier)
                    {
                        // It comes before the first operation of its agent that is not before it in time, or
                        // at its time in the text.
                        first = Some(self.access(&earlier, pair.space, pair.address));
                    }
                }
                let who = self.agent(*agent);
                match event.what {
                    What::Fence(operation) => {
                        self.push(
                            Event::fence(who, Scope::of_level(operation.level), operation.semantics),
                            operation.site,
                        );
                    }
                    What::Barrier { operation, execution, instance } => {
                        let instance = BarrierInstance {
                            instance,
                            execution: Scope::of_level(Some(execution)),
                            arrives: true,
                            waits: true,
                        };
                        let event = Event::barrier(
                            who,
                            instance,
                            Scope::of_level(operation.level),
                            operation.semantics,
                        );
                        self.push(event, operation.site);
                    }
                    What::Access { kind, space, address, reads } => {
                        let record = Record { agent: *agent, time: event.time, kind };
                        let id = self.access(&record, space, address);
                        if let Some(write) = reads
                            && let Some(from) =
                                self.made.get(&(write.agent, write.time, write.kind, space, address))
                        {
                            self.slice.reads_from.push((*from, id));
                        }
                    }
                }
            }
        }
        self.slice.first = match first {
            Some(first) => first,
            None => self.access(&earlier, pair.space, pair.address),
        };
        self.slice.second = self.access(&pair.later, pair.space, pair.address);
    }

    /// Gives the writes of each word their modification order.
    fn order(&mut self, placed: &FxHashMap<(Space, u64), Vec<Record>>) {
        let mut order: Vec<EventId> = (0..self.slice.execution.events().len() as EventId).collect();
        let mut words: BTreeMap<(Space, u64), Vec<(usize, EventId)>> = BTreeMap::new();
        for ((agent, time, kind, space, address), id) in &self.made {
            let word = (*space, address & !3);
            let record = Record { agent: *agent, time: *time, kind: *kind };
            let place = placed.get(&word).and_then(|writes| writes.iter().position(|write| *write == record));
            if let Some(place) = place {
                words.entry(word).or_default().push((place, *id));
            }
        }
        for mut writes in words.into_values() {
            let mut slots: Vec<EventId> = writes.iter().map(|(_, id)| *id).collect();
            slots.sort_unstable();
            writes.sort_unstable();
            slots.into_iter().zip(writes).for_each(|(slot, (_, id))| order[slot as usize] = id);
        }
        self.slice.execution.modification_order(order.clone());
        self.slice.modification = Some(order);
    }
}
