//! The rules for pairs over complete records: every access to every location is kept, and held against every
//! later one. Check mode remembers less, and asks the same rules.

use super::*;
use crate::model::{LocationSet, ReadModifyWrite};
use std::collections::BTreeMap;

/// An access that was seen, by its number.
pub type AccessId = usize;

struct Entry {
    record: Record,
    kind: StaticAccess,
    locations: LocationSet,
    release_sequence: ReleaseSequence,
    /// The earlier writes that this access's own visibility operation saw.
    saw: Vec<AccessId>,
}

/// What is said about a new access.
pub struct Observed {
    /// The number of the access.
    pub id: AccessId,
    /// Earlier conflicting accesses that are neither location-ordered before it nor mutually ordered with it.
    pub racing: Vec<AccessId>,
    /// Earlier accesses that are location-ordered before it at every common location, conflicting or not.
    pub ordered: Vec<AccessId>,
}

/// An execution, fed operation by operation in a possible order.
pub struct Online {
    agents: Agents,
    read_modify_write: ReadModifyWrite,
    entries: Vec<Entry>,
    at: BTreeMap<u32, Vec<AccessId>>,
}

impl Online {
    /// An execution in which nothing has happened.
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
        self.agents.fence(Tangle::Listed(members), operation);
    }

    /// One dynamic instance of a control barrier by `members` (ascending).
    pub fn barrier(&mut self, members: &[AgentId], execution: Level, operation: &Operation) {
        if let (Topology::Dispatch { workgroup, .. }, [first, ..], 1) =
            (self.agents.topology(), members, execution)
            && members.len() == *workgroup as usize
            && self.agents.whole_barrier(first / *workgroup, &WholeBarrier::of(*operation))
        {
            return;
        }
        self.agents.barrier(Tangle::Listed(members), execution, operation);
    }

    fn order(&self) -> Order<'_> {
        Order { agents: &self.agents, read_modify_write: self.read_modify_write }
    }

    fn mutual(&self, earlier: &Entry, agent: AgentId, kind: &StaticAccess, locations: LocationSet) -> bool {
        earlier.locations == locations && self.order().mutual(&earlier.record, &earlier.kind, agent, kind)
    }

    /// Whether `holds` for a later write by the author of a write that is made available as it is written: an
    /// availability operation covers what its agent wrote there before. Check mode does not remember
    /// superseded writes well enough to tell, and leaves this to the slice, as it does what earlier reads
    /// saw.
    fn covered(
        &self,
        write: AccessId,
        location: u32,
        holds: impl Fn(&Record, &StaticAccess) -> bool,
    ) -> bool {
        let first = &self.entries[write];
        let mut later = self.at[&location].iter().filter(|id| **id >= write).map(|id| &self.entries[*id]);
        first.kind.write
            && first.kind.non_private
            && later.any(|entry| {
                let written = entry.kind.write && entry.kind.available;
                written
                    && entry.kind.reference == first.kind.reference
                    && entry.record.agent == first.record.agent
                    && holds(&entry.record, &StaticAccess { read: false, ..entry.kind })
            })
    }

    fn ordered(&self, earlier: AccessId, location: u32, later: &Later<'_>) -> bool {
        let entry = &self.entries[earlier];
        let reads_again = |other: &Entry| {
            other.record.agent == later.agent
                && other.kind.reference == later.kind.reference
                && other.saw.contains(&earlier)
        };
        let plain_read = later.kind.read && !later.kind.write && later.kind.non_private;
        let another = entry.record.agent != later.agent;
        self.order().ordered(&entry.record, &entry.kind, later)
            || (another && self.covered(earlier, location, |w, kind| self.order().ordered(w, kind, later)))
            || (plain_read && self.at[&location].iter().any(|id| reads_again(&self.entries[*id])))
    }

    /// Whether the visibility operation of an access sees a write.
    fn sees(&self, write: AccessId, location: u32, later: &Later<'_>) -> bool {
        let entry = &self.entries[write];
        later.kind.visible
            && entry.kind.write
            && entry.kind.non_private
            && entry.kind.reference == later.kind.reference
            && entry.record.agent != later.agent
            && (self.order().sees(&entry.record, &entry.kind, later)
                || self.covered(write, location, |w, kind| self.order().sees(w, kind, later)))
    }

    /// An access by `agent` that reads from `reads` (`None`: the initial value, or it does not read).
    pub fn access(
        &mut self,
        agent: AgentId,
        kind: &StaticAccess,
        locations: LocationSet,
        reads: Option<AccessId>,
    ) -> Observed {
        let kind = kind.normalised();
        let operation = kind.operation();
        self.agents.note_write(&kind);
        if kind.atomic {
            self.agents.begin_atomic(agent, &operation);
            let from = reads.map(|write| &self.entries[write]);
            let from = from.filter(|entry| kind.read && self.mutual(entry, agent, &kind, locations));
            let release_sequence =
                from.map_or_else(ReleaseSequence::default, |entry| entry.release_sequence.clone());
            let clocks = self.agents.after_reading(agent, &operation, &release_sequence);
            self.agents.read_atomic(agent, &operation, &release_sequence, clocks);
            self.agents.make_available_before(agent, &operation);
        }
        let clocks = self.agents.clocks(agent).clone();
        let later = Later { agent, clocks: &clocks, kind: &kind };
        let common = (locations.first..locations.end()).filter_map(|location| self.at.get(&location));
        let mut met: Vec<AccessId> = common.flatten().copied().collect();
        met.sort_unstable();
        met.dedup();
        let common = |earlier: AccessId| {
            let theirs = self.entries[earlier].locations;
            locations.first.max(theirs.first)..locations.end().min(theirs.end())
        };
        let saw = met.iter().copied().filter(|id| common(*id).any(|at| self.sees(*id, at, &later))).collect();
        let (ordered, unordered): (Vec<AccessId>, Vec<AccessId>) =
            met.into_iter().partition(|id| common(*id).all(|at| self.ordered(*id, at, &later)));
        let races = |earlier: &AccessId| {
            let entry = &self.entries[*earlier];
            (kind.write || entry.kind.write) && !self.mutual(entry, agent, &kind, locations)
        };
        let racing = unordered.into_iter().filter(races).collect();
        let mut release_sequence = ReleaseSequence::default();
        if kind.atomic && kind.write {
            let mut predecessors = Vec::new();
            if kind.read {
                let here = self.entries.iter().filter(|e| e.kind.write && e.locations == locations);
                let here: Vec<_> =
                    here.map(|entry| (entry.record, &entry.kind, &entry.release_sequence)).collect();
                predecessors = self.order().predecessors(&here, agent, &kind);
            }
            release_sequence = self.agents.release_sequence_of_write(agent, &operation, &predecessors);
        }
        let id = self.entries.len();
        let record = Record { agent, time: self.agents.time(agent), kind: 0 };
        self.entries.push(Entry { record, kind, locations, release_sequence, saw });
        for location in locations.first..locations.end() {
            self.at.entry(location).or_default().push(id);
        }
        if kind.atomic {
            self.agents.end_atomic(agent, &operation);
        }
        Observed { id, racing, ordered }
    }
}
