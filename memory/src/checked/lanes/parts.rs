//! The common case for single 16-bit values and bytes: words of which each half, or each byte, has a cell of
//! its own, see [`Split`](crate::race::Split).

use super::super::core::Core;
use super::super::words::{Place, Words};
use super::FastPath;
use crate::access::Access;
use crate::race::{Cell, RUN};
use crate::raw;
use crate::system::{LANES, Lanes, Mask};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

/// Whether the parts of a word with this cell may have their own. What an atomic wrote, and what other
/// atomics superseded, is told by the word.
#[inline(always)]
fn may_split(core: &Core) -> impl Fn(&Cell) -> bool {
    |cell| cell.write.kind == 0 || !core.kinds.get(cell.write.kind).atomic
}

/// The first word of the run that a word is in.
#[inline(always)]
fn first_of_run(word: u64) -> u64 {
    word / RUN as u64 * RUN as u64
}

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// All lanes read one value of `BYTES` bytes each, 1 or 2, of consecutive ones; returns the lanes that
    /// are left: all or none.
    #[inline(always)]
    pub(super) fn load_run_of_parts<C: Words, const BYTES: u32>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
    ) -> Mask {
        let bytes = LANES as u64 * u64::from(BYTES);
        if access.components == 1
            && mask == Mask::MAX
            && let Some((word, _)) = place.run_of_units(&place.offset.0, bytes)
            && let Some(run) = cells.run(first_of_run(word))
            && let Some(cell) = run.whole_of_parts(BYTES, first_of_run(word) < word)
        {
            let undefined = place.is_undefined(&core.unwritten, cell, 4 * word..4 * word + bytes);
            if self.read(core, cell, 0, undefined) {
                return 0;
            }
        }
        mask
    }

    /// Lanes read components of `BYTES` bytes, 1 or 2, but for the values; returns those that are left.
    #[inline(always)]
    pub(super) fn load_parts<C: Words, const BYTES: u32>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
    ) -> Mask {
        let (components, size) = (u64::from(access.components), u64::from(BYTES));
        if !place.view.address.is_multiple_of(size) {
            return mask;
        }
        let inside = place.aligned_to(BYTES, components) & mask;
        let mut todo = inside;
        let mut left = mask & !inside;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            todo &= todo - 1;
            let start = place.view.address + place.offset(lane);
            let end = start + components * size;
            let (mut served, mut settles) = (true, true);
            let mut at = start;
            while at < end {
                let Some((cell, bytes)) = cells.part((at, size), may_split(core)) else {
                    served = false;
                    break;
                };
                let undefined = place.is_undefined(&core.unwritten, cell, at..at + bytes);
                served &= self.read(core, cell, lane, undefined);
                settles &= served && self.settles(core, cell);
                at += bytes;
            }
            if !served {
                left |= 1 << lane;
            } else if settles {
                todo &= !place.same(lane, todo);
            }
        }
        left
    }

    /// Stores of components of `BYTES` bytes, 1 or 2. Lanes write in ascending order: behind one that is
    /// left, all are.
    #[inline(always)]
    pub(super) fn store_parts<C: Words, const BYTES: u32>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Mask {
        let (components, size) = (u64::from(access.components), u64::from(BYTES));
        if !place.view.address.is_multiple_of(size) {
            return mask;
        }
        let inside = place.aligned_to(BYTES, components);
        let mut todo = mask;
        'lanes: while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            if inside >> lane & 1 == 0 {
                break;
            }
            let start = place.view.address + place.offset(lane);
            let end = start + components * size;
            // All components are written, or none.
            let mut at = start;
            while at < end {
                let Some((cell, bytes)) = cells.part((at, size), may_split(core)) else { break 'lanes };
                // A component is counted once.
                if !self.overwrites(core, cell, lane) || (self.counts && bytes < size) {
                    break 'lanes;
                }
                at += bytes;
            }
            let mut at = start;
            while at < end {
                let Some((cell, bytes)) = cells.part_to_write((at, size), |_| true) else { break };
                let offset = at - place.view.address;
                let old = raw::load(place.view, offset, bytes as u8, Ordering::Relaxed).unwrap_or(0) as u32;
                self.count(core, cell, lane, (1, 1));
                cell.overwrite(self.record(lane), old << (8 * (at % 4)));
                at += bytes;
            }
            for k in 0..components {
                let new = u64::from(value[k as usize].0[lane]);
                let offset = place.offset(lane) + k * size;
                raw::store(place.view, offset, BYTES as u8, new, Ordering::Relaxed);
            }
            todo &= todo - 1;
        }
        todo
    }

    /// All lanes store one value of `BYTES` bytes each, 1 or 2, to consecutive ones; returns the lanes that
    /// are left: all or none.
    #[inline(always)]
    pub(super) fn store_run_of_parts<C: Words, const BYTES: u32>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        (access, value): (&Access, &[Lanes]),
    ) -> Mask {
        let (bytes, value) = (LANES * BYTES as usize, &value[0]);
        if access.components != 1 || mask != Mask::MAX {
            return mask;
        }
        let Some((word, offset)) = place.run_of_units(&place.offset.0, bytes as u64) else { return mask };
        let first = first_of_run(word);
        let Some(run) = cells.run_to_write(first) else { return mask };
        let Some(cell) = run.whole_of_parts(BYTES, first < word) else { return mask };
        if !self.overwrites(core, cell, 0) {
            return mask;
        }
        self.count(core, cell, 0, (LANES as u64, 1));
        cell.overwrite(self.record(0), 0);
        let (from, count) = ((word - first) as usize, bytes / 4);
        raw::copy_words_out(place.view, offset, &mut run.before()[from..from + count]);
        let (mut words, per_word) = ([0; RUN], 4 / BYTES as usize);
        for (word, lanes) in words.iter_mut().zip(value.0.chunks_exact(per_word)) {
            for (k, lane) in (0..).zip(lanes) {
                *word |= (lane & (u32::MAX >> (32 - 8 * BYTES))) << (8 * BYTES * k);
            }
        }
        raw::copy_words_in(place.view, offset, &words[..count]);
        0
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
        let Some(parts) = cells.parts(word) else { return false };
        let mut read: SmallVec<[Cell; 4]> = SmallVec::from_slice(parts);
        let size = 4 / read.len() as u64;
        for (start, cell) in (4 * word..).step_by(size as usize).zip(&mut read) {
            let undefined = place.is_undefined(&core.unwritten, cell, start..start + size);
            if !self.reads(core, cell, lane, undefined) {
                return false;
            }
        }
        parts.copy_from_slice(&read);
        if self.tells {
            let agent = self.record(lane).agent;
            read.iter().for_each(|part| self.tell(core, part.write, agent));
        }
        true
    }

    /// Whether nothing of the parts of a word stays when lane `lane` writes all of it.
    #[cold]
    pub(super) fn joins<C: Words>(&mut self, core: &Core, cells: &mut C, word: u64, lane: usize) -> bool {
        // What is counted where parts are written is counted for each.
        let Some(parts) = cells.parts(word).filter(|_| !self.counts) else { return false };
        let parts: SmallVec<[Cell; 4]> = SmallVec::from_slice(parts);
        parts.iter().all(|part| self.overwrites(core, part, lane))
    }
}
