//! Read-modify-writes of an exploration: which write each takes, and what becomes of its own.

use super::{Did, Named, word_bits};
use crate::access::{Access, AtomicOp};
use crate::checked::core::{Core, Where, Who};
use crate::checked::lane::{Lane, pieces};
use crate::history::{Entry, Load, Position, ValuePolicy};
use crate::raw;
use smallvec::SmallVec;

/// What a read-modify-write may take.
#[derive(Clone, Copy)]
struct Take {
    /// The index that it gets itself.
    place: usize,
    from: Option<usize>,
    seen: [Position; 4],
    /// The word's bits.
    word: u32,
    /// A compare-exchange that finds another value.
    fails: bool,
}

impl Core {
    /// The entries that a read-modify-write may take, the newest first.
    fn takes(
        &self,
        history: u32,
        agent: u32,
        kinds: (u32, u32),
        bytes: u8,
        newest: u32,
        fails: &dyn Fn(u32) -> bool,
    ) -> SmallVec<[Take; 4]> {
        let history_of = self.histories.peek(history).unwrap_or(&self.no_history);
        let entries = history_of.entries();
        let overlaps = |entry: &&Entry| entry.bytes & bytes != 0;
        let mut takes: SmallVec<[Take; 4]> = SmallVec::new();
        for place in (0..=entries.len()).rev() {
            let index = place.checked_sub(1);
            if index.is_some_and(|index| entries[index].bytes & bytes == 0) {
                continue;
            }
            let next = entries[place..].iter().find(overlaps);
            let (word, seen) = history_of.at(bytes, place as Position, &[0; 4], newest);
            let fails = fails(word);
            let who = Who { agent, kind: if fails { kinds.1 } else { kinds.0 } };
            let kind = self.kinds.get(who.kind);
            let whole = index.filter(|index| entries[*index].bytes & bytes == bytes);
            if let Some(next) = next {
                let load = Load {
                    order: self.order(),
                    kinds: self.kinds.list(),
                    agent,
                    kind,
                    bytes,
                    policy: ValuePolicy::Seeded,
                    stale_budget: u32::MAX,
                    fresh: 0,
                    floor: 0,
                };
                let floors = history_of.floors(&load, &self.known_after(history, whole, who, bytes));
                let late = (0..4).any(|b| bytes >> b & 1 != 0 && floors[b] > place as Position);
                let taken = !fails && (next.explored.1 || self.disturbs(entries, place, agent, kind));
                if late || taken || whole != index {
                    continue;
                }
            }
            takes.push(Take { place, from: whole, seen, word, fails });
        }
        takes
    }
}

impl Lane<'_> {
    /// A read-modify-write within one word; returns the original value.
    pub(in crate::checked) fn explore_modify(
        &mut self,
        access: &Access,
        kinds: (u32, u32),
        place: &Where,
        (op, value, comparator): (AtomicOp, u64, u64),
        newest: u64,
    ) -> u64 {
        let Some(piece) = pieces(place.address, access.size).next() else { return newest };
        let (agent, bytes) = (self.agent, piece.bytes);
        let all = word_bits(bytes);
        let compared = piece.place(comparator) & all;
        let fails = |word: u32| op == AtomicOp::CompareExchange && word & all != compared;
        let core = &mut *self.core;
        let number = core.whole(self.cells.cell(piece.word));
        let takes = core.takes(number, agent, kinds, bytes, piece.place(newest), &fails);
        let Some(take) = takes.get(core.choose(takes.len())).copied() else { return newest };
        let who = Who { agent, kind: if take.fails { kinds.1 } else { kinds.0 } };
        let kind = *core.kinds.get(who.kind);
        let operation = kind.operation();
        core.agents.begin_atomic(agent, &operation);
        let history = core.histories.peek(number).unwrap_or(&core.no_history);
        let undefined = if place.undefined { history.unwritten(bytes) } else { 0 };
        core.read_from = take.from.map(|index| history.entries()[index].record);
        if undefined != 0 {
            core.undefined(who, place, undefined);
        }
        let heads = core.heads_of(number, take.from, agent, &kind, bytes);
        if !heads.is_empty() {
            let clocks = core.agents.after_reading(agent, &operation, &heads);
            core.agents.read_atomic(agent, &operation, &heads, clocks);
        }
        let old = piece.lift(take.word);
        let read = Some(core.names(number, take.seen));
        if !take.fails {
            core.agents.make_available_before(agent, &operation);
        }
        let clocks = core.agents.clocks(agent).clone();
        let found = core.conflicts_with_all(number, who, &clocks, bytes, place);
        core.report_races(&found.racing, who, place, None);
        if take.fails {
            core.tell(who, place, piece.word, bytes, Did { read, write: None, changed: false });
            let record = core.record(who);
            let saw = take.seen.into_iter().max().unwrap_or(0);
            if let Some(history) = core.histories.get(number) {
                history.read(record, bytes, saw, false);
            }
        } else {
            let history = core.histories.peek(number).unwrap_or(&core.no_history);
            let before =
                history.predecessors_at(take.place, &core.order(), core.kinds.list(), agent, &kind, bytes);
            let heads = core.agents.write_heads(agent, &operation, &before);
            let new = raw::apply(op, access.size, old, value, comparator);
            let entry = Entry {
                record: core.record(who),
                bytes,
                value: piece.place(new),
                position: 0,
                heads,
                explored: (0, true),
                sequence: 0,
            };
            let named = Named { who, place, word: piece.word, read, changed: new != old };
            let taken = core.enter(number, take.place, entry, piece.place(newest), &named);
            let mask = word_bits(taken);
            let stored = newest & !piece.lift(mask) | piece.lift(piece.place(new) & mask);
            self.keep(access, place, newest, stored);
        }
        self.judge();
        self.core.trace(who, place);
        self.core.agents.end_atomic(agent, &operation);
        old
    }
}
