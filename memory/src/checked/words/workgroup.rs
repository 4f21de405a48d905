//! The cells of a workgroup's memory.

use super::Words;
use crate::race::{Cell, IN_BYTES, IN_CELL, IN_HALVES, Split, StateList, States};
use crate::system::{LANES, Mask};

/// What is remembered of each word of a workgroup's memory, or of its halves or bytes where these are
/// accessed: a state, or a cell once it is more than that.
///
/// Most of it is accessed by many invocations at once between the same two barriers, so that few states are
/// all that there is, and lanes whose words have the same one are served together.
#[derive(Clone, Default)]
pub(in crate::checked) struct WorkgroupCells {
    words: StateList,
    /// Of halves, and of bytes.
    parts: [StateList; 2],
    /// So many words there are.
    count: usize,
    /// Of the words that have one. None is there before the first one does.
    cells: Vec<Cell>,
    split: Split,
    states: States,
    /// The dispatch of which the states are.
    dispatch: u64,
}

impl WorkgroupCells {
    /// Of memory of so many words, at least one, that nobody accessed, in the dispatch of this number.
    pub fn begin(&mut self, dispatch: u64, words: usize) {
        if self.dispatch != dispatch || self.states.crowded() {
            self.states.clear();
            self.dispatch = dispatch;
        }
        self.count = words;
        self.words.grow(words);
        self.words.states[..words].fill(0);
        self.split.clear();
    }

    /// The cells of words that have one.
    pub fn expanded(&self) -> impl Iterator<Item = &Cell> {
        let states = &self.words.states[..self.count];
        self.cells.iter().zip(states).filter(|(_, state)| **state == IN_CELL).map(|(cell, _)| cell)
    }

    /// The word's place in the lists: accesses are in bounds, and there is one for each word.
    #[inline(always)]
    fn word(&self, number: u64) -> usize {
        (number as usize).min(self.count - 1)
    }

    /// The word gets a cell.
    #[cold]
    fn expand(&mut self, word: usize) {
        if self.cells.len() <= word {
            self.cells.resize(self.count, Cell::EMPTY);
        }
        let WorkgroupCells { words, parts: [halves, bytes], cells, split, states, .. } = self;
        let cell = &mut cells[word];
        match words.states[word] {
            IN_HALVES => split.replace(cell, &[0, 1].map(|k| halves.cell(states, 2 * word + k))),
            IN_BYTES => split.replace(cell, &[0, 1, 2, 3].map(|k| bytes.cell(states, 4 * word + k))),
            _ => *cell = words.cell(states, word),
        }
        words.states[word] = IN_CELL;
    }

    /// The parts of so many bytes of a word get states; false if they have cells, or smaller ones have.
    #[cold]
    fn take_word_apart(&mut self, word: usize, bytes: u32) -> bool {
        let WorkgroupCells { words, parts: [halves, quarters], .. } = self;
        halves.grow(2 * self.count);
        if bytes == 1 {
            quarters.grow(4 * self.count);
        }
        match (words.states[word], bytes) {
            (IN_HALVES, 2) | (IN_BYTES, 1) => return true,
            (IN_CELL | IN_BYTES, _) => return false,
            (IN_HALVES, _) => (0..4).for_each(|k| quarters.copy(4 * word + k, halves, 2 * word + k / 2)),
            (_, 2) => (0..2).for_each(|k| halves.copy(2 * word + k, words, word)),
            _ => (0..4).for_each(|k| quarters.copy(4 * word + k, words, word)),
        }
        words.states[word] = if bytes == 2 { IN_HALVES } else { IN_BYTES };
        true
    }
}

impl Words for WorkgroupCells {
    #[inline(always)]
    fn cell(&mut self, word: u64) -> &mut Cell {
        self.cell_and_split(word).0
    }

    #[inline(always)]
    fn cell_and_split(&mut self, word: u64) -> (&mut Cell, &mut Split) {
        let word = self.word(word);
        if self.words.states[word] != IN_CELL {
            self.expand(word);
        }
        (&mut self.cells[word], &mut self.split)
    }

    #[inline(always)]
    fn states(&mut self) -> &mut States {
        &mut self.states
    }

    #[inline(always)]
    fn by_state(&mut self, bytes: u32) -> (&mut StateList, &mut States) {
        let list = match bytes {
            1 => &mut self.parts[1],
            2 => &mut self.parts[0],
            _ => &mut self.words,
        };
        (list, &mut self.states)
    }

    #[inline(always)]
    fn has_states(_: u32) -> bool {
        true
    }

    #[inline(always)]
    fn places(&mut self, bytes: u32, origin: u64, index: &mut [u32; LANES], mask: Mask) -> Mask {
        let first = origin as u32 / bytes;
        for index in index.iter_mut() {
            *index = index.wrapping_add(first);
        }
        if bytes == 4 {
            return mask;
        }
        let (mark, shift) = if bytes == 2 { (IN_HALVES, 1) } else { (IN_BYTES, 2) };
        let (mut apart, last) = (0, self.words.states.len() - 1);
        for (lane, index) in index.iter().enumerate() {
            let word = ((index >> shift) as usize).min(last);
            apart |= Mask::from(self.words.states[word] == mark) << lane;
        }
        let mut todo = mask & !apart;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            apart |= Mask::from(self.place(bytes, 0, index[lane]).is_some()) << lane;
            todo &= todo - 1;
        }
        mask & apart
    }

    #[inline(always)]
    fn place(&mut self, bytes: u32, origin: u64, index: u32) -> Option<u32> {
        let index = index.wrapping_add(origin as u32 / bytes);
        let word = self.word(u64::from(index >> (2 - bytes.trailing_zeros())));
        let apart = match (bytes, self.words.states[word]) {
            (4, _) | (2, IN_HALVES) | (1, IN_BYTES) => true,
            _ => self.take_word_apart(word, bytes),
        };
        apart.then_some(index)
    }
}
