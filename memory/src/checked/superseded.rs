//! For a debugger: what atomic writes stored that mutually ordered ones have superseded.
//!
//! A cell remembers who made such writes, and one value, which the word had before its last write. Executions
//! get that one for all of them: they may have it, as it is newer than theirs. Whoever asks which write
//! stored what needs their own.

use crate::history::History;
use crate::race::{Cell, Record, Space};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A write that was superseded, what it stored, and what was there before it.
#[derive(Clone, Copy)]
struct Old {
    write: Record,
    before: u32,
    value: u32,
}

/// What was there before the first of a word's superseded writes, and what each of them stored, oldest first:
/// by position in the history that begins with them.
pub(super) type Values = SmallVec<[u32; 3]>;

/// The values that cells have no room for.
#[derive(Clone, Default)]
pub(super) struct Superseded {
    /// Of words whose cells remember superseded writes, oldest first.
    words: FxHashMap<(Space, u64), SmallVec<[Old; 2]>>,
    /// Of words that have a history since, by its number.
    histories: FxHashMap<u32, Values>,
}

impl Superseded {
    /// A dispatch begins.
    pub fn clear(&mut self) {
        self.words.clear();
        self.histories.clear();
    }

    /// A word that held `old` was written over: `earlier` was its cell until then, `now` is it since.
    pub fn note(&mut self, word: (Space, u64), earlier: &Cell, now: &Cell, old: u32) {
        let of_word = self.words.entry(word).or_default();
        let write = earlier.write;
        of_word.retain(|one| one.write != write && now.readers.contains(&one.write));
        if write.kind != 0 && now.readers.contains(&write) {
            of_word.push(Old { write, before: earlier.before, value: old });
        }
        if of_word.is_empty() {
            self.words.remove(&word);
        }
    }

    /// The values of a word whose cell has no history; none if it remembers no superseded write.
    pub fn values(&self, word: (Space, u64), cell: &Cell) -> Values {
        let of_word = self.words.get(&word).map_or(&[][..], SmallVec::as_slice);
        let still = || of_word.iter().filter(|one| cell.readers.contains(&one.write));
        still().next().map(|one| one.before).into_iter().chain(still().map(|one| one.value)).collect()
    }

    /// A history began with writes of these values.
    pub fn begin(&mut self, history: u32, values: Values) {
        if values.is_empty() {
            self.histories.remove(&history);
        } else {
            self.histories.insert(history, values);
        }
    }

    /// Gives a history its own values.
    pub fn restore(&self, number: u32, history: &mut History) {
        if let Some(values) = self.histories.get(&number) {
            history.restore(values);
        }
    }
}
