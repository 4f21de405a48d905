//! Sets of bytes, by whole pages and by blocks with a bit for each byte.

use super::range::Range;

/// Bytes of a block.
pub(super) const BLOCK: u64 = 256;

/// Blocks of a page.
pub(super) const BLOCKS: u64 = 64;

/// Bytes of a page.
pub(super) const PAGE: u64 = BLOCK * BLOCKS;

/// Some bytes of a block: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits([u64; BLOCK as usize / 64]);

impl Bits {
    pub const NONE: Bits = Bits([0; BLOCK as usize / 64]);
    pub const ALL: Bits = Bits([u64::MAX; BLOCK as usize / 64]);

    /// The bytes from `start` to before `end` are in it, too; there is one at least.
    #[inline]
    pub fn add(&mut self, start: u64, end: u64) {
        let (first, last) = ((start / 64) as usize, ((end - 1) / 64) as usize);
        let (from, to) = (u64::MAX << (start % 64), u64::MAX >> (63 - (end - 1) % 64));
        if first == last {
            self.0[first] |= from & to;
        } else {
            self.0[first] |= from;
            self.0[first + 1..last].fill(u64::MAX);
            self.0[last] |= to;
        }
    }

    pub fn is_empty(self) -> bool {
        self == Bits::NONE
    }

    pub fn and(self, other: Bits) -> Bits {
        Bits(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    pub fn or(self, other: Bits) -> Bits {
        Bits(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    pub fn without(self, other: Bits) -> Bits {
        Bits(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Runs of bytes, ascending; neighbours may touch.
    pub fn runs(self, base: u64) -> impl Iterator<Item = Range> {
        let words = (0..).zip(self.0);
        words.flat_map(move |(word, bits): (u64, u64)| {
            let at = move |bit: u32| base + 64 * word + u64::from(bit);
            crate::bits::runs(bits).map(move |(start, end)| Range { start: at(start), end: at(end) })
        })
    }
}

/// Bytes of a [`ByteSet`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// Whole pages.
    Pages(Range),
    /// Some bytes of the block of this number, from address 0 on.
    Block(u64, Bits),
}

impl Piece {
    fn start(&self) -> u64 {
        match self {
            Piece::Pages(pages) => pages.start,
            Piece::Block(block, _) => block * BLOCK,
        }
    }
}

/// Bytes that somebody accessed, whatever their order was.
#[derive(Clone, Debug, Default)]
pub struct ByteSet {
    /// Ascending; no byte is in two, and no block.
    pieces: Vec<Piece>,
}

impl ByteSet {
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The bytes, as ranges that ascend and do not touch.
    pub fn ranges(&self) -> impl Iterator<Item = Range> {
        let runs = self.pieces.iter().flat_map(|piece| {
            let (pages, bits) = match *piece {
                Piece::Pages(pages) => (Some(pages), None),
                Piece::Block(block, bits) => (None, Some(bits.runs(block * BLOCK))),
            };
            pages.into_iter().chain(bits.into_iter().flatten())
        });
        let mut runs = runs.peekable();
        std::iter::from_fn(move || {
            let mut run = runs.next()?;
            while let Some(next) = runs.next_if(|next| next.start == run.end) {
                run.end = next.end;
            }
            Some(run)
        })
    }
}

impl FromIterator<Range> for ByteSet {
    fn from_iter<I: IntoIterator<Item = Range>>(ranges: I) -> ByteSet {
        let mut bytes = Builder::default();
        ranges.into_iter().for_each(|range| bytes.add(range));
        bytes.finish()
    }
}

/// Makes a [`ByteSet`] of ranges. Cheapest where they ascend.
#[derive(Default)]
pub(super) struct Builder {
    pieces: Vec<Piece>,
    /// The block of this number, if it has some bytes.
    open: (u64, Bits),
}

impl Builder {
    #[inline]
    pub fn add(&mut self, range: Range) {
        let mut at = range.start;
        while at < range.end {
            let pages = (range.end - at) / PAGE * PAGE;
            if at.is_multiple_of(PAGE) && pages > 0 {
                self.pieces.push(Piece::Pages(Range::new(at, pages)));
                at += pages;
                continue;
            }
            let block = at / BLOCK;
            let base = block * BLOCK;
            let end = range.end.min(base + BLOCK);
            if self.open.0 != block {
                self.close();
                self.open.0 = block;
            }
            self.open.1.add(at - base, end - base);
            at = end;
        }
    }

    fn close(&mut self) {
        let (block, bits) = std::mem::take(&mut self.open);
        if !bits.is_empty() {
            self.pieces.push(Piece::Block(block, bits));
        }
    }

    pub fn finish(mut self) -> ByteSet {
        self.close();
        let mut pieces = self.pieces;
        // Of what begins together the pages come first.
        let key = |piece: &Piece| (piece.start(), matches!(piece, Piece::Block(..)));
        if !pieces.is_sorted_by_key(key) {
            pieces.sort_by_key(key);
        }
        pieces.dedup_by(|next, known| match (next, known) {
            (Piece::Block(block, bits), Piece::Block(known, all)) if block == known => {
                *all = all.or(*bits);
                true
            }
            (Piece::Block(block, _), Piece::Pages(pages)) => *block * BLOCK < pages.end,
            (Piece::Pages(next), Piece::Pages(pages)) if next.start <= pages.end => {
                pages.end = pages.end.max(next.end);
                true
            }
            _ => false,
        });
        ByteSet { pieces }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn a_set_has_the_bytes_of_its_ranges() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let (mut ranges, mut bytes) = (Vec::new(), BTreeSet::new());
            for _ in 0..random.below(30) {
                let size = [9, 300, 3 * PAGE][random.below::<usize>(3)];
                let range = Range::new(random.below::<u64>(4 * PAGE), random.below::<u64>(size));
                ranges.push(range);
                bytes.extend(range.start..range.end);
            }
            let mut expected: Vec<Range> = Vec::new();
            for byte in bytes {
                match expected.last_mut() {
                    Some(last) if last.end == byte => last.end += 1,
                    _ => expected.push(Range::new(byte, 1)),
                }
            }
            let set: ByteSet = ranges.into_iter().collect();
            assert_eq!(set.ranges().collect::<Vec<_>>(), expected, "seed {seed}");
            let blocks = set.pieces().iter().map(Piece::start);
            assert!(blocks.is_sorted_by(|a, b| a < b), "seed {seed}");
        }
    }
}
