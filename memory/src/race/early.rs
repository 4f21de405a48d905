//! Reads of what the dispatch then wrote over: cells remember who read since the last write only.

use super::cell::Cell;
use super::order::Record;
use crate::commands::{Gathered, Range};

/// Reads of what the dispatch then wrote over.
#[derive(Clone, Default)]
pub(super) struct EarlyReads {
    /// By index of their static access.
    kinds: Vec<Gathered>,
}

impl EarlyReads {
    /// Notes who read these bytes, those of a word or half or of several with cells like this one, which are
    /// about to be written.
    #[inline]
    pub fn note(&mut self, (start, end): (u64, u64), cell: &Cell) {
        if !cell.is_early() {
            return;
        }
        for (reader, bytes) in cell.readers.iter().zip(cell.reader_bytes) {
            if reader.kind != 0 && bytes != 0 {
                let (skipped, left) = (bytes.trailing_zeros(), bytes.leading_zeros() - 4);
                self.add(Range { start: start + u64::from(skipped), end: end - u64::from(left) }, reader);
            }
        }
    }

    fn add(&mut self, bytes: Range, reader: &Record) {
        let kind = reader.kind as usize;
        if self.kinds.len() <= kind {
            self.kinds.resize_with(kind + 1, Gathered::default);
        }
        self.kinds[kind].add(bytes, reader.agent);
    }

    /// Calls `each` for all of them: the bytes, and the first reader. Neighbours of one instruction may be
    /// told as one.
    pub fn each(&self, mut each: impl FnMut(Range, Record)) {
        for (kind, gathered) in (0..).zip(&self.kinds) {
            gathered.each(|bytes, agent| each(bytes, Record { agent, time: 0, kind }));
        }
    }

    pub fn clear(&mut self) {
        self.kinds.clear();
    }
}
