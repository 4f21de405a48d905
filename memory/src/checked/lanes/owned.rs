//! The common case of words that an invocation has to itself, in whatever pattern: see
//! [`Owned`](crate::race::Owned).

use super::super::access_table::Looked;
use super::super::core::{Core, nearness_of_own};
use super::super::words::{Place, Words};
use super::{FastPath, word};
use crate::access::Access;
use crate::race::{Cell, Record, States, Time};
use crate::raw;
use crate::system::{Lanes, Mask};
use std::sync::atomic::Ordering;

/// Most words of an access that is looked at.
const WORDS: u64 = 8;

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// Whether plain accesses of so many words may be of this case.
    #[inline(always)]
    pub(super) fn may_own<C: Words>(&self, words: u64, access: &Access) -> bool {
        C::OWNS && access.atomic.is_none() && words <= WORDS && !self.tells
    }

    /// Lanes read, from the first one of `mask` on as far as the case goes; returns the others.
    #[inline(always)]
    pub(super) fn load_owned<C: Words>(
        &self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        words: u64,
    ) -> Mask {
        let mut todo = mask;
        'lanes: while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            let Some(offset) = whole(place, lane, words) else { break };
            let Record { agent: owner, time, .. } = self.record(lane);
            let first = (place.view.address + offset) / 4;
            for number in first..first + words {
                let Some((word, states)) = cells.owned(number, owner) else { break 'lanes };
                let cell = states.get(word.state);
                if place.is_undefined(&core.unwritten, cell, 4 * number..4 * number + 4) {
                    break 'lanes;
                }
                let Some(state) = self.follow(core, states, word.state, time, false) else { break 'lanes };
                (word.owner, word.state) = (owner, state);
            }
            todo &= todo - 1;
        }
        todo
    }

    /// Stores of lanes, from the first one of `mask` on as far as the case goes; returns the others.
    #[inline(always)]
    pub(super) fn store_owned<C: Words>(
        &self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        (words, per_word): (u64, usize),
        value: &[Lanes],
    ) -> Mask {
        let mut todo = mask;
        'lanes: while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            let Some(offset) = whole(place, lane, words) else { break };
            let Record { agent: owner, time, .. } = self.record(lane);
            let first = (place.view.address + offset) / 4;
            // Several words are written together or not at all.
            let mut after = [0; WORDS as usize];
            for (number, after) in (first..first + words).zip(&mut after) {
                let Some((word, states)) = cells.owned(number, owner) else { break 'lanes };
                let Some(state) = self.follow(core, states, word.state, time, true) else { break 'lanes };
                *after = state;
            }
            for (k, state) in (0..words).zip(after) {
                let at = offset + 4 * k;
                let old = raw::load(place.view, at, 4, Ordering::Relaxed).unwrap_or(0) as u32;
                if self.counts
                    && let Some((word, states)) = cells.owned(first + k, owner)
                {
                    core.kinds.count(self.kind, states.get(word.state), 0, (1, per_word));
                }
                cells.write_owned(first + k, owner, state, old);
                let new = word(value, per_word, k as usize, lane);
                raw::store(place.view, at, 4, u64::from(new), Ordering::Relaxed);
            }
            todo &= todo - 1;
        }
        todo
    }

    /// What a read or a write by the owner makes of a state; nothing if that is not the common case.
    #[inline(always)]
    fn follow(&self, core: &Core, states: &mut States, state: u32, time: Time, write: bool) -> Option<u32> {
        let record = Record { agent: 0, time, kind: self.kind };
        let version = core.kinds.only_counted();
        states.follow(state, (self.kind, time, write), version, |cell| own_access(core, cell, record, write))
    }
}

/// Where a lane accesses the view, if that is so many whole words of it.
#[inline(always)]
fn whole(place: &Place<'_>, lane: usize, words: u64) -> Option<u64> {
    let offset = place.offset(lane);
    (offset.is_multiple_of(4) && offset + 4 * words <= place.view.size()).then_some(offset)
}

/// What a read or a write makes of a cell in which all is by the same agent: as [`FastPath::reads`] and
/// [`FastPath::overwrites`] do, but for what hangs on barriers.
fn own_access(core: &Core, cell: &Cell, record: Record, write: bool) -> Option<Cell> {
    let [first, latest] = &cell.readers;
    for earlier in [&cell.write, first, latest].into_iter().filter(|earlier| earlier.kind != 0) {
        let looked = core.kinds.beside(record.kind, earlier.kind);
        let less_available = looked.contains(Looked::MORE_AVAILABLE) && earlier.time == record.time;
        let passes = looked.contains(Looked::OWN) || (write && looked.contains(Looked::TOLD));
        if !passes || (write && (less_available || looked.contains(Looked::HIDDEN))) {
            return None;
        }
    }
    let mut after = *cell;
    if write {
        after.overwrite(record, 0);
    } else {
        let near = cell.readers.map(|reader| nearness_of_own(&reader, &record));
        if cell.forgets(&record, 15, near) {
            return None;
        }
        after.read(record, 15, near);
    }
    Some(after)
}
