//! The common case for single 16-bit values: words of which each half has a cell of its own, see
//! [`Split`](crate::race::Split).

use super::super::core::Core;
use super::super::words::{Place, Words};
use super::FastPath;
use crate::access::Access;
use crate::plain;
use crate::race::{Cell, CellRun, RUN};
use crate::raw;
use crate::system::{LANES, Lanes, Mask};
use std::sync::atomic::Ordering;

/// Halves by number: twice that of the word, and one more for the upper one.
#[inline(always)]
fn place_of(half: u64) -> (u64, usize) {
    (half / 2, (half % 2) as usize)
}

/// Whether the halves of a word with this cell may have their own. What an atomic wrote, and what other
/// atomics superseded, is told by the word.
#[inline(always)]
fn may_split(core: &Core) -> impl Fn(&Cell) -> bool {
    |cell| cell.write.kind == 0 || !core.kinds.get(cell.write.kind).atomic
}

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// Loads of 16-bit components; returns the lanes that are left for the general path.
    #[inline(always)]
    pub(super) fn load_halves<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Mask {
        let components = u64::from(access.components);
        if !place.view.address.is_multiple_of(2) {
            return mask;
        }
        let inside = place.aligned_to::<2>(components) & mask;
        plain::load_view(place.view, place.offset, place.immediate, inside, access, out);
        if self.alike
            && components == 1
            && inside == Mask::MAX
            && let Some((word, _)) = place.run_of_units(&place.offset.0)
            && let Some(cell) = cells.run(word).and_then(CellRun::whole_of_halves)
        {
            let bytes = 4 * word..4 * (word + RUN as u64);
            let undefined = place.is_undefined(&core.unwritten, cell, bytes);
            if self.read(core, cell, 0, undefined) {
                return 0;
            }
        }
        let mut todo = inside;
        let stamp = self.stamp();
        if let Some(stamp) = stamp {
            todo &= !cells.settled_halves(stamp, place, todo, components);
        }
        let mut left = mask & !inside;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            todo &= todo - 1;
            let first = (place.view.address + place.offset(lane)) / 2;
            let (mut served, mut settles) = (true, stamp.is_some());
            for half in first..first + components {
                let (word, upper) = place_of(half);
                let Some(cell) = cells.half(word, upper, may_split(core)) else {
                    served = false;
                    break;
                };
                let undefined = place.is_undefined(&core.unwritten, cell, 2 * half..2 * half + 2);
                served &= self.read(core, cell, lane, undefined);
                let settled = served && self.settles(core, cell);
                match stamp {
                    Some(stamp) if settled => cells.settle_half(half, stamp),
                    _ => settles = false,
                }
            }
            if !served {
                left |= 1 << lane;
            } else if settles {
                todo &= !place.same(lane, todo);
            }
        }
        left
    }

    /// Stores of 16-bit components. Lanes write in ascending order: behind one that is left, all are.
    #[inline(always)]
    pub(super) fn store_halves<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Mask {
        let components = u64::from(access.components);
        if !place.view.address.is_multiple_of(2) {
            return mask;
        }
        if self.alike && components == 1 && mask == Mask::MAX && self.store_run(core, cells, place, &value[0])
        {
            return 0;
        }
        let inside = place.aligned_to::<2>(components);
        let mut todo = mask;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            if inside >> lane & 1 == 0 {
                break;
            }
            let first = (place.view.address + place.offset(lane)) / 2;
            // All components are written, or none.
            let served = (first..first + components).all(|half| {
                let (word, upper) = place_of(half);
                let cell = cells.half(word, upper, may_split(core));
                cell.is_some_and(|cell| self.overwrites(core, cell, lane))
            });
            if !served {
                break;
            }
            for k in 0..components {
                let (word, upper) = place_of(first + k);
                let at = place.offset(lane) + 2 * k;
                let old = raw::load(place.view, at, 2, Ordering::Relaxed).unwrap_or(0) as u32;
                if let Some(cell) = cells.half_to_write(word, upper, |_| true) {
                    self.count(core, cell, lane, (1, false));
                    cell.overwrite(self.record(lane), old << (16 * upper));
                }
                let new = u64::from(value[k as usize].0[lane] & 0xffff);
                raw::store(place.view, at, 2, new, Ordering::Relaxed);
            }
            todo &= todo - 1;
        }
        todo
    }

    /// All lanes store one value each to consecutive halves. Whether that was the common case.
    #[inline(always)]
    fn store_run<C: Words>(&mut self, core: &Core, cells: &mut C, place: &Place<'_>, value: &Lanes) -> bool {
        let Some((word, offset)) = place.run_of_units(&place.offset.0) else { return false };
        let Some(run) = cells.run_to_write(word) else { return false };
        let Some(cell) = run.whole_of_halves() else { return false };
        if !self.overwrites(core, cell, 0) {
            return false;
        }
        self.count(core, cell, 0, (LANES as u64, false));
        cell.overwrite(self.record(0), 0);
        raw::copy_words_out(place.view, offset, run.before());
        let mut words = [0; RUN];
        for k in 0..LANES / 2 {
            words[k] = value.0[2 * k] & 0xffff | value.0[2 * k + 1] << 16;
        }
        raw::copy_words_in(place.view, offset, &words);
        true
    }

    /// Lane `lane` reads a word that is split; false, and nothing done, if that is not the common case.
    #[cold]
    pub(super) fn read_split<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        word: u64,
        lane: usize,
    ) -> bool {
        let Some(halves) = cells.halves(word) else { return false };
        let mut read = *halves;
        for (upper, cell) in (0..).zip(&mut read) {
            let start = 4 * word + 2 * upper;
            let undefined = place.is_undefined(&core.unwritten, cell, start..start + 2);
            if !self.reads(core, cell, lane, undefined) {
                return false;
            }
        }
        *halves = read;
        if self.tells {
            let agent = self.record(lane).agent;
            read.iter().for_each(|half| self.tell(core, half.write, agent));
        }
        true
    }

    /// Whether nothing of the halves of a word stays when lane `lane` writes all of it.
    #[cold]
    pub(super) fn joins<C: Words>(&mut self, core: &Core, cells: &mut C, word: u64, lane: usize) -> bool {
        // What is counted where halves are written is counted for each.
        let Some(halves) = cells.halves(word).copied().filter(|_| !self.counts) else { return false };
        halves.iter().all(|half| self.overwrites(core, half, lane))
    }
}
