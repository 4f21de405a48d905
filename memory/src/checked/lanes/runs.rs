//! The common case of consecutive lanes, each of which accesses the next words: their run has one cell, see
//! [`CellRun`](crate::race::CellRun).

use super::super::core::Core;
use super::super::words::{Place, Words};
use super::{FastPath, word};
use crate::race::RUN;
use crate::raw;
use crate::system::{LANES, Lanes, Mask};

/// The lanes from the first one on, so many.
const fn lanes(count: usize) -> Mask {
    ((1u64 << count) - 1) as Mask
}

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// [`FastPath::load_runs`] for lanes of so many words.
    #[inline(always)]
    pub(super) fn load_steps<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        words: u64,
    ) -> Mask {
        match words {
            1 => self.load_runs::<C, 1, RUN>(core, cells, place, mask),
            2 => self.load_runs::<C, 2, { RUN / 2 }>(core, cells, place, mask),
            4 => self.load_runs::<C, 4, { RUN / 4 }>(core, cells, place, mask),
            _ => mask,
        }
    }

    /// [`FastPath::store_runs`] for lanes of so many words.
    #[inline(always)]
    pub(super) fn store_steps<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        (words, per_word): (u64, usize),
        value: &[Lanes],
    ) -> Mask {
        match words {
            1 => self.store_runs::<C, 1, RUN>(core, cells, place, mask, per_word, value),
            2 => self.store_runs::<C, 2, { RUN / 2 }>(core, cells, place, mask, per_word, value),
            4 => self.store_runs::<C, 4, { RUN / 4 }>(core, cells, place, mask, per_word, value),
            _ => mask,
        }
    }

    /// The word and offset of the run that so many lanes from `lane` on access, each the next words of it, if
    /// they do.
    #[inline(always)]
    fn run_of<const COUNT: usize>(&self, place: &Place<'_>, mask: Mask, lane: usize) -> Option<(u64, u64)> {
        if mask >> lane & lanes(COUNT) != lanes(COUNT) {
            return None;
        }
        place.run_of_units::<COUNT>(place.offset.0[lane..].first_chunk()?, 4 * RUN as u64)
    }

    /// Reads the runs of which `COUNT` lanes access `WORDS` words each; returns the lanes that are left.
    #[inline(always)]
    pub(super) fn load_runs<C: Words, const WORDS: usize, const COUNT: usize>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
    ) -> Mask {
        let mut left = mask;
        for lane in (0..LANES).step_by(COUNT) {
            let Some((word, _)) = self.run_of::<COUNT>(place, mask, lane) else { continue };
            let Some(cell) = cells.run(word).and_then(|run| run.whole(WORDS)) else { continue };
            let bytes = 4 * word..4 * (word + RUN as u64);
            let undefined = place.is_undefined(&core.unwritten, cell, bytes);
            if self.read(core, cell, lane, undefined) {
                left &= !(lanes(COUNT) << lane);
            }
        }
        left
    }

    /// Writes the runs of which `COUNT` lanes access `WORDS` words each, so many components in a
    /// word; returns the lanes that are left. Lanes write in ascending order: behind one that is left, all
    /// are.
    #[inline(always)]
    pub(super) fn store_runs<C: Words, const WORDS: usize, const COUNT: usize>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        per_word: usize,
        value: &[Lanes],
    ) -> Mask {
        let mut left = mask;
        for lane in (0..LANES).step_by(COUNT) {
            let Some((first, offset)) = self.run_of::<COUNT>(place, mask, lane) else { break };
            let Some(run) = cells.run_to_write(first) else { break };
            let Some(cell) = run.whole(WORDS) else { break };
            if !self.overwrites(core, cell, lane) {
                break;
            }
            self.count(core, cell, lane, (RUN as u64, per_word));
            cell.overwrite(self.record(lane), 0);
            raw::copy_words_out(place.view, offset, run.before());
            if WORDS == 1 && per_word == 1 {
                raw::copy_words_in(place.view, offset, &value[0].0[lane..lane + RUN]);
            } else {
                let mut words = [0; RUN];
                for (k, to) in words.iter_mut().enumerate() {
                    *to = word(value, per_word, k % WORDS, lane + k / WORDS);
                }
                raw::copy_words_in(place.view, offset, &words);
            }
            left &= !(lanes(COUNT) << lane);
        }
        left
    }
}
