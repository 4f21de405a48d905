//! Read-modify-writes of an exploration: which write each takes, and what becomes of its own.

use super::{Did, Named};
use crate::access::{Access, AtomicOp};
use crate::checked::conflicts::{Where, Who};
use crate::checked::lane::{Lane, pieces};
use crate::history::{Entry, Load, bits};
use crate::raw;

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
        let all = bits(bytes);
        let compared = piece.place(comparator) & all;
        let writes = |word: u32| op != AtomicOp::CompareExchange || word & all == compared;
        let by = |writes: bool| Who { agent, kind: if writes { kinds.0 } else { kinds.1 } };
        let core = &mut *self.core;
        let number = core.whole(self.cells.cell(piece.word));
        let clocks = core.agents.clocks(agent).clone();
        let mut floors = |from: Option<usize>, writes: bool| {
            let acquires = core.acquires(number, core.kinds.get(by(writes).kind), bytes);
            let load = Load::explored(agent, bytes, true, acquires);
            core.floors(number, &load, by(writes), from, &clocks)
        };
        let history = core.histories.peek(number).unwrap_or(&core.no_history);
        let updates =
            history.updates(bytes, piece.place(newest), &writes, &mut floors, &core.mutual(by(true)));
        let Some(take) = updates.get(core.choose(updates.len())).copied() else { return newest };
        let who = by(take.writes);
        let kind = *core.kinds.get(who.kind);
        let operation = kind.operation();
        core.agents.begin_atomic(agent, &operation);
        let history = core.histories.peek(number).unwrap_or(&core.no_history);
        let undefined = if place.undefined { history.unwritten(bytes) } else { 0 };
        core.read_from = take.from.map(|index| history.entries()[index].record);
        if undefined != 0 {
            core.undefined(who, place, undefined);
        }
        let release_sequence = core.release_sequence_read(number, take.from, agent, &kind, bytes);
        if !release_sequence.is_empty() {
            let clocks = core.agents.after_reading(agent, &operation, &release_sequence);
            core.agents.read_atomic(agent, &operation, &release_sequence, clocks);
        }
        let old = piece.lift(take.word);
        let read = Some(core.names(number, take.seen));
        if take.writes {
            core.agents.make_available_before(agent, &operation);
        }
        let clocks = core.agents.clocks(agent).clone();
        let found = core.conflicts_with_all(number, who, &clocks, bytes, place);
        core.report_races(&found.racing, who, place, None);
        if !take.writes {
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
            let release_sequence = core.agents.release_sequence_of_write(agent, &operation, &before);
            let new = raw::apply(op, access.size, old, value, comparator);
            let entry = Entry {
                record: core.record(who),
                bytes,
                value: piece.place(new),
                position: 0,
                release_sequence,
                name: 0,
                takes: true,
                sequence: 0,
            };
            let named = Named { who, place, word: piece.word, read, changed: new != old };
            let taken = core.enter(number, take.place, entry, piece.place(newest), &named);
            let mask = bits(taken);
            let stored = newest & !piece.lift(mask) | piece.lift(piece.place(new) & mask);
            self.keep(access, place, newest, stored);
        }
        self.judge();
        self.core.trace(who, place);
        self.core.agents.end_atomic(agent, &operation);
        old
    }
}
