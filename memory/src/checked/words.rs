//! What is remembered of the words that the lanes of an instruction access: their cells, runs and states.

pub(super) mod workgroup;

use crate::component::each;
use crate::race::{Cell, CellRun, IN_RUN, PAGE_BYTES, PAGE_WORDS, RUN, Shadow, Split, StateList, States};
use crate::system::{LANES, Lanes, Mask, MemoryView};
use crate::unwritten::Unwritten;
use std::ops::Range;

/// What is remembered of words, by their number.
pub(super) trait Words {
    /// The cell of a word: it has one from now on.
    fn cell(&mut self, word: u64) -> &mut Cell;

    /// The same for a word that is about to be written.
    #[inline(always)]
    fn cell_to_write(&mut self, word: u64) -> &mut Cell {
        self.cell(word)
    }

    /// What [`Words::cell`] returns, and the cells of parts.
    fn cell_and_split(&mut self, word: u64) -> (&mut Cell, &mut Split);

    /// The cell of the part of a word that begins at an address, and the bytes that it has, as
    /// [`Split::part`] has them.
    #[inline(always)]
    fn part(&mut self, (at, bytes): (u64, u64), splits: impl Fn(&Cell) -> bool) -> Option<(&mut Cell, u64)> {
        let (cell, split) = self.cell_and_split(at / 4);
        split.part(cell, (at % 4, bytes), splits)
    }

    /// The same for one that is about to be written.
    #[inline(always)]
    fn part_to_write(
        &mut self,
        part: (u64, u64),
        splits: impl Fn(&Cell) -> bool,
    ) -> Option<(&mut Cell, u64)> {
        self.part(part, splits)
    }

    /// The cells of the parts of a word that is split.
    #[inline(always)]
    fn parts(&mut self, word: u64) -> Option<&mut [Cell]> {
        let (cell, split) = self.cell_and_split(word);
        split.get(cell)
    }

    /// The cell of a word that is about to be written; if the word was split, that is over, and what was
    /// remembered of it forgotten.
    #[inline(always)]
    fn joined(&mut self, word: u64) -> &mut Cell {
        let (cell, split) = self.cell_and_split(word);
        split.join(cell);
        cell
    }

    /// Whether cells are in runs.
    const HAS_RUNS: bool = false;

    /// The run that begins with this word, where cells are in runs.
    #[inline(always)]
    fn run(&mut self, word: u64) -> Option<&mut CellRun> {
        let _ = word;
        None
    }

    /// The same for one that is about to be written.
    #[inline(always)]
    fn run_to_write(&mut self, word: u64) -> Option<&mut CellRun> {
        self.run(word)
    }

    /// Whether there are [states](States) of words, or of parts of words of so many bytes.
    fn has_states(bytes: u32) -> bool;

    /// What accesses make of states.
    fn states(&mut self) -> &mut States;

    /// Where [`Words::by_state`] has these lanes' words, or parts of words of so many bytes, which are given
    /// by number, counted from this address on; returns the lanes that are there. Their states are
    /// remembered there from now on, or a mark that something else is.
    fn places(&mut self, bytes: u32, origin: u64, index: &mut [u32; LANES], mask: Mask) -> Mask;

    /// The same for a single one.
    fn place(&mut self, bytes: u32, origin: u64, index: u32) -> Option<u32>;

    /// What is remembered of all words, or of parts of words of so many bytes, and their states.
    fn by_state(&mut self, bytes: u32) -> (&mut StateList, &mut States);

    /// Whether reads before the first write are kept.
    const KEEPS_EARLY: bool = false;

    /// A word of which this is remembered is about to be written.
    #[inline(always)]
    fn note_early(&mut self, word: u64, cell: &Cell) {
        let _ = (word, cell);
    }
}

impl Words for Shadow {
    const HAS_RUNS: bool = true;

    #[inline(always)]
    fn has_states(bytes: u32) -> bool {
        bytes == 4
    }

    #[inline(always)]
    fn states(&mut self) -> &mut States {
        Shadow::states(self)
    }

    #[inline(always)]
    fn places(&mut self, _: u32, origin: u64, index: &mut [u32; LANES], mask: Mask) -> Mask {
        if mask == 0 {
            return 0;
        }
        let first = origin / PAGE_BYTES;
        let numbers = *index;
        let mut page = numbers[mask.trailing_zeros() as usize % LANES] / PAGE_WORDS;
        let mut place = self.place_of_page(first + u64::from(page));
        let mut here = 0;
        for lane in 0..LANES {
            here |= Mask::from(numbers[lane] / PAGE_WORDS == page) << lane;
            index[lane] = place + numbers[lane] % PAGE_WORDS;
        }
        each(mask & !here, |lane| {
            if numbers[lane] / PAGE_WORDS != page {
                page = numbers[lane] / PAGE_WORDS;
                place = self.place_of_page(first + u64::from(page));
            }
            index[lane] = place + numbers[lane] % PAGE_WORDS;
        });
        let mut in_runs = mask & equal(&gather(&Shadow::by_state(self).0.states, index), IN_RUN);
        while in_runs != 0 {
            let lane = in_runs.trailing_zeros() as usize % LANES;
            self.run_by_state(origin / 4 + u64::from(numbers[lane]));
            in_runs &= equal(&gather(&Shadow::by_state(self).0.states, index), IN_RUN);
        }
        mask
    }

    #[inline(always)]
    fn place(&mut self, _: u32, origin: u64, index: u32) -> Option<u32> {
        let first = self.place_of_page(origin / PAGE_BYTES + u64::from(index / PAGE_WORDS));
        let place = first + index % PAGE_WORDS;
        if Shadow::by_state(self).0.states[place as usize] == IN_RUN {
            self.run_by_state(origin / 4 + u64::from(index));
        }
        Some(place)
    }

    #[inline(always)]
    fn by_state(&mut self, _: u32) -> (&mut StateList, &mut States) {
        Shadow::by_state(self)
    }

    const KEEPS_EARLY: bool = true;

    #[inline(always)]
    fn note_early(&mut self, word: u64, cell: &Cell) {
        Shadow::note_early(self, word, cell);
    }

    #[inline(always)]
    fn cell(&mut self, word: u64) -> &mut Cell {
        Shadow::cell(self, word)
    }

    #[inline(always)]
    fn cell_to_write(&mut self, word: u64) -> &mut Cell {
        Shadow::cell_to_write(self, word)
    }

    #[inline(always)]
    fn cell_and_split(&mut self, word: u64) -> (&mut Cell, &mut Split) {
        Shadow::cell_and_split(self, word)
    }

    #[inline(always)]
    fn part_to_write(
        &mut self,
        part: (u64, u64),
        splits: impl Fn(&Cell) -> bool,
    ) -> Option<(&mut Cell, u64)> {
        Shadow::part_to_write(self, part, splits)
    }

    #[inline(always)]
    fn run(&mut self, word: u64) -> Option<&mut CellRun> {
        word.is_multiple_of(RUN as u64).then(|| Shadow::run(self, word))
    }

    #[inline(always)]
    fn run_to_write(&mut self, word: u64) -> Option<&mut CellRun> {
        word.is_multiple_of(RUN as u64).then(|| Shadow::run_to_write(self, word))
    }
}

/// What a list has at these places; at places behind its end anything.
#[inline(always)]
pub(super) fn gather(list: &[u32], places: &[u32; LANES]) -> [u32; LANES] {
    let mut values = [0; LANES];
    if let Some(last) = list.len().checked_sub(1) {
        for lane in 0..LANES {
            values[lane] = list[(places[lane] as usize).min(last)];
        }
    }
    values
}

/// The lanes with this value.
#[inline(always)]
pub(super) fn equal(values: &[u32; LANES], value: u32) -> Mask {
    let mut lanes = 0;
    for lane in 0..LANES {
        lanes |= Mask::from(values[lane] == value) << lane;
    }
    lanes
}

/// Where the lanes access.
pub(super) struct Place<'a> {
    pub view: &'a MemoryView<'a>,
    pub offset: &'a Lanes,
    pub immediate: u32,
    /// Words that nobody wrote in this dispatch are undefined; of device memory: those that nobody had
    /// written before, either.
    pub undefined: bool,
    /// The view is one of device memory.
    pub device: bool,
}

impl Place<'_> {
    /// The first word and the offset of the `bytes` bytes, of a run or half of one, that lanes with these
    /// offsets access, each its next unit of them, if they do.
    #[inline(always)]
    pub fn run_of_units<const UNITS: usize>(&self, offsets: &[u32; UNITS], bytes: u64) -> Option<(u64, u64)> {
        let unit = (bytes / UNITS as u64) as u32;
        let gaps =
            (0..UNITS).fold(0, |gaps, j| gaps | (offsets[j] ^ offsets[0].wrapping_add(unit * j as u32)));
        let offset = u64::from(offsets[0].wrapping_add(self.immediate));
        let address = self.view.address.checked_add(offset)?;
        (gaps == 0 && address.is_multiple_of(bytes) && offset.checked_add(bytes)? <= self.view.size())
            .then_some((address / 4, offset))
    }

    /// Where the lane accesses, in bytes from the view's first one on.
    #[inline(always)]
    pub fn offset(&self, lane: usize) -> u64 {
        u64::from(self.offset.0[lane].wrapping_add(self.immediate))
    }

    /// Whether bytes of words that this cell stands for hold what nobody wrote.
    #[inline(always)]
    pub fn is_undefined(&self, unwritten: &Unwritten, cell: &Cell, bytes: Range<u64>) -> bool {
        self.undefined && cell.write.kind == 0 && (!self.device || unwritten.any(bytes.start, bytes.end))
    }

    /// The lanes that access the same as this one; none but itself if the next one of those `todo` does not.
    #[inline(always)]
    pub fn same(&self, lane: usize, todo: Mask) -> Mask {
        let next = todo.trailing_zeros() as usize;
        if next == LANES || self.offset.0[next] != self.offset.0[lane] {
            return 1 << lane;
        }
        let of = self.offset.0[lane];
        let equal = |same, (other, offset): (usize, &u32)| same | Mask::from(*offset == of) << other;
        self.offset.0.iter().enumerate().fold(0, equal)
    }

    /// The lanes that access words of the view, so many, aligned to one.
    #[inline(always)]
    pub fn aligned(&self, words: u64) -> Mask {
        self.aligned_to(4, words)
    }

    /// The same for so many units of 1, 2 or 4 bytes.
    #[inline(always)]
    pub fn aligned_to(&self, bytes: u32, units: u64) -> Mask {
        let Some(last) = self.view.size().checked_sub(u64::from(bytes) * units) else { return 0 };
        let last = u32::try_from(last).unwrap_or(u32::MAX);
        let mut lanes = 0;
        for (lane, offset) in self.offset.0.iter().enumerate() {
            let at = offset.wrapping_add(self.immediate);
            lanes |= Mask::from((at <= last) & (at & (bytes - 1) == 0)) << lane;
        }
        lanes
    }
}
