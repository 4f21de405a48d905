//! Ranges of device addresses, and values of the bytes in them.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A range of device addresses, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Range {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl Range {
    /// `size` bytes at `start`.
    pub fn new(start: u64, size: u64) -> Range {
        Range { start, end: start + size }
    }

    /// How many bytes it has.
    pub(super) fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether some bytes are in both.
    pub fn meets(self, other: Range) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// What of it is in `other`; where nothing is, it ends before it starts.
    pub(super) fn cut(self, other: Range) -> Range {
        Range { start: self.start.max(other.start), end: self.end.min(other.end) }
    }

    /// What is left without `hole`: nothing, one or two ranges.
    pub(super) fn without(self, hole: Range) -> impl Iterator<Item = Range> {
        let low = Range { start: self.start, end: self.end.min(hole.start) };
        let high = Range { start: self.start.max(hole.end), end: self.end };
        let disjoint = hole.end <= self.start || hole.start >= self.end;
        [if disjoint { self } else { low }, if disjoint { Range { start: 0, end: 0 } } else { high }]
            .into_iter()
            .filter(|r| r.start < r.end)
    }
}

/// Ranges of equal lengths at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Teeth {
    pub first: Range,
    /// From one to the next, which do not touch; 0 if there is only one.
    pub stride: u64,
    /// At least 1.
    pub count: u32,
}

impl Teeth {
    /// One range.
    pub fn one(first: Range) -> Teeth {
        Teeth { first, stride: 0, count: 1 }
    }

    /// Takes in a range as the next one, if it is.
    pub fn extend(&mut self, range: Range) -> bool {
        let stride = match self.count {
            1 => range.start.wrapping_sub(self.first.start),
            _ => self.stride,
        };
        let next = self.first.start.wrapping_add(stride.wrapping_mul(u64::from(self.count)));
        let fits = range.start > self.first.end
            && range.len() == self.first.len()
            && range.start == next
            && self.count < u32::MAX;
        if fits {
            (self.stride, self.count) = (stride, self.count + 1);
        }
        fits
    }

    pub fn at(&self, index: u32) -> Range {
        let at = u64::from(index) * self.stride;
        Range { start: self.first.start + at, end: self.first.end + at }
    }

    /// All of them, ascending.
    pub fn all(self) -> impl Iterator<Item = Range> {
        (0..self.count).map(move |index| self.at(index))
    }

    /// The numbers of those with bytes of a range.
    pub fn meeting(&self, bytes: Range) -> std::ops::Range<u32> {
        // A single one has no stride.
        if self.count == 1 {
            return 0..u32::from(bytes.meets(self.first));
        }
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX).min(self.count);
        let from = bytes.start.checked_sub(self.first.end).map_or(0, |behind| behind / self.stride + 1);
        let to = bytes.end.checked_sub(self.first.start).map_or(0, |before| before.div_ceil(self.stride));
        number(from)..number(to)
    }
}

/// Runs of bytes that do not overlap: by the first byte of each, its end and the value of its bytes.
#[derive(Clone, Debug)]
pub struct RangeMap<T>(BTreeMap<u64, (u64, T)>);

impl<T> Default for RangeMap<T> {
    fn default() -> RangeMap<T> {
        RangeMap(BTreeMap::new())
    }
}

impl<T: Clone> RangeMap<T> {
    /// The runs with bytes of `range`, cut to it.
    pub fn within(&self, range: Range) -> impl Iterator<Item = (Range, &T)> {
        let before = self.0.range(..range.start).next_back().filter(|(_, (end, _))| *end > range.start);
        let inside = self.0.range(range.start..range.end.max(range.start));
        let all = before.into_iter().chain(inside);
        all.map(move |(&start, (end, value))| (Range { start, end: *end }.cut(range), value))
    }

    /// The run that a byte is in.
    pub fn around(&self, at: u64) -> Option<(Range, &T)> {
        let (&start, (end, value)) = self.0.range(..=at).next_back()?;
        (at < *end).then_some((Range { start, end: *end }, value))
    }

    /// Whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values of all runs.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values().map(|(_, value)| value)
    }

    /// The runs of `range`, whose ends are ends of runs from now on.
    pub fn split(&mut self, range: Range) -> impl Iterator<Item = (Range, &mut T)> {
        for at in [range.start, range.end] {
            if let Some((_, (end, value))) = self.0.range_mut(..at).next_back()
                && *end > at
            {
                let tail = (*end, value.clone());
                *end = at;
                self.0.insert(at, tail);
            }
        }
        let inside = self.0.range_mut(range.start..range.end.max(range.start));
        inside.map(|(&start, (end, value))| (Range { start, end: *end }, value))
    }

    /// Takes out the runs of `range`.
    pub fn take(&mut self, range: Range) -> Vec<(Range, T)> {
        let starts: Vec<u64> = self.split(range).map(|(run, _)| run.start).collect();
        let taken = |start| self.0.remove(&start).map(|(end, value)| (Range { start, end }, value));
        starts.into_iter().filter_map(taken).collect()
    }

    /// Gives bytes that have no value one.
    pub fn insert(&mut self, range: Range, value: T) {
        self.0.insert(range.start, (range.end, value));
    }

    /// Joins the runs of `range`, and those beside it, that have equal values.
    pub fn join(&mut self, range: Range)
    where
        T: PartialEq,
    {
        let before = self.0.range(..range.start).next_back().filter(|(_, (end, _))| *end == range.start);
        let from = before.map_or(range.start, |(&k, _)| k);
        let mut starts = self.0.range(from..=range.end).map(|(&k, _)| k);
        let (Some(first), Some(second)) = (starts.next(), starts.next()) else { return };
        let starts: SmallVec<[u64; 8]> = [first, second].into_iter().chain(starts).collect();
        for pair in starts.windows(2).rev() {
            let (low, high) = (pair[0], pair[1]);
            let (high_end, same) = match (self.0.get(&low), self.0.get(&high)) {
                (Some((low_end, a)), Some((high_end, b))) => (*high_end, *low_end == high && a == b),
                _ => continue,
            };
            if same {
                self.0.remove(&high);
                if let Some((end, _)) = self.0.get_mut(&low) {
                    *end = high_end;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn teeth(start: u64, length: u64, stride: u64, count: u32) -> Teeth {
        let mut teeth = Teeth::one(Range::new(start, length));
        for index in 1..count {
            assert!(teeth.extend(Range::new(start + u64::from(index) * stride, length)));
        }
        teeth
    }

    #[test]
    fn teeth_have_one_length_and_one_distance() {
        let mut teeth = teeth(0x100, 8, 24, 3);
        let all: Vec<u64> = teeth.all().map(|range| range.start).collect();
        assert_eq!(all, [0x100, 0x118, 0x130]);
        for (start, length) in [(0x149, 8), (0x148, 4), (0x100, 8)] {
            assert!(!teeth.extend(Range::new(start, length)));
        }
        assert!(teeth.extend(Range::new(0x148, 8)));
    }

    #[test]
    fn the_teeth_that_meet_a_range_are_found_by_their_numbers() {
        for teeth in [teeth(0x100, 8, 24, 5), teeth(0x100, 8, 24, 1)] {
            for (start, end) in (0xf0..0x190).flat_map(|start| (start..0x190).map(move |end| (start, end))) {
                let bytes = Range { start, end };
                let meets = |tooth: &Range| tooth.start < end && start < tooth.end;
                let expected: Vec<_> = teeth.all().filter(meets).collect();
                let found: Vec<_> = teeth.meeting(bytes).map(|index| teeth.at(index)).filter(meets).collect();
                assert_eq!(found, expected, "{start:x} {end:x}");
            }
        }
    }
}
