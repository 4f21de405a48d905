//! One access to the bytes of one word: which earlier accesses it races with, and which value a load returns.

use super::access_table::AccessTable;
use super::caches::Caches;
use super::explore::Followed;
use super::inspect::Choice;
use super::rehearsal::Overlay;
use super::report::{AxiomContext, Report};
use crate::history::{Entry, History, Load, Loaded, Position, ValuePolicy, bits};
use crate::model::ModelOptions;
use crate::race::{
    AgentId, Agents, Cell, Clocks, Histories, Later, NOBODY, Order, Pair, Record, ReleaseSequence, Space,
    StaticAccess, Time, Trace,
};
use crate::random::mix_all;
use crate::scope::StorageClasses;
use crate::system::{MemoryView, Observed};
use crate::unwritten::Unwritten;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Most histories while cells still get one for readers of parts of a word that they have no room for.
const MOST_CROWDED: usize = 1 << 14;

/// Where an access goes, for findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Where {
    /// Device address, or offset into workgroup memory, of the whole component.
    pub address: u64,
    /// Offset into the view.
    pub offset: u64,
    /// Address of the word that is looked at.
    pub word: u64,
    /// Which bytes of that word the view holds.
    pub held: u8,
    /// Bytes of the component.
    pub size: u32,
    /// For a read: bytes that nothing wrote are undefined.
    pub undefined: bool,
    /// Device memory or the memory of a workgroup.
    pub space: Space,
}

/// Who accesses and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub agent: AgentId,
    pub kind: u32,
}

/// Accesses and their positions in a history.
pub(super) type Earlier = SmallVec<[(Record, Position); 8]>;

/// When a race is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// `same`: it stores the values that are there.
    AtOnce { same: bool },
    /// With what the access loaded.
    Later,
}

/// How an access stands to the earlier ones that it conflicts with.
#[derive(Default)]
pub(super) struct Conflicts {
    /// Those that it races with and that are not reported yet.
    pub racing: SmallVec<[Record; 4]>,
    /// The newest position that it comes after by what its agent knows.
    pub floor: Position,
    /// The newest position that it comes after by the axioms alone.
    pub overruled: Position,
    /// Those that it is mutually ordered with, by index.
    pub mutual: SmallVec<[usize; 4]>,
    /// Some were not known to be ordered before the axioms were asked.
    pub doubted: bool,
}

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
    /// Per class: all non-private accesses of the entered workgroup up to this time are ordered before
    /// everything its agents do now, through the same reference.
    pub full: [Time; 4],
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

    /// A cache of [`Order::ordered`], decided by a few comparisons: the same agent, or the same workgroup
    /// with a barrier in between that makes everything of the class available and visible. (The other cache
    /// is [`super::lanes::FastPath`]; `tests/fast_paths.rs` compares both with the order.)
    #[inline(always)]
    fn quick(&self, earlier: &Record, who: Who, kind: &StaticAccess) -> bool {
        let earlier_kind = self.kinds.get(earlier.kind);
        if earlier_kind.reference != kind.reference || self.only_order() {
            return false;
        }
        if earlier.agent == who.agent {
            return true;
        }
        earlier.agent.wrapping_sub(self.first_agent) < self.group_agents
            && earlier.time <= self.full[(kind.class.bits().trailing_zeros() & 3) as usize]
            && earlier_kind.non_private
            && kind.non_private
    }

    /// Whether the earlier access is a write of the same agent and time that is more available than one of
    /// this kind: then times must tell that this one is later, as it is not covered by the other's
    /// availability operation.
    #[inline(always)]
    fn is_more_available(&self, earlier: &Record, who: Who, kind: &StaticAccess) -> bool {
        earlier.agent == who.agent
            && earlier.kind != 0
            && self.kinds.get(earlier.kind).own() > kind.own()
            && earlier.time == self.agents.time(who.agent)
    }

    /// Whether what is ordered after the later access may race with the earlier one all the same: a private
    /// access by the same agent.
    #[inline(always)]
    fn hides(&self, earlier: &Record, kind: &StaticAccess) -> bool {
        kind.non_private && earlier.kind != 0 && !self.kinds.get(earlier.kind).non_private
    }

    /// Whether an earlier access to the same bytes is ordered before an access by someone who knows `clocks`.
    fn ordered(&self, earlier: &Record, who: Who, kind: &StaticAccess, clocks: &Clocks) -> bool {
        self.quick(earlier, who, kind) || {
            let later = Later { agent: who.agent, clocks, kind };
            self.order().ordered(earlier, self.kinds.get(earlier.kind), &later)
        }
    }

    /// Judges an access against earlier ones, each with its position in the history: absent ones are passed
    /// over. What the detector calls a race goes to the axioms, and is an order if they do not confirm it.
    pub fn conflicts(
        &mut self,
        earlier: &[(Record, Position)],
        who: Who,
        clocks: &Clocks,
        place: &Where,
        told: Told,
    ) -> Conflicts {
        let kind = *self.kinds.get(who.kind);
        let mut found = Conflicts::default();
        for (index, (earlier, position)) in earlier.iter().enumerate() {
            if earlier.kind == 0 {
                continue;
            }
            if self.ordered(earlier, who, &kind, clocks) {
                found.floor = found.floor.max(*position);
                continue;
            }
            if self.order().mutual(earlier, self.kinds.get(earlier.kind), who.agent, &kind) {
                found.mutual.push(index);
                continue;
            }
            found.doubted = true;
            let (trace, kinds, options) = (&self.trace, self.kinds.list(), self.options);
            let axioms = AxiomContext { trace, kinds, agents: &self.agents, options };
            let pair = Pair {
                earlier: *earlier,
                earlier_kind: self.kinds.get(earlier.kind),
                later: Record { agent: who.agent, time: self.agents.time(who.agent), kind: who.kind },
                later_kind: &kind,
                space: place.space,
                address: place.address,
            };
            if !self.report.confirm(&axioms, &pair, self.exploring.is_some()) {
                found.overruled = found.overruled.max(*position);
            } else if let Told::AtOnce { same } = told {
                self.report.race(&pair, None, 0, place, same);
            } else {
                found.racing.push(*earlier);
            }
        }
        found
    }

    /// Reports races with these accesses; `loaded`: what the later access got, and what is newest.
    pub fn report_races(
        &mut self,
        racing: &[Record],
        who: Who,
        place: &Where,
        loaded: Option<(&Loaded, u32)>,
    ) {
        let later = self.record(who);
        for earlier in racing {
            let pair = Pair {
                earlier: *earlier,
                earlier_kind: self.kinds.get(earlier.kind),
                later,
                later_kind: self.kinds.get(who.kind),
                space: place.space,
                address: place.address,
            };
            let newest = loaded.map_or(0, |(_, newest)| newest);
            self.report.race(&pair, loaded.map(|(loaded, _)| loaded), newest, place, false);
        }
    }

    /// The heads that an atomic read of the entry with this index meets.
    pub fn heads_of(
        &self,
        history: u32,
        index: Option<usize>,
        agent: AgentId,
        kind: &StaticAccess,
        bytes: u8,
    ) -> ReleaseSequence {
        let entry = index.and_then(|index| self.histories.peek(history)?.entries().get(index));
        let met = |entry: &&Entry| {
            kind.atomic
                && entry.bytes == bytes
                && self.order().mutual(&entry.record, self.kinds.get(entry.record.kind), agent, kind)
        };
        entry.filter(met).map_or_else(ReleaseSequence::default, |entry| entry.heads.clone())
    }

    /// Per byte, the least position in a history that a load may read if it reads the entry with this index.
    /// `clocks` are those of its agent before.
    pub fn floors(
        &self,
        number: u32,
        load: &Load,
        who: Who,
        index: Option<usize>,
        clocks: &Clocks,
    ) -> [Position; 4] {
        let kind = self.kinds.get(who.kind);
        let history = self.histories.peek(number).unwrap_or(&self.no_history);
        let floors = |clocks: &Clocks| {
            let (order, later) = (self.order(), Later { agent: who.agent, clocks, kind });
            history.floors(load, |record| order.ordered(record, self.kinds.get(record.kind), &later))
        };
        if !load.acquires {
            return floors(clocks);
        }
        let heads = self.heads_of(number, index, who.agent, kind, load.bytes);
        floors(&self.agents.after_reading(who.agent, &kind.operation(), &heads))
    }

    /// Whether an atomic access of this kind may learn something from what it reads.
    pub fn acquires(&self, number: u32, kind: &StaticAccess, bytes: u8) -> bool {
        let history = self.histories.peek(number);
        kind.atomic && kind.semantics.acquire && history.is_some_and(|history| history.synchronizes(bytes))
    }

    /// A plain or atomic load of some bytes of a word, which is `newest` in memory. For an atomic, the
    /// acquire effect happens here.
    #[inline(always)]
    pub fn read(&mut self, cell: &mut Cell, who: Who, bytes: u8, newest: u32, place: &Where) -> u32 {
        let kind = self.kinds.get(who.kind);
        let usual = |write: &Record| !self.kinds.get(write.kind).atomic && self.quick(write, who, kind);
        let record = self.record(who);
        if cell.history == 0
            && !kind.atomic
            && (cell.write.kind == 0 || usual(&cell.write))
            && !cell.forgets(&record, bytes)
        {
            cell.read(record, bytes);
            if place.undefined && cell.write.kind == 0 {
                self.undefined(who, place, bytes);
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
            let crowded = cell.forgets(&self.record(who), bytes) && self.histories.len() < MOST_CROWDED;
            let plain =
                (ordered && !superseded) || (mutual && (policy == ValuePolicy::Latest || place.size > 4));
            if plain && !crowded {
                cell.read(self.record(who), bytes);
                if place.undefined && write.kind == 0 {
                    self.undefined(who, place, bytes);
                }
                self.read_from = (write.kind != 0).then_some(write);
                return newest;
            }
            self.begin_history(cell, newest, place.held);
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
            return again.value;
        }
        let spent = kind.atomic && history.spent(who.agent, bytes, budget);
        let conflicting = history.conflicting(bytes, self.kinds.list(), &kind);
        let earlier: Earlier = conflicting.map(|entry| (entry.record, entry.position)).collect();
        let found = self.conflicts(&earlier, who, &clocks, place, Told::Later);
        let wide = place.size > 4 && kind.atomic;
        let fresh =
            if kind.atomic { self.fresh.get(&(who.agent, who.kind)).copied().unwrap_or(0) } else { 0 };
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
        };
        let mut floors = |index: Option<usize>| self.floors(number, &load, who, index, &clocks);
        let chosen = self.chosen(who.agent, place).and_then(|value| {
            let same = |found: &Loaded| (found.value ^ value) & bits(bytes) == 0;
            history.candidates(&load, newest, &mut floors).iter().position(same)
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
        let heads = self.heads_of(number, loaded.from, who.agent, &kind, bytes);
        let after = (kind.atomic && !heads.is_empty())
            .then(|| self.agents.after_reading(who.agent, &operation, &heads));
        self.report_races(&found.racing, who, place, Some((&loaded, newest)));
        let entries = self.histories.peek(number).map_or(&[][..], History::entries);
        if kind.atomic {
            let from = loaded.from.map(|index| &entries[index]);
            self.read_from = from.map(|entry| entry.record);
            if let Some(entry) = from.filter(|_| spent) {
                let fresh = self.fresh.entry((who.agent, who.kind)).or_default();
                *fresh = entry.sequence.max(*fresh);
            }
        }
        if let Some(history) = self.histories.get(cell.history) {
            self.observed.unsettled |= !history.settled(bytes, &loaded.seen, loaded.value);
            history.read(record, bytes, loaded.saw, !found.doubted);
        }
        if let Some(after) = after {
            self.agents.read_atomic(who.agent, &operation, &heads, after);
        }
        loaded.value
    }

    /// What a debugger wants an agent to read.
    fn chosen(&self, agent: AgentId, place: &Where) -> Option<u32> {
        let chosen = |choice: &&Choice| choice.agent == agent && choice.word == place.word;
        self.choices.iter().find(chosen).map(|choice| choice.value)
    }

    /// Which value a load of an agent prefers, and how often it may read the same old one.
    fn staleness(&self, agent: AgentId, place: &Where, kind: &StaticAccess) -> (ValuePolicy, u32) {
        if self.chosen(agent, place).is_some() {
            return (ValuePolicy::Seeded, self.stale_budget);
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

    /// A new dispatch begins, in which these bytes of device memory are undefined.
    pub fn begin_undefined(&mut self, unwritten: Unwritten) {
        self.unwritten = unwritten;
        self.partly = ((0, 0), false);
        self.views.clear();
    }

    /// Whether bytes of a view were undefined when the dispatch began.
    #[inline(always)]
    pub fn partly_undefined(&mut self, view: &MemoryView<'_>) -> bool {
        if self.unwritten.is_empty() {
            return false;
        }
        let key = (view.address, view.size());
        if self.partly.0 != key {
            self.partly = (key, self.look_for_undefined(key));
        }
        self.partly.1
    }

    #[inline(never)]
    fn look_for_undefined(&mut self, (address, size): (u64, u64)) -> bool {
        let unwritten = &self.unwritten;
        *self
            .views
            .entry((address, size))
            .or_insert_with(|| unwritten.any(address, address.saturating_add(size)))
    }

    /// Reports a read of these bytes of a word, which this dispatch has not written, if they are undefined.
    /// Of device memory it is a suspect only, see [`super::lane::Lane`].
    #[cold]
    pub fn undefined(&mut self, who: Who, place: &Where, bytes: u8) {
        if place.space != Space::Device {
            return self.report.undefined(who, self.kinds.get(who.kind), place);
        }
        let byte = |k: u64| bytes >> k & 1 != 0 && self.unwritten.any(place.word + k, place.word + k + 1);
        if (0..4).any(byte) {
            self.suspect = Some((who, *place));
        }
    }

    /// Whether all bytes of the device memory `start .. end` were undefined when the dispatch began.
    pub fn wholly_undefined(&self, start: u64, end: u64) -> bool {
        (start..end).all(|byte| self.unwritten.any(byte, byte + 1))
    }

    /// Numbers the writes to histories.
    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// What the cell knows becomes a history. `newest` is the word in memory; of bytes that are not `held`
    /// nobody knows what they are.
    fn begin_history(&mut self, cell: &mut Cell, newest: u32, held: u8) {
        let now = self.next_sequence();
        let history = self.history_of(cell, newest, held, now);
        *cell = Cell { history: self.histories.insert(history), ..Cell::EMPTY };
    }

    /// What a cell without a history knows, as a history whose writes are numbered `now`.
    pub(super) fn history_of(&self, cell: &Cell, newest: u32, held: u8, now: u64) -> History {
        let mut history = History::default();
        let readers = || cell.readers.iter().zip(cell.reader_bytes).filter(|(reader, _)| reader.kind != 0);
        for (superseded, _) in readers().filter(|(reader, _)| self.kinds.get(reader.kind).write) {
            history.write(*superseded, held, cell.before, cell.before, ReleaseSequence::default(), now);
        }
        if cell.write.kind != 0 {
            history.write(cell.write, held, newest, cell.before, ReleaseSequence::default(), now);
        }
        let saw = history.newest(15).next().map_or(0, |entry| entry.position);
        for (reader, bytes) in readers().filter(|(reader, _)| !self.kinds.get(reader.kind).write) {
            history.read(*reader, bytes, saw, false);
        }
        if cell.forgot {
            // Those that are forgotten saw the newest write: who comes after one of them does not see less.
            history.seen(saw);
        }
        history
    }

    /// The heads that a read-modify-write meets, and their acquire effect. It reads the newest write.
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
        if entry.bytes != bytes || entry.heads.is_empty() {
            return;
        }
        let (record, heads) = (entry.record, entry.heads.clone());
        if self.order().mutual(&record, self.kinds.get(record.kind), who.agent, &kind) {
            let operation = kind.operation();
            let clocks = self.agents.after_reading(who.agent, &operation, &heads);
            self.agents.read_atomic(who.agent, &operation, &heads, clocks);
        }
    }

    /// The heads of a new atomic write.
    pub fn write_heads(&mut self, cell: &Cell, who: Who, bytes: u8) -> ReleaseSequence {
        let kind = *self.kinds.get(who.kind);
        let mut predecessors = Vec::new();
        if kind.read
            && let Some(history) = self.histories.peek(cell.history)
        {
            predecessors = history.predecessors(&self.order(), self.kinds.list(), who.agent, &kind, bytes);
        }
        self.agents.write_heads(who.agent, &kind.operation(), &predecessors)
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
        heads: ReleaseSequence,
        place: &Where,
    ) {
        let kind = self.kinds.get(who.kind);
        let [first, latest] = &cell.readers;
        if cell.history == 0
            && bytes == 15
            && heads.is_empty()
            && (cell.write.kind == 0 || self.quick(&cell.write, who, kind))
            && (first.kind == 0 || self.quick(first, who, kind))
            && (latest.kind == 0 || self.quick(latest, who, kind))
            && !self.hides(&cell.write, kind)
            && !self.is_more_available(&cell.write, who, kind)
            && !self.hides(first, kind)
            && !self.hides(latest, kind)
        {
            cell.overwrite(self.record(who), old, [false; 3]);
            return;
        }
        self.write_with_care(cell, who, bytes, old, new, heads, place);
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
        heads: ReleaseSequence,
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
            earlier.extend(history.reads_since(bytes, self.kinds.list()).map(|read| (read.record, read.saw)));
        }
        let hidden = earlier.iter().any(|(earlier, _)| self.hides(earlier, &kind));
        let found = self.conflicts(&earlier, who, &clocks, place, Told::AtOnce { same });
        let keep = std::array::from_fn(|index| found.mutual.contains(&index));
        let record = self.record(who);
        if cell.history == 0 && bytes == 15 && heads.is_empty() && !hidden {
            cell.overwrite(record, old, keep);
            return;
        }
        if cell.history == 0 {
            self.begin_history(cell, old, place.held);
        }
        let now = self.next_sequence();
        if let Some(history) = self.histories.get(cell.history) {
            history.write(record, bytes, new, old, heads, now);
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

/// The classes of a semantics that a full barrier covers, as indices.
pub(super) fn class_indices(classes: StorageClasses) -> impl Iterator<Item = usize> {
    (0..4).filter(move |index| classes.bits() >> index & 1 != 0)
}
