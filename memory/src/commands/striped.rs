//! Values of bytes that may repeat at equal distances: what a command does to one member of the structures of
//! an array takes no more room than what it does to all of them.

use super::range::{Range, RangeMap, Teeth};
use smallvec::SmallVec;
use std::sync::Arc;

/// Values of runs of bytes.
#[derive(Clone, Debug)]
pub(super) struct StripedMap<T>(RangeMap<Pattern<T>>);

impl<T> Default for StripedMap<T> {
    fn default() -> StripedMap<T> {
        StripedMap(RangeMap::default())
    }
}

/// The values of a run.
#[derive(Clone, Debug, PartialEq)]
enum Pattern<T> {
    Whole(T),
    Stripes(Arc<Stripes<T>>),
}

/// Values that repeat.
#[derive(Debug, PartialEq)]
struct Stripes<T> {
    period: u64,
    /// An address at which a period begins, modulo its length.
    phase: u64,
    /// Where each piece of a period ends, and its value; neighbours differ. The last one ends with the
    /// period.
    pieces: Pieces<T>,
}

type Pieces<T> = SmallVec<[(u64, Option<T>); 4]>;

/// Adds a piece behind others.
fn add<T: PartialEq>(pieces: &mut Pieces<T>, end: u64, value: Option<T>) {
    match pieces.last_mut() {
        Some((last, known)) if *known == value => *last = end,
        _ => pieces.push((end, value)),
    }
}

/// Entries that hold fewer periods are apart.
const FEW_PERIODS: u64 = 2;

/// Fewer teeth are no pattern.
const FEW_TEETH: u32 = 8;

/// Where more entries than these meet teeth, the values of these become no pattern.
const MOST_MET: usize = 64;

impl<T: Clone + PartialEq> Stripes<T> {
    fn offset(&self, address: u64) -> u64 {
        (address + self.period - self.phase) % self.period
    }

    fn piece(&self, offset: u64) -> &(u64, Option<T>) {
        let index = self.pieces.partition_point(|(end, _)| *end <= offset);
        &self.pieces[index]
    }

    /// The pieces of these bytes, ascending.
    fn within(&self, run: Range) -> impl Iterator<Item = (Range, Option<&T>)> {
        let mut at = run.start;
        std::iter::from_fn(move || {
            if at >= run.end {
                return None;
            }
            let offset = self.offset(at);
            let (end, value) = self.piece(offset);
            let part = Range { start: at, end: (at + (end - offset)).min(run.end) };
            at = part.end;
            Some((part, value.as_ref()))
        })
    }
}

impl<T: Clone + PartialEq> Pattern<T> {
    /// The pieces of a period; nothing if no byte has a value.
    fn of(period: u64, phase: u64, mut pieces: Pieces<T>) -> Option<Pattern<T>> {
        match pieces.len() {
            1 => pieces.pop().and_then(|(_, value)| value).map(Pattern::Whole),
            _ => Some(Pattern::Stripes(Arc::new(Stripes { period, phase, pieces }))),
        }
    }

    /// With all values as `becomes` makes them.
    fn map(&self, becomes: &mut impl FnMut(Option<&T>) -> Option<T>) -> Option<Pattern<T>> {
        match self {
            Pattern::Whole(value) => becomes(Some(value)).map(Pattern::Whole),
            Pattern::Stripes(stripes) => {
                let mut all = Pieces::new();
                for (end, value) in &stripes.pieces {
                    add(&mut all, *end, becomes(value.as_ref()));
                }
                Pattern::of(stripes.period, stripes.phase, all)
            }
        }
    }

    fn within(&self, run: Range) -> impl Iterator<Item = (Range, Option<&T>)> {
        let (whole, stripes) = match self {
            Pattern::Whole(value) => (Some((run, Some(value))), None),
            Pattern::Stripes(stripes) => (None, Some(stripes.within(run))),
        };
        whole.into_iter().chain(stripes.into_iter().flatten())
    }

    fn values(&self) -> impl Iterator<Item = &T> {
        let (whole, stripes) = match self {
            Pattern::Whole(value) => (Some(value), None),
            Pattern::Stripes(stripes) => (None, Some(stripes.pieces.iter().filter_map(|(_, v)| v.as_ref()))),
        };
        whole.into_iter().chain(stripes.into_iter().flatten())
    }
}

impl<T: Clone + PartialEq> StripedMap<T> {
    /// The runs with bytes of `range` that have a value, cut to it.
    pub fn within(&self, range: Range) -> impl Iterator<Item = (Range, &T)> {
        let pieces = self.0.within(range).flat_map(|(run, pattern)| pattern.within(run));
        pieces.filter_map(|(run, value)| Some((run, value?)))
    }

    /// All values that bytes have.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values().flat_map(Pattern::values)
    }

    /// Bytes of these ranges have no value any more.
    pub fn remove(&mut self, teeth: &Teeth) {
        let span = teeth.span();
        if self.0.within(span).next().is_none() {
            return;
        }
        match teeth.count {
            1 => _ = self.0.take(span),
            _ => self.update(teeth, |_| None),
        }
    }

    /// Gives bytes of each of these ranges the value that `becomes` makes of theirs.
    pub fn update(&mut self, teeth: &Teeth, mut becomes: impl FnMut(Option<&T>) -> Option<T>) {
        let span = teeth.span();
        if teeth.count < FEW_TEETH || self.0.within(span).nth(MOST_MET).is_some() {
            teeth.all().for_each(|tooth| self.update_run(tooth, &mut becomes));
            return;
        }
        let mut at = span.start;
        for (run, pattern) in self.0.take(span) {
            self.lay(Range { start: at, end: run.start }, None, teeth, &mut becomes);
            at = run.end;
            self.lay(run, Some(pattern), teeth, &mut becomes);
        }
        self.lay(Range { start: at, end: span.end }, None, teeth, &mut becomes);
        self.0.join(span);
    }

    /// Gives all bytes of a run a value.
    pub fn set(&mut self, run: Range, value: T) {
        match self.0.exact(run) {
            // The same bytes again.
            Some(pattern) => *pattern = Pattern::Whole(value),
            None => {
                self.0.take(run);
                self.insert(run, Some(Pattern::Whole(value)));
            }
        }
        self.0.join(run);
    }

    fn update_run(&mut self, run: Range, becomes: &mut impl FnMut(Option<&T>) -> Option<T>) {
        if let Some(pattern) = self.0.exact(run)
            && let Some(new) = pattern.map(becomes)
        {
            // The same bytes again.
            *pattern = new;
            self.0.join(run);
            return;
        }
        let (mut at, mut gaps) = (run.start, SmallVec::<[Range; 4]>::new());
        let mut gone = SmallVec::<[Range; 4]>::new();
        for (part, pattern) in self.0.split(run) {
            gaps.push(Range { start: at, end: part.start });
            at = part.end;
            match pattern.map(becomes) {
                Some(new) => *pattern = new,
                None => gone.push(part),
            }
        }
        gaps.push(Range { start: at, end: run.end });
        gone.into_iter().for_each(|part| drop(self.0.take(part)));
        for gap in gaps.into_iter().filter(|gap| gap.start < gap.end) {
            self.insert(gap, becomes(None).map(Pattern::Whole));
        }
        self.0.join(run);
    }

    /// Updates a run that is not in the map, and had these values.
    fn lay(
        &mut self,
        run: Range,
        pattern: Option<Pattern<T>>,
        teeth: &Teeth,
        becomes: &mut impl FnMut(Option<&T>) -> Option<T>,
    ) {
        if run.len() == 0 {
            return;
        }
        let (period, phase) = (teeth.stride, teeth.first.start % teeth.stride);
        let other = matches!(&pattern, Some(Pattern::Stripes(stripes)) if stripes.period != period);
        if other || run.len() / period < FEW_PERIODS {
            self.insert(run, pattern);
            for index in teeth.meeting(run) {
                self.update_run(teeth.at(index).cut(run), becomes);
            }
            return;
        }
        let length = teeth.first.len();
        let mut all = Pieces::new();
        // A period from the beginning of a tooth on; where in memory it is does not matter.
        let from = run.start + (phase + period - run.start % period) % period;
        for (part, value) in pieces(pattern.as_ref(), Range::new(from, period)) {
            let (start, end) = (part.start - from, part.end - from);
            if start < length {
                add(&mut all, end.min(length), becomes(value));
            }
            if end > length {
                add(&mut all, end, value.cloned());
            }
        }
        self.insert(run, Pattern::of(period, phase, all));
    }

    fn insert(&mut self, run: Range, pattern: Option<Pattern<T>>) {
        if let Some(pattern) = pattern.filter(|_| run.start < run.end) {
            self.0.insert(run, pattern);
        }
    }
}

/// The values of a run, of which all bytes have none where there is no pattern.
fn pieces<T: Clone + PartialEq>(
    pattern: Option<&Pattern<T>>,
    run: Range,
) -> impl Iterator<Item = (Range, Option<&T>)> {
    let nothing = pattern.is_none().then_some((run, None));
    nothing.into_iter().chain(pattern.into_iter().flat_map(move |pattern| pattern.within(run)))
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
            let (mut striped, mut bytes) = (StripedMap::default(), BTreeMap::new());
            for step in 0..40u32 {
                let first = Range::new(random.below::<u64>(60), 1 + random.below::<u64>(12));
                let mut teeth = Teeth::one(first);
                if random.below(3) > 0 {
                    teeth.stride = match random.below(4) {
                        0 => first.len() + 1 + random.below::<u64>(20),
                        _ => 16.max(first.len() + 1),
                    };
                    teeth.count = 2 + random.below::<u32>(16);
                }
                let kind = random.below(3);
                let becomes = |value: Option<&Vec<u32>>| match kind {
                    0 => None,
                    1 => Some(vec![step]),
                    _ => Some(value.into_iter().flatten().copied().chain([step]).collect()),
                };
                striped.update(&teeth, becomes);
                for byte in teeth.all().flat_map(|tooth| tooth.start..tooth.end) {
                    match becomes(bytes.get(&byte)) {
                        Some(value) => _ = bytes.insert(byte, value),
                        None => _ = bytes.remove(&byte),
                    }
                }
                let from = random.below::<u64>(100);
                for range in [Range::new(0, 1000), Range::new(from, random.below::<u64>(200))] {
                    let found = striped.within(range);
                    let found: Vec<_> = found
                        .flat_map(|(run, value)| (run.start..run.end).map(move |b| (b, value)))
                        .collect();
                    let expected: Vec<_> =
                        bytes.range(range.start..range.end).map(|(byte, value)| (*byte, value)).collect();
                    assert_eq!(found, expected, "seed {seed}, step {step}");
                }
            }
        }
    }

    #[test]
    fn members_of_structures_take_no_room_for_each_structure() {
        let mut map = StripedMap::default();
        let member = |at: u64| Teeth { first: Range::new(0x1000 + at, 16), stride: 48, count: 1000 };
        for round in 0..4 {
            map.update(&member(0), |_| Some(round));
            map.update(&member(16), |value| Some(value.map_or(round, |value| value + 1)));
        }
        assert!(map.0.values().count() <= 4);
        map.update(&Teeth::one(Range::new(0x1000 + 48 * 500 + 4, 4)), |_| Some(77));
        assert!(map.0.values().count() <= 16);
        map.update(&Teeth::one(Range::new(0x1000, 48 * 1000)), |_| Some(9));
        assert_eq!(map.0.values().count(), 1);
    }
}
