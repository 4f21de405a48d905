//! Shadow memory: what is remembered of each word that a dispatch accesses.
//!
//! A [`Cell`] holds the last write of a whole aligned word, the value before it, and two readers since. What
//! does not fit (bytes, unsynchronised reads, release sequences) goes to a [`History`] of its own. Cells of
//! device memory lie on pages that are allocated when a dispatch first touches them and start afresh with
//! every dispatch; cells of workgroup memory live as long as the workgroup.
//!
//! Most device memory is accessed by consecutive lanes, each the next word, the next few words, the next half
//! or the next byte. A [`CellRun`] of words that were accessed in no other way is one cell: that of its first
//! word, or half; the agents of the others count up. Bytes have one for each half of the run. Of words that
//! single agents have to themselves in another pattern less than a cell is remembered ([`Owned`]). Anything
//! else expands the run. Words of which halves or bytes are accessed by themselves are [`Split`].

use super::cell::{Cell, NOBODY};
use super::early::EarlyReads;
use super::order::Record;
use super::owned::{Owned, States};
use super::split::Split;
use super::topology::AgentId;
use crate::commands::Range;
use rustc_hash::FxHashMap;

/// Bytes of device memory that one page of cells covers.
pub const PAGE_BYTES: u64 = 1024;
const CELLS: usize = PAGE_BYTES as usize / 4;
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
    /// An [`Owned`] for each, on the page.
    Owned,
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

    /// The cell of the word with this number in the run, which is expanded if it is not yet. Its words are
    /// not [`Owned`].
    #[inline]
    pub fn cell(&mut self, index: usize, split: &mut Split) -> &mut Cell {
        if self.how != How::Expanded {
            self.expand(split);
        }
        &mut self.cells.get_or_insert_with(no_cells)[index % RUN]
    }

    /// The cells of the words, if each has its own.
    #[inline]
    pub fn expanded(&self) -> Option<&[Cell; RUN]> {
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
    pub fn forget(&mut self) {
        self.first = Cell::EMPTY;
        (self.how, self.unit) = (How::Whole, Unit::Words(1));
    }

    /// The words of a run that is whole, each by itself; nothing if somebody else than `agent` has accessed
    /// the word with this number.
    #[cold]
    fn apart(&self, index: usize, agent: AgentId, states: &mut States) -> Option<[Owned; RUN]> {
        let (true, Unit::Words(unit)) = (self.how == How::Whole, self.unit) else { return None };
        let (first, state) = states.number(&self.first)?;
        let owner = |index: usize| first + (index / usize::from(unit)) as AgentId;
        let before = |index: usize| self.before.as_ref().map_or(0, |before| before[index]);
        let word = |index| Owned { owner: owner(index), state, before: before(index) };
        (state == 0 || owner(index) == agent).then(|| std::array::from_fn(word))
    }

    /// The words, which are owned, get cells.
    #[cold]
    fn put_together(&mut self, words: &[Owned], states: &States) {
        let cells = self.cells.get_or_insert_with(no_cells);
        cells.iter_mut().zip(words).for_each(|(cell, word)| *cell = states.cell(word));
        self.how = How::Expanded;
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
    /// Of the words of runs that are owned, once there were any.
    owned: Option<Box<[Owned; CELLS]>>,
}

/// The words of the run of this number on a page with these, if it has some.
#[inline]
fn words_of(owned: &Option<Box<[Owned; CELLS]>>, run: usize) -> &[Owned] {
    owned.as_ref().map_or(&[], |owned| &owned[run * RUN..(run + 1) * RUN])
}

/// The cells of device memory, by device address.
#[derive(Clone, Default)]
pub struct Shadow {
    pages: Vec<Page>,
    split: Split,
    states: States,
    early: EarlyReads,
    index: FxHashMap<u64, u32>,
    last: (u64, u32),
    epoch: u32,
}

impl Shadow {
    /// A new dispatch begins: all words are as if nobody accessed them.
    pub fn forget(&mut self) {
        self.epoch += 1;
        self.last = (u64::MAX, 0);
        self.early.clear();
        self.split.clear();
        self.states.clear();
    }

    /// About how many bytes a copy of it takes.
    pub fn weight(&self) -> usize {
        let words = RUN * (size_of::<Cell>() + size_of::<Owned>());
        self.pages.len() * RUNS * (size_of::<CellRun>() + words) + self.split.weight()
    }

    /// Drops pages that no access of the present dispatch has touched.
    pub fn shrink(&mut self) {
        self.split.shrink();
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
        self.last = (u64::MAX, 0);
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
            let Page { runs, owned, .. } = &self.pages[index as usize];
            for (word, (place, run)) in (number * CELLS as u64..).step_by(RUN).zip(runs.iter().enumerate()) {
                match run.expanded() {
                    None if run.how == How::Owned => {
                        tell(open.take());
                        let mut at = 4 * word;
                        // Owned words are accessed whole, so that nothing lies between those of neighbours.
                        let alike = |a: &Owned, b: &Owned| (a.owner, a.state) == (b.owner, b.state);
                        for words in words_of(owned, place).chunk_by(alike) {
                            let end = at + 4 * words.len() as u64;
                            tell(Some((at, end, &self.states.cell(&words[0]))));
                            at = end;
                        }
                    }
                    Some(cells) => {
                        tell(open.take());
                        for (word, cell) in (word..).zip(cells) {
                            match self.split.peek(cell) {
                                Some(parts) => each_part(word, parts, |start, end, cell| {
                                    tell(Some((start, end, cell)));
                                }),
                                None => tell(Some((4 * word, 4 * word + 4, cell))),
                            }
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

    /// The reads that came before the dispatch's first write of their words, in any order.
    pub fn early_reads(&self, each: impl FnMut(Range, Record)) {
        self.early.each(each);
    }

    /// Bytes of host memory that the cells take.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.pages.iter().map(|page| 64 + page.runs.iter().map(CellRun::bytes).sum::<usize>()).sum()
    }

    /// The number of the page of the word at `address / 4`.
    #[inline]
    fn page_of(&mut self, word: u64) -> usize {
        let number = word / CELLS as u64;
        if self.last.0 != number {
            self.last = (number, self.page(number));
        }
        self.last.1 as usize
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

    /// The run of the word at `address / 4`, whose words are not owned, and the cells of parts.
    #[inline]
    fn run_of_cells(&mut self, word: u64) -> (&mut CellRun, &mut Split, &mut EarlyReads) {
        let page = self.page_of(word);
        let Page { runs, owned, .. } = &mut self.pages[page];
        let place = word as usize % CELLS / RUN;
        let run = &mut runs[place];
        if run.how == How::Owned {
            run.put_together(words_of(owned, place), &self.states);
        }
        (run, &mut self.split, &mut self.early)
    }

    /// The cell of the word at `address / 4`.
    #[inline]
    pub fn cell(&mut self, word: u64) -> &mut Cell {
        let (run, split, _) = self.run_of_cells(word);
        run.cell(word as usize % RUN, split)
    }

    /// What [`Shadow::cell`] returns, and the cells of parts.
    #[inline]
    pub fn cell_and_split(&mut self, word: u64) -> (&mut Cell, &mut Split) {
        let (run, split, _) = self.run_of_cells(word);
        (run.cell(word as usize % RUN, split), split)
    }

    /// The same for a word that is about to be written.
    #[inline]
    pub fn cell_to_write(&mut self, word: u64) -> &mut Cell {
        let (run, split, early) = self.run_of_cells(word);
        let cell = run.cell(word as usize % RUN, split);
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
        let (run, split, early) = self.run_of_cells(at / 4);
        let cell = run.cell((at / 4) as usize % RUN, split);
        let (cell, size) = split.part(cell, (at % 4, bytes), splits)?;
        early.note((at, at + size), cell);
        Some((cell, size))
    }

    /// What is remembered of the word at `address / 4`, which nobody or `agent` alone has accessed, and the
    /// states of such words. Nothing if that is not so, or not known so.
    #[inline]
    pub fn owned(&mut self, word: u64, agent: AgentId) -> Option<(&mut Owned, &mut States)> {
        let page = self.page_of(word);
        let Page { runs, owned, .. } = &mut self.pages[page];
        let (place, index) = (word as usize % CELLS / RUN, word as usize % RUN);
        if runs[place].how != How::Owned {
            let words = runs[place].apart(index, agent, &mut self.states)?;
            let owned = owned.get_or_insert_with(|| Box::new([Owned::default(); CELLS]));
            owned[place * RUN..(place + 1) * RUN].copy_from_slice(&words);
            runs[place].how = How::Owned;
        }
        let word = &mut owned.as_mut()?[place * RUN + index];
        (word.state == 0 || word.owner == agent).then_some((word, &mut self.states))
    }

    /// The owner of an owned word is about to write it, over `before`: the word is in this state then.
    #[inline]
    pub fn write_owned(&mut self, word: u64, owner: AgentId, state: u32, before: u32) {
        let page = self.page_of(word);
        let Some(owned) = &mut self.pages[page].owned else { return };
        let place = &mut owned[word as usize % CELLS];
        let old = std::mem::replace(place, Owned { owner, state, before });
        let of = self.states.get(old.state);
        if of.write.kind == 0 && of.readers[0].kind != 0 {
            self.early.note((4 * word, 4 * word + 4), &self.states.cell(&old));
        }
    }

    #[cold]
    #[inline(never)]
    fn page(&mut self, number: u64) -> u32 {
        let next = self.pages.len() as u32;
        let index = *self.index.entry(number).or_insert(next);
        if index == next {
            let runs = std::iter::repeat_with(|| CellRun::EMPTY).take(RUNS).collect();
            self.pages.push(Page { epoch: self.epoch, runs, owned: None });
        }
        let page = &mut self.pages[index as usize];
        if page.epoch != self.epoch {
            page.epoch = self.epoch;
            page.runs.iter_mut().for_each(CellRun::forget);
        }
        index
    }
}

#[cfg(test)]
mod tests;
