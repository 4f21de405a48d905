//! The cells of the words that the lanes of an instruction access.

use crate::race::{AgentId, Cell, CellRun, Owned, RUN, Shadow, Split, States};
use crate::system::{LANES, Lanes, Mask, MemoryView};
use crate::unwritten::Unwritten;
use std::ops::Range;

/// Cells by the number of their word.
pub(super) trait Words {
    /// Whether words can be settled: see [`WorkgroupCells`].
    const SETTLES: bool = false;

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

    /// Whether words can be [`Owned`].
    const OWNS: bool = false;

    /// What is remembered of a word that nobody or `agent` alone has accessed, and the states of such words;
    /// nothing if that is not so, or not known.
    #[inline(always)]
    fn owned(&mut self, word: u64, agent: AgentId) -> Option<(&mut Owned, &mut States)> {
        let _ = (word, agent);
        None
    }

    /// The owner of such a word is about to write it, over `before`: the word is in this state then.
    #[inline(always)]
    fn write_owned(&mut self, word: u64, owner: AgentId, state: u32, before: u32) {
        let _ = (word, owner, state, before);
    }

    /// The lanes of whose accesses all words, so many from an offset on, are settled under this stamp: see
    /// [`WorkgroupCells`].
    #[inline(always)]
    fn settled(&self, stamp: u32, place: &Place<'_>, mask: Mask, words: u64) -> Mask {
        let _ = (stamp, place, mask, words);
        0
    }

    /// The word is settled under this stamp until its cell is asked for.
    #[inline(always)]
    fn settle(&mut self, word: u64, stamp: u32) {
        let _ = (word, stamp);
    }

    /// All words of the run that begins with this one are.
    #[inline(always)]
    fn settle_run(&mut self, word: u64, stamp: u32) {
        let _ = (word, stamp);
    }

    /// [`Words::settled`] for so many parts of words, of `BYTES` bytes each.
    #[inline(always)]
    fn settled_parts<const BYTES: u32>(&self, stamp: u32, place: &Place<'_>, mask: Mask, parts: u64) -> Mask {
        let _ = (stamp, place, mask, parts);
        0
    }

    /// [`Words::settle`] for a part of a word, which begins at this address.
    #[inline(always)]
    fn settle_part<const BYTES: u32>(&mut self, at: u64, stamp: u32) {
        let _ = (at, stamp);
    }
}

impl Words for Shadow {
    const OWNS: bool = true;

    #[inline(always)]
    fn owned(&mut self, word: u64, agent: AgentId) -> Option<(&mut Owned, &mut States)> {
        Shadow::owned(self, word, agent)
    }

    #[inline(always)]
    fn write_owned(&mut self, word: u64, owner: AgentId, state: u32, before: u32) {
        Shadow::write_owned(self, word, owner, state, before);
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

    /// The lanes that access aligned bytes of the view, so many words of them.
    #[inline(always)]
    pub fn aligned(&self, words: u64) -> Mask {
        self.aligned_to::<4>(words)
    }

    /// The same for so many units of `N` bytes, aligned to one.
    #[inline(always)]
    pub fn aligned_to<const N: u32>(&self, units: u64) -> Mask {
        let Some(last) = self.view.size().checked_sub(u64::from(N) * units) else { return 0 };
        let last = u32::try_from(last).unwrap_or(u32::MAX);
        let mut lanes = 0;
        for (lane, offset) in self.offset.0.iter().enumerate() {
            let at = offset.wrapping_add(self.immediate);
            lanes |= Mask::from((at <= last) & at.is_multiple_of(N)) << lane;
        }
        lanes
    }
}

/// The cells of a workgroup's memory.
///
/// Most reads of it are by many invocations, between the same two barriers, with one instruction. When a cell
/// has come to remember two of these readers, and that there were others, the rest change nothing: the word
/// is *settled* under a stamp (instruction and time), until its cell is asked for again.
#[derive(Clone, Default)]
pub(super) struct WorkgroupCells {
    runs: Vec<CellRun>,
    split: Split,
    /// Of each word of the runs: what it is settled under, or 0.
    stamps: Vec<u32>,
    /// The same of each half of a word, and of each byte; nothing until the first one settles.
    part_stamps: [Vec<u32>; 2],
}

impl WorkgroupCells {
    /// Of memory of so many words, at least one, that nobody accessed.
    pub fn begin(&mut self, words: usize) {
        let runs = words.div_ceil(RUN);
        self.runs.truncate(runs);
        self.runs.iter_mut().for_each(CellRun::forget);
        self.runs.resize(runs, CellRun::EMPTY);
        self.split.clear();
        self.stamps.clear();
        self.stamps.resize(runs * RUN, 0);
        self.part_stamps.iter_mut().for_each(Vec::clear);
    }

    /// The cells of words that were not accessed in runs.
    pub fn expanded(&self) -> impl Iterator<Item = &Cell> {
        self.runs.iter().filter_map(CellRun::expanded).flatten()
    }

    /// The word's place in the lists: accesses are in bounds, and there is a cell for each word.
    #[inline(always)]
    fn place(&self, word: u64) -> usize {
        (word as usize).min(self.stamps.len() - 1)
    }

    /// The stamps of parts of so many bytes, 1 or 2.
    #[inline(always)]
    fn stamps_of(&mut self, bytes: u32) -> &mut Vec<u32> {
        &mut self.part_stamps[usize::from(bytes == 1)]
    }

    /// The halves and bytes with some of these bytes, of one word, are not settled.
    #[inline(always)]
    fn unsettle(&mut self, at: usize, bytes: usize) {
        for size in [2, 1] {
            if let Some(stamps) = self.stamps_of(size as u32).get_mut(at / size..(at + bytes).div_ceil(size))
            {
                stamps.fill(0);
            }
        }
    }
}

impl Words for WorkgroupCells {
    const SETTLES: bool = true;

    #[inline(always)]
    fn cell(&mut self, word: u64) -> &mut Cell {
        self.cell_and_split(word).0
    }

    #[inline(always)]
    fn cell_and_split(&mut self, word: u64) -> (&mut Cell, &mut Split) {
        let word = self.place(word);
        self.stamps[word] = 0;
        // Parts have stamps while they have cells.
        if self.runs[word / RUN].cell(word % RUN, &mut self.split).is_split() {
            self.unsettle(4 * word, 4);
        }
        (self.runs[word / RUN].cell(word % RUN, &mut self.split), &mut self.split)
    }

    #[inline(always)]
    fn part(&mut self, (at, bytes): (u64, u64), splits: impl Fn(&Cell) -> bool) -> Option<(&mut Cell, u64)> {
        let word = self.place(at / 4);
        self.stamps[word] = 0;
        self.unsettle(4 * word + (at % 4) as usize, bytes as usize);
        let cell = self.runs[word / RUN].cell(word % RUN, &mut self.split);
        self.split.part(cell, (at % 4, bytes), splits)
    }

    #[inline(always)]
    fn run(&mut self, word: u64) -> Option<&mut CellRun> {
        let words = word as usize..word as usize + RUN;
        let run = self.runs.get_mut(words.start / RUN).filter(|_| words.start.is_multiple_of(RUN))?;
        if run.expanded().is_some() {
            return None;
        }
        // Parts have stamps while they have cells.
        self.stamps.get_mut(words)?.fill(0);
        Some(run)
    }

    #[inline(always)]
    fn settled(&self, stamp: u32, place: &Place<'_>, mask: Mask, words: u64) -> Mask {
        settled::<4>(&self.stamps, stamp, place, place.aligned(words) & mask, words)
    }

    #[inline(always)]
    fn settle(&mut self, word: u64, stamp: u32) {
        if let Some(known) = self.stamps.get_mut(word as usize) {
            *known = stamp;
        }
    }

    #[inline(always)]
    fn settle_run(&mut self, word: u64, stamp: u32) {
        if let Some(known) = self.stamps.get_mut(word as usize..word as usize + RUN) {
            known.fill(stamp);
        }
    }

    #[inline(always)]
    fn settled_parts<const BYTES: u32>(&self, stamp: u32, place: &Place<'_>, mask: Mask, parts: u64) -> Mask {
        let stamps = &self.part_stamps[usize::from(BYTES == 1)];
        settled::<BYTES>(stamps, stamp, place, place.aligned_to::<BYTES>(parts) & mask, parts)
    }

    #[inline(always)]
    fn settle_part<const BYTES: u32>(&mut self, at: u64, stamp: u32) {
        let all = self.stamps.len() * 4 / BYTES as usize;
        let stamps = self.stamps_of(BYTES);
        if stamps.is_empty() {
            stamps.resize(all, 0);
        }
        if let Some(known) = stamps.get_mut(at as usize / BYTES as usize) {
            *known = stamp;
        }
    }
}

/// The lanes of those `aligned` all of whose units of `N` bytes have this stamp.
#[inline(always)]
fn settled<const N: u32>(stamps: &[u32], stamp: u32, place: &Place<'_>, aligned: Mask, units: u64) -> Mask {
    let Some(last) = stamps.len().checked_sub(1) else { return 0 };
    let base = place.view.address as u32;
    let mut settled = aligned;
    for k in 0..units as u32 {
        // A loop, not a map: its closure would be a function that is not compiled for the instructions
        // around it.
        let mut equal = 0;
        for lane in 0..LANES {
            let first = base.wrapping_add(place.offset(lane) as u32) / N;
            let known = stamps[(first.wrapping_add(k) as usize).min(last)];
            equal |= Mask::from(known == stamp) << lane;
        }
        settled &= equal;
    }
    settled
}
