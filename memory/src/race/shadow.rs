//! Shadow memory: what is remembered of each word that a dispatch accesses.
//!
//! A [`Cell`] holds the last write of a whole aligned word, the value before it, and two readers since: the
//! first and the latest. What does not fit (bytes, unsynchronised reads, release sequences) goes to a
//! [`History`] of its own. Cells of device memory lie on pages that are allocated when a dispatch first
//! touches them and start afresh with every dispatch; cells of workgroup memory live as long as the
//! workgroup.
//!
//! Most device memory is accessed by consecutive lanes word after word, or half after half. A [`CellRun`] of
//! words that were accessed in no other way is one cell: that of its first word, or half; the agents of the
//! others count up. Anything else expands it. Words of which halves are accessed by themselves are
//! [`Split`].

use super::order::Record;
use super::split::Split;
use super::topology::AgentId;
use rustc_hash::FxHashMap;

/// Bytes of device memory that one page of cells covers.
pub const PAGE_BYTES: u64 = 1024;
const CELLS: usize = PAGE_BYTES as usize / 4;
const RUNS: usize = CELLS / RUN;

/// A record that may be absent: kind 0 is nobody.
pub const NOBODY: Record = Record { agent: 0, time: 0, kind: 0 };

/// What is remembered of one aligned word of four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The last write.
    pub write: Record,
    /// The word's value before it; of a word that is split the number of the cells of its halves.
    pub before: u32,
    /// The first reader since, and the latest one that is another agent or another instruction. Atomic writes
    /// that mutually ordered ones superseded stay here too.
    pub readers: [Record; 2],
    /// Which bytes they read.
    pub reader_bytes: [u8; 2],
    /// Others read since, and are not remembered, or not when they did first.
    pub forgot: bool,
    /// There were writes before those that are remembered, and what they stored is not.
    pub forgot_writes: bool,
    /// 1 + the index of the word's history, which then replaces all of the above; 0 if it has none;
    /// [`Cell::SPLIT`] if its halves have cells, see [`Split`].
    pub history: u32,
}

impl Cell {
    /// A word that nobody accessed.
    pub const EMPTY: Cell = Cell {
        write: NOBODY,
        before: 0,
        readers: [NOBODY; 2],
        reader_bytes: [0; 2],
        forgot: false,
        forgot_writes: false,
        history: 0,
    };

    /// In place of a history: see [`Split`].
    pub const SPLIT: u32 = u32::MAX;

    /// Whether the word's halves have cells of their own.
    #[inline(always)]
    pub fn is_split(&self) -> bool {
        self.history == Cell::SPLIT
    }

    /// Whether it remembers nothing.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.history == 0 && self.write.kind == 0 && self.readers[0].kind == 0
    }

    /// Remembers a reader of these bytes.
    #[inline(always)]
    pub fn read(&mut self, record: Record, bytes: u8) {
        let first = (self.readers[0], self.reader_bytes[0]);
        let latest = (self.readers[1], self.reader_bytes[1]);
        let (first, latest, forgot) = with_reader(first, latest, (record, bytes));
        self.remember(first, latest);
        self.forgot |= forgot;
    }

    #[inline(always)]
    fn remember(&mut self, first: Reader, latest: Reader) {
        self.readers = [first.0, latest.0];
        self.reader_bytes = [first.1, latest.1];
    }

    /// Whether remembering this reader forgets one of bytes of which no two readers are left.
    #[inline(always)]
    pub fn forgets(&self, record: &Record, bytes: u8) -> bool {
        let [first, latest] = &self.readers;
        let [of_first, of_latest] = self.reader_bytes;
        if of_first & of_latest & bytes == 15 || latest.kind == 0 {
            return false;
        }
        let same = |known: &Record, known_bytes: u8| {
            known.kind == record.kind && known.agent == record.agent && known_bytes == bytes
        };
        if same(first, of_first) || same(latest, of_latest) {
            return false;
        }
        let (dropped, kept) =
            if first.time < record.time { (of_first, of_latest) } else { (of_latest, of_first) };
        dropped & !(kept & bytes) != 0
    }

    /// A write of the whole word follows, before which all that is remembered is ordered.
    #[inline(always)]
    pub fn overwrite(&mut self, record: Record, before: u32) {
        self.forgot_writes |= self.write.kind != 0;
        self.write = record;
        self.before = before;
        // Nobody has read since.
        (self.readers, self.reader_bytes, self.forgot) = ([NOBODY; 2], [0; 2], false);
    }

    /// The same of an atomic write; `keep` says which of the two readers and of the write before it stay, as
    /// readers, at most two. Whether a write is forgotten where some stay, the caller knows, who knows which
    /// readers are writes.
    #[inline(always)]
    pub fn overwrite_keeping(&mut self, record: Record, before: u32, keep: [Keep; 3]) {
        if keep == [Keep::No; 3] {
            return self.overwrite(record, before);
        }
        let none = ((NOBODY, 0), (NOBODY, 0));
        let known = [
            (self.readers[0], self.reader_bytes[0]),
            (self.readers[1], self.reader_bytes[1]),
            (self.write, 15),
        ];
        let readers = joined(none, keep[0], known[0]);
        let readers = joined(readers, keep[1], known[1]);
        let (mut first, latest) = joined(readers, keep[2], known[2]);
        // There are two places: of others' atomics that stay the latest says enough.
        for (keep, earlier) in keep.into_iter().zip(known) {
            if keep == Keep::Outlasts && first.0 != earlier.0 && latest.0 != earlier.0 {
                first = earlier;
                break;
            }
        }
        self.write = record;
        self.before = before;
        self.remember(first, latest);
        // Who read before sees no less than what was there before this write, and nobody does.
        self.forgot = false;
    }
}

/// The first and the latest reader with an earlier access that stays, if it does. No closure: it would not be
/// compiled for the instructions around it.
#[inline(always)]
fn joined((first, latest): (Reader, Reader), keep: Keep, earlier: Reader) -> (Reader, Reader) {
    if keep == Keep::No || earlier.0.kind == 0 {
        return (first, latest);
    }
    // Writes stay in modification order.
    let known = |one: &Reader| (one.0.kind, one.0.agent, one.1);
    let (first, latest) =
        if known(&first) == known(&earlier) { (latest, (NOBODY, 0)) } else { (first, latest) };
    let (first, latest, _) = with_reader(first, latest, earlier);
    (first, latest)
}

/// Whether an access stays when an atomic replaces it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// It is ordered before the atomic, and all that may race with it races with the atomic.
    #[default]
    No,
    /// It is mutually ordered with the atomic, and not ordered before it.
    Mutual,
    /// It is ordered before the atomic, and [outlasts](super::StaticAccess::outlasts) it.
    Outlasts,
}

/// A reader, and which bytes of the word it read.
type Reader = (Record, u8);

/// The first and the latest reader when `new` follows, and whether another is forgotten. By value: a record
/// that is written in pieces and then read as a whole stalls the processor.
#[inline(always)]
fn with_reader(first: Reader, latest: Reader, new: Reader) -> (Reader, Reader, bool) {
    let same =
        |known: &Reader| known.0.kind == new.0.kind && known.0.agent == new.0.agent && known.1 == new.1;
    let replaces = |known: &Reader| known.0.kind != 0 && known.0 != new.0;
    if first.0.kind == 0 || same(&first) {
        return (new, latest, replaces(&first));
    }
    // Of two readers of one workgroup the one before a barrier says less than the one after it.
    let drops = latest.0.kind != 0 && !same(&latest) && first.0.time < new.0.time;
    (if drops { latest } else { first }, new, drops || replaces(&latest))
}

/// Words of a run.
pub const RUN: usize = 16;

/// What one cell of a run stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Word,
    Half,
}

/// Consecutive aligned words.
#[derive(Clone)]
pub struct CellRun {
    /// While the run is not expanded: the cell of the first word, or of its lower half. Those of the others
    /// differ in the agents, which count up, and in the values before.
    first: Cell,
    /// The values before the last write of a run that is not expanded.
    before: Option<Box<[u32; RUN]>>,
    cells: Option<Box<[Cell; RUN]>>,
    expanded: bool,
    unit: Unit,
}

impl CellRun {
    /// Words that nobody accessed.
    pub const EMPTY: CellRun =
        CellRun { first: Cell::EMPTY, before: None, cells: None, expanded: false, unit: Unit::Word };

    #[inline(always)]
    fn whole_of(&mut self, unit: Unit) -> Option<&mut Cell> {
        if self.unit != unit {
            if self.expanded || !self.first.is_empty() {
                return None;
            }
            self.unit = unit;
        }
        (!self.expanded).then_some(&mut self.first)
    }

    /// The cell that stands for all words, unless each has its own, or more than one.
    #[inline(always)]
    pub fn whole(&mut self) -> Option<&mut Cell> {
        self.whole_of(Unit::Word)
    }

    /// The cell that stands for all halves, unless each word has its own cells.
    #[inline(always)]
    pub fn whole_of_halves(&mut self) -> Option<&mut Cell> {
        self.whole_of(Unit::Half)
    }

    /// The values before the last write, of a run that is not expanded.
    #[inline]
    pub fn before(&mut self) -> &mut [u32; RUN] {
        self.before.get_or_insert_default()
    }

    /// The cell of the word with this number in the run, which is expanded if it is not yet.
    #[inline]
    pub fn cell(&mut self, index: usize, split: &mut Split) -> &mut Cell {
        if !self.expanded {
            self.expand(split);
        }
        &mut self.cells.get_or_insert_with(no_cells)[index % RUN]
    }

    /// The cells of the words, if each has its own.
    #[inline]
    pub fn expanded(&self) -> Option<&[Cell; RUN]> {
        self.cells.as_deref().filter(|_| self.expanded)
    }

    #[cold]
    fn expand(&mut self, split: &mut Split) {
        self.expanded = true;
        let cells = self.cells.get_or_insert_with(no_cells);
        let first = &self.first;
        let nth = |record: &Record, index: usize| match record.kind {
            0 => NOBODY,
            _ => Record { agent: record.agent + index as AgentId, ..*record },
        };
        for (index, cell) in cells.iter_mut().enumerate() {
            let before = self.before.as_ref().map_or(0, |before| before[index]);
            let unit = |index| Cell {
                write: nth(&first.write, index),
                before,
                readers: first.readers.map(|reader| nth(&reader, index)),
                ..*first
            };
            match self.unit {
                Unit::Half if !first.is_empty() => {
                    split.replace(cell, [unit(2 * index), unit(2 * index + 1)]);
                }
                _ => *cell = unit(index),
            }
        }
    }

    /// As if nobody had accessed the words.
    pub fn forget(&mut self) {
        self.first = Cell::EMPTY;
        (self.expanded, self.unit) = (false, Unit::Word);
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        size_of::<CellRun>()
            + self.before.as_ref().map_or(0, |before| size_of_val(&before[..]))
            + self.cells.as_ref().map_or(0, |cells| size_of_val(&cells[..]))
    }
}

fn no_cells() -> Box<[Cell; RUN]> {
    Box::new([Cell::EMPTY; RUN])
}

#[derive(Clone)]
struct Page {
    epoch: u32,
    runs: Box<[CellRun]>,
}

/// A read of device memory, joined with its neighbours of the same instruction: the first byte, the one
/// behind the last, and the first reader.
pub type EarlyRead = (u64, u64, Record);

/// Reads of what the dispatch then wrote over: cells remember who read since the last write only.
#[derive(Clone, Default)]
struct EarlyReads {
    /// The read that was told last, by index of its static access; later ones may join it.
    open: Vec<Option<EarlyRead>>,
    done: Vec<EarlyRead>,
}

impl EarlyReads {
    /// Notes who read these bytes, those of a word or half or of several with cells like this one, which are
    /// about to be written.
    #[inline]
    fn note(&mut self, (start, end): (u64, u64), cell: &Cell) {
        if cell.write.kind != 0 || cell.readers[0].kind == 0 || cell.history != 0 {
            return;
        }
        for (reader, bytes) in cell.readers.iter().zip(cell.reader_bytes) {
            if reader.kind != 0 && bytes != 0 {
                let (skipped, left) = (bytes.trailing_zeros(), bytes.leading_zeros() - 4);
                self.add(start + u64::from(skipped), end - u64::from(left), *reader);
            }
        }
    }

    fn add(&mut self, start: u64, end: u64, reader: Record) {
        let slot = reader.kind as usize;
        if self.open.len() <= slot {
            self.open.resize(slot + 1, None);
        }
        match &mut self.open[slot] {
            Some(open) if start <= open.1 && end >= open.0 => {
                (open.0, open.1) = (open.0.min(start), open.1.max(end));
            }
            open => self.done.extend(open.replace((start, end, reader))),
        }
    }

    fn clear(&mut self) {
        self.open.clear();
        self.done.clear();
    }
}

/// The cells of device memory, by device address.
#[derive(Clone, Default)]
pub struct Shadow {
    pages: Vec<Page>,
    split: Split,
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
    }

    /// About how many bytes a copy of it takes.
    pub fn weight(&self) -> usize {
        self.pages.len() * RUNS * (size_of::<CellRun>() + RUN * size_of::<Cell>()) + self.split.weight()
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

    /// Calls `each` for the words and halves on pages that the present dispatch touched, ascending: the first
    /// byte and the one behind the last of those that are alike but for their agents, and the first one's
    /// cell.
    pub fn touched(&self, mut each: impl FnMut(u64, u64, &Cell)) {
        let mut numbers: Vec<(u64, u32)> =
            self.index.iter().map(|(number, index)| (*number, *index)).collect();
        numbers.retain(|(_, index)| self.pages[*index as usize].epoch == self.epoch);
        numbers.sort_unstable();
        for (number, index) in numbers {
            for (word, run) in (number * CELLS as u64..).step_by(RUN).zip(&self.pages[index as usize].runs) {
                match run.expanded() {
                    Some(cells) => {
                        for (word, cell) in (word..).zip(cells) {
                            match self.split.peek(cell) {
                                Some([low, high]) => {
                                    each(4 * word, 4 * word + 2, low);
                                    each(4 * word + 2, 4 * word + 4, high);
                                }
                                None => each(4 * word, 4 * word + 4, cell),
                            }
                        }
                    }
                    None => each(4 * word, 4 * (word + RUN as u64), &run.first),
                }
            }
        }
    }

    /// The reads that came before the dispatch's first write of their words, by address and kind.
    pub fn early_reads(&self) -> Vec<EarlyRead> {
        let mut all: Vec<EarlyRead> =
            self.early.done.iter().copied().chain(self.early.open.iter().flatten().copied()).collect();
        all.sort_unstable_by_key(|(start, end, reader)| {
            (*start, *end, reader.kind, reader.agent, reader.time)
        });
        all
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
        if !run.expanded {
            self.early.note((4 * word, 4 * (word + RUN as u64)), &run.first);
        }
        run
    }

    /// The cell of the word at `address / 4`.
    #[inline]
    pub fn cell(&mut self, word: u64) -> &mut Cell {
        let page = self.page_of(word);
        let run = &mut self.pages[page].runs[word as usize % CELLS / RUN];
        run.cell(word as usize % RUN, &mut self.split)
    }

    /// What [`Shadow::cell`] returns, and the cells of halves.
    #[inline]
    pub fn cell_and_split(&mut self, word: u64) -> (&mut Cell, &mut Split) {
        let page = self.page_of(word);
        let run = &mut self.pages[page].runs[word as usize % CELLS / RUN];
        (run.cell(word as usize % RUN, &mut self.split), &mut self.split)
    }

    /// The same for a word that is about to be written.
    #[inline]
    pub fn cell_to_write(&mut self, word: u64) -> &mut Cell {
        let page = self.page_of(word);
        let run = &mut self.pages[page].runs[word as usize % CELLS / RUN];
        let cell = run.cell(word as usize % RUN, &mut self.split);
        match self.split.peek(cell) {
            Some([low, high]) => {
                self.early.note((4 * word, 4 * word + 2), low);
                self.early.note((4 * word + 2, 4 * word + 4), high);
            }
            None => self.early.note((4 * word, 4 * word + 4), cell),
        }
        cell
    }

    /// The cell of half a word that is about to be written, as [`Split::of`] has it.
    #[inline]
    pub fn half_to_write(
        &mut self,
        word: u64,
        half: usize,
        splits: impl Fn(&Cell) -> bool,
    ) -> Option<&mut Cell> {
        let page = self.page_of(word);
        let run = &mut self.pages[page].runs[word as usize % CELLS / RUN];
        let cell = run.cell(word as usize % RUN, &mut self.split);
        let cell = self.split.of(cell, splits)?.get_mut(half)?;
        let start = 4 * word + 2 * half as u64;
        self.early.note((start, start + 2), cell);
        Some(cell)
    }

    #[cold]
    #[inline(never)]
    fn page(&mut self, number: u64) -> u32 {
        let next = self.pages.len() as u32;
        let index = *self.index.entry(number).or_insert(next);
        if index == next {
            let runs = std::iter::repeat_with(|| CellRun::EMPTY).take(RUNS).collect();
            self.pages.push(Page { epoch: self.epoch, runs });
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
