//! Values of bytes. Pages that have one value are runs of any length; in others each value of a block has a
//! bit for each byte, so that words here and there, or members of structures in an array, take little room
//! and time.

use super::byte_set::{BLOCK, BLOCKS, Bits, ByteSet, PAGE, Piece};
use super::range::{Range, RangeMap};
use smallvec::SmallVec;

/// The values of the bytes of a block: no two are equal, no byte has two.
#[derive(Clone, Debug)]
struct Block<T>(SmallVec<[(Bits, T); 1]>);

impl<T: Clone + PartialEq> Block<T> {
    /// Gives these bytes the values that `becomes` makes of theirs.
    fn update(&mut self, bits: Bits, becomes: &mut impl FnMut(Option<&T>) -> Option<T>) {
        let mut left = bits;
        let mut changed: SmallVec<[(Bits, Option<T>); 4]> = SmallVec::new();
        for (known, value) in &mut self.0 {
            let met = known.and(left);
            if !met.is_empty() {
                (*known, left) = (known.without(met), left.without(met));
                changed.push((met, becomes(Some(value))));
            }
        }
        if !left.is_empty() {
            changed.push((left, becomes(None)));
        }
        self.0.retain(|(bits, _)| !bits.is_empty());
        for (bits, value) in changed {
            let Some(value) = value else { continue };
            match self.0.iter_mut().find(|(_, known)| *known == value) {
                Some((known, _)) => *known = known.or(bits),
                None => self.0.push((bits, value)),
            }
        }
    }

    /// The value that all bytes have, if they have one.
    fn whole(&self) -> Option<&T> {
        self.0.first().filter(|(bits, _)| *bits == Bits::ALL).map(|(_, value)| value)
    }

    /// The runs of bytes with a value, ascending, of the block that begins at this address.
    fn runs(&self, base: u64) -> SmallVec<[(Range, &T); 8]> {
        let each = self.0.iter().flat_map(|(bits, value)| bits.runs(base).map(move |run| (run, value)));
        let mut runs: SmallVec<[(Range, &T); 8]> = each.collect();
        runs.sort_unstable_by_key(|(run, _)| run.start);
        runs
    }
}

/// The values of a run of pages.
#[derive(Clone, Debug)]
enum Pages<T> {
    Whole(T),
    /// Of one page.
    Blocks(Box<[Block<T>]>),
}

impl<T: PartialEq> PartialEq for Pages<T> {
    /// Only whole ones are joined with others.
    fn eq(&self, other: &Pages<T>) -> bool {
        matches!((self, other), (Pages::Whole(a), Pages::Whole(b)) if a == b)
    }
}

impl<T: Clone + PartialEq> Pages<T> {
    /// A page of these values.
    fn blocks(values: Option<Pages<T>>) -> Box<[Block<T>]> {
        let block = match values {
            Some(Pages::Blocks(blocks)) => return blocks,
            Some(Pages::Whole(value)) => Block(SmallVec::from_iter([(Bits::ALL, value)])),
            None => Block(SmallVec::new()),
        };
        vec![block; BLOCKS as usize].into()
    }

    /// What these blocks are; nothing if no byte has a value.
    fn of(blocks: Box<[Block<T>]>) -> Option<Pages<T>> {
        let first = blocks[0].whole();
        if first.is_some() && blocks.iter().all(|block| block.whole() == first) {
            return first.cloned().map(Pages::Whole);
        }
        let any = blocks.iter().any(|block| !block.0.is_empty());
        any.then_some(Pages::Blocks(blocks))
    }

    /// With all values as `becomes` makes them.
    fn map(self, becomes: &mut impl FnMut(Option<&T>) -> Option<T>) -> Option<Pages<T>> {
        match self {
            Pages::Whole(value) => becomes(Some(&value)).map(Pages::Whole),
            Pages::Blocks(mut blocks) => {
                blocks.iter_mut().for_each(|block| block.update(Bits::ALL, becomes));
                Pages::of(blocks)
            }
        }
    }

    /// The runs with bytes of `within`, of pages that are there.
    fn runs(&self, pages: Range, within: Range) -> impl Iterator<Item = (Range, &T)> {
        let (whole, blocks) = match self {
            Pages::Whole(value) => (Some((pages, value)), None),
            Pages::Blocks(blocks) => (None, Some(blocks)),
        };
        let page = pages.start / PAGE * PAGE;
        let within = within.cut(pages);
        let numbers = (within.start - page) / BLOCK..(within.end - page).div_ceil(BLOCK);
        let blocks = blocks.into_iter().flat_map(move |blocks| {
            numbers.clone().flat_map(move |number| blocks[number as usize].runs(page + BLOCK * number))
        });
        let all = whole.into_iter().chain(blocks);
        all.map(move |(run, value)| (run.cut(within), value)).filter(|(run, _)| run.start < run.end)
    }
}

/// Values of bytes.
#[derive(Clone, Debug)]
pub(super) struct ByteMap<T>(RangeMap<Pages<T>>);

impl<T> Default for ByteMap<T> {
    fn default() -> ByteMap<T> {
        ByteMap(RangeMap::default())
    }
}

impl<T: Clone + PartialEq> ByteMap<T> {
    /// The runs with bytes of `range` that have a value, cut to it.
    pub fn within(&self, range: Range) -> impl Iterator<Item = (Range, &T)> {
        let pages = Range { start: range.start / PAGE * PAGE, end: range.end.next_multiple_of(PAGE) };
        let mut runs =
            self.0.within(pages).flat_map(move |(pages, values)| values.runs(pages, range)).peekable();
        std::iter::from_fn(move || {
            let (mut run, value) = runs.next()?;
            while let Some((next, _)) = runs.next_if(|(next, other)| next.start == run.end && *other == value)
            {
                run.end = next.end;
            }
            Some((run, value))
        })
    }

    /// All values that bytes have.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values().flat_map(|values| {
            let (whole, blocks) = match values {
                Pages::Whole(value) => (Some(value), None),
                Pages::Blocks(blocks) => (None, Some(blocks)),
            };
            let blocks =
                blocks.into_iter().flatten().flat_map(|block| block.0.iter().map(|(_, value)| value));
            whole.into_iter().chain(blocks)
        })
    }

    /// Calls `each` with the values of these bytes, with each once at least.
    pub fn each_value(&self, bytes: &ByteSet, mut each: impl FnMut(&T)) {
        let mut last: Option<(Range, &Pages<T>)> = None;
        for piece in bytes.pieces() {
            match *piece {
                Piece::Pages(pages) => self.0.within(pages).for_each(|(_, values)| match values {
                    Pages::Whole(value) => each(value),
                    Pages::Blocks(blocks) => {
                        blocks.iter().flat_map(|block| &block.0).for_each(|(_, value)| each(value))
                    }
                }),
                Piece::Block(block, bits) => {
                    let at = block * BLOCK;
                    last = last.filter(|(pages, _)| pages.start <= at && at < pages.end);
                    last = last.or_else(|| self.0.around(at));
                    match last {
                        None => (),
                        Some((_, Pages::Whole(value))) => each(value),
                        Some((_, Pages::Blocks(blocks))) => {
                            let met = blocks[(block % BLOCKS) as usize].0.iter();
                            let met = met.filter(|(known, _)| !known.and(bits).is_empty());
                            met.for_each(|(_, value)| each(value));
                        }
                    }
                }
            }
        }
    }

    /// These bytes have no value any more.
    pub fn remove(&mut self, bytes: &ByteSet) {
        if !self.0.is_empty() {
            self.update(bytes, |_| None);
        }
    }

    /// Gives all bytes of a range a value.
    pub fn set(&mut self, range: Range, value: T) {
        self.update(&ByteSet::from_iter([range]), |_| Some(value.clone()));
    }

    /// Gives these bytes the value that `becomes` makes of theirs.
    pub fn update(&mut self, bytes: &ByteSet, mut becomes: impl FnMut(Option<&T>) -> Option<T>) {
        // The page of the last block, which is not in the map.
        let mut open: Option<(u64, Box<[Block<T>]>)> = None;
        for piece in bytes.pieces() {
            match *piece {
                Piece::Pages(pages) => {
                    self.put(open.take());
                    self.update_pages(pages, &mut becomes);
                }
                Piece::Block(block, bits) => {
                    let page = block / BLOCKS;
                    if open.as_ref().is_none_or(|(known, _)| *known != page) {
                        self.put(open.take());
                    }
                    let (_, blocks) = open.get_or_insert_with(|| {
                        let values = self.0.take(Range::new(page * PAGE, PAGE)).pop();
                        (page, Pages::blocks(values.map(|(_, values)| values)))
                    });
                    blocks[(block % BLOCKS) as usize].update(bits, &mut becomes);
                }
            }
        }
        self.put(open);
    }

    /// Gives the map back a page.
    fn put(&mut self, page: Option<(u64, Box<[Block<T>]>)>) {
        if let Some((page, blocks)) = page
            && let Some(values) = Pages::of(blocks)
        {
            let range = Range::new(page * PAGE, PAGE);
            let whole = matches!(values, Pages::Whole(_));
            self.0.insert(range, values);
            if whole {
                self.0.join(range);
            }
        }
    }

    fn update_pages(&mut self, pages: Range, becomes: &mut impl FnMut(Option<&T>) -> Option<T>) {
        let mut gap = pages;
        let mut all: Vec<(Range, Option<Pages<T>>)> = Vec::new();
        for (run, values) in self.0.take(pages) {
            all.push((Range { end: run.start, ..gap }, None));
            all.push((run, Some(values)));
            gap.start = run.end;
        }
        all.push((gap, None));
        for (run, values) in all.into_iter().filter(|(run, _)| run.start < run.end) {
            let new = match values {
                Some(values) => values.map(becomes),
                None => becomes(None).map(Pages::Whole),
            };
            new.into_iter().for_each(|values| self.0.insert(run, values));
        }
        self.0.join(pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    /// Against a map that has each byte for itself.
    #[test]
    fn updates_are_those_of_each_byte() {
        for seed in 0..500 {
            let mut random = Random::new(seed);
            // In some blocks of a page, over its end, and over whole pages.
            let (base, space) = [(0, 900), (PAGE - 300, 600), (PAGE / 2, 3 * PAGE)][random.below::<usize>(3)];
            let (mut map, mut bytes) = (ByteMap::default(), BTreeMap::new());
            for step in 0..if space > PAGE { 6 } else { 40u32 } {
                let mut ranges = Vec::new();
                for _ in 0..1 + random.below(30) {
                    let length = if random.below(4) == 0 { space / 2 } else { 8 };
                    let size = 1 + random.below::<u64>(length);
                    ranges.push(Range::new(base + random.below::<u64>(space), size));
                }
                let kind = random.below(3);
                let becomes = |value: Option<&Vec<u32>>| match kind {
                    0 => None,
                    1 => Some(vec![step]),
                    _ => Some(value.into_iter().flatten().copied().chain([step]).collect()),
                };
                let mut had = Vec::new();
                let set = ByteSet::from_iter(ranges);
                let all = || set.ranges().flat_map(|range| range.start..range.end);
                map.each_value(&set, |value: &Vec<u32>| had.push(value.clone()));
                let mut expected: Vec<_> = all().filter_map(|byte| bytes.get(&byte).cloned()).collect();
                [&mut had, &mut expected].into_iter().for_each(|values| {
                    values.sort_unstable();
                    values.dedup();
                });
                assert_eq!(had, expected, "seed {seed}, step {step}");
                map.update(&set, becomes);
                for byte in all() {
                    match becomes(bytes.get(&byte)) {
                        Some(value) => _ = bytes.insert(byte, value),
                        None => _ = bytes.remove(&byte),
                    }
                }
                let from = base + random.below::<u64>(space);
                for range in [Range::new(0, 8 * PAGE), Range::new(from, random.below::<u64>(space))] {
                    let mut expected: Vec<(Range, Vec<u32>)> = Vec::new();
                    for (&start, value) in bytes.range(range.start..range.end) {
                        match expected.last_mut() {
                            Some((run, known)) if run.end == start && known == value => run.end += 1,
                            _ => expected.push((Range::new(start, 1), value.clone())),
                        }
                    }
                    let found: Vec<_> = map.within(range).map(|(run, value)| (run, value.clone())).collect();
                    assert_eq!(found, expected, "seed {seed}, step {step}");
                }
            }
        }
    }

    /// A sparse resource has more bytes than there is memory.
    #[test]
    fn what_all_bytes_have_takes_no_room() {
        let mut map = ByteMap::default();
        let all = Range::new(0x1234, 1 << 50);
        for round in 0..3 {
            map.update(&ByteSet::from_iter([all]), |_| Some(round));
            map.set(Range::new(0x8000_0000, 12), 7);
            assert!(map.0.values().count() <= 6);
            assert_eq!(map.within(all).count(), 3);
        }
        map.remove(&ByteSet::from_iter([Range::new(0, u64::MAX / 2)]));
        assert!(map.0.is_empty());
    }
}
