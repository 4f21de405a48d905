//! The common case of words that have cells: lane by lane.

use super::super::core::Core;
use super::super::words::{Place, Words};
use super::FastPath;
use super::shape::{per_word, word, words};
use crate::access::{Access, AtomicOp};
use crate::component::{get, put};
use crate::race::{Cell, Keep};
use crate::raw;
use crate::system::{Lanes, Mask};
use std::sync::atomic::Ordering;

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// Lanes read words, but for the values; returns those that are left.
    #[inline(always)]
    pub(super) fn load_cells<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
    ) -> Mask {
        let words = words(access);
        if !place.view.address.is_multiple_of(4) {
            return mask;
        }
        let inside = place.aligned(words) & mask;
        let (mut todo, mut left) = (inside, mask & !inside);
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            todo &= todo - 1;
            let first = (place.view.address + place.offset(lane)) / 4;
            let (mut served, mut settles) = (true, true);
            for number in first..first + words {
                let cell = cells.cell(number);
                let undefined = place.is_undefined(&core.unwritten, cell, 4 * number..4 * number + 4);
                if cell.is_split() {
                    settles = false;
                    served &= self.read_split(core, cells, place, number, lane);
                } else {
                    served &= self.read(core, cell, lane, undefined);
                    settles &= served && self.settles(core, cell);
                }
            }
            if !served {
                left |= 1 << lane;
            } else if settles {
                // The others that read the same.
                todo &= !place.same(lane, todo);
            }
        }
        left
    }

    /// Lanes store words, in ascending order: behind one that is left, all are.
    #[inline(always)]
    pub(super) fn store_cells<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        (access, value): (&Access, &[Lanes]),
    ) -> Mask {
        let (words, per_word, view) = (words(access), per_word(access), place.view);
        if !view.address.is_multiple_of(4) {
            return mask;
        }
        let inside = place.aligned(words);
        let mut todo = mask;
        'lanes: while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            if inside >> lane & 1 == 0 {
                break;
            }
            let offset = place.offset(lane);
            let first = (view.address + offset) / 4;
            // Several words are written together or not at all.
            for number in first..first + words {
                let cell = cells.cell_to_write(number);
                let split = cell.is_split();
                let writes =
                    self.overwrites(core, cell, lane) || (split && self.joins(core, cells, number, lane));
                if !writes {
                    break 'lanes;
                }
            }
            for k in 0..words {
                let at = offset + 4 * k;
                let old = raw::load(view, at, 4, Ordering::Relaxed).unwrap_or(0) as u32;
                let cell = cells.joined(first + k);
                self.count(core, cell, lane, (1, per_word));
                cell.overwrite(self.record(lane), old);
                let new = word(value, per_word, k as usize, lane);
                raw::store(view, at, 4, u64::from(new), Ordering::Relaxed);
            }
            todo &= todo - 1;
        }
        todo
    }

    /// Atomics of lanes, of one word or two, in ascending order: behind one that is left, all are.
    #[inline(always)]
    pub(super) fn modify_cells<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
        does: (AtomicOp, &[Lanes], &mut [Lanes]),
    ) -> Mask {
        match access.size {
            4 => self.modify_words(core, cells, place, mask, does),
            _ => self.modify_pairs(core, cells, place, mask, does),
        }
    }

    #[inline(always)]
    fn modify_words<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        (op, value, out): (AtomicOp, &[Lanes], &mut [Lanes]),
    ) -> Mask {
        let view = place.view;
        let Some(last) = view.size().checked_sub(4).filter(|_| view.address.is_multiple_of(4)) else {
            return mask;
        };
        let mut todo = mask;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            let offset = place.offset(lane);
            if offset > last || !offset.is_multiple_of(4) {
                break;
            }
            let cell = cells.cell_to_write((view.address + offset) / 4);
            let Some(keep) = self.modifies(core, place, cell, offset, lane) else { break };
            let old = raw::load(view, offset, 4, Ordering::Relaxed).unwrap_or(0);
            cell.overwrite_keeping(self.record(lane), old as u32, keep);
            let new = raw::apply(op, 4, old, u64::from(value[0].0[lane]), 0);
            raw::store(view, offset, 4, new, Ordering::Relaxed);
            out[0].0[lane] = old as u32;
            todo &= todo - 1;
        }
        todo
    }

    #[inline(always)]
    fn modify_pairs<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        (op, value, out): (AtomicOp, &[Lanes], &mut [Lanes]),
    ) -> Mask {
        let view = place.view;
        let Some(last) = view.size().checked_sub(8) else { return mask };
        let mut todo = mask;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            let offset = place.offset(lane);
            if offset > last || !(view.address + offset).is_multiple_of(8) {
                break;
            }
            let first = (view.address + offset) / 4;
            // Both words are written together or not at all.
            let low = self.modifies(core, place, cells.cell_to_write(first), offset, lane);
            let high = self.modifies(core, place, cells.cell_to_write(first + 1), offset + 4, lane);
            let (Some(low), Some(high)) = (low, high) else { break };
            let old = raw::load(view, offset, 8, Ordering::Relaxed).unwrap_or(0);
            let record = self.record(lane);
            cells.cell_to_write(first).overwrite_keeping(record, old as u32, low);
            cells.cell_to_write(first + 1).overwrite_keeping(record, (old >> 32) as u32, high);
            let new = raw::apply(op, 8, old, get(value, 0, 8, lane), 0);
            raw::store(view, offset, 8, new, Ordering::Relaxed);
            put(out, 0, 8, lane, old);
            todo &= todo - 1;
        }
        todo
    }

    /// Which accesses of the cell of the word with this offset stay when an atomic of lane `lane` writes it;
    /// nothing if that is not the common case.
    #[inline(always)]
    fn modifies(
        &mut self,
        core: &Core,
        place: &Place<'_>,
        cell: &Cell,
        offset: u64,
        lane: usize,
    ) -> Option<[Keep; 3]> {
        let (address, agent) = (place.view.address + offset, self.first_lane + lane as u32);
        if place.is_undefined(&core.unwritten, cell, address..address + 4)
            || (self.any_pending && core.agents.has_pending(agent))
        {
            return None;
        }
        let keep = self.keeps::<true>(core, cell, lane)?;
        if self.tells {
            self.tell(core, cell.write, agent);
        }
        Some(keep)
    }
}
