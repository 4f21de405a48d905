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

    /// The value of a run that begins and ends where `range` does.
    pub fn exact(&mut self, range: Range) -> Option<&mut T> {
        let (end, value) = self.0.get_mut(&range.start)?;
        (*end == range.end).then_some(value)
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
