//! Words that are accessed by parts: each half, or each byte, then has a cell of its own.
//!
//! A cell has room for the last write of a whole word and for two of its readers. Of a word that holds two
//! 16-bit values, or four bytes, all are written, and read, by different invocations: a cell for each part is
//! enough for that, where a history of the word would be a hundred times as slow.

use super::cell::{Cell, NOBODY};
use super::order::Record;
use crate::history::bits;
use smallvec::SmallVec;

/// The bytes of a word that are in each of so many parts, the lowest first.
pub const fn bytes_of(parts: usize) -> &'static [u8] {
    match parts {
        1 => &[0b1111],
        2 => &[0b0011, 0b1100],
        _ => &[0b0001, 0b0010, 0b0100, 0b1000],
    }
}

/// The cells of the parts of words. Those of one word lie together, the lowest part first. Bytes of readers
/// are those of a whole word, and mean all of the part; the value before is placed as in the word.
#[derive(Clone, Default)]
pub struct Split {
    cells: Vec<Cell>,
    /// Places of two cells, and of four, that are not used.
    free: [Vec<u32>; 2],
}

impl Split {
    /// No word is split any more; their cells must not be used again.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.free.iter_mut().for_each(Vec::clear);
    }

    /// The cells of the parts of a word that is split.
    #[inline]
    pub fn get(&mut self, cell: &Cell) -> Option<&mut [Cell]> {
        let place = cell.before as usize;
        if cell.is_split() { self.cells.get_mut(place..place + cell.parts()) } else { None }
    }

    /// The same, to look at.
    #[inline]
    pub fn peek(&self, cell: &Cell) -> Option<&[Cell]> {
        let place = cell.before as usize;
        if cell.is_split() { self.cells.get(place..place + cell.parts()) } else { None }
    }

    /// The cell of the part of a word that begins with a byte of it, and how many bytes the part has: `bytes`
    /// (1 or 2), or fewer where single ones were accessed. The word is split if it is not yet, and `splits`
    /// allows it. Nothing if it has a history.
    #[inline]
    pub fn part(
        &mut self,
        cell: &mut Cell,
        (at, bytes): (u64, u64),
        splits: impl Fn(&Cell) -> bool,
    ) -> Option<(&mut Cell, u64)> {
        let parts = (4 / bytes) as usize;
        if cell.history == 0 {
            if !splits(cell) {
                return None;
            }
            let take_apart = |parts| bytes_of(parts).iter().map(|bytes| part_of(cell, *bytes)).collect();
            let cells: Option<SmallVec<[Cell; 4]>> = take_apart(parts);
            // Bytes of a half may have been read.
            let cells = cells.or_else(|| take_apart(4))?;
            self.replace(cell, &cells);
        } else if cell.parts() == 2 && parts == 4 {
            let &[low, high] = self.peek(cell)? else { return None };
            self.join(cell);
            self.replace(cell, &[low, low, high, high]);
        }
        let size = 4 / cell.parts() as u64;
        Some((self.get(cell)?.get_mut((at / size) as usize)?, size))
    }

    /// From now on these are the cells of a word's parts, two or four.
    pub fn replace(&mut self, cell: &mut Cell, parts: &[Cell]) {
        let place = self.free[usize::from(parts.len() == 4)].pop().unwrap_or(self.cells.len() as u32);
        match self.cells.get_mut(place as usize..place as usize + parts.len()) {
            Some(known) => known.copy_from_slice(parts),
            None => self.cells.extend_from_slice(parts),
        }
        let history = if parts.len() == 2 { Cell::HALVES } else { Cell::BYTES };
        *cell = Cell { history, before: place, ..Cell::EMPTY };
    }

    /// The word is one again; what was remembered of it is forgotten.
    pub fn join(&mut self, cell: &mut Cell) {
        if let Some(parts) = self.peek(cell) {
            let wrote = parts.iter().any(|part| part.write.kind != 0 || part.forgot_writes);
            self.free[usize::from(parts.len() == 4)].push(cell.before);
            *cell = Cell { forgot_writes: wrote, ..Cell::EMPTY };
        }
    }

    /// The word has one cell again, if that has room for what its parts remember: one write, or none, and no
    /// more than two readers. Whether that is so.
    pub fn unite(&mut self, cell: &mut Cell) -> bool {
        let Some(united) = self.peek(cell).and_then(united) else { return false };
        self.join(cell);
        *cell = united;
        true
    }

    /// Gives back memory that the present dispatch did not use.
    pub fn shrink(&mut self) {
        self.cells.shrink_to(self.cells.len());
        self.free.iter_mut().for_each(|free| free.shrink_to(free.len()));
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        size_of_val(&self.cells[..])
    }
}

/// What a word's cell says of the part with these bytes; nothing if some of the part was read by itself.
#[inline]
fn part_of(cell: &Cell, part: u8) -> Option<Cell> {
    let mut of_part = *cell;
    for (reader, bytes) in of_part.readers.iter_mut().zip(&mut of_part.reader_bytes) {
        match *bytes & part {
            0 => (*reader, *bytes) = (NOBODY, 0),
            all if all == part => *bytes = 15,
            _ => return None,
        }
    }
    if of_part.readers[0].kind == 0 {
        of_part.readers.swap(0, 1);
        of_part.reader_bytes.swap(0, 1);
    }
    Some(of_part)
}

/// What the cells of all parts say as one of the word.
fn united(parts: &[Cell]) -> Option<Cell> {
    let (first, others) = parts.split_first()?;
    let mut cell = Cell {
        write: first.write,
        before: before(parts),
        forgot: parts.iter().any(|part| part.forgot),
        forgot_writes: parts.iter().any(|part| part.forgot_writes),
        ..Cell::EMPTY
    };
    let mut readers = readers(parts).into_iter();
    for (place, bytes) in cell.readers.iter_mut().zip(&mut cell.reader_bytes) {
        (*place, *bytes) = readers.next().unwrap_or((NOBODY, 0));
    }
    (others.iter().all(|other| other.write == first.write) && readers.next().is_none()).then_some(cell)
}

/// The word's value before the writes of its parts.
fn before(parts: &[Cell]) -> u32 {
    let cells = parts.iter().zip(bytes_of(parts.len()));
    cells.fold(0, |word, (part, bytes)| word | part.before & bits(*bytes))
}

/// Who wrote last, which bytes of the word, and what was in them before: one access to several parts is one.
pub fn writes(parts: &[Cell]) -> SmallVec<[(Record, u8, u32); 4]> {
    let mut all: SmallVec<[(Record, u8, u32); 4]> = SmallVec::new();
    for (part, bytes) in parts.iter().zip(bytes_of(parts.len())).filter(|(part, _)| part.write.kind != 0) {
        let before = part.before & bits(*bytes);
        match all.iter_mut().find(|(write, ..)| *write == part.write) {
            Some((_, known, value)) => (*known, *value) = (*known | bytes, *value | before),
            None => all.push((part.write, *bytes, before)),
        }
    }
    all
}

/// Who has read since, and which bytes of the word: one access to several parts is one.
pub fn readers(parts: &[Cell]) -> SmallVec<[(Record, u8); 4]> {
    let mut all: SmallVec<[(Record, u8); 4]> = SmallVec::new();
    for (part, bytes) in parts.iter().zip(bytes_of(parts.len())) {
        for reader in part.readers.iter().filter(|reader| reader.kind != 0) {
            match all.iter_mut().find(|(known, of)| known == reader && of & bytes == 0) {
                Some((_, known)) => *known |= bytes,
                None => all.push((*reader, *bytes)),
            }
        }
    }
    all
}

/// Whether nobody wrote any part.
pub fn unwritten(parts: &[Cell]) -> bool {
    parts.iter().all(|part| part.write.kind == 0)
}

#[cfg(test)]
mod tests;
