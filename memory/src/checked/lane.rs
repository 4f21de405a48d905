//! One lane of one instruction: its components, the words they touch, and the steps of an atomic.

use super::caches::{Caches, Path};
use super::conflicts::{Where, Who};
use super::core::Core;
use super::words::Words;
use super::words::workgroup::WorkgroupCells;
use crate::access::{Access, AtomicOp};
use crate::history::{ValuePolicy, bits};
use crate::race::{AgentId, Cell, ReleaseSequence, Shadow, Space, Split, unwritten};
use crate::raw;
use crate::scope::{Scope, Semantics};
use crate::system::MemoryView;

/// The cells of the memory that an instruction accesses.
pub(super) enum Cells<'a> {
    Device(&'a mut Shadow),
    Workgroup(&'a mut WorkgroupCells),
}

impl Cells<'_> {
    #[inline(always)]
    pub fn cell(&mut self, word: u64) -> &mut Cell {
        match self {
            Cells::Device(shadow) => Words::cell(*shadow, word),
            Cells::Workgroup(cells) => Words::cell(*cells, word),
        }
    }

    /// The cell of a word, and those of parts.
    #[inline(always)]
    fn cell_and_split(&mut self, word: u64) -> (&mut Cell, &mut Split) {
        match self {
            Cells::Device(shadow) => Words::cell_and_split(*shadow, word),
            Cells::Workgroup(cells) => Words::cell_and_split(*cells, word),
        }
    }

    #[inline(always)]
    fn cell_to_write(&mut self, word: u64) -> &mut Cell {
        match self {
            Cells::Device(shadow) => Words::cell_to_write(*shadow, word),
            Cells::Workgroup(cells) => Words::cell_to_write(*cells, word),
        }
    }
}

/// One lane of one instruction.
pub(super) struct Lane<'a> {
    pub core: &'a mut Core,
    pub cells: Cells<'a>,
    pub view: MemoryView<'a>,
    /// What the words that it touches are read from: the view, or more around it.
    pub words: MemoryView<'a>,
    pub offset: u64,
    pub lane: usize,
    pub agent: AgentId,
    pub undefined: bool,
    pub space: Space,
}

/// One word that a component touches: the word, its bytes, and where the component's bits are in the word
/// (left shift; negative: right).
pub(super) struct Piece {
    pub word: u64,
    pub bytes: u8,
    shift: i32,
}

impl Piece {
    /// Bits of the component, placed in the word.
    pub fn place(&self, value: u64) -> u32 {
        if self.shift >= 0 { (value << self.shift) as u32 } else { (value >> -self.shift) as u32 }
    }

    /// Bits of the word, placed in the component.
    pub fn lift(&self, word: u32) -> u64 {
        self.lift_of(word, self.bytes)
    }

    /// The bits of some bytes of the word, placed in the component.
    pub fn lift_of(&self, word: u32, bytes: u8) -> u64 {
        let word = u64::from(word & bits(bytes));
        if self.shift >= 0 { word >> self.shift } else { word << -self.shift }
    }
}

/// The words of a component of `size` bytes at `address`.
pub(super) fn pieces(address: u64, size: u8) -> impl Iterator<Item = Piece> {
    let end = address + u64::from(size);
    (address / 4..end.div_ceil(4)).map(move |word| {
        let base = word * 4;
        let from = address.max(base) - base;
        let to = end.min(base + 4) - base;
        Piece {
            word,
            bytes: ((1u32 << to) - (1 << from)) as u8,
            shift: (address as i64 - base as i64) as i32 * 8,
        }
    })
}

/// [`Caches::make_available`] or [`Caches::make_visible`].
type MakeInCaches = fn(&mut Caches, u32, Scope, &Semantics);

/// Bytes of the largest vector of 32-bit components: programs pad to them, and read what they padded with.
const VECTOR: u64 = 16;

impl Lane<'_> {
    /// Reports a read of undefined device memory, unless something else of the same vector is written: then
    /// it is padding, or a tail that is read along.
    #[cold]
    pub fn judge(&mut self) {
        let Some((who, place)) = self.core.suspect.take() else { return };
        let start = place.word / VECTOR * VECTOR;
        let fresh = (start / 4..(start + VECTOR) / 4).all(|word| {
            let (cell, split) = self.cells.cell_and_split(word);
            let history = self.core.histories.peek(cell.history);
            cell.write.kind == 0
                && history.is_none_or(|history| history.unwritten(15) == 15)
                && split.peek(cell).is_none_or(unwritten)
        });
        if fresh && self.core.wholly_undefined(start, start + VECTOR) {
            self.core.report.undefined(who, self.core.kinds.get(who.kind), &place);
        }
    }

    /// The words that the access of so many bytes touches are not split any more: all but the common case
    /// knows no parts.
    #[inline(always)]
    pub fn unsplit(&mut self, bytes: u64) {
        let end = self.offset.saturating_add(bytes).min(self.view.size());
        if self.offset >= end {
            return;
        }
        let (start, end) = (self.view.address + self.offset, self.view.address + end);
        for word in start / 4..end.div_ceil(4) {
            if self.cells.cell_and_split(word).0.is_split() {
                self.unsplit_word(word);
            }
        }
    }

    #[cold]
    fn unsplit_word(&mut self, word: u64) {
        let (newest, held) = self.word(word);
        // Who has read it so far is kept: a history is not asked who read before the first write.
        self.cells.cell_to_write(word);
        let (cell, split) = self.cells.cell_and_split(word);
        self.core.unsplit(cell, split, newest, held);
    }

    /// Component `k`: its offset and place, or nothing (and a finding) if it is out of bounds.
    #[inline(always)]
    fn component(&mut self, access: &Access, kind: u32, k: usize) -> Option<Where> {
        let size = u64::from(access.size);
        let offset = self.offset + k as u64 * size;
        let place = Where {
            address: self.view.address.wrapping_add(offset),
            offset,
            word: self.view.address.wrapping_add(offset) & !3,
            held: 15,
            size: size as u32,
            component: k as u8,
            undefined: self.undefined,
            space: self.space,
        };
        if offset + size <= self.view.size() {
            return Some(place);
        }
        let who = Who { agent: self.agent, kind };
        self.core.report.out_of_bounds(who, self.core.kinds.get(kind), &place, self.view.size());
        None
    }

    /// A word as memory has it, and which of its bytes are known.
    #[inline(always)]
    fn word(&self, word: u64) -> (u32, u8) {
        let load = |address: u64, size: u8| {
            let offset = address.checked_sub(self.words.address)?;
            self.core.held(&self.words, self.space, offset, size)
        };
        let address = word * 4;
        if let Some(word) = load(address, 4) {
            return (word as u32, 15);
        }
        let bytes = (0..4).map(|b| (b, load(address + b, 1)));
        bytes.fold((0, 0), |(word, held), (b, byte)| match byte {
            Some(byte) => (word | (byte as u32) << (8 * b), held | 1 << b),
            None => (word, held),
        })
    }

    #[inline(always)]
    pub fn read(&mut self, access: &Access, kind: u32, k: usize) -> u64 {
        let Some(place) = self.component(access, kind, k) else { return 0 };
        let newest = self.held(place.offset, access.size).unwrap_or(0);
        let told = self.core.report.of_read.len();
        let value = self.read_from(access, kind, place, newest);
        if access.size == 8 && self.core.report.of_read.len() > told {
            self.core.report.tell_both(told, value, newest);
        }
        value
    }

    /// Reads a component, which now has this value in memory.
    #[inline(always)]
    fn read_from(&mut self, access: &Access, kind: u32, place: Where, newest: u64) -> u64 {
        let who = Who { agent: self.agent, kind };
        if self.core.exploring.is_some() {
            return self.explore_read(access, who, &place, newest);
        }
        if self.core.caches.is_some() && self.space == Space::Device {
            return self.read_cached(access, who, &place);
        }
        if access.size == 4 && place.address.is_multiple_of(4) {
            let cell = self.cells.cell(place.address / 4);
            let value = self.core.read(cell, who, 15, newest as u32, &place);
            if self.core.suspect.is_some() {
                self.judge();
            }
            return u64::from(value);
        }
        let mut value = 0;
        for piece in pieces(place.address, access.size) {
            let (newest, held) = self.word(piece.word);
            let cell = self.cells.cell(piece.word);
            let place = Where { word: piece.word * 4, held, ..place };
            let word = self.core.read(cell, who, piece.bytes, newest, &place);
            value |= piece.lift(word);
        }
        if self.core.suspect.is_some() {
            self.judge();
        }
        value
    }

    /// A read of device memory through the caches of a machine.
    #[cold]
    fn read_cached(&mut self, access: &Access, who: Who, place: &Where) -> u64 {
        let Some(mut caches) = self.core.caches.take() else { return 0 };
        let path = Path::of(access, self.view.reference, false);
        let unit = caches.unit(self.agent / self.core.group_agents);
        let mut value = 0;
        for piece in pieces(place.address, access.size) {
            let (newest, held) = self.word(piece.word);
            let memory = |word: u64| {
                let offset = (4 * word).checked_sub(self.words.address)?;
                self.core.held(&self.words, self.space, offset, 4).map(|word| word as u32)
            };
            let proposed = caches.load(unit, piece.word, piece.bytes, path, &memory).unwrap_or(newest);
            self.core.proposed = proposed;
            self.core.report.of_read.clear();
            let place = Where { word: piece.word * 4, held, ..*place };
            let word = self.core.read(self.cells.cell(piece.word), who, piece.bytes, newest, &place);
            if !self.core.report.of_read.is_empty() {
                let cached = caches.look(unit, piece.word, newest);
                self.core.report.tell_caches(&cached, piece.bytes, &place);
            }
            caches.settle(unit, piece.word, piece.bytes, path, proposed, word);
            value |= piece.lift(word);
        }
        self.core.caches = Some(caches);
        if self.core.suspect.is_some() {
            self.judge();
        }
        value
    }

    /// A store to device memory goes into the caches of a machine.
    #[cold]
    fn write_cached(&mut self, access: &Access, place: &Where, value: u64) {
        let Some(mut caches) = self.core.caches.take() else { return };
        let path = Path::of(access, self.view.reference, true);
        let unit = caches.unit(self.agent / self.core.group_agents);
        for piece in pieces(place.address, access.size) {
            let (old, _) = self.word(piece.word);
            caches.store(unit, piece.word, piece.bytes, piece.place(value), old, path);
        }
        self.core.caches = Some(caches);
    }

    #[inline(always)]
    pub fn write(
        &mut self,
        access: &Access,
        kind: u32,
        k: usize,
        value: u64,
        release_sequence: &ReleaseSequence,
    ) {
        let Some(place) = self.component(access, kind, k) else { return };
        let who = Who { agent: self.agent, kind };
        let old = self.held(place.offset, access.size).unwrap_or(0);
        self.write_over(access, who, &place, old, value, release_sequence);
    }

    #[inline(always)]
    fn write_over(
        &mut self,
        access: &Access,
        who: Who,
        place: &Where,
        old: u64,
        value: u64,
        release_sequence: &ReleaseSequence,
    ) {
        if self.core.exploring.is_some() {
            return self.explore_write(access, who, place, old, value, release_sequence);
        }
        if access.size == 4 && place.address.is_multiple_of(4) {
            let cell = self.cells.cell_to_write(place.address / 4);
            self.core.write(cell, who, 15, old as u32, value as u32, release_sequence.clone(), place);
        } else {
            for piece in pieces(place.address, access.size) {
                let (old, held) = self.word(piece.word);
                let cell = self.cells.cell_to_write(piece.word);
                let place = Where { word: piece.word * 4, held, ..*place };
                self.core.write(
                    cell,
                    who,
                    piece.bytes,
                    old,
                    piece.place(value),
                    release_sequence.clone(),
                    &place,
                );
            }
        }
        if self.core.caches.is_some() && self.space == Space::Device {
            self.write_cached(access, place, value);
        }
        self.hold(place.offset, access.size, value);
    }

    /// The availability operation of an atomic, or its visibility operation, in the caches of a machine.
    fn synchronise_caches(&mut self, access: &Access, kind: u32, make: MakeInCaches) {
        let (semantics, group) = (self.core.kinds.get(kind).semantics, self.agent / self.core.group_agents);
        if let (Some(caches), Some(scope)) = (&mut self.core.caches, access.atomic) {
            make(caches, caches.unit(group), scope, &semantics);
        }
    }

    /// Traces an access with an availability or visibility operation.
    pub fn trace(&mut self, access: &Access, kind: u32, k: usize) {
        self.core.read_from = None;
        if let Some(place) = self.component(access, kind, k) {
            self.core.trace(Who { agent: self.agent, kind }, &place);
        }
    }

    /// An atomic load.
    pub fn atomic_read(&mut self, access: &Access, kind: u32) -> u64 {
        let operation = self.core.kinds.get(kind).operation();
        self.core.agents.begin_atomic(self.agent, &operation);
        self.core.read_from = None;
        let value = self.read(access, kind, 0);
        if let Some(place) = self.component(access, kind, 0) {
            self.core.trace(Who { agent: self.agent, kind }, &place);
        }
        self.core.agents.end_atomic(self.agent, &operation);
        self.synchronise_caches(access, kind, Caches::make_visible);
        value
    }

    /// An atomic store.
    pub fn atomic_write(&mut self, access: &Access, kind: u32, value: u64) {
        let Some(place) = self.component(access, kind, 0) else { return };
        let who = Who { agent: self.agent, kind };
        let operation = self.core.kinds.get(kind).operation();
        self.core.agents.begin_atomic(self.agent, &operation);
        self.core.agents.make_available_before(self.agent, &operation);
        self.synchronise_caches(access, kind, Caches::make_available);
        let old = self.held(place.offset, access.size).unwrap_or(0);
        let piece = pieces(place.address, access.size).next();
        let release_sequence = match piece {
            Some(piece) => self.core.release_sequence_of_write(self.cells.cell(piece.word), who, piece.bytes),
            None => ReleaseSequence::default(),
        };
        self.write_over(access, who, &place, old, value, &release_sequence);
        self.core.read_from = None;
        self.core.trace(who, &place);
        self.core.agents.end_atomic(self.agent, &operation);
    }

    /// A read-modify-write; returns the original value.
    pub fn modify(
        &mut self,
        access: &Access,
        kinds: (u32, u32),
        op: AtomicOp,
        value: u64,
        comparator: u64,
    ) -> u64 {
        let Some(mut place) = self.component(access, kinds.0, 0) else { return 0 };
        // Nothing depends on what an exchange without a use of its result replaces: it initialises.
        place.undefined &= access.result_used || op != AtomicOp::Exchange;
        let old = self.held(place.offset, access.size).unwrap_or(0);
        if self.core.exploring.is_some() && pieces(place.address, access.size).count() == 1 {
            return self.explore_modify(access, kinds, &place, (op, value, comparator), old);
        }
        let all = if access.size == 8 { u64::MAX } else { (1 << (8 * u32::from(access.size))) - 1 };
        let fails = op == AtomicOp::CompareExchange && old & all != comparator & all;
        let who = Who { agent: self.agent, kind: if fails { kinds.1 } else { kinds.0 } };
        let operation = self.core.kinds.get(who.kind).operation();
        self.core.agents.begin_atomic(self.agent, &operation);
        self.core.read_from = None;
        if let Some(piece) = pieces(place.address, access.size).next() {
            self.core.acquire_newest(self.cells.cell(piece.word), who, piece.bytes, &place);
        }
        if self.core.suspect.is_some() {
            self.judge();
        }
        if fails {
            let values = std::mem::replace(&mut self.core.values, ValuePolicy::Latest);
            self.read(access, who.kind, 0);
            self.core.values = values;
        } else {
            self.core.agents.make_available_before(self.agent, &operation);
            self.synchronise_caches(access, who.kind, Caches::make_available);
            let release_sequence = match pieces(place.address, access.size).next() {
                Some(piece) => {
                    self.core.release_sequence_of_write(self.cells.cell(piece.word), who, piece.bytes)
                }
                None => ReleaseSequence::default(),
            };
            let new = raw::apply(op, access.size, old, value, comparator);
            self.write_over(access, who, &place, old, new, &release_sequence);
        }
        self.core.trace(who, &place);
        self.core.agents.end_atomic(self.agent, &operation);
        self.synchronise_caches(access, who.kind, Caches::make_visible);
        old
    }
}
