//! What a debugger asks about the modelled memory between two instructions. Asking changes nothing that the
//! execution depends on.

use super::CheckedMemory;
use super::access_table::Role;
use super::core::Core;
use super::words::Words;
use crate::access::{Access, Reference, Site};
use crate::agent::Invocation;
use crate::finding::{Finding, Place};
use crate::history::{History, Load, Loaded, Position, ValuePolicy, bits};
use crate::machine::Cached;
use crate::outline::Outline;
use crate::race::{
    AgentId, Case, Cell, Clocks, Explanation, Known, Later, Order, Pair, Record, Space, Standing,
};
use crate::raw;
use crate::scope::{Scope, StorageClasses};
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
    /// Bytes that its access covers together.
    size: u8,
    /// The invocation that wrote.
    pub by: Invocation,
    /// The instruction that wrote.
    pub site: Site,
    /// The scope of an atomic.
    pub atomic: Option<Scope>,
    /// The word's bits right after it.
    pub value: u32,
    /// Which bytes of the word it wrote: bit `b` for byte `b`.
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

impl WriteSeen {
    /// Whether both are of one write, to two words. Several narrow writes of an instruction may have one
    /// record, those of a loop for instance: they are none.
    pub fn is_of(&self, other: &WriteSeen) -> bool {
        self.record == other.record && self.size >= 8
    }
}

/// What is known of a word.
#[derive(Clone, Debug)]
pub struct WordSeen {
    /// What was there before the writes.
    pub before: u32,
    /// The reader may return that now.
    pub before_readable: bool,
    /// Writes of the reader's bytes, oldest first.
    pub writes: Vec<WriteSeen>,
    /// The values that the reader may return now, oldest first, without repetition: the word's bits, where
    /// the reader's bytes are.
    pub values: Vec<u32>,
    /// The model may allow others, of writes that are forgotten.
    pub forgotten: bool,
}

/// How two accesses stand to each other.
#[derive(Clone, Debug)]
pub struct PairOrder {
    /// The axioms order them, or call them mutually ordered.
    pub ordered: bool,
    /// What is right, and what is missing where they are not ordered.
    pub explanation: Explanation,
    /// Whether all that may order them is remembered.
    pub complete: bool,
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
    /// Of an atomic of several words: which write, as [`WideSeen::saw`] has it. Writes of one value differ in
    /// what synchronizes with their readers.
    pub saw: Option<Position>,
}

/// A write of two words at once, or what was there before all writes: what an atomic of eight bytes may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideSeen {
    /// Both words, the first one's bits lowest.
    pub value: u64,
    /// Where it is in the history of each word.
    pub saw: [Position; 2],
}

/// What an atomic of eight bytes may read.
#[derive(Clone, Debug)]
pub struct BothSeen {
    /// Oldest first: as far back as both words were written together.
    pub writes: Vec<WideSeen>,
    /// The model may allow others, of writes that are forgotten, or of other accesses of fewer bytes.
    pub forgotten: bool,
}

/// [`Chosen`], as the core asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub agent: AgentId,
    pub word: u64,
    value: u32,
    saw: Option<Position>,
}

impl Choice {
    /// Whether what a load of these bytes would get is what was chosen.
    pub fn is(&self, found: &Loaded, bytes: u8) -> bool {
        match self.saw {
            Some(saw) => found.saw == saw,
            None => (found.value ^ self.value) & bits(bytes) == 0,
        }
    }
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
        let word = self.in_shared_memory(word);
        Some(caches.look(caches.unit(workgroup), word.address / 4, word.newest))
    }

    /// Until [`CheckedMemory::choose_nothing`], this is what the model's choice is where it has one.
    pub fn choose(&mut self, chosen: Chosen) {
        let agent = self.agent_of(chosen.workgroup, chosen.local_index);
        let word = self.shared_address(chosen.address);
        self.core.choices.retain(|choice| (choice.agent, choice.word) != (agent, word));
        self.core.choices.push(Choice { agent, word, value: chosen.value, saw: chosen.saw });
    }

    /// From now on the model's choice is its own.
    pub fn choose_nothing(&mut self) {
        self.core.choices.clear();
    }

    /// From now on [`CheckedMemory::look`] tells of atomic writes that others superseded what they stored.
    /// Executions are the same, but slower.
    pub fn remember_superseded(&mut self) {
        self.core.superseded.get_or_insert_default();
    }

    /// About how many bytes a copy of this takes.
    pub fn weight(&self) -> usize {
        self.shadow.weight() + self.core.histories.weight() + self.core.kinds.weight()
    }

    fn agent_of(&self, workgroup: u32, local_index: u32) -> AgentId {
        let place = self.core.report.numbering.placement.place_of(local_index);
        workgroup.saturating_mul(self.workgroup_size).saturating_add(place)
    }

    /// The address in memory of a byte of device memory, if resources share it.
    fn shared_address(&self, address: u64) -> u64 {
        self.aliases.as_ref().map_or(address, |aliases| aliases.address(address))
    }

    /// The word where it is in memory, if resources share it.
    fn in_shared_memory(&self, word: &Word) -> Word {
        let of_device = word.workgroup.is_none();
        Word { address: if of_device { self.shared_address(word.address) } else { word.address }, ..*word }
    }

    fn history(&mut self, word: &Word) -> History {
        let word = &self.in_shared_memory(word);
        let (cell, parts) = match word.workgroup {
            None => {
                let (cell, split) = self.shadow.cell_and_split(word.address / 4);
                (*cell, split.peek(cell).map(<[Cell]>::to_vec))
            }
            Some(workgroup) => self.groups.get_mut(workgroup).map_or((Cell::EMPTY, None), |group| {
                let (cell, split) = group.cells.cell_and_split(word.address / 4);
                (*cell, split.peek(cell).map(<[Cell]>::to_vec))
            }),
        };
        if let Some(parts) = parts {
            return self.core.history_of_parts(&parts, word.newest, 15, 0);
        }
        let superseded = self.core.superseded.as_deref();
        match self.core.histories.peek(cell.history) {
            Some(history) => {
                let mut history = history.clone();
                superseded.inspect(|superseded| superseded.restore(cell.history, &mut history));
                history
            }
            None => {
                let mut history = self.core.history_of(&cell, word.newest, 15, 0);
                let at = (word.workgroup.map_or(Space::Device, Space::Workgroup), word.address);
                superseded.inspect(|superseded| history.restore(&superseded.values(at, &cell)));
                history
            }
        }
    }

    /// Who of this dispatch wrote last to the first byte of a place.
    pub(super) fn writer_of(&mut self, workgroup: u32, place: &Place) -> Option<Invocation> {
        let workgroup = (place.class == StorageClasses::WORKGROUP).then_some(workgroup);
        let word = Word { workgroup, address: place.address & !3, newest: 0 };
        let byte = 1 << (place.address & 3);
        let agent = self.history(&word).newest(byte).next()?.record.agent;
        Some(self.core.report.numbering.invocation(agent))
    }

    fn reading(&mut self, reader: &Reader<'_>) -> (AgentId, u32, Arc<Clocks>) {
        let agent = self.agent_of(reader.workgroup, reader.local_index);
        let role = if reader.modifies { Role::Modify } else { Role::Read };
        let kind = self.core.kinds.number(reader.site, reader.access, reader.reference, role);
        self.complete(agent);
        (agent, kind, self.core.agents.clocks(agent).clone())
    }

    /// Has the clocks of an agent tell of all that it has executed.
    fn complete(&mut self, agent: AgentId) {
        if let Some(group) = self.groups.get_mut(agent / self.workgroup_size) {
            group.complete_fences(&mut self.core);
        }
        self.core.agents.complete(agent);
    }

    /// What a reader of a word with this history may get now, oldest first; and whether it might get
    /// something that is forgotten.
    fn candidates(&mut self, word: &Word, history: &History, reader: &Reader<'_>) -> (Vec<Loaded>, bool) {
        let bytes = reader.bytes;
        let (agent, number, clocks) = self.reading(reader);
        history.entries().iter().for_each(|entry| self.complete(entry.record.agent));
        let core = &self.core;
        let kind = core.kinds.get(number);
        let load = Load {
            policy: ValuePolicy::Seeded,
            ..Load::explored(agent, bytes, kind.atomic, kind.semantics.acquire && history.synchronizes(bytes))
        };
        let mut floors = |history: &History, index: Option<usize>| {
            core.floors_of(history, &load, agent, kind, index, &clocks)
        };
        let mut candidates = history.candidates(&load, word.newest, &mut |index| floors(history, index));
        if reader.modifies {
            // A read-modify-write reads the newest.
            candidates.drain(..candidates.len().saturating_sub(1));
            return (candidates, false);
        }
        let forgotten = history.may_be_forgotten(&load, word.newest, &candidates, &mut floors);
        (candidates, forgotten)
    }

    /// What an atomic of eight bytes may read now in these two words. `None`: the newest writes of them were
    /// not one.
    pub fn look_at_both(&mut self, words: [&Word; 2], reader: &Reader<'_>) -> Option<BothSeen> {
        let [low, high] = words.map(|word| self.history(word));
        let pairs = low.entries().iter().rev().zip(high.entries().iter().rev());
        let kinds = &self.core.kinds;
        let wide = |record: &Record| kinds.get(record.kind).size >= 8;
        let one = |a: &Record, b: &Record| a == b && wide(a);
        let together = pairs.take_while(|(a, b)| one(&a.record, &b.record) && a.bytes & b.bytes == 15);
        let mut saw: Vec<[Position; 2]> = together.map(|(a, b)| [a.position, b.position]).collect();
        let [lows, highs] = [&low, &high].map(|history| history.entries().len());
        if saw.is_empty() && lows + highs > 0 {
            return None;
        }
        let [(lowest, older), (highest, older_high)] = [(words[0], &low), (words[1], &high)]
            .map(|(word, history)| self.candidates(word, history, reader));
        let all_together = saw.len() == lows && lows == highs;
        if all_together {
            // What was there before both.
            let entries = low.entries().iter().chain(high.entries());
            let oldest = entries.map(|entry| entry.position).min().unwrap_or(u32::MAX);
            let before = |found: &&Loaded| found.saw < oldest;
            saw.extend(
                lowest.iter().find(before).zip(highest.iter().find(before)).map(|(a, b)| [a.saw, b.saw]),
            );
        }
        let read = |candidates: &[Loaded], saw: Position| {
            candidates.iter().find(|found| found.saw == saw).map(|found| u64::from(found.value))
        };
        let seen = saw.iter().rev().filter_map(|saw| {
            let value = read(&lowest, saw[0])? | read(&highest, saw[1])? << 32;
            Some(WideSeen { value, saw: *saw })
        });
        Some(BothSeen { writes: seen.collect(), forgotten: older || older_high || !all_together })
    }

    /// What is known of a word, and what a reader of it may return now.
    pub fn look(&mut self, word: &Word, reader: &Reader<'_>) -> WordSeen {
        let history = self.history(word);
        let (candidates, forgotten) = self.candidates(word, &history, reader);
        let (agent, number, clocks) = self.reading(reader);
        let core = &self.core;
        let kind = core.kinds.get(number);
        let order = core.order();
        let workgroup_size = self.workgroup_size.max(1);
        let groups = &self.groups;
        let later = Later { agent, clocks: &clocks, kind };
        let of_bytes = history.entries().iter().filter(|entry| entry.bytes & reader.bytes != 0);
        let writes = of_bytes.map(|entry| {
            let of = core.kinds.get(entry.record.kind);
            WriteSeen {
                record: entry.record,
                size: of.size,
                by: core.report.numbering.invocation(entry.record.agent),
                site: of.site,
                atomic: of.level.filter(|_| of.atomic).map(|level| Scope::of_level(Some(level))),
                value: history.at(15, entry.position, &[0; 4], word.newest).0,
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
        WordSeen { before, before_readable, writes, values, forgotten }
    }

    /// How a write of [`WordSeen::writes`] stands to a later one, or to the reader's access.
    pub fn relate(
        &mut self,
        word: &Word,
        first: &WriteSeen,
        second: Option<&WriteSeen>,
        reader: &Reader<'_>,
    ) -> PairOrder {
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
            address: self.in_shared_memory(word).address,
        };
        let topology = core.agents.topology();
        let outline = core.report.outline.as_deref().map(|outline| outline as &dyn Outline);
        let slice = core.trace.slice(topology, core.kinds.list(), &pair, outline);
        let reads = second.is_none();
        let reader = Later { agent, clocks: core.agents.clocks(agent), kind: later_kind };
        let known =
            if reads { core.order().known(&first.record, earlier_kind, &reader) } else { Known::default() };
        let case = Case {
            slice: &slice,
            options: core.options,
            first: (earlier_kind, first.record.agent),
            second: (later_kind, later.agent),
            topology,
            outline,
            known,
        };
        let ordered = case.ordered() || reads && core.order().ordered(&first.record, earlier_kind, &reader);
        PairOrder { ordered, explanation: case.explain(), complete: slice.complete }
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
        let release_sequence = met.map_or_else(Default::default, |entry| entry.release_sequence.clone());
        floors(&self.agents.after_reading(agent, &kind.operation(), &release_sequence))
    }
}
