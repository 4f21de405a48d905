//! What a debugger asks about the modelled memory between two instructions. Asking changes nothing that the
//! execution depends on.

use super::CheckedMemory;
use super::access_table::Role;
use super::core::Core;
use crate::access::{Access, Reference, Site};
use crate::agent::Invocation;
use crate::finding::Finding;
use crate::history::{History, Load, ValuePolicy};
use crate::machine::Cached;
use crate::outline::Outline;
use crate::race::{AgentId, Case, Cell, Clocks, Explanation, Later, Order, Pair, Record, Space, Standing};
use crate::raw;
use crate::scope::Scope;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An aligned word of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The workgroup whose memory it is in; `None`: device memory.
    pub workgroup: Option<u32>,
    /// Device address, or offset into workgroup memory: a multiple of 4.
    pub address: u64,
    /// What memory holds there.
    pub newest: u32,
}

/// Who reads, and how.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// Linear number of its workgroup.
    pub workgroup: u32,
    /// `LocalInvocationIndex`.
    pub local_index: u32,
    /// The instruction, `Site(0)` for one that the shader does not have.
    pub site: Site,
    /// Its width, atomicity, and availability and visibility operations.
    pub access: &'a Access,
    /// The reference of the specification's *Reference* relation through which it reads.
    pub reference: Reference,
    /// The bytes of the word that it reads: bit `b` for byte `b`.
    pub bytes: u8,
    /// It also writes.
    pub modifies: bool,
}

/// A write that is remembered.
#[derive(Clone, Debug)]
pub struct WriteSeen {
    record: Record,
    /// The invocation that wrote.
    pub by: Invocation,
    /// The instruction that wrote.
    pub site: Site,
    /// The scope of an atomic.
    pub atomic: Option<Scope>,
    /// The word's bits, where `bytes` says so.
    pub value: u32,
    /// Which bytes of the word: bit `b` for byte `b`.
    pub bytes: u8,
    /// The widest scope at which its writer made it available.
    pub available: Option<Scope>,
    /// Its writer still runs: what else it made available is known.
    pub running: bool,
    /// How it stands to the reader.
    pub to_reader: Standing,
    /// The reader may return it now.
    pub readable: bool,
}

/// What is known of a word.
#[derive(Clone, Debug)]
pub struct WordSeen {
    /// What was there before the writes.
    pub before: u32,
    /// The reader may return that now.
    pub before_readable: bool,
    /// Writes, oldest first.
    pub writes: Vec<WriteSeen>,
    /// The values that the reader may return now, oldest first, without repetition: the word's bits, where
    /// the reader's bytes are.
    pub values: Vec<u32>,
}

/// How two accesses stand to each other.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The axioms order them, or call them mutually ordered.
    pub ordered: bool,
    /// What is right, and what is missing where they are not ordered.
    pub explanation: Explanation,
}

/// A value that an invocation is to read, if the model allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Linear number of its workgroup.
    pub workgroup: u32,
    /// `LocalInvocationIndex`.
    pub local_index: u32,
    /// The word's address, as in [`Word`].
    pub address: u64,
    /// The word; its bits matter where the load's bytes are.
    pub value: u32,
}

/// [`Chosen`], as the core asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub agent: AgentId,
    pub word: u64,
    pub value: u32,
}

impl CheckedMemory {
    /// Findings of the dispatch so far.
    pub fn found(&self) -> &[Finding] {
        self.core.report.found()
    }

    /// The word of workgroup memory at an offset.
    pub fn workgroup_word(&mut self, workgroup: u32, offset: u64) -> Option<u32> {
        let (_, words) = self.groups.get_mut(workgroup)?.memory.views(&self.variables, Reference(u32::MAX));
        raw::load(&words, offset, 4, Ordering::Relaxed).map(|word| word as u32)
    }

    /// What the machine of [`ValuePolicy::Caches`] holds of a word of device memory, for a reader of a
    /// workgroup.
    pub fn cached(&self, word: &Word, workgroup: u32) -> Option<Cached> {
        let caches = self.core.caches.as_ref().filter(|_| word.workgroup.is_none())?;
        Some(caches.look(caches.unit(workgroup), word.address / 4, word.newest))
    }

    /// Until [`CheckedMemory::choose_nothing`], this is what the model's choice is where it has one.
    pub fn choose(&mut self, chosen: Chosen) {
        let (agent, word) = (self.agent_of(chosen.workgroup, chosen.local_index), chosen.address);
        self.core.choices.retain(|choice| (choice.agent, choice.word) != (agent, word));
        self.core.choices.push(Choice { agent, word, value: chosen.value });
    }

    /// From now on the model's choice is its own.
    pub fn choose_nothing(&mut self) {
        self.core.choices.clear();
    }

    /// About how many bytes a copy of this takes.
    pub fn weight(&self) -> usize {
        self.shadow.weight() + self.core.histories.weight()
    }

    fn agent_of(&self, workgroup: u32, local_index: u32) -> AgentId {
        let place = self.core.report.numbering.placement.place_of(local_index);
        workgroup.saturating_mul(self.workgroup_size).saturating_add(place)
    }

    fn history(&mut self, word: &Word) -> History {
        let cell = match word.workgroup {
            None => *self.shadow.cell(word.address / 4),
            Some(workgroup) => {
                let group = self.groups.get_mut(workgroup);
                group
                    .and_then(|group| group.cells.list().get(word.address as usize / 4))
                    .copied()
                    .unwrap_or(Cell::EMPTY)
            }
        };
        match self.core.histories.peek(cell.history) {
            Some(history) => history.clone(),
            None => self.core.history_of(&cell, word.newest, 15, 0),
        }
    }

    fn reading(&mut self, reader: &Reader<'_>) -> (AgentId, u32, Arc<Clocks>) {
        let agent = self.agent_of(reader.workgroup, reader.local_index);
        let role = if reader.modifies { Role::Modify } else { Role::Read };
        let kind = self.core.kinds.number(reader.site, reader.access, reader.reference, role);
        self.core.agents.complete(agent);
        (agent, kind, self.core.agents.clocks(agent).clone())
    }

    /// What is known of a word, and what a reader of it may return now.
    pub fn look(&mut self, word: &Word, reader: &Reader<'_>) -> WordSeen {
        let history = self.history(word);
        let bytes = reader.bytes;
        let (agent, number, clocks) = self.reading(reader);
        for entry in history.entries() {
            self.core.agents.complete(entry.record.agent);
        }
        let core = &self.core;
        let kind = core.kinds.get(number);
        let load = Load {
            policy: ValuePolicy::Seeded,
            ..Load::explored(agent, bytes, kind.atomic, kind.semantics.acquire && history.synchronizes(bytes))
        };
        let mut floors = |index: Option<usize>| core.floors_of(&history, &load, agent, kind, index, &clocks);
        let mut candidates = history.candidates(&load, word.newest, &mut floors);
        if reader.modifies {
            // A read-modify-write reads the newest.
            candidates.drain(..candidates.len().saturating_sub(1));
        }
        let order = core.order();
        let workgroup_size = self.workgroup_size.max(1);
        let groups = &self.groups;
        let later = Later { agent, clocks: &clocks, kind };
        let writes = history.entries().iter().map(|entry| {
            let of = core.kinds.get(entry.record.kind);
            WriteSeen {
                record: entry.record,
                by: core.report.numbering.invocation(entry.record.agent),
                site: of.site,
                atomic: of.level.filter(|_| of.atomic).map(|level| Scope::of_level(Some(level))),
                value: entry.value,
                bytes: entry.bytes,
                available: order.made_available(&entry.record, of).map(|level| Scope::of_level(Some(level))),
                running: groups.runs(entry.record.agent / workgroup_size),
                to_reader: order.standing(&entry.record, of, &later),
                readable: candidates.iter().any(|candidate| candidate.seen.contains(&entry.position)),
            }
        });
        let writes: Vec<WriteSeen> = writes.collect();
        let first = history.entries().first().map_or(u32::MAX, |entry| entry.position);
        let before = candidates.iter().find(|candidate| candidate.saw < first);
        let mut values: Vec<u32> = Vec::new();
        for candidate in &candidates {
            if !values.contains(&candidate.value) {
                values.push(candidate.value);
            }
        }
        let before_readable = before.is_some();
        let before = if writes.is_empty() { word.newest } else { history.at(15, 0, &[0; 4], word.newest).0 };
        WordSeen { before, before_readable, writes, values }
    }

    /// How a write of [`WordSeen::writes`] stands to a later one, or to the reader's access.
    pub fn relate(
        &mut self,
        word: &Word,
        first: &WriteSeen,
        second: Option<&WriteSeen>,
        reader: &Reader<'_>,
    ) -> Relation {
        let (agent, number, _) = self.reading(reader);
        let core = &self.core;
        let later = match second {
            Some(write) => write.record,
            None => Record { agent, time: core.agents.time(agent), kind: number },
        };
        let (earlier_kind, later_kind) = (core.kinds.get(first.record.kind), core.kinds.get(later.kind));
        let pair = Pair {
            earlier: first.record,
            earlier_kind,
            later,
            later_kind,
            space: word.workgroup.map_or(Space::Device, Space::Workgroup),
            address: word.address,
        };
        let topology = core.agents.topology();
        let slice = core.trace.slice(topology, core.kinds.list(), &pair);
        let case = Case {
            slice: &slice,
            options: core.options,
            first: (earlier_kind, first.record.agent),
            second: (later_kind, later.agent),
            topology,
            outline: core.report.outline.as_deref().map(|outline| outline as &dyn Outline),
        };
        Relation { ordered: case.ordered(), explanation: case.explain() }
    }
}

impl Core {
    /// As [`Core::floors`], for a history that no cell has.
    fn floors_of(
        &self,
        history: &History,
        load: &Load,
        agent: AgentId,
        kind: &crate::race::StaticAccess,
        index: Option<usize>,
        clocks: &Clocks,
    ) -> [u32; 4] {
        let floors = |clocks: &Clocks| {
            let (order, later): (Order<'_>, _) = (self.order(), Later { agent, clocks, kind });
            history.floors(load, |record| order.ordered(record, self.kinds.get(record.kind), &later))
        };
        if !load.acquires {
            return floors(clocks);
        }
        let entry = index.and_then(|index| history.entries().get(index));
        let met = entry.filter(|entry| {
            kind.atomic
                && entry.bytes == load.bytes
                && self.order().mutual(&entry.record, self.kinds.get(entry.record.kind), agent, kind)
        });
        let heads = met.map_or_else(Default::default, |entry| entry.heads.clone());
        floors(&self.agents.after_reading(agent, &kind.operation(), &heads))
    }
}
