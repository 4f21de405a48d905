//! Accesses of an exploration: every word keeps its whole history, and whatever the model leaves open is a
//! choice.
//!
//! - A load may read any entry that the model allows ([`History::candidates`]).
//! - A store enters behind every access that is location-ordered before it, at the end or, as others may see
//!   it earlier than writes that executed before, further in front ([`History::places`]).
//! - A read-modify-write reads any entry that the model allows and that no other one took, and enters right
//!   behind it ([`History::updates`]).
//!
//! Alternatives are offered newest first. Every pair of conflicting accesses is judged: none is passed over
//! because later ones superseded it.

mod modify;

use super::CheckedMemory;
use super::conflicts::{Conflicts, Earlier, Told, Where, Who};
use super::core::Core;
use super::lane::{Lane, pieces};
use crate::access::Access;
use crate::device::MemoryRange;
use crate::explore::{Accessed, Explorer, Limit};
use crate::finding::Finding;
use crate::history::{Entry, History, Load, Position, ValuePolicy, bits};
use crate::race::{Cell, Clocks, ReleaseSequence, Space};
use crate::raw;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

/// What an exploration keeps beside the model's state.
pub(super) struct Exploring {
    pub explorer: Box<dyn Explorer + Send>,
    /// Device memory as it was: where, offset, bytes, value.
    undo: Vec<(MemoryRange, u64, u8, u64)>,
}

/// Who follows the accesses, if anybody does. A copy of memory is followed by nobody.
#[derive(Default)]
pub(super) struct Followed(Option<Exploring>);

impl Clone for Followed {
    fn clone(&self) -> Followed {
        Followed(None)
    }
}

impl Deref for Followed {
    type Target = Option<Exploring>;

    fn deref(&self) -> &Option<Exploring> {
        &self.0
    }
}

impl DerefMut for Followed {
    fn deref_mut(&mut self) -> &mut Option<Exploring> {
        &mut self.0
    }
}

impl CheckedMemory {
    /// From now on every access is a choice of `explorer` where the model leaves one, and is told to it;
    /// `None`: as before.
    pub fn explore_with(&mut self, explorer: Option<Box<dyn Explorer + Send>>) {
        *self.core.exploring = explorer.map(|explorer| Exploring { explorer, undo: Vec::new() });
    }

    /// An execution of an exploration has ended. Returns what was found in it. `counts`: it was followed to
    /// its end.
    pub fn end_execution(&mut self, counts: bool) -> Vec<Finding> {
        self.core.report.keep_explanations(counts);
        self.end_dispatch()
    }

    /// Device memory becomes what it was before the present execution.
    pub fn rewind(&mut self) {
        if let Some(exploring) = &mut *self.core.exploring {
            for (range, offset, size, old) in exploring.undo.drain(..).rev() {
                raw::store(&range.view(), offset, size, old, Ordering::Relaxed);
            }
        }
    }
}

impl Core {
    fn whole(&mut self, cell: &mut Cell) -> u32 {
        if cell.history == 0 {
            *cell = Cell { history: self.histories.insert(History::whole()), ..Cell::EMPTY };
        }
        cell.history
    }

    fn choose(&mut self, options: usize) -> usize {
        match &mut *self.exploring {
            Some(exploring) => exploring.explorer.choose(options),
            None => 0,
        }
    }

    fn limited(&mut self, limit: Limit) {
        if let Some(exploring) = &mut *self.exploring {
            exploring.explorer.limited(limit);
        }
    }

    /// Judges an access against every conflicting one.
    fn conflicts_with_all(
        &mut self,
        history: u32,
        who: Who,
        clocks: &Clocks,
        bytes: u8,
        place: &Where,
    ) -> Conflicts {
        let write = self.kinds.get(who.kind).write;
        let Some(history) = self.histories.peek(history) else { return Conflicts::default() };
        let writes = history.entries().iter().map(|entry| (entry.record, entry.bytes, entry.position));
        let reads = history.reads().iter().map(|read| (read.record, read.bytes, read.saw));
        let all = writes.chain(reads.filter(|_| write)).filter(|(_, theirs, _)| theirs & bytes != 0);
        let all: Earlier = all.map(|(record, _, position)| (record, position)).collect();
        let mut found = self.conflicts(&all, who, clocks, place, Told::Later);
        found.floor = found.floor.max(found.overruled);
        if write && found.racing.iter().any(|earlier| self.kinds.get(earlier.kind).write) {
            self.limited(Limit::Races);
        }
        found
    }

    fn names(&self, history: u32, seen: [Position; 4]) -> [u64; 4] {
        let entries = self.histories.peek(history).map_or(&[][..], History::entries);
        seen.map(|position| {
            (position as usize).checked_sub(1).and_then(|index| entries.get(index)).map_or(0, |e| e.name)
        })
    }

    fn tell(&mut self, who: Who, place: &Where, word: u64, bytes: u8, did: Did) -> u64 {
        let Some(exploring) = &mut *self.exploring else { return 0 };
        exploring.explorer.accessed(&Accessed {
            agent: who.agent,
            space: place.space,
            word,
            bytes,
            read: did.read,
            write: did.write,
            changed: did.changed,
        })
    }

    /// Loads bytes of a word.
    fn explore_load(
        &mut self,
        cell: &mut Cell,
        word: u64,
        who: Who,
        bytes: u8,
        newest: u32,
        place: &Where,
    ) -> u32 {
        let number = self.whole(cell);
        let kind = *self.kinds.get(who.kind);
        self.agents.complete(who.agent);
        let clocks = self.agents.clocks(who.agent).clone();
        let mut found = Conflicts::default();
        if !kind.atomic {
            found = self.conflicts_with_all(number, who, &clocks, bytes, place);
        }
        let Some(mut exploring) = self.exploring.take() else { return newest };
        let wide = place.size > 4 && kind.atomic;
        let history = self.histories.peek(number).unwrap_or(&self.no_history);
        let load = Load {
            policy: if wide { ValuePolicy::Latest } else { ValuePolicy::Seeded },
            floor: found.floor,
            ..Load::explored(who.agent, bytes, kind.atomic, self.acquires(number, &kind, bytes))
        };
        let mut chosen = 1;
        let loaded = history.load(
            &load,
            newest,
            &mut |index| self.floors(number, &load, who, index, &clocks),
            &mut |options| {
                chosen = options;
                options - 1 - exploring.explorer.choose(options).min(options - 1)
            },
        );
        let entries = history.entries();
        if chosen > 1 && entries.iter().any(|e| e.bytes & bytes != 0 && e.bytes & bytes != bytes) {
            exploring.explorer.limited(Limit::MixedSizes);
        }
        if wide && entries.iter().any(|e| e.bytes & bytes != 0 && e.record.agent != who.agent) {
            exploring.explorer.limited(Limit::WideAtomics);
        }
        let undefined = if place.undefined { history.unwritten(bytes) } else { 0 };
        let from = loaded.from.map(|index| entries[index].record);
        *self.exploring = Some(exploring);
        let read = Some(self.names(number, loaded.seen));
        self.tell(who, place, word, bytes, Did { read, write: None, changed: false });
        if undefined != 0 {
            self.undefined(who, place, undefined);
        }
        let release_sequence = self.release_sequence_read(number, loaded.from, who.agent, &kind, bytes);
        if kind.atomic {
            let after = self.agents.after_reading(who.agent, &kind.operation(), &release_sequence);
            found = self.conflicts_with_all(number, who, &after, bytes, place);
            self.read_from = from;
            if !release_sequence.is_empty() {
                self.agents.read_atomic(who.agent, &kind.operation(), &release_sequence, after);
            }
        }
        self.report_races(&found.racing, who, place, Some((&loaded, newest)));
        let record = self.record(who);
        if let Some(history) = self.histories.get(number) {
            history.read(record, bytes, loaded.saw, false);
        }
        loaded.value
    }

    /// Whether writes of a history are mutually ordered with each other, and with an access by `who`.
    pub(super) fn mutual(&self, who: Who) -> impl Fn(&Entry, Option<&Entry>) -> bool {
        move |earlier: &Entry, later: Option<&Entry>| {
            let (agent, kind) = later.map_or((who.agent, who.kind), |e| (e.record.agent, e.record.kind));
            let kind = self.kinds.get(kind);
            self.order().mutual(&earlier.record, self.kinds.get(earlier.record.kind), agent, kind)
        }
    }

    /// Enters a write; returns the bytes of which it is the newest.
    fn enter(&mut self, history: u32, index: usize, entry: Entry, old: u32, named: &Named<'_>) -> u8 {
        let (who, bytes) = (named.who, entry.bytes);
        let did = Did { read: named.read, write: Some(index), changed: named.changed };
        let name = self.tell(who, named.place, named.word, bytes, did);
        let Some(history) = self.histories.get(history) else { return bytes };
        history.insert(index, Entry { name, ..entry }, old);
        let in_front = index + 1 < history.entries().len();
        let records = history.entries().iter().map(|entry| entry.record);
        self.trace.place(named.place.space, named.word * 4, in_front, records);
        history.entries()[index + 1..].iter().fold(bytes, |left, later| left & !later.bytes)
    }

    /// Stores bytes of a word; returns those that memory takes.
    fn explore_store(
        &mut self,
        cell: &mut Cell,
        word: u64,
        who: Who,
        (bytes, old, new): (u8, u32, u32),
        (release_sequence, free): (ReleaseSequence, bool),
        place: &Where,
    ) -> u8 {
        let number = self.whole(cell);
        self.agents.complete(who.agent);
        let clocks = self.agents.clocks(who.agent).clone();
        let found = self.conflicts_with_all(number, who, &clocks, bytes, place);
        self.report_races(&found.racing, who, place, None);
        let history = self.histories.peek(number).unwrap_or(&self.no_history);
        let places = history.places(bytes, found.floor, &self.mutual(who));
        let mut index = places[0];
        if free {
            index = places[self.choose(places.len()).min(places.len() - 1)];
        } else if places.len() > 1 {
            self.limited(Limit::WideAtomics);
        }
        let entry = Entry {
            record: self.record(who),
            bytes,
            value: new,
            position: 0,
            release_sequence,
            name: 0,
            takes: false,
            sequence: 0,
        };
        self.enter(number, index, entry, old, &Named { who, place, word, read: None, changed: true })
    }
}

struct Did {
    read: Option<[u64; 4]>,
    write: Option<usize>,
    changed: bool,
}

struct Named<'a> {
    who: Who,
    place: &'a Where,
    word: u64,
    read: Option<[u64; 4]>,
    changed: bool,
}

impl Lane<'_> {
    pub(super) fn explore_read(&mut self, access: &Access, who: Who, place: &Where, newest: u64) -> u64 {
        let mut value = 0;
        for piece in pieces(place.address, access.size) {
            let cell = self.cells.cell(piece.word);
            let place = Where { word: piece.word * 4, ..*place };
            let word =
                self.core.explore_load(cell, piece.word, who, piece.bytes, piece.place(newest), &place);
            value |= piece.lift(word);
        }
        self.judge();
        value
    }

    /// Device memory (or that of the workgroup) takes a value.
    fn keep(&mut self, access: &Access, place: &Where, old: u64, value: u64) {
        if old == value {
            return;
        }
        if self.space == Space::Device
            && let Some(exploring) = &mut *self.core.exploring
            && let Some(range) = MemoryRange::of(&self.view)
        {
            exploring.undo.push((range, place.offset, access.size, old));
        }
        raw::store(&self.view, place.offset, access.size, value, Ordering::Relaxed);
    }

    pub(super) fn explore_write(
        &mut self,
        access: &Access,
        who: Who,
        place: &Where,
        old: u64,
        value: u64,
        release_sequence: &ReleaseSequence,
    ) {
        let free = access.atomic.is_none() || pieces(place.address, access.size).count() == 1;
        let mut stored = old;
        for piece in pieces(place.address, access.size) {
            let cell = self.cells.cell(piece.word);
            let (before, after) = (piece.place(old), piece.place(value));
            let piece_bits = (piece.bytes, before, after);
            let taken = self.core.explore_store(
                cell,
                piece.word,
                who,
                piece_bits,
                (release_sequence.clone(), free),
                place,
            );
            let mask = bits(taken);
            stored = stored & !piece.lift(mask) | piece.lift(after & mask);
        }
        self.keep(access, place, old, stored);
    }
}
