//! One access to the bytes of one word: which earlier accesses it races with, and which value a load returns.

mod alike;
mod order;
mod undefined;

use super::access_table::AccessTable;
use super::caches::Caches;
use super::conflicts::{Earlier, Told, Where, Who};
use super::explore::Followed;
use super::group::{Barriers, Members};
use super::inspect::Choice;
use super::rehearsal::Overlay;
use super::report::Report;
use super::superseded::{Superseded, Values};
use crate::history::{History, Load, Loaded, Position, ValuePolicy, bits};
use crate::model::ModelOptions;
use crate::race::{
    AgentId, Agents, Cell, Histories, Keep, NOBODY, Order, Record, ReleaseSequence, Space, Split,
    StaticAccess, Trace, bytes_of, readers, writes,
};
use crate::random::mix_all;
use crate::scope::StorageClasses;
use crate::system::Observed;
use crate::unwritten::Unwritten;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Most histories while cells still get one for readers of parts of a word that they have no room for.
const MOST_CROWDED: usize = 1 << 14;

/// Everything but the bytes and the cells.
#[derive(Clone)]
pub(super) struct Core {
    pub agents: Agents,
    pub kinds: AccessTable,
    pub histories: Histories,
    pub report: Report,
    pub trace: Trace,
    /// Of the model: as the axioms take them.
    pub options: ModelOptions,
    /// How often each kind of atomic was executed, by instruction of a subgroup.
    pub executed: Vec<u32>,
    /// What the common case serves now is traced, too.
    pub traces: bool,
    /// What the last atomic read or read-modify-write read from.
    pub read_from: Option<Record>,
    /// Kinds of writes and of reads of other agents that read from them. `None`: nobody asks.
    pub communicated: Option<RefCell<FxHashSet<(u32, u32)>>>,
    pub values: ValuePolicy,
    pub stale_budget: u32,
    pub seed: u64,
    /// Follows every access of an exploration.
    pub exploring: Followed,
    /// Takes the stores of a rehearsal.
    pub overlay: Option<Box<Overlay>>,
    /// Stands for that of a word without one.
    pub no_history: History,
    /// The first agent of the entered workgroup, and how many there are.
    pub first_agent: AgentId,
    pub group_agents: u32,
    /// Of the entered workgroup.
    pub barriers: Barriers,
    /// [`DispatchInfo::barriers_alone`](super::DispatchInfo::barriers_alone).
    pub barriers_alone: bool,
    /// In workgroup memory what a barrier orders before the whole workgroup races with nothing any more:
    /// barriers alone order, and nothing is private there.
    pub workgroup_passes: bool,
    /// Any two invocations of a workgroup stand for all: barriers alone order, or it is one subgroup.
    pub any_two: bool,
    /// A workgroup has several subgroups, which may have barriers of their own.
    pub by_subgroups: bool,
    /// The places of an invocation's number in its subgroup, in bits: sizes of subgroups are powers of two.
    pub subgroup_bits: u32,
    /// The entered subgroup, and its own barriers.
    pub subgroup: (Members, Barriers),
    /// Reads of the present instruction of words on which accesses race.
    pub alike: alike::Alike,
    /// Loads of history so far.
    pub draws: u64,
    /// Writes to histories so far.
    pub sequence: u64,
    /// For agents that have spent the staleness budget, by the kind of their loads: what was written before
    /// this is not old any more.
    pub fresh: FxHashMap<(AgentId, u32), u64>,
    /// Bytes of device memory that nothing had written when the dispatch began.
    pub unwritten: Unwritten,
    /// A read of device memory that neither the dispatch nor anything before it has written.
    pub suspect: Option<(Who, Where)>,
    /// Whether views (address and bytes) have such bytes: the last one asked for, and all.
    pub partly: ((u64, u64), bool),
    pub views: FxHashMap<(u64, u64), bool>,
    /// What an observer is told next.
    pub observed: Observed,
    /// The values that a debugger has chosen for the next load.
    pub choices: Vec<Choice>,
    /// What writes stored that cells have no room for. `None`: nobody asks.
    pub superseded: Option<Box<Superseded>>,
    /// Of the machine, with [`ValuePolicy::Caches`].
    pub caches: Option<Box<Caches>>,
    /// What they have for the load that comes.
    pub proposed: u32,
    /// No cache of the order is asked.
    #[cfg(test)]
    pub only_order: bool,
}

impl Core {
    /// The rules, with what the agents know now.
    pub fn order(&self) -> Order<'_> {
        Order { agents: &self.agents, read_modify_write: self.options.read_modify_write }
    }

    #[cfg(test)]
    pub(super) fn only_order(&self) -> bool {
        self.only_order
    }

    #[cfg(not(test))]
    #[inline(always)]
    pub(super) fn only_order(&self) -> bool {
        false
    }

    pub fn record(&self, who: Who) -> Record {
        Record { agent: who.agent, time: self.agents.time(who.agent), kind: who.kind }
    }

    /// A plain or atomic load of some bytes of a word, which is `newest` in memory. For an atomic, the
    /// acquire effect happens here.
    #[inline(always)]
    pub fn read(&mut self, cell: &mut Cell, who: Who, bytes: u8, newest: u32, place: &Where) -> u32 {
        let kind = self.kinds.get(who.kind);
        let usual = |write: &Record| !self.kinds.get(write.kind).atomic && self.quick(write, who, kind);
        let record = self.record(who);
        let dropped = self.dropped(cell, &record);
        if cell.history == 0
            && !kind.atomic
            && (cell.write.kind == 0 || usual(&cell.write))
            && !cell.forgets(&record, bytes, dropped)
        {
            cell.read(record, bytes, dropped);
            if place.undefined && cell.write.kind == 0 {
                self.undefined(who, place, bytes);
            }
            if self.communicated.is_some() {
                self.communicates(Some(cell.write), who);
            }
            return newest;
        }
        self.read_with_care(cell, who, bytes, newest, place)
    }

    #[inline(never)]
    fn read_with_care(&mut self, cell: &mut Cell, who: Who, bytes: u8, newest: u32, place: &Where) -> u32 {
        let kind = *self.kinds.get(who.kind);
        let operation = kind.operation();
        self.agents.complete(who.agent);
        let clocks = self.agents.clocks(who.agent).clone();
        let (policy, budget) = self.staleness(who.agent, place, &kind);
        let chosen = self.chosen(who.agent, place);
        if cell.history == 0 {
            let write = cell.write;
            let ordered = write.kind == 0 || self.ordered(&write, who, &kind, &clocks);
            let mutual =
                !ordered && self.order().mutual(&write, self.kinds.get(write.kind), who.agent, &kind);
            let superseded = cell.readers.iter().any(|reader| {
                let reader_kind = self.kinds.get(reader.kind);
                reader_kind.write
                    && !self.order().mutual(reader, reader_kind, who.agent, &kind)
                    && !self.ordered(reader, who, &kind, &clocks)
            });
            let record = self.record(who);
            let dropped = self.dropped(cell, &record);
            let crowded = cell.forgets(&record, bytes, dropped) && self.histories.len() < MOST_CROWDED;
            let latest = policy == ValuePolicy::Latest || (place.size > 4 && chosen.is_none());
            let plain = (ordered && !superseded) || (mutual && latest);
            if plain && !crowded {
                cell.read(record, bytes, dropped);
                if place.undefined && write.kind == 0 {
                    self.undefined(who, place, bytes);
                }
                self.read_from = (write.kind != 0).then_some(write);
                self.communicates(self.read_from, who);
                return newest;
            }
            self.begin_history(cell, newest, place);
        }
        if let (Some(_), Some(superseded)) = (chosen, &self.superseded)
            && let Some(history) = self.histories.get(cell.history)
        {
            // What is chosen is one of the values that were shown.
            superseded.restore(cell.history, history);
        }
        let unwritten = self.histories.get(cell.history).map_or(0, |history| history.unwritten(bytes));
        if place.undefined && unwritten != 0 {
            self.undefined(who, place, unwritten);
        }
        let Some(history) = self.histories.get(cell.history) else { return newest };
        self.draws += 1;
        let record = Record { agent: who.agent, time: self.agents.time(who.agent), kind: who.kind };
        let drawn = matches!(policy, ValuePolicy::Seeded | ValuePolicy::Caches);
        if !drawn && let Some(again) = history.again(record, &kind, bytes, budget) {
            self.read_from = again.from;
            self.observed.unsettled |= !history.settled(bytes, &[again.saw; 4], again.value);
            self.communicates(again.from, who);
            return again.value;
        }
        let each_alike = !drawn && !kind.atomic && chosen.is_none() && !self.only_order();
        if each_alike && let Some(value) = self.read_alike(cell.history, who, bytes, &clocks, place) {
            return value;
        }
        let Some(history) = self.histories.get(cell.history) else { return newest };
        let spent = kind.atomic && history.spent(who.agent, bytes, budget);
        let conflicting = history.conflicting(bytes, self.kinds.list(), &kind);
        let earlier: Earlier = conflicting.map(|entry| (entry.record, entry.position)).collect();
        let found = self.conflicts(&earlier, who, &clocks, place, Told::Later);
        let wide = place.size > 4 && kind.atomic && chosen.is_none();
        let fresh = self.fresh.get(&(who.agent, who.kind)).filter(|_| kind.atomic && chosen.is_none());
        let fresh = fresh.copied().unwrap_or(0);
        let dice = mix_all(&[self.seed, u64::from(who.agent), place.address, self.draws]);
        let number = cell.history;
        let Some(history) = self.histories.peek(number) else { return newest };
        let load = Load {
            agent: who.agent,
            bytes,
            atomic: kind.atomic,
            acquires: self.acquires(number, &kind, bytes),
            policy: if wide { ValuePolicy::Latest } else { policy },
            stale_budget: budget,
            floor: found.overruled,
            fresh,
            tells: !found.racing.is_empty(),
        };
        let mut floors = |index: Option<usize>| self.floors(number, &load, who, index, &clocks);
        let chosen = chosen.and_then(|choice| {
            let candidates = history.candidates(&load, newest, &mut floors);
            let index = candidates.iter().position(|found| choice.is(found, bytes));
            // Words of one atomic are read from one write.
            index.or_else(|| (place.size > 4 && kind.atomic).then(|| candidates.len() - 1))
        });
        let chosen = chosen.or_else(|| {
            let as_proposed = |found: &Loaded| (found.value ^ self.proposed) & bits(bytes) == 0;
            (policy == ValuePolicy::Caches).then(|| {
                // What is older than all that is allowed is as old as can be.
                let candidates = history.candidates(&load, newest, &mut floors);
                candidates.iter().rposition(as_proposed).unwrap_or(0)
            })
        });
        let mut pick = |options: usize| chosen.unwrap_or((dice % options as u64) as usize);
        let loaded = history.load(&load, newest, &mut floors, &mut pick);
        let release_sequence = self.release_sequence_read(number, loaded.from, who.agent, &kind, bytes);
        let after = (kind.atomic && !release_sequence.is_empty())
            .then(|| self.agents.after_reading(who.agent, &operation, &release_sequence));
        self.report_races(&found.racing, who, place, Some((&loaded, newest)));
        let entries = self.histories.peek(number).map_or(&[][..], History::entries);
        let read_from = loaded.from.and_then(|index| entries.get(index)).map(|entry| entry.record);
        self.communicates(read_from, who);
        if kind.atomic {
            let from = loaded.from.map(|index| &entries[index]);
            self.read_from = from.map(|entry| entry.record);
            if let Some(entry) = from.filter(|_| spent) {
                let fresh = self.fresh.entry((who.agent, who.kind)).or_default();
                *fresh = entry.sequence.max(*fresh);
            }
        }
        if each_alike {
            self.note_raced((number, who, bytes), &clocks, &found, &loaded);
        }
        if let Some(history) = self.histories.get(cell.history) {
            self.observed.unsettled |= !history.settled(bytes, &loaded.seen, loaded.value);
            history.read(record, bytes, loaded.saw, !found.doubted);
        }
        if let Some(after) = after {
            self.agents.read_atomic(who.agent, &operation, &release_sequence, after);
        }
        loaded.value
    }

    /// An agent reads from a write.
    pub fn communicates(&self, write: Option<Record>, who: Who) {
        let write = write.filter(|write| write.kind != 0 && write.agent != who.agent);
        if let (Some(write), Some(communicated)) = (write, &self.communicated) {
            communicated.borrow_mut().insert((write.kind, who.kind));
        }
    }

    /// What a debugger wants an agent to read.
    fn chosen(&self, agent: AgentId, place: &Where) -> Option<Choice> {
        let chosen = |choice: &&Choice| choice.agent == agent && choice.word == place.word;
        self.choices.iter().find(chosen).copied()
    }

    /// Which value a load of an agent prefers, and how often it may read the same old one.
    fn staleness(&self, agent: AgentId, place: &Where, kind: &StaticAccess) -> (ValuePolicy, u32) {
        if self.chosen(agent, place).is_some() {
            return (ValuePolicy::Seeded, u32::MAX);
        }
        if self.values == ValuePolicy::Caches && place.space != Space::Device {
            return (ValuePolicy::Latest, self.stale_budget);
        }
        if self.values != ValuePolicy::Varied || !kind.atomic || self.stale_budget == 0 {
            return (self.values, self.stale_budget);
        }
        let dice = mix_all(&[self.seed, u64::from(agent), place.word]);
        if !dice.is_multiple_of(4) {
            return (ValuePolicy::Latest, self.stale_budget);
        }
        let doublings = self.stale_budget.ilog2() + 1;
        (ValuePolicy::Stale, 1 << ((dice >> 32) as u32 % doublings))
    }

    /// Numbers the writes to histories.
    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// What the cell knows becomes a history. `newest` is the word in memory; of bytes that its place does
    /// not hold nobody knows what they are.
    fn begin_history(&mut self, cell: &mut Cell, newest: u32, place: &Where) {
        let now = self.next_sequence();
        let history = self.history_of(cell, newest, place.held, now);
        let superseded = self.superseded.as_ref();
        let values =
            superseded.map_or_else(Values::new, |known| known.values((place.space, place.word), cell));
        self.insert(cell, history, values);
    }

    /// What a cell without a history knows, as a history whose writes are numbered `now`. All that were
    /// superseded have the value that was there before the last one, see [`Superseded`].
    pub(super) fn history_of(&self, cell: &Cell, newest: u32, held: u8, now: u64) -> History {
        let mut history = History::default();
        let readers = || cell.readers.iter().zip(cell.reader_bytes).filter(|(reader, _)| reader.kind != 0);
        for (superseded, _) in readers().filter(|(reader, _)| self.kinds.get(reader.kind).write) {
            history.write(*superseded, held, cell.before, cell.before, ReleaseSequence::default(), now);
        }
        if cell.write.kind != 0 {
            history.write(cell.write, held, newest, cell.before, ReleaseSequence::default(), now);
        }
        for (reader, bytes) in readers().filter(|(reader, _)| !self.kinds.get(reader.kind).write) {
            history.read(*reader, bytes, saw(&history, held), false);
        }
        if cell.forgot {
            // Those that are forgotten saw the newest write: who comes after one of them does not see less.
            history.seen(saw(&history, held));
        }
        if cell.forgot_writes {
            history.forget_older(held);
        }
        history
    }

    /// [`Core::history_of`] for a word whose parts have cells. What several cells know is one access.
    pub(super) fn history_of_parts(&self, parts: &[Cell], newest: u32, held: u8, now: u64) -> History {
        let mut history = History::default();
        for (write, bytes, before) in writes(parts) {
            history.write(write, bytes & held, newest, before, ReleaseSequence::default(), now);
        }
        for (reader, bytes) in readers(parts) {
            history.read(reader, bytes & held, saw(&history, bytes & held), false);
        }
        for (part, bytes) in parts.iter().zip(bytes_of(parts.len())) {
            if part.forgot {
                history.seen(saw(&history, bytes & held));
            }
            if part.forgot_writes {
                history.forget_older(bytes & held);
            }
        }
        history
    }

    /// A word that is split has one cell again, or a history; `newest` is in memory.
    pub(super) fn unsplit(&mut self, cell: &mut Cell, split: &mut Split, newest: u32, held: u8) {
        if split.unite(cell) {
            return;
        }
        let now = self.next_sequence();
        let Some(parts) = split.peek(cell) else { return };
        let history = self.history_of_parts(parts, newest, held, now);
        split.join(cell);
        self.insert(cell, history, Values::new());
    }

    /// A history takes a cell's place; `superseded`: the values of its first writes.
    fn insert(&mut self, cell: &mut Cell, history: History, superseded: Values) {
        let number = self.histories.insert(history);
        if let Some(known) = &mut self.superseded {
            known.begin(number, superseded);
        }
        *cell = Cell { history: number, ..Cell::EMPTY };
    }

    /// The acquire effect of a read-modify-write, by the release sequence of the newest write: it reads that.
    pub fn acquire_newest(&mut self, cell: &Cell, who: Who, bytes: u8, place: &Where) {
        let kind = *self.kinds.get(who.kind);
        if place.undefined {
            let unwritten = match self.histories.get(cell.history) {
                Some(history) => history.unwritten(bytes),
                None if cell.write.kind == 0 => bytes,
                None => 0,
            };
            if unwritten != 0 {
                self.undefined(who, place, unwritten);
            }
        }
        // Where another write came to some of the bytes, the atomic write is still read at the others.
        let entry = self.histories.peek(cell.history).and_then(|history| {
            history.newest(bytes).find(|entry| entry.bytes == bytes).or_else(|| history.entries().last())
        });
        let Some(entry) = entry else {
            self.read_from = (cell.history == 0 && cell.write.kind != 0).then_some(cell.write);
            return;
        };
        self.read_from = Some(entry.record);
        if entry.bytes != bytes || entry.release_sequence.is_empty() {
            return;
        }
        let (record, release_sequence) = (entry.record, entry.release_sequence.clone());
        if self.order().mutual(&record, self.kinds.get(record.kind), who.agent, &kind) {
            let operation = kind.operation();
            let clocks = self.agents.after_reading(who.agent, &operation, &release_sequence);
            self.agents.read_atomic(who.agent, &operation, &release_sequence, clocks);
        }
    }

    /// A plain or atomic store, or the store of a read-modify-write, of some bytes of a word: `old` is the
    /// word before, `new` has the bits of those bytes after it.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub fn write(
        &mut self,
        cell: &mut Cell,
        who: Who,
        bytes: u8,
        old: u32,
        new: u32,
        release_sequence: ReleaseSequence,
        place: &Where,
    ) {
        let kind = self.kinds.get(who.kind);
        let [first, latest] = &cell.readers;
        if cell.history == 0
            && bytes == 15
            && release_sequence.is_empty()
            && (cell.write.kind == 0 || self.quick(&cell.write, who, kind))
            && (first.kind == 0 || self.quick(first, who, kind))
            && (latest.kind == 0 || self.quick(latest, who, kind))
            && !self.hides(&cell.write, kind)
            && !self.is_more_available(&cell.write, who, kind)
            && !self.hides(first, kind)
            && !self.hides(latest, kind)
            && !(self.outlasts(&cell.write, kind)
                || self.outlasts(first, kind)
                || self.outlasts(latest, kind))
        {
            cell.overwrite(self.record(who), old);
            return;
        }
        self.write_with_care(cell, who, bytes, old, new, release_sequence, place);
    }

    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn write_with_care(
        &mut self,
        cell: &mut Cell,
        who: Who,
        bytes: u8,
        old: u32,
        new: u32,
        release_sequence: ReleaseSequence,
        place: &Where,
    ) {
        let kind = *self.kinds.get(who.kind);
        self.agents.complete(who.agent);
        let more_available = match self.histories.peek(cell.history) {
            Some(history) => {
                history.newest(bytes).any(|entry| self.is_more_available(&entry.record, who, &kind))
            }
            None => self.is_more_available(&cell.write, who, &kind),
        };
        if more_available {
            self.agents.tick(who.agent);
        }
        let clocks = self.agents.clocks(who.agent).clone();
        // The readers and the write of the cell come first: what of them stays is decided below.
        let mut earlier = Earlier::new();
        let differs = |held: u32| (held ^ new) & bits(bytes) != 0;
        let mut same = !differs(old);
        if cell.history == 0 {
            for (reader, reader_bytes) in cell.readers.iter().zip(cell.reader_bytes) {
                earlier.push((if reader_bytes & bytes != 0 { *reader } else { NOBODY }, 0));
            }
            earlier.push((cell.write, 0));
        } else if let Some(history) = self.histories.get(cell.history) {
            let writes = history.conflicting(bytes, self.kinds.list(), &kind);
            for entry in writes {
                same &= !differs(entry.value);
                earlier.push((entry.record, entry.position));
            }
            earlier.extend(
                history.reads_since(bytes, self.kinds.list(), &kind).map(|read| (read.record, read.saw)),
            );
        }
        let hidden = earlier.iter().any(|(earlier, _)| self.hides(earlier, &kind));
        let found = self.conflicts(&earlier, who, &clocks, place, Told::AtOnce { same });
        let keep = std::array::from_fn(|index| match earlier.get(index) {
            _ if found.mutual.contains(&index) => Keep::Mutual,
            // A race is told once.
            Some((record, _)) if self.outlasts(record, &kind) && !found.doubted => Keep::Outlasts,
            _ => Keep::No,
        });
        let record = self.record(who);
        if cell.history == 0 && bytes == 15 && release_sequence.is_empty() && !hidden {
            let earlier = self.superseded.is_some().then_some(*cell);
            cell.overwrite_keeping(record, old, keep);
            if let (Some(superseded), Some(earlier)) = (&mut self.superseded, earlier) {
                superseded.note((place.space, place.word), &earlier, cell, old);
                let writes = [earlier.readers[0], earlier.readers[1], earlier.write];
                let mut writes = writes.iter().filter(|earlier| self.kinds.get(earlier.kind).write);
                cell.forgot_writes |= writes.any(|earlier| !cell.readers.contains(earlier));
            }
            return;
        }
        if cell.history == 0 {
            self.begin_history(cell, old, place);
        }
        let now = self.next_sequence();
        if let Some(history) = self.histories.get(cell.history) {
            history.raced |= found.doubted && found.overruled == 0;
            history.write(record, bytes, new, old, release_sequence, now);
        }
    }

    /// Traces an atomic access, or one with an availability or visibility operation.
    pub fn trace(&mut self, who: Who, place: &Where) {
        let record = self.record(who);
        let reads = self.read_from.take();
        let writes = self.kinds.get(who.kind).write;
        self.trace.access(who.agent / self.group_agents, record, place.space, place.address, reads, writes);
    }
}

/// The position of the newest write of these bytes, which all who read since have seen.
fn saw(history: &History, bytes: u8) -> Position {
    history.newest(bytes).next().map_or(0, |entry| entry.position)
}

/// The classes of a semantics that a full barrier covers, as indices.
pub(super) fn class_indices(classes: StorageClasses) -> impl Iterator<Item = usize> {
    (0..4).filter(move |index| classes.bits() >> index & 1 != 0)
}
