//! Words that are accessed by halves: each half then has a cell of its own.
//!
//! A cell has room for the last write of a whole word and for two of its readers. Of a word that holds two
//! 16-bit values both are written, and read, by different invocations: two cells are enough for that, where a
//! history of the word would be a hundred times as slow.

use super::cell::{Cell, NOBODY};
use super::order::Record;

/// The cells of a word's two halves, the lower one first. Bytes of readers are those of a whole word, and
/// mean all of the half; the value before is placed as in the word.
pub type Halves = [Cell; 2];

/// The bytes of a word that are in each half.
pub const HALF_BYTES: [u8; 2] = [0b0011, 0b1100];

/// The cells of halves, by the number that the cells of their words hold.
#[derive(Clone, Default)]
pub struct Split {
    halves: Vec<Halves>,
    free: Vec<u32>,
}

impl Split {
    /// No word is split any more; their cells must not be used again.
    pub fn clear(&mut self) {
        self.halves.clear();
        self.free.clear();
    }

    /// The cells of the halves of a word that is split.
    #[inline]
    pub fn get(&mut self, cell: &Cell) -> Option<&mut Halves> {
        if cell.is_split() { self.halves.get_mut(cell.before as usize) } else { None }
    }

    /// The same, to look at.
    #[inline]
    pub fn peek(&self, cell: &Cell) -> Option<&Halves> {
        if cell.is_split() { self.halves.get(cell.before as usize) } else { None }
    }

    /// The cells of the halves of a word, which is split if it is not yet, and `splits` allows it. Nothing if
    /// it has a history, or if single bytes of it were read.
    #[inline]
    pub fn of(&mut self, cell: &mut Cell, splits: impl Fn(&Cell) -> bool) -> Option<&mut Halves> {
        if cell.history == 0 {
            if !splits(cell) {
                return None;
            }
            let [low, high] = HALF_BYTES.map(|bytes| half_of(cell, bytes));
            self.replace(cell, [low?, high?]);
        }
        self.get(cell)
    }

    /// From now on these are the cells of a word's halves.
    pub fn replace(&mut self, cell: &mut Cell, halves: Halves) {
        let place = self.free.pop().unwrap_or(self.halves.len() as u32);
        match self.halves.get_mut(place as usize) {
            Some(known) => *known = halves,
            None => self.halves.push(halves),
        }
        *cell = Cell { history: Cell::SPLIT, before: place, ..Cell::EMPTY };
    }

    /// The word is one again; what was remembered of it is forgotten.
    pub fn join(&mut self, cell: &mut Cell) {
        if let Some(halves) = self.peek(cell) {
            let wrote = halves.iter().any(|half| half.write.kind != 0 || half.forgot_writes);
            self.free.push(cell.before);
            *cell = Cell { forgot_writes: wrote, ..Cell::EMPTY };
        }
    }

    /// The word has one cell again, if that has room for what its halves remember: one write, or none, and no
    /// more than two readers. Whether that is so.
    pub fn unite(&mut self, cell: &mut Cell) -> bool {
        let Some(united) = self.peek(cell).and_then(united) else { return false };
        self.join(cell);
        *cell = united;
        true
    }

    /// Gives back memory that the present dispatch did not use.
    pub fn shrink(&mut self) {
        self.halves.shrink_to(self.halves.len());
        self.free.shrink_to(self.halves.len());
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        self.halves.len() * size_of::<Halves>()
    }
}

/// What a word's cell says of the half with these bytes; nothing if a part of it was read.
#[inline]
fn half_of(cell: &Cell, half: u8) -> Option<Cell> {
    let mut of_half = *cell;
    for (reader, bytes) in of_half.readers.iter_mut().zip(&mut of_half.reader_bytes) {
        match *bytes & half {
            0 => (*reader, *bytes) = (NOBODY, 0),
            all if all == half => *bytes = 15,
            _ => return None,
        }
    }
    if of_half.readers[0].kind == 0 {
        of_half.readers.swap(0, 1);
        of_half.reader_bytes.swap(0, 1);
    }
    Some(of_half)
}

/// What two cells of halves say as one of the word.
fn united(halves: &Halves) -> Option<Cell> {
    let [low, high] = halves;
    let mut cell = Cell {
        write: low.write,
        before: before_both(low, high),
        forgot: low.forgot || high.forgot,
        forgot_writes: low.forgot_writes || high.forgot_writes,
        ..Cell::EMPTY
    };
    let mut readers = readers(halves);
    for (place, bytes) in cell.readers.iter_mut().zip(&mut cell.reader_bytes) {
        (*place, *bytes) = readers.next().unwrap_or((NOBODY, 0));
    }
    (low.write == high.write && readers.next().is_none()).then_some(cell)
}

/// The word's value before the writes of its halves.
pub fn before_both(low: &Cell, high: &Cell) -> u32 {
    low.before & 0xffff | high.before & 0xffff_0000
}

/// Who has read, and which bytes of the word: one access to both halves is one.
pub fn readers([low, high]: &Halves) -> impl Iterator<Item = (Record, u8)> + use<> {
    let (low, high) = (low.readers, high.readers);
    let of_low = low.into_iter().map(move |reader| (reader, if high.contains(&reader) { 15 } else { 3 }));
    let of_high = high.into_iter().filter(move |reader| !low.contains(reader)).map(|reader| (reader, 12));
    of_low.chain(of_high).filter(|(reader, _)| reader.kind != 0)
}

/// Whether nobody wrote either half.
pub fn unwritten(halves: &Halves) -> bool {
    halves.iter().all(|half| half.write.kind == 0)
}

#[cfg(test)]
mod tests;
