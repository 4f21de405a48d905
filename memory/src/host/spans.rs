//! Sets of bytes, as runs.

use std::collections::BTreeMap;
use std::ops::Range;

/// Runs of bytes, by their start, that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spans(BTreeMap<u64, u64>);

impl Spans {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The runs, in order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|(start, end)| *start..*end)
    }

    pub fn insert(&mut self, range: &Range<u64>) {
        let (mut start, mut end) = (range.start, range.end);
        if start >= end {
            return;
        }
        if let Some((before, last)) = self.0.range(..start).next_back().map(|(s, e)| (*s, *e))
            && last >= start
        {
            (start, end) = (before, end.max(last));
        }
        while let Some((next, last)) = self.0.range(start..=end).next().map(|(s, e)| (*s, *e)) {
            self.0.remove(&next);
            end = end.max(last);
        }
        self.0.insert(start, end);
    }

    pub fn remove(&mut self, range: &Range<u64>) {
        for part in self.within(range) {
            let whole = self.0.range(..=part.start).next_back().map(|(s, e)| (*s, *e));
            let Some((start, end)) = whole else { continue };
            self.0.remove(&start);
            if start < part.start {
                self.0.insert(start, part.start);
            }
            if part.end < end {
                self.0.insert(part.end, end);
            }
        }
    }

    /// The parts of `range` that are in the set.
    pub fn within(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        self.parts(range).collect()
    }

    /// The first part of `range` that is in the set.
    pub fn first_within(&self, range: &Range<u64>) -> Option<Range<u64>> {
        self.parts(range).next()
    }

    /// The parts of `range` that are not in the set, in order.
    pub fn between(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let (mut at, end) = (range.start, range.end);
        let last = std::iter::once(end..end);
        let gap = move |part: Range<u64>| std::mem::replace(&mut at, part.end)..part.start;
        self.parts(range).chain(last).map(gap).filter(|gap| gap.start < gap.end)
    }

    fn parts(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let Range { start, end } = *range;
        let before = self.0.range(..start).next_back();
        before
            .into_iter()
            .chain(self.0.range(start..end.max(start)))
            .map(move |(first, last)| start.max(*first)..end.min(*last))
            .filter(|part| part.start < part.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_join_and_part() {
        let mut s = Spans::default();
        for range in [10..20, 30..40, 20..25, 24..31, 50..60, 5..5] {
            s.insert(&range);
        }
        assert_eq!(s.iter().collect::<Vec<_>>(), [10..40, 50..60]);
        s.remove(&(12..13));
        s.remove(&(35..55));
        assert_eq!(s.iter().collect::<Vec<_>>(), [10..12, 13..35, 55..60]);
        assert_eq!(s.within(&(11..56)), [11..12, 13..35, 55..56]);
        assert_eq!(s.first_within(&(11..56)), Some(11..12));
        assert!(s.within(&(35..55)).is_empty());
        assert_eq!(s.between(&(11..61)).collect::<Vec<_>>(), [12..13, 35..55, 60..61]);
        assert_eq!(s.between(&(20..35)).count(), 0);
        assert_eq!(s.between(&(70..80)).next(), Some(70..80));
    }
}
