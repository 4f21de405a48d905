//! Shadow memory: what is remembered of each word of device memory that a dispatch accesses.
//!
//! A [`Cell`] holds the last write of an aligned word, the value before it, and two readers since. What does
//! not fit (unsynchronised reads, release sequences) goes to a [`History`](crate::history) of its own. Cells
//! lie on pages that are allocated when a dispatch first touches them and start afresh with every dispatch.
//!
//! Most device memory is accessed by consecutive lanes, each the next word, the next few words, the next half
//! or the next byte. A [`CellRun`] of words that were accessed in no other way is one cell: that of its first
//! word, or half; the agents of the others count up. Bytes have one for each half of the run. Of words that
//! are accessed in another pattern [states](super::states) are remembered, those of a page together. Words of
//! which more is remembered get cells, one by one; those of which halves or bytes are accessed by themselves
//! are [`Split`].

use super::cell::{Cell, NOBODY};
use super::early::EarlyReads;
use super::order::Record;
use super::split::Split;
use super::states::{IN_CELL, IN_RUN, StateList, States};
use super::topology::AgentId;
use crate::commands::Range;
use rustc_hash::FxHashMap;

/// Bytes of device memory that one page covers.
pub const PAGE_BYTES: u64 = 1024;
/// Words of a page, of four bytes each.
pub const PAGE_WORDS: u32 = PAGE_BYTES as u32 / 4;
const CELLS: usize = PAGE_WORDS as usize;
const RUNS: usize = CELLS / RUN;

/// Words of a run.
pub const RUN: usize = 16;

/// What each agent accesses of a run that has one cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// So many words.
    Words(u8),
    Half,
    Byte,
}

/// What is remembered of the words of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// One cell.
    Whole,
    /// A state for each, or a cell.
    ByState,
    /// A cell for each.
    Expanded,
}

/// Consecutive aligned words.
#[derive(Clone)]
pub struct CellRun {
    /// While the run is whole: the cell of the first word, or of its lower half. Those of the others
    /// differ in the agents, which count up unit by unit, and in the values before.
    first: Cell,
    /// Of a run of bytes: the cell of the first one in its upper half.
    upper: Option<Box<Cell>>,
    /// The values before the last write of a run that is whole.
    before: Option<Box<[u32; RUN]>>,
    cells: Option<Box<[Cell; RUN]>>,
    how: How,
    unit: Unit,
}

impl CellRun {
    /// Words that nobody accessed.
    pub const EMPTY: CellRun = CellRun {
        first: Cell::EMPTY,
        upper: None,
        before: None,
        cells: None,
        how: How::Whole,
        unit: Unit::Words(1),
    };

    /// Whether nothing is remembered of a run that is whole.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.first.is_empty() && (self.unit != Unit::Byte || self.upper().is_none_or(Cell::is_empty))
    }

    fn upper(&self) -> Option<&Cell> {
        self.upper.as_deref()
    }

    #[inline(always)]
    fn whole_of(&mut self, unit: Unit) -> Option<&mut Cell> {
        if self.unit != unit {
            if self.how != How::Whole || !self.is_empty() {
                return None;
            }
            self.unit = unit;
            if unit == Unit::Byte {
                self.upper = Some(Box::new(Cell::EMPTY));
            }
        }
        (self.how == How::Whole).then_some(&mut self.first)
    }

    /// The cell that stands for all words, of which each agent accesses so many, unless each has its own, or
    /// more than one.
    #[inline(always)]
    pub fn whole(&mut self, words: usize) -> Option<&mut Cell> {
        self.whole_of(Unit::Words(words as u8))
    }

    /// The cell that stands for all halves (2 bytes), or for all bytes (1) of the lower or upper half of the
    /// run, unless each word has its own cells.
    #[inline(always)]
    pub fn whole_of_parts(&mut self, bytes: u32, upper: bool) -> Option<&mut Cell> {
        if bytes == 2 {
            return self.whole_of(Unit::Half);
        }
        self.whole_of(Unit::Byte)?;
        if upper { self.upper.as_deref_mut() } else { Some(&mut self.first) }
    }

    /// Calls `each` for the parts of a run that is whole and begins with this word which have one cell: the
    /// first byte, the one behind the last, and the cell.
    fn parts<'a>(&'a self, word: u64, mut each: impl FnMut(u64, u64, &'a Cell)) {
        let (start, end) = (4 * word, 4 * (word + RUN as u64));
        match (self.unit, self.upper()) {
            (Unit::Byte, Some(upper)) => {
                let middle = start + (end - start) / 2;
                each(start, middle, &self.first);
                each(middle, end, upper);
            }
            _ => each(start, end, &self.first),
        }
    }

    /// The values before the last write, of a run that is whole.
    #[inline]
    pub fn before(&mut self) -> &mut [u32; RUN] {
        self.before.get_or_insert_default()
    }

    /// The cells of the words, if each has its own.
    #[inline]
    fn expanded(&self) -> Option<&[Cell; RUN]> {
        self.cells.as_deref().filter(|_| self.how == How::Expanded)
    }

    #[cold]
    fn expand(&mut self, split: &mut Split) {
        self.how = How::Expanded;
        let cells = self.cells.get_or_insert_with(no_cells);
        let (first, upper) = (self.first, self.upper.as_deref().copied().unwrap_or(Cell::EMPTY));
        let nth = |record: &Record, index: usize| match record.kind {
            0 => NOBODY,
            _ => Record { agent: record.agent + index as AgentId, ..*record },
        };
        for (index, cell) in cells.iter_mut().enumerate() {
            let before = self.before.as_ref().map_or(0, |before| before[index]);
            let unit_of = |first: &Cell, unit| Cell {
                write: nth(&first.write, unit),
                before,
                readers: first.readers.map(|reader| nth(&reader, unit)),
                ..*first
            };
            let unit = |unit| unit_of(&first, unit);
            match self.unit {
                Unit::Half if !first.is_empty() => {
                    split.replace(cell, &[unit(2 * index), unit(2 * index + 1)]);
                }
                Unit::Byte => {
                    let first = if index < RUN / 2 { &first } else { &upper };
                    let byte = |k: usize| unit_of(first, 4 * (index % (RUN / 2)) + k);
                    match first.is_empty() {
                        true => *cell = Cell::EMPTY,
                        false => split.replace(cell, &[byte(0), byte(1), byte(2), byte(3)]),
                    }
                }
                Unit::Half => *cell = Cell::EMPTY,
                Unit::Words(words) => *cell = unit(index / usize::from(words)),
            }
        }
    }

    /// As if nobody had accessed the words.
    fn forget(&mut self) {
        self.first = Cell::EMPTY;
        (self.how, self.unit) = (How::Whole, Unit::Words(1));
    }

    /// The words of a run, from a place of the list on, get states; those of parts and of what is more than a
    /// state get cells.
    #[cold]
    fn set_by_state(
        &mut self,
        place: usize,
        list: &mut StateList,
        (states, split): (&mut States, &mut Split),
    ) {
        let words = place..place + RUN;
        let number = match (self.how, self.unit) {
            (How::Whole, Unit::Words(unit)) => states.number(&self.first, false).map(|state| (unit, state)),
            (How::Whole, _) if self.is_empty() => Some((1, 0)),
            _ => None,
        };
        let Some((unit, state)) = number else {
            if self.how == How::Whole {
                self.expand(split);
            }
            return list.states[words].fill(IN_CELL);
        };
        self.how = How::ByState;
        list.states[words.clone()].fill(state);
        if state == 0 {
            return;
        }
        let [first, latest] = &self.first.readers;
        for (parties, record) in list.parties.iter_mut().zip([&self.first.write, first, latest]) {
            for (index, party) in parties[words.clone()].iter_mut().enumerate() {
                *party = record.agent.wrapping_add((index / usize::from(unit)) as AgentId);
            }
        }
        match &self.before {
            Some(before) => list.before[words].copy_from_slice(&before[..]),
            None => list.before[words].fill(0),
        }
    }

    /// A word of which a state is remembered, at this place of the list, gets a cell.
    #[cold]
    fn set_cell(&mut self, place: usize, list: &mut StateList, states: &States) {
        let cells = self.cells.get_or_insert_with(no_cells);
        cells[place % RUN] = list.cell(states, place);
        list.states[place] = IN_CELL;
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        size_of::<CellRun>()
            + self.upper().map_or(0, size_of_val)
            + self.before.as_ref().map_or(0, |before| size_of_val(&before[..]))
            + self.cells.as_ref().map_or(0, |cells| size_of_val(&cells[..]))
    }
}

/// Calls `each` for the parts of a word: the first byte, the one behind the last, and the cell.
fn each_part<'a>(word: u64, parts: &'a [Cell], mut each: impl FnMut(u64, u64, &'a Cell)) {
    let size = 4 / parts.len() as u64;
    for (start, cell) in (4 * word..).step_by(size as usize).zip(parts) {
        each(start, start + size, cell);
    }
}

fn no_cells() -> Box<[Cell; RUN]> {
    Box::new([Cell::EMPTY; RUN])
}

#[derive(Clone)]
struct Page {
    epoch: u32,
    runs: Box<[CellRun]>,
    /// Where its words are in the list of those that have states, once one has: in units of pages.
    place: Option<u32>,
}

/// The cells of device memory, by device address.
#[derive(Clone, Default)]
pub struct Shadow {
    pages: Vec<Page>,
    split: Split,
    states: States,
    /// Of the words of pages that have some with states, and how many pages these are.
    words: StateList,
    placed: u32,
    early: EarlyReads,
    index: FxHashMap<u64, u32>,
    /// Some of the same, of pages that the present dispatch has touched, by [`recent`].
    recent: Recent,
    epoch: u32,
}

/// Numbers of pages and their indices.
#[derive(Clone)]
struct Recent(Box<[(u64, u32); RECENT]>);

/// So many pages are found at once: lanes a page apart have 32.
const RECENT: usize = 64;

impl Default for Recent {
    fn default() -> Recent {
        Recent(Box::new([(u64::MAX, 0); RECENT]))
    }
}

/// Where a page of this number is among the recent ones: the highest bits of a product.
#[inline(always)]
fn recent(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT.trailing_zeros())) as usize
}

impl Shadow {
    /// A new dispatch begins: all words are as if nobody accessed them.
    pub fn forget(&mut self) {
        self.epoch += 1;
        self.recent.0.fill((u64::MAX, 0));
        self.early.clear();
        self.split.clear();
        self.states.clear();
        self.placed = 0;
    }

    /// About how many bytes a copy of it takes.
    pub fn weight(&self) -> usize {
        let runs = self.pages.len() * RUNS * (size_of::<CellRun>() + RUN * size_of::<Cell>());
        runs + self.words.bytes() + self.split.weight()
    }

    /// Drops pages that no access of the present dispatch has touched.
    pub fn shrink(&mut self) {
        self.split.shrink();
        self.words.shrink(self.placed as usize * CELLS);
        let epoch = self.epoch;
        if self.pages.iter().all(|page| page.epoch == epoch) {
            return;
        }
        let old = std::mem::take(&mut self.pages);
        let mut moved = vec![u32::MAX; old.len()];
        for (index, page) in old.into_iter().enumerate() {
            if page.epoch == epoch {
                moved[index] = self.pages.len() as u32;
                self.pages.push(page);
            }
        }
        self.index.retain(|_, index| {
            *index = moved[*index as usize];
            *index != u32::MAX
        });
        self.recent.0.fill((u64::MAX, 0));
    }

    /// Calls `each` for the words and parts of words on pages that the present dispatch touched, ascending:
    /// the first byte and the one behind the last of those that are alike but for their agents, and the first
    /// one's cell.
    pub fn touched(&self, mut each: impl FnMut(u64, u64, &Cell)) {
        let mut numbers: Vec<(u64, u32)> =
            self.index.iter().map(|(number, index)| (*number, *index)).collect();
        numbers.retain(|(_, index)| self.pages[*index as usize].epoch == self.epoch);
        numbers.sort_unstable();
        // Runs that have one cell, and the next one may be alike.
        let mut open: Option<(u64, u64, &Cell)> = None;
        let mut tell = |part: Option<(u64, u64, &Cell)>| {
            if let Some((start, end, cell)) = part {
                each(start, end, cell);
            }
        };
        for (number, index) in numbers {
            let Page { runs, place, .. } = &self.pages[index as usize];
            for (k, run) in runs.iter().enumerate() {
                let word = number * CELLS as u64 + (k * RUN) as u64;
                match run.expanded() {
                    None if run.how == How::ByState => {
                        tell(open.take());
                        let place = place.map_or(0, |place| place as usize * CELLS + k * RUN);
                        self.each_by_state(run, (word, place), |start, end, cell| {
                            tell(Some((start, end, cell)));
                        });
                    }
                    Some(cells) => {
                        tell(open.take());
                        for (word, cell) in (word..).zip(cells) {
                            self.each_of_cell(word, cell, |start, end, cell| tell(Some((start, end, cell))));
                        }
                    }
                    None => run.parts(word, |start, end, first| match &mut open {
                        Some((_, behind, cell)) if *behind == start && cell.is_like(first) => *behind = end,
                        _ => tell(open.replace((start, end, first))),
                    }),
                }
            }
        }
        tell(open);
    }

    /// Calls `each` for the words of a run whose words have states or cells, and for those of which parts
    /// have: it begins with this word, at this place of the list.
    fn each_by_state(
        &self,
        run: &CellRun,
        (word, place): (u64, usize),
        mut each: impl FnMut(u64, u64, &Cell),
    ) {
        let mut first = 0;
        for index in 0..RUN {
            if index + 1 < RUN && self.words.is_like_next(&self.states, place + index) {
                continue;
            }
            let (start, end) = (word + first as u64, word + index as u64 + 1);
            match (self.words.states[place + first], &run.cells) {
                (IN_CELL, Some(cells)) => self.each_of_cell(start, &cells[index], &mut each),
                _ => each(4 * start, 4 * end, &self.words.cell(&self.states, place + first)),
            }
            first = index + 1;
        }
    }

    /// Calls `each` for a word with this cell, or for its parts.
    fn each_of_cell(&self, word: u64, cell: &Cell, mut each: impl FnMut(u64, u64, &Cell)) {
        match self.split.peek(cell) {
            Some(parts) => each_part(word, parts, each),
            None => each(4 * word, 4 * word + 4, cell),
        }
    }

    /// The reads that came before the dispatch's first write of their words, in any order.
    pub fn early_reads(&self, each: impl FnMut(Range, Record)) {
        self.early.each(each);
    }

    /// Bytes of host memory that the cells take.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        let runs = |page: &Page| 64 + page.runs.iter().map(CellRun::bytes).sum::<usize>();
        self.pages.iter().map(runs).sum::<usize>() + self.words.bytes()
    }

    /// The number of the page of the word at `address / 4`.
    #[inline]
    fn page_of(&mut self, word: u64) -> usize {
        let number = word / CELLS as u64;
        let place = recent(number);
        if self.recent.0[place].0 != number {
            self.recent.0[place] = (number, self.page(number));
        }
        self.recent.0[place].1 as usize
    }

    /// The run of the word at `address / 4`.
    #[inline]
    pub fn run(&mut self, word: u64) -> &mut CellRun {
        let page = self.page_of(word);
        &mut self.pages[page].runs[word as usize % CELLS / RUN]
    }

    /// The same for one whose words are about to be written.
    #[inline]
    pub fn run_to_write(&mut self, word: u64) -> &mut CellRun {
        let page = self.page_of(word);
        let run = &mut self.pages[page].runs[word as usize % CELLS / RUN];
        if run.how == How::Whole {
            let early = &mut self.early;
            run.parts(word, |start, end, cell| early.note((start, end), cell));
        }
        run
    }

    /// The cell of the word at `address / 4`, the cells of parts, and the early reads.
    #[inline]
    fn parts_of_cell(&mut self, word: u64) -> (&mut Cell, &mut Split, &mut EarlyReads) {
        let page = self.page_of(word);
        let Page { runs, place, .. } = &mut self.pages[page];
        let index = word as usize % CELLS;
        let run = &mut runs[index / RUN];
        match (run.how, *place) {
            (How::Whole, _) => run.expand(&mut self.split),
            (How::ByState, Some(place)) => {
                let place = place as usize * CELLS + index;
                if self.words.states[place] != IN_CELL {
                    run.set_cell(place, &mut self.words, &self.states);
                }
            }
            _ => {}
        }
        let cells = run.cells.get_or_insert_with(no_cells);
        (&mut cells[index % RUN], &mut self.split, &mut self.early)
    }

    /// The cell of the word at `address / 4`.
    #[inline]
    pub fn cell(&mut self, word: u64) -> &mut Cell {
        self.parts_of_cell(word).0
    }

    /// What [`Shadow::cell`] returns, and the cells of parts.
    #[inline]
    pub fn cell_and_split(&mut self, word: u64) -> (&mut Cell, &mut Split) {
        let (cell, split, _) = self.parts_of_cell(word);
        (cell, split)
    }

    /// The same for a word that is about to be written.
    #[inline]
    pub fn cell_to_write(&mut self, word: u64) -> &mut Cell {
        let (cell, split, early) = self.parts_of_cell(word);
        match split.peek(cell) {
            Some(parts) => each_part(word, parts, |start, end, cell| early.note((start, end), cell)),
            None => early.note((4 * word, 4 * word + 4), cell),
        }
        cell
    }

    /// The cell of the part of a word that begins at an address and is about to be written, as
    /// [`Split::part`] has it.
    #[inline]
    pub fn part_to_write(
        &mut self,
        (at, bytes): (u64, u64),
        splits: impl Fn(&Cell) -> bool,
    ) -> Option<(&mut Cell, u64)> {
        let (cell, split, early) = self.parts_of_cell(at / 4);
        let (cell, size) = split.part(cell, (at % 4, bytes), splits)?;
        early.note((at, at + size), cell);
        Some((cell, size))
    }

    /// Where the page of this number has its words in [`Shadow::by_state`]: what is added to their places on
    /// the page.
    #[inline]
    pub fn place_of_page(&mut self, number: u64) -> u32 {
        let page = self.page_of(number * CELLS as u64);
        let place = match self.pages[page].place {
            Some(place) => place,
            None => self.place_page(page),
        };
        place * CELLS as u32
    }

    #[cold]
    fn place_page(&mut self, page: usize) -> u32 {
        let place = self.placed;
        self.placed += 1;
        let words = place as usize * CELLS..self.placed as usize * CELLS;
        self.words.grow_exactly(words.end);
        self.words.states[words].fill(IN_RUN);
        self.pages[page].place = Some(place);
        place
    }

    /// The word at `address / 4`, whose page is placed, and the others of its run have states or cells.
    #[cold]
    pub fn run_by_state(&mut self, word: u64) {
        let page = self.page_of(word);
        let Page { runs, place, .. } = &mut self.pages[page];
        let (index, place) = (word as usize % CELLS / RUN, place.unwrap_or(0) as usize * CELLS);
        let known = (&mut self.states, &mut self.split);
        runs[index].set_by_state(place + index * RUN, &mut self.words, known);
    }

    /// What is remembered of the words of pages that are placed.
    #[inline(always)]
    pub fn by_state(&mut self) -> (&mut StateList, &mut States) {
        (&mut self.words, &mut self.states)
    }

    /// What accesses make of the states of words.
    #[inline(always)]
    pub fn states(&mut self) -> &mut States {
        &mut self.states
    }

    /// The word at `address / 4`, of which this is remembered, is about to be written.
    pub fn note_early(&mut self, word: u64, cell: &Cell) {
        self.early.note((4 * word, 4 * word + 4), cell);
    }

    #[cold]
    #[inline(never)]
    fn page(&mut self, number: u64) -> u32 {
        let next = self.pages.len() as u32;
        let index = *self.index.entry(number).or_insert(next);
        if index == next {
            let runs = std::iter::repeat_with(|| CellRun::EMPTY).take(RUNS).collect();
            self.pages.push(Page { epoch: self.epoch, runs, place: None });
        }
        let page = &mut self.pages[index as usize];
        if page.epoch != self.epoch {
            (page.epoch, page.place) = (self.epoch, None);
            page.runs.iter_mut().for_each(CellRun::forget);
        }
        index
    }
}

#[cfg(test)]
mod tests;
