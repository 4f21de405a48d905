//! The detector over complete records: every access to every location is kept. This is what litmus machines
//! and tests drive; dispatches use shadow memory instead, with the same rules.

use super::agents::{Agents, Operation};
use super::facts::Facts;
use super::heads::Heads;
use super::order::{Kind, Later, Order, Record, Surroundings};
use super::topology::{AgentId, Level, Topology};
use crate::model::{LocationSet, ReadModifyWrite};
use crate::scope::StorageClasses;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An access that the detector has seen, by its number.
pub type AccessId = usize;

#[derive(Clone, Debug)]
struct Entry {
    record: Record,
    kind: Kind,
    locations: LocationSet,
    heads: Heads,
    /// The earlier writes that this access's own visibility operation saw.
    saw: Vec<AccessId>,
}

/// What the detector says about a new access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The number of the access.
    pub id: AccessId,
    /// Earlier conflicting accesses that are neither location-ordered before it nor mutually ordered with it.
    pub racing: Vec<AccessId>,
    /// Earlier accesses that are location-ordered before it at every common location, conflicting or not.
    pub ordered: Vec<AccessId>,
}

/// The online detector: fed with the operations of an execution in a possible order, it knows for each access
/// which earlier ones are location-ordered before it.
///
/// It never claims an order that the axioms do not give. It misses two rare ones: availability chains of
/// several agents made of per-instruction operations, and chains that begin with a release atomic reached
/// through a mask without its own class.
#[derive(Clone, Debug)]
pub struct Online {
    agents: Agents,
    read_modify_write: ReadModifyWrite,
    entries: Vec<Entry>,
    at: BTreeMap<u32, Vec<AccessId>>,
}

struct Around<'a> {
    entries: &'a [Entry],
    here: &'a [AccessId],
    write: AccessId,
}

impl Surroundings for Around<'_> {
    fn later_available_write(&self, write: &Record, holds: &mut dyn FnMut(&Record, &Kind) -> bool) -> bool {
        let reference = self.entries[self.write].kind.reference;
        // By their order in the execution: times are too coarse to tell which of two writes of one agent is
        // the later one.
        let mut later = self.here.iter().filter(|id| **id >= self.write).map(|id| &self.entries[*id]);
        later.any(|other| {
            other.record.agent == write.agent
                && other.kind.write
                && other.kind.available
                && other.kind.reference == reference
                && holds(&other.record, &other.kind)
        })
    }

    fn already_seen(&self, _: &Record, agent: AgentId, reference: u32) -> bool {
        self.here.iter().map(|id| &self.entries[*id]).any(|other| {
            other.record.agent == agent
                && other.kind.reference == reference
                && other.saw.contains(&self.write)
        })
    }
}

impl Online {
    /// A detector that has seen nothing.
    pub fn new(topology: Topology, chains: bool, read_modify_write: ReadModifyWrite) -> Online {
        let workgroups = match &topology {
            Topology::Dispatch { workgroup, agents, .. } => agents / workgroup,
            Topology::Listed(_) => 0,
        };
        let mut agents = Agents::new(topology, chains);
        for workgroup in 0..workgroups {
            agents.open(workgroup);
        }
        Online { agents, read_modify_write, entries: Vec::new(), at: BTreeMap::new() }
    }

    /// Says that operations with these semantics will occur. Semantics that first occur while the execution
    /// runs may lose availability (never the other way round).
    pub fn declare(&mut self, classes: StorageClasses) {
        self.agents.note_semantics(classes);
    }

    /// A memory barrier by each of `members` (ascending; they need not be all of an instance).
    pub fn fence(&mut self, members: &[AgentId], operation: &Operation) {
        self.agents.fence(members, operation);
    }

    /// One dynamic instance of a control barrier by `members` (ascending).
    pub fn barrier(&mut self, members: &[AgentId], execution: Level, operation: &Operation) {
        if let (Topology::Dispatch { workgroup, .. }, [first, ..], 1) =
            (self.agents.topology(), members, execution)
            && members.len() == *workgroup as usize
        {
            let block = first / workgroup;
            if self.agents.whole_barrier(block, operation) {
                return;
            }
        }
        self.agents.barrier(members, execution, operation);
    }

    /// What `agent` knows.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    fn order(&self) -> Order<'_> {
        Order { agents: &self.agents, read_modify_write: self.read_modify_write }
    }

    fn mutual(&self, earlier: &Entry, agent: AgentId, kind: &Kind, locations: LocationSet) -> bool {
        earlier.locations == locations && self.order().mutual(&earlier.record, &earlier.kind, agent, kind)
    }

    /// The heads that an atomic read of `write` by `agent` meets; none if the two are not mutually ordered.
    pub fn heads_met(
        &self,
        agent: AgentId,
        kind: &Kind,
        locations: LocationSet,
        write: Option<AccessId>,
    ) -> Heads {
        match write.and_then(|write| self.entries.get(write)) {
            Some(entry) if kind.atomic && kind.read && self.mutual(entry, agent, kind, locations) => {
                entry.heads.clone()
            }
            _ => Heads::default(),
        }
    }

    /// What `agent` would know, by the acquire effect, if its access read from `write`.
    pub fn facts_after(
        &self,
        agent: AgentId,
        kind: &Kind,
        locations: LocationSet,
        write: Option<AccessId>,
    ) -> Arc<Facts> {
        let heads = self.heads_met(agent, kind, locations, write);
        self.agents.after_reading(agent, &kind.operation(), &heads)
    }

    /// Whether access `earlier` is location-ordered at `location` before an access of this kind by `agent`
    /// that knows `facts`.
    pub fn ordered_at(
        &self,
        earlier: AccessId,
        location: u32,
        agent: AgentId,
        kind: &Kind,
        facts: &Facts,
    ) -> bool {
        let entry = &self.entries[earlier];
        let here = self.at.get(&location).map_or(&[][..], |ids| &ids[..]);
        let around = Around { entries: &self.entries, here, write: earlier };
        self.order().ordered(&entry.record, &entry.kind, &around, &Later { agent, facts, kind })
    }

    /// The accesses to `location` so far, in their order.
    pub fn accesses_at(&self, location: u32) -> &[AccessId] {
        self.at.get(&location).map_or(&[], |ids| &ids[..])
    }

    /// An access by `agent` that reads from `reads` (`None`: the initial value, or it does not read).
    pub fn access(
        &mut self,
        agent: AgentId,
        kind: &Kind,
        locations: LocationSet,
        reads: Option<AccessId>,
    ) -> Observed {
        let kind = kind.normalised();
        let operation = kind.operation();
        if kind.write && kind.non_private {
            self.agents.note_write(kind.class, kind.own());
        }
        if kind.atomic {
            self.agents.begin_atomic(agent, &operation);
            if kind.read {
                let heads = self.heads_met(agent, &kind, locations, reads);
                let facts = self.agents.after_reading(agent, &operation, &heads);
                self.agents.read_atomic(agent, &operation, &heads, facts);
            }
            self.agents.make_available_before(agent, &operation);
        }
        let id = self.entries.len();
        let facts = self.agents.facts(agent).clone();
        let (mut unordered, mut met, mut saw) = (Vec::new(), Vec::new(), Vec::new());
        for location in locations.first..locations.end() {
            for earlier in self.accesses_at(location) {
                let entry = &self.entries[*earlier];
                met.push(*earlier);
                if !self.ordered_at(*earlier, location, agent, &kind, &facts) {
                    unordered.push(*earlier);
                }
                let around =
                    Around { entries: &self.entries, here: self.accesses_at(location), write: *earlier };
                if kind.visible
                    && entry.kind.write
                    && entry.kind.non_private
                    && entry.kind.reference == kind.reference
                    && entry.record.agent != agent
                    && self.order().sees(
                        &entry.record,
                        &entry.kind,
                        &around,
                        &Later { agent, facts: &facts, kind: &kind },
                    )
                {
                    saw.push(*earlier);
                }
            }
        }
        met.sort_unstable();
        met.dedup();
        let racing = met
            .iter()
            .copied()
            .filter(|earlier| {
                let entry = &self.entries[*earlier];
                (kind.write || entry.kind.write)
                    && unordered.contains(earlier)
                    && !self.mutual(entry, agent, &kind, locations)
            })
            .collect();
        let ordered = met.into_iter().filter(|earlier| !unordered.contains(earlier)).collect();
        let mut heads = Heads::default();
        if kind.atomic && kind.write {
            let predecessors =
                if kind.read { self.predecessors(agent, &kind, locations) } else { Vec::new() };
            heads = self.agents.write_heads(agent, &operation, &predecessors);
        }
        let record = Record { agent, time: self.agents.time(agent), kind: 0 };
        self.entries.push(Entry { record, kind, locations, heads, saw });
        for location in locations.first..locations.end() {
            self.at.entry(location).or_default().push(id);
        }
        if kind.atomic {
            self.agents.end_atomic(agent, &operation);
        }
        Observed { id, racing, ordered }
    }

    /// The heads of the immediate predecessors, in scoped modification order, of a new atomic write.
    fn predecessors(&self, agent: AgentId, kind: &Kind, locations: LocationSet) -> Vec<Heads> {
        let here: Vec<&Entry> = self
            .accesses_at(locations.first)
            .iter()
            .map(|id| &self.entries[*id])
            .filter(|entry| entry.kind.write && entry.kind.atomic)
            .collect();
        let follows = |earlier: &Entry, later: &Entry| {
            self.mutual(earlier, later.record.agent, &later.kind, later.locations)
        };
        let mut before: Vec<bool> =
            here.iter().map(|entry| self.mutual(entry, agent, kind, locations)).collect();
        let direct = before.clone();
        for index in (0..here.len()).rev() {
            before[index] |=
                (index + 1..here.len()).any(|later| before[later] && follows(here[index], here[later]));
        }
        (0..here.len())
            .filter(|index| {
                direct[*index]
                    && !(index + 1..here.len())
                        .any(|later| before[later] && follows(here[*index], here[later]))
            })
            .map(|index| here[index].heads.clone())
            .collect()
    }
}
