//! Relations as values: what a judgement hands out.

/// A relation between the events of one execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    events: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Relation {
    pub(super) fn new(events: usize) -> Relation {
        let words = events.div_ceil(64).max(1);
        Relation { events, words, bits: vec![0; events * words] }
    }

    pub(super) fn set_row(&mut self, a: usize, row: &[u64]) {
        let words = self.words;
        self.bits[a * words..(a + 1) * words].copy_from_slice(&row[..words]);
    }

    /// How many events the execution has.
    pub fn events(&self) -> usize {
        self.events
    }

    /// Whether `a -> b`. False for indices out of range.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        a < self.events && b < self.events && self.bits[a * self.words + b / 64] >> (b % 64) & 1 != 0
    }

    /// How many pairs.
    pub fn count(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// All pairs, by source and then target.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.events as u32)
            .flat_map(move |a| (0..self.events as u32).map(move |b| (a, b)))
            .filter(|(a, b)| self.contains(*a, *b))
    }
}
