//! Shadow memory: what is remembered of each word that a dispatch accesses.
//!
//! A [`Cell`] holds the last write of a whole aligned word, the value before it, and two readers since: the first and the latest. What does
//! not fit (bytes, unsynchronised reads, release sequences) goes to a [`History`] of its own. Cells of device memory lie on pages that are
//! allocated when a dispatch first touches them and start afresh with every dispatch; cells of workgroup memory live as long as the workgroup.

use super::order::Record;
use crate::history::History;
use rustc_hash::FxHashMap;

/// Bytes of device memory that one page of cells covers.
pub const PAGE_BYTES: u64 = 1024;
const CELLS: usize = PAGE_BYTES as usize / 4;

/// A record that may be absent: kind 0 is nobody.
pub const NOBODY: Record = Record { agent: 0, time: 0, kind: 0 };

/// What is remembered of one aligned word of four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The last write.
    pub write: Record,
    /// The word's value before it.
    pub before: u32,
    /// The first reader since, and the latest one that is another agent or another instruction. Atomic writes that mutually ordered ones
    /// superseded stay here too.
    pub readers: [Record; 2],
    /// Which bytes they read.
    pub reader_bytes: [u8; 2],
    /// Others read since, and are not remembered, or not when they did first.
    pub forgot: bool,
    /// 1 + the index of the word's history, which then replaces all of the above; 0 if it has none.
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
        history: 0,
    };

    /// Remembers a reader of these bytes.
    #[inline]
    pub fn read(&mut self, record: Record, bytes: u8) {
        let same = |known: &Record, known_bytes: u8| {
            known.kind == record.kind && known.agent == record.agent && known_bytes == bytes
        };
        let [first, latest] = self.readers;
        let slot = if first.kind == 0 || same(&first, self.reader_bytes[0]) {
            0
        } else {
            // Of two readers of one workgroup the one before a barrier says less than the one after it.
            if latest.kind != 0 && !same(&latest, self.reader_bytes[1]) && first.time < record.time {
                self.forgot = true;
                self.readers[0] = latest;
                self.reader_bytes[0] = self.reader_bytes[1];
            }
            1
        };
        self.forgot |= self.readers[slot].kind != 0 && self.readers[slot] != record;
        self.readers[slot] = record;
        self.reader_bytes[slot] = bytes;
    }

    /// Whether remembering this reader forgets one of bytes of which no two readers are left.
    #[inline]
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

    /// A write of the whole word follows. `keep` says which of the two readers and of the write before it are not ordered before it (but
    /// mutually ordered with it): those stay, as readers, at most two.
    #[inline]
    pub fn overwrite(&mut self, record: Record, before: u32, keep: [bool; 3]) {
        let (readers, bytes, write) = (self.readers, self.reader_bytes, self.write);
        self.write = record;
        self.before = before;
        self.readers = [NOBODY; 2];
        self.reader_bytes = [0; 2];
        if keep == [false; 3] {
            self.forgot = false;
            return;
        }
        for index in 0..2 {
            if keep[index] && readers[index].kind != 0 {
                self.read(readers[index], bytes[index]);
            }
        }
        if keep[2] && write.kind != 0 {
            self.read(write, 15);
        }
        // Who read before sees no less than what was there before this write, and nobody does.
        self.forgot = false;
    }
}

struct Page {
    epoch: u32,
    cells: Box<[Cell]>,
}

/// The cells of device memory, by device address.
#[derive(Default)]
pub struct Shadow {
    pages: Vec<Page>,
    index: FxHashMap<u64, u32>,
    last: (u64, u32),
    epoch: u32,
}

impl Shadow {
    /// A new dispatch begins: all words are as if nobody accessed them.
    pub fn forget(&mut self) {
        self.epoch += 1;
        self.last = (u64::MAX, 0);
    }

    /// Drops pages that no access of the present dispatch has touched.
    pub fn shrink(&mut self) {
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

    /// The words on pages that the present dispatch touched, ascending, with their cells.
    pub fn touched(&self) -> impl Iterator<Item = (u64, &Cell)> {
        let mut numbers: Vec<(u64, u32)> =
            self.index.iter().map(|(number, index)| (*number, *index)).collect();
        numbers.retain(|(_, index)| self.pages[*index as usize].epoch == self.epoch);
        numbers.sort_unstable();
        numbers.into_iter().flat_map(|(number, index)| {
            let first = number * CELLS as u64;
            self.pages[index as usize].cells.iter().enumerate().map(move |(i, cell)| (first + i as u64, cell))
        })
    }

    /// Bytes of host memory that the cells take.
    pub fn bytes(&self) -> usize {
        self.pages.len() * (std::mem::size_of::<[Cell; CELLS]>() + 64)
    }

    /// The cell of the word at `address / 4`.
    #[inline]
    pub fn cell(&mut self, word: u64) -> &mut Cell {
        let number = word / CELLS as u64;
        if self.last.0 != number {
            self.last = (number, self.page(number));
        }
        &mut self.pages[self.last.1 as usize].cells[(word % CELLS as u64) as usize]
    }

    #[cold]
    #[inline(never)]
    fn page(&mut self, number: u64) -> u32 {
        let next = self.pages.len() as u32;
        let index = *self.index.entry(number).or_insert(next);
        if index == next {
            self.pages.push(Page { epoch: self.epoch, cells: vec![Cell::EMPTY; CELLS].into() });
        }
        let page = &mut self.pages[index as usize];
        if page.epoch != self.epoch {
            page.epoch = self.epoch;
            page.cells.fill(Cell::EMPTY);
        }
        index
    }
}

/// Histories by the number that cells hold.
#[derive(Default)]
pub struct Histories {
    slots: Vec<Option<Box<History>>>,
    free: Vec<u32>,
}

impl Histories {
    /// Drops all.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
    }

    /// Keeps a history; returns what its cell holds.
    pub fn insert(&mut self, history: History) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.slots[number as usize - 1] = Some(Box::new(history));
                number
            }
            None => {
                self.slots.push(Some(Box::new(history)));
                self.slots.len() as u32
            }
        }
    }

    /// The history of a cell that has one.
    pub fn get(&mut self, number: u32) -> Option<&mut History> {
        self.slots.get_mut((number as usize).checked_sub(1)?)?.as_deref_mut()
    }

    /// The history of a cell that has one.
    pub fn peek(&self, number: u32) -> Option<&History> {
        self.slots.get((number as usize).checked_sub(1)?)?.as_deref()
    }

    /// Forgets a cell's history.
    pub fn remove(&mut self, number: u32) {
        if let Some(slot) = (number as usize).checked_sub(1).and_then(|index| self.slots.get_mut(index))
            && slot.take().is_some()
        {
            self.free.push(number);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_start_afresh_with_every_dispatch_and_untouched_ones_go() {
        let mut shadow = Shadow::default();
        shadow.forget();
        let record = Record { agent: 3, time: 1, kind: 1 };
        shadow.cell(5).write = record;
        shadow.cell(5000).write = record;
        assert_eq!((shadow.cell(5).write, shadow.cell(6).write), (record, NOBODY));
        shadow.forget();
        assert_eq!(shadow.cell(5).write, NOBODY);
        let both = shadow.bytes();
        shadow.shrink();
        assert_eq!(shadow.bytes() * 2, both);
        assert_eq!(shadow.cell(5000).write, NOBODY);
    }

    #[test]
    fn a_cell_is_small_enough() {
        assert!(std::mem::size_of::<Cell>() <= 48);
    }
}
