//! Store histories: which values a load may return (Vulkan memory model, *Visible-To* and the consistency of
//! an execution).
//!
//! Per location, writes are appended to a history; an entry's position is its index, the initial value comes
//! before all. A load may read an entry if, after the acquire effect of reading it, no access that is
//! location-ordered before the load has a later position (the position of a read is that of the write it
//! read). A read-modify-write reads the newest entry. So a load that the program orders after the newest
//! write has exactly one candidate, whatever the [`ValuePolicy`]; a load that races, or that meets a mutually
//! ordered atomic, returns, deterministically, a value that a device may return.
//!
//! Not generated: load buffering and values out of thin air (execution is in order), and executions in which
//! writes take effect in another order than they were executed. Histories are bounded: the oldest entries are
//! forgotten first, which leaves fewer stale values.
//!
//! An agent that has read one old entry as often as the staleness budget says moves on. From then on the same
//! instruction of it sees, at every location, what was written before the entry that it moved on to: a loop
//! that waits for one flag after the other spends the budget once, not once per flag.

mod again;
mod forgotten;
mod places;
#[cfg(test)]
mod tests;

pub use places::Update;

use crate::race::{Order, Record, ReleaseSequence, StaticAccess};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which of the admissible values a load returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValuePolicy {
    /// The newest: memory looks coherent.
    Latest,
    /// The oldest: missing availability and visibility show as old values every time.
    #[default]
    Stale,
    /// Any, by the seed.
    Seeded,
    /// Of what an atomic may read, the seed says for each reader and location how often it gets the oldest
    /// before the newest, often never; all else gets the oldest.
    Varied,
    /// What the caches of a [`crate::machine::Machine`] hold, where the model allows it; of workgroup memory
    /// the newest.
    Caches,
}

/// The index of a write to a location; 0 is what was there before the history.
pub type Position = u32;

const MOST_ENTRIES: usize = 16;
const MOST_READS: usize = 64;
/// Readers beyond those that are remembered whose use of the staleness budget is.
const MOST_REPEATED: usize = 4096;

/// One write to the bytes of a word.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The agent, its time and its instruction.
    pub record: Record,
    /// The bytes of the word that it covers: bit `b` for byte `b`.
    pub bytes: u8,
    /// The word's bits, where `bytes` says so.
    pub value: u32,
    /// Where in the history.
    pub position: Position,
    /// For an atomic write: the releases that synchronize with an acquire that reads it.
    pub release_sequence: ReleaseSequence,
    /// In an exploration: how the explorer calls it.
    pub name: u64,
    /// In an exploration: a read-modify-write, which took the entry before it.
    pub takes: bool,
    /// When it was written, among the entries of all histories.
    pub sequence: u64,
}

/// One read of the bytes of a word.
#[derive(Clone, Debug)]
pub struct Read {
    /// The agent that read, at which of its times, by which instruction.
    pub record: Record,
    /// Which of the four bytes.
    pub bytes: u8,
    /// The position that it read.
    pub saw: Position,
    /// How many entries there were.
    pub at: Position,
    /// How often it has read the same old entry.
    pub repeats: u32,
    /// Nothing that conflicts with it was found unordered.
    pub quiet: bool,
}

/// The history of one aligned word of four bytes.
#[derive(Clone, Debug, Default)]
pub struct History {
    before: u32,
    before_bytes: u8,
    before_position: Position,
    /// Bytes of which older writes than the entries are forgotten: bit `b` for byte `b`.
    forgotten: u8,
    entries: Vec<Entry>,
    reads: Vec<Read>,
    /// Of reads that are not remembered, by agent, kind and bytes: the old entry that they read, and how
    /// often.
    repeated: BTreeMap<(u32, u32, u8), (Position, u32)>,
    floor: Position,
    next: Position,
    whole: bool,
    /// Accesses race here.
    pub(crate) raced: bool,
}

/// A load of bytes of a word, and what decides which entry it reads.
pub struct Load {
    /// The agent that loads.
    pub agent: u32,
    /// The bytes of the word that are loaded: bit `b` for byte `b`.
    pub bytes: u8,
    /// By an atomic instruction.
    pub atomic: bool,
    /// What it is ordered after depends on the entry that it reads.
    pub acquires: bool,
    /// Which value to prefer.
    pub policy: ValuePolicy,
    /// How often one agent may read the same old entry.
    pub stale_budget: u32,
    /// A position that the load is known to be ordered after; 0 if none.
    pub floor: Position,
    /// Entries of a smaller sequence are not old to this agent and instruction.
    pub fresh: u64,
    /// All values that it may read are asked for.
    pub tells: bool,
}

impl Load {
    /// An access of an exploration to these bytes: any candidate may be chosen, however often it was before.
    pub fn explored(agent: u32, bytes: u8, atomic: bool, acquires: bool) -> Load {
        Load {
            agent,
            bytes,
            atomic,
            acquires,
            policy: ValuePolicy::Seeded,
            stale_budget: u32::MAX,
            floor: 0,
            fresh: 0,
            tells: true,
        }
    }
}

/// What a load got.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The word's bits, where the load's bytes are.
    pub value: u32,
    /// The position read.
    pub saw: Position,
    /// The positions read, per byte; of bytes that nobody wrote 0.
    pub seen: [Position; 4],
    /// The entry read, if it is one write for all bytes.
    pub from: Option<usize>,
    /// All values that were admissible, oldest first, without repetition; none unless they are asked for.
    pub admissible: Vec<u32>,
}

/// The bits of these bytes of a word.
pub(crate) fn bits(bytes: u8) -> u32 {
    (0..4).filter(|b| bytes >> b & 1 != 0).fold(0, |bits, b| bits | 0xff << (8 * b))
}

impl History {
    /// A history that forgets nothing: an entry's position is 1 + its index.
    pub fn whole() -> History {
        History { whole: true, ..History::default() }
    }

    /// The writes, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The reads that are remembered.
    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// The position of the last write.
    pub fn last(&self) -> Position {
        self.next
    }

    /// Whether an access of the agent is remembered.
    pub fn knows(&self, agent: u32) -> bool {
        self.entries.iter().any(|entry| entry.record.agent == agent)
            || self.reads.iter().any(|read| read.record.agent == agent)
    }

    /// Bytes of `bytes` that were never written in this history.
    pub fn unwritten(&self, bytes: u8) -> u8 {
        bytes & !self.before_bytes
    }

    /// The newest entry for each of the bytes, without repetition.
    pub fn newest(&self, bytes: u8) -> impl Iterator<Item = &Entry> {
        let mut left = bytes;
        self.entries.iter().rev().filter(move |entry| {
            let hit = entry.bytes & left != 0;
            left &= !entry.bytes;
            hit
        })
    }

    /// The writes that an access of this kind to some of the bytes may race with: the newest of each byte;
    /// for a plain access also the atomic ones that others superseded, as mutual order is not location order;
    /// those that [outlast](StaticAccess::outlasts) an atomic and were superseded by atomics alone; and the
    /// private ones that a non-private one superseded: nothing orders them.
    pub fn conflicting(
        &self,
        bytes: u8,
        kinds: &[StaticAccess],
        kind: &StaticAccess,
    ) -> impl Iterator<Item = &Entry> {
        let newest: u32 = self.newest(bytes).map(|entry| entry.position).min().unwrap_or(0);
        let shared = self.ends_shared(bytes, kinds);
        let atomic = kind.atomic;
        self.entries.iter().filter(move |entry| {
            let superseded = &kinds[entry.record.kind as usize];
            entry.bytes & bytes != 0
                && (self.newest(bytes).any(|other| other.position == entry.position)
                    || (!atomic && entry.position < newest && superseded.atomic)
                    || (superseded.outlasts(kind) && self.only_atomics_since(entry.position, bytes, kinds))
                    || (shared && !superseded.non_private))
        })
    }

    /// Whether only atomics wrote some of the bytes after a position.
    fn only_atomics_since(&self, position: Position, bytes: u8, kinds: &[StaticAccess]) -> bool {
        let since = |entry: &&Entry| entry.position > position && entry.bytes & bytes != 0;
        self.entries.iter().filter(since).all(|entry| kinds[entry.record.kind as usize].atomic)
    }

    /// The reads of some of the bytes that a write of this kind may race with: those since they were last
    /// written; those that outlast an atomic, and after which atomics alone wrote; and private ones that a
    /// non-private write superseded.
    pub fn reads_since(
        &self,
        bytes: u8,
        kinds: &[StaticAccess],
        kind: &StaticAccess,
    ) -> impl Iterator<Item = &Read> {
        let ends_shared = self.ends_shared(bytes, kinds);
        self.reads.iter().filter(move |read| {
            let shared = read.bytes & bytes;
            shared != 0
                && (self.newest(shared).all(|entry| entry.position <= read.at)
                    || (kinds[read.record.kind as usize].outlasts(kind)
                        && self.only_atomics_since(read.at, shared, kinds))
                    || (ends_shared && !kinds[read.record.kind as usize].non_private))
        })
    }

    /// Whether the newest writes of the bytes are non-private.
    fn ends_shared(&self, bytes: u8, kinds: &[StaticAccess]) -> bool {
        self.newest(bytes).all(|entry| kinds[entry.record.kind as usize].non_private)
    }

    /// Appends a write. `old` is what the bytes held until now.
    pub fn write(
        &mut self,
        record: Record,
        bytes: u8,
        value: u32,
        old: u32,
        release_sequence: ReleaseSequence,
        sequence: u64,
    ) {
        self.begin(bytes, old);
        if self.entries.len() == MOST_ENTRIES && !self.whole {
            let oldest = self.entries.remove(0);
            self.before = self.before & !bits(oldest.bytes) | oldest.value & bits(oldest.bytes);
            self.before_position = oldest.position;
            self.forgotten |= oldest.bytes;
        }
        self.next += 1;
        let position = self.next;
        self.entries.push(Entry {
            record,
            bytes,
            value,
            position,
            release_sequence,
            name: 0,
            takes: false,
            sequence,
        });
    }

    /// What is at the first positions gets these values, whole words.
    pub fn restore(&mut self, values: &[u32]) {
        if let Some(before) = values.get(self.before_position as usize) {
            self.before = *before;
        }
        for entry in &mut self.entries {
            if let Some(value) = values.get(entry.position as usize) {
                entry.value = *value;
            }
        }
    }

    fn begin(&mut self, bytes: u8, old: u32) {
        let fresh = bytes & !self.before_bytes & !self.entries.iter().fold(0, |all, entry| all | entry.bytes);
        self.before = self.before & !bits(fresh) | old & bits(fresh);
        self.before_bytes |= fresh;
    }

    /// Remembers a read. The agent's earlier read of the same kind is replaced if it says no more. `quiet`
    /// says that this one raced with nothing.
    pub fn read(&mut self, record: Record, bytes: u8, saw: Position, quiet: bool) {
        let same = |read: &Read| {
            read.record.agent == record.agent && read.record.kind == record.kind && read.bytes == bytes
        };
        let stale = self.is_old(bytes, saw);
        let again =
            |(earlier, repeats): (Position, u32)| if stale && earlier == saw { repeats + 1 } else { 0 };
        let mut repeats = self.repeated.remove(&(record.agent, record.kind, bytes)).map_or(0, again);
        if let Some(index) = self.reads.iter().rposition(same) {
            let earlier = &self.reads[index];
            repeats = again((earlier.saw, earlier.repeats));
            // Others may come after an earlier one, and not after this: of those that saw the same, the first
            // stays, too.
            let first = || !self.reads[..index].iter().any(|read| same(read) && read.saw == saw);
            if earlier.record.time == record.time || (earlier.saw == saw && !first()) {
                self.reads.remove(index);
            }
        }
        if self.reads.len() == MOST_READS && !self.whole {
            // Nobody sees less than who is forgotten: the one who saw the least takes the fewest values away.
            let least = (0..MOST_READS).min_by_key(|index| self.reads[*index].saw).unwrap_or(0);
            let forgotten = self.reads.remove(least);
            self.seen(forgotten.saw);
            self.keep_repeats(&forgotten);
        }
        self.reads.push(Read { record, bytes, saw, at: self.next, repeats, quiet });
    }

    /// Whether something newer than what is at this position was written to the bytes.
    fn is_old(&self, bytes: u8, saw: Position) -> bool {
        self.newest(bytes).any(|entry| entry.position > saw)
    }

    /// Keeps what a read that is forgotten has used up of the staleness budget: however many agents wait for
    /// a location, each moves on.
    fn keep_repeats(&mut self, read: &Read) {
        if !self.is_old(read.bytes, read.saw) {
            return;
        }
        if self.repeated.len() == MOST_REPEATED {
            self.repeated.clear();
            self.seen(self.next);
        }
        let key = (read.record.agent, read.record.kind, read.bytes);
        let repeated = self.repeated.entry(key).or_insert((read.saw, 0));
        *repeated = if repeated.0 == read.saw {
            (read.saw, read.repeats.max(repeated.1))
        } else {
            (read.saw, read.repeats)
        };
    }

    /// The old entries that an agent has read as often as the budget allows: which bytes, and their
    /// positions.
    fn spent_on(&self, agent: u32, budget: u32) -> impl Iterator<Item = (u8, Position)> {
        let remembered = self.reads.iter().filter(move |read| read.record.agent == agent);
        let remembered = remembered.map(|read| (read.bytes, read.saw, read.repeats));
        let repeated = self.repeated.range((agent, 0, 0)..=(agent, u32::MAX, u8::MAX));
        let repeated = repeated.map(|((_, _, bytes), (saw, repeats))| (*bytes, *saw, *repeats));
        let spent = move |(bytes, saw, repeats)| (repeats >= budget).then_some((bytes, saw));
        remembered.chain(repeated).filter_map(spent)
    }

    /// Whether loads of the bytes by a reader that has seen, per byte, what is at these positions, and got
    /// `value`, get that from now on, as long as nothing else is written.
    pub fn settled(&self, bytes: u8, seen: &[Position; 4], value: u32) -> bool {
        self.entries.iter().all(|entry| {
            (0..4)
                .filter(|b| bytes & entry.bytes & 1 << b != 0)
                .all(|b| entry.position <= seen[b] || (entry.value ^ value) & bits(1 << b) == 0)
        })
    }

    /// From now on nobody reads anything earlier than what is at this position.
    pub fn seen(&mut self, position: Position) {
        self.floor = self.floor.max(position);
    }

    /// The bits of `bytes` if nothing later than `position` is read, where byte `b` cannot read what is
    /// earlier than `floor[b]`; with the position read per byte. Bytes that no entry covers keep the bits of
    /// `newest`.
    pub fn at(
        &self,
        bytes: u8,
        position: Position,
        floor: &[Position; 4],
        newest: u32,
    ) -> (u32, [Position; 4]) {
        let mut value = newest;
        let mut seen = [0; 4];
        for (b, floor) in floor.iter().enumerate().filter(|(b, _)| bytes >> b & 1 != 0) {
            let mask = 0xff << (8 * b);
            let last = position.max(*floor);
            let mut covering = self.entries.iter().filter(|entry| entry.bytes >> b & 1 != 0);
            match covering.clone().rev().find(|entry| entry.position <= last) {
                Some(entry) => {
                    value = value & !mask | entry.value & mask;
                    seen[b] = entry.position;
                }
                None if covering.next().is_some() => {
                    value = value & !mask | self.before & mask;
                    seen[b] = self.before_position;
                }
                None => {}
            }
        }
        (value, seen)
    }

    /// Per byte, the least position that the load may read: that of everything that is `ordered` before it.
    pub fn floors(&self, load: &Load, ordered: impl Fn(&Record) -> bool) -> [Position; 4] {
        let mut floors = [self.floor.max(load.floor); 4];
        // Most accesses raise nothing: whether they are ordered is asked last, and of the newest first.
        let raises = |floors: &[Position; 4], bytes: u8, position: Position| {
            (0..4).any(|b| bytes & load.bytes & 1 << b != 0 && position > floors[b])
        };
        let raise = |floors: &mut [Position; 4], bytes: u8, position: Position| {
            for (b, floor) in floors.iter_mut().enumerate() {
                if bytes & load.bytes & 1 << b != 0 {
                    *floor = position.max(*floor);
                }
            }
        };
        for (bytes, saw) in self.spent_on(load.agent, load.stale_budget) {
            raise(&mut floors, bytes, saw + 1);
        }
        for entry in self.entries.iter().rev() {
            if raises(&floors, entry.bytes, entry.position)
                && (entry.sequence < load.fresh || ordered(&entry.record))
            {
                raise(&mut floors, entry.bytes, entry.position);
            }
        }
        for read in self.reads.iter().rev() {
            if raises(&floors, read.bytes, read.saw) && ordered(&read.record) {
                raise(&mut floors, read.bytes, read.saw);
            }
        }
        floors
    }

    /// What a load may read, oldest first. `newest` is the word as memory has it; `floors` gives
    /// [`History::floors`] after the acquire effect of reading the entry with this index.
    pub fn candidates(
        &self,
        load: &Load,
        newest: u32,
        floors: &mut dyn FnMut(Option<usize>) -> [Position; 4],
    ) -> Vec<Loaded> {
        let last = self.entries.len().checked_sub(1);
        let whole = |entry: &Entry| entry.bytes & load.bytes == load.bytes;
        let overlapping = self.entries.iter().enumerate().filter(|(_, e)| e.bytes & load.bytes != 0);
        let cuts = overlapping.map(|(index, entry)| (entry.position, Some(index)));
        // Without an acquire effect one set of floors serves all candidates.
        let plain = if load.acquires { None } else { Some(floors(None)) };
        let mut found: Vec<Loaded> = Vec::new();
        for (position, index) in std::iter::once((self.before_position, None)).chain(cuts) {
            let floors = plain.unwrap_or_else(|| floors(index.filter(|index| whole(&self.entries[*index]))));
            let admissible = (0..4).all(|b| load.bytes >> b & 1 == 0 || floors[b] <= position);
            if load.atomic && !admissible && index != last {
                continue;
            }
            let (value, seen) = self.at(load.bytes, position, &floors, newest);
            let saw = seen.into_iter().max().unwrap_or(0);
            if found.last().is_none_or(|other| other.saw != saw || other.value != value) {
                let from = self.entries.iter().position(|entry| entry.position == saw && whole(entry));
                found.push(Loaded { value, saw, seen, from, admissible: Vec::new() });
            }
        }
        found
    }

    /// What a load reads: one of [`History::candidates`]. `pick` decides for [`ValuePolicy::Seeded`]
    /// and [`ValuePolicy::Caches`].
    pub fn load(
        &self,
        load: &Load,
        newest: u32,
        floors: &mut dyn FnMut(Option<usize>) -> [Position; 4],
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> Loaded {
        if let Some(loaded) = self.oldest_or_newest(load, newest, floors) {
            return loaded;
        }
        let mut found = self.candidates(load, newest, floors);
        let index = match load.policy {
            _ if found.len() == 1 => 0,
            ValuePolicy::Latest => found.len() - 1,
            ValuePolicy::Stale | ValuePolicy::Varied => 0,
            ValuePolicy::Seeded | ValuePolicy::Caches => pick(found.len()).min(found.len() - 1),
        };
        let mut admissible: Vec<u32> = Vec::new();
        for candidate in &found {
            if !admissible.contains(&candidate.value) {
                admissible.push(candidate.value);
            }
        }
        let mut loaded = found.swap_remove(index);
        loaded.admissible = admissible;
        loaded
    }

    /// The first or the last of [`History::candidates`], where others need not be made to know which it is:
    /// an atomic load of which each entry has all bytes.
    fn oldest_or_newest(
        &self,
        load: &Load,
        newest: u32,
        floors: &mut dyn FnMut(Option<usize>) -> [Position; 4],
    ) -> Option<Loaded> {
        let whole = self.entries.iter().all(|entry| entry.bytes & load.bytes == load.bytes);
        if load.tells || !load.atomic || !whole {
            return None;
        }
        let last = self.entries.len().checked_sub(1)?;
        let index = match load.policy {
            ValuePolicy::Latest => Some(last),
            ValuePolicy::Stale | ValuePolicy::Varied if !load.acquires => {
                let of_byte =
                    |(b, floor): (usize, Position)| if load.bytes >> b & 1 != 0 { floor } else { 0 };
                let floor = floors(None).into_iter().enumerate().map(of_byte).max()?;
                match self.before_position >= floor {
                    true => None,
                    false => {
                        Some(self.entries.iter().position(|entry| entry.position >= floor).unwrap_or(last))
                    }
                }
            }
            _ => return None,
        };
        let (value, saw) = match index {
            Some(index) => (self.entries[index].value, self.entries[index].position),
            None => (self.before, self.before_position),
        };
        let value = newest & !bits(load.bytes) | value & bits(load.bytes);
        let seen = std::array::from_fn(|b| if load.bytes >> b & 1 != 0 { saw } else { 0 });
        Some(Loaded { value, saw, seen, from: index, admissible: Vec::new() })
    }

    /// Whether an acquire that reads one of the entries of these bytes may learn something.
    pub fn synchronizes(&self, bytes: u8) -> bool {
        self.entries.iter().any(|entry| entry.bytes & bytes != 0 && !entry.release_sequence.is_empty())
    }

    /// The release sequences of the immediate predecessors, in scoped modification order, of a new atomic
    /// write of these bytes.
    pub fn predecessors(
        &self,
        order: &Order<'_>,
        kinds: &[StaticAccess],
        agent: u32,
        kind: &StaticAccess,
        bytes: u8,
    ) -> Vec<ReleaseSequence> {
        self.predecessors_at(self.entries.len(), order, kinds, agent, kind, bytes)
    }

    /// The same for a write that enters in front of the entry with index `place`.
    pub fn predecessors_at(
        &self,
        place: usize,
        order: &Order<'_>,
        kinds: &[StaticAccess],
        agent: u32,
        kind: &StaticAccess,
        bytes: u8,
    ) -> Vec<ReleaseSequence> {
        let here = self.entries[..place].iter().filter(|entry| entry.bytes == bytes);
        let kind_of = |entry: &Entry| &kinds[entry.record.kind as usize];
        let here: Vec<_> =
            here.map(|entry| (entry.record, kind_of(entry), &entry.release_sequence)).collect();
        order.predecessors(&here, agent, kind)
    }
}
