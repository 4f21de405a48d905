//! What a dispatch did where, and by whom: ranges of bytes, each with the agent that accessed it first.

use super::range::{Range, Teeth};
use crate::agent::{AgentId, AgentSteps};
use std::sync::Arc;

/// A range of a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    start: u64,
    length: u32,
    by: AgentId,
}

impl Place {
    fn range(&self) -> Range {
        Range::new(self.start, u64::from(self.length))
    }
}

/// Ranges, ascending, that one kind of access touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// Of equal lengths at equal distances, by agents at equal steps.
    Teeth(Teeth, AgentSteps),
    /// Any others, which do not touch.
    Scattered(Arc<[Place]>),
}

impl Places {
    /// One range.
    pub fn one(range: Range, by: AgentId) -> Places {
        Places::Teeth(Teeth::one(range), AgentSteps::one(by))
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        match self {
            Places::Teeth(teeth, _) => teeth.count,
            Places::Scattered(places) => places.len() as u32,
        }
    }

    /// One of them by its number, and who accessed it.
    pub fn at(&self, number: u32) -> (Range, AgentId) {
        match self {
            Places::Teeth(teeth, by) => (teeth.at(number), by.at(number)),
            Places::Scattered(places) => {
                let place = &places[number as usize];
                (place.range(), place.by)
            }
        }
    }

    /// Calls `each` for all of them.
    #[inline]
    pub fn each(&self, each: impl FnMut(Range)) {
        match self {
            Places::Teeth(teeth, _) => teeth.all().for_each(each),
            Places::Scattered(places) => places.iter().map(Place::range).for_each(each),
        }
    }

    /// The bytes from the first to the last one.
    pub fn span(&self) -> Range {
        Range { start: self.at(0).0.start, end: self.at(self.count() - 1).0.end }
    }

    /// The numbers of those with bytes of a range.
    pub fn meeting(&self, bytes: Range) -> std::ops::Range<u32> {
        match self {
            Places::Teeth(teeth, _) => teeth.meeting(bytes),
            Places::Scattered(places) => {
                let from = places.partition_point(|place| place.range().end <= bytes.start);
                let to = places.partition_point(|place| place.start < bytes.end);
                from as u32..to.max(from) as u32
            }
        }
    }
}

/// So many ranges at equal distances are worth teeth of their own.
const FEW: u32 = 8;

/// Longer ones are never scattered.
const SHORT: u64 = 4096;

/// Takes ranges in, of one kind of access.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    /// A range that others may join.
    open: Option<(Range, AgentId)>,
    /// What it may be a tooth of.
    teeth: Option<(Teeth, AgentSteps)>,
    done: Vec<(Teeth, AgentSteps)>,
    scattered: Vec<Place>,
}

impl Gathered {
    /// Takes one in. Cheapest when addresses ascend.
    #[inline]
    pub fn add(&mut self, range: Range, by: AgentId) {
        match &mut self.open {
            Some((open, _)) if range.start <= open.end && range.end >= open.start => {
                open.start = open.start.min(range.start);
                open.end = open.end.max(range.end);
            }
            open => {
                let complete = open.replace((range, by));
                self.close(complete);
            }
        }
    }

    /// No more joins this range.
    fn close(&mut self, complete: Option<(Range, AgentId)>) {
        let Some((range, agent)) = complete.filter(|(range, _)| range.start < range.end) else { return };
        if let Some((teeth, by)) = &mut self.teeth
            && let Some(with) = by.with(teeth.count, agent)
            && teeth.extend(range)
        {
            *by = with;
            return;
        }
        let complete = self.teeth.replace((Teeth::one(range), AgentSteps::one(agent)));
        self.keep(complete);
    }

    /// No more is a tooth of these.
    fn keep(&mut self, complete: Option<(Teeth, AgentSteps)>) {
        match complete {
            Some((teeth, by)) if teeth.count == 1 && teeth.first.len() <= SHORT => {
                let Range { start, end } = teeth.first;
                self.scattered.push(Place { start, length: (end - start) as u32, by: by.first });
            }
            Some((teeth, by)) if teeth.count < FEW && teeth.first.len() <= SHORT => {
                let places = teeth.all().zip(0..).map(|(range, number)| Place {
                    start: range.start,
                    length: range.len() as u32,
                    by: by.at(number),
                });
                self.scattered.extend(places);
            }
            other => self.done.extend(other),
        }
    }

    /// Calls `each` for what was taken in so far, in any order; neighbours may be told as one.
    pub fn each(&self, mut each: impl FnMut(Range, AgentId)) {
        for (teeth, by) in self.done.iter().chain(&self.teeth) {
            teeth.all().zip(0..).for_each(|(range, number)| each(range, by.at(number)));
        }
        self.scattered.iter().for_each(|place| each(place.range(), place.by));
        self.open.iter().for_each(|(range, by)| each(*range, *by));
    }

    /// All of them; of those that meet, or touch, the first reader stands for both.
    pub fn finish(mut self) -> impl Iterator<Item = Places> {
        self.complete();
        self.done.sort_by_key(|(teeth, _)| teeth.first);
        let apart =
            self.done.windows(2).all(|two| two[0].0.at(two[0].0.count - 1).end < two[1].0.first.start);
        if !apart || !self.scattered.is_sorted_by_key(|place| place.start) {
            let mut all: Vec<(Range, AgentId)> = Vec::new();
            self.each(|range, by| all.push((range, by)));
            all.sort_by_key(|(range, _)| range.start);
            if all.windows(2).all(|two| two[0].0.end < two[1].0.start) {
                self.scattered.sort_by_key(|place| place.start);
            } else {
                // Members of structures that lie together, say, which were accessed one after the other.
                self = Gathered::default();
                all.into_iter().for_each(|(range, by)| self.add(range, by));
                self.complete();
            }
        }
        let (few, many) = match self.scattered.len() < FEW as usize {
            true => (self.scattered, None),
            false => (Vec::new(), Some(Places::Scattered(self.scattered.into()))),
        };
        let done = self.done.into_iter().map(|(teeth, by)| Places::Teeth(teeth, by));
        done.chain(few.into_iter().map(|place| Places::one(place.range(), place.by))).chain(many)
    }

    /// Nothing joins the last one any more.
    fn complete(&mut self) {
        let open = self.open.take();
        self.close(open);
        let teeth = self.teeth.take();
        self.keep(teeth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each subgroup of 32 stores the three vectors of its structures one after the other.
    #[test]
    fn members_that_lie_together_are_one_range() {
        let mut gathered = Gathered::default();
        for subgroup in [0, 2, 1, 3] {
            for member in 0..3 {
                for lane in 32 * subgroup..32 * subgroup + 32 {
                    gathered.add(Range::new(0x1000 + 48 * u64::from(lane) + 16 * member, 16), lane);
                }
            }
        }
        let all: Vec<Places> = gathered.finish().collect();
        assert_eq!(all, [Places::one(Range::new(0x1000, 48 * 128), 0)]);
    }

    /// Of structures of four vectors the first and the third are accessed.
    #[test]
    fn members_that_lie_apart_are_a_comb_each() {
        let mut gathered = Gathered::default();
        for (member, lane) in (0..2).flat_map(|member| (0..100).map(move |lane| (member, lane))) {
            gathered.add(Range::new(0x1000 + 64 * u64::from(lane) + 32 * member, 16), lane);
        }
        let counts: Vec<u32> = gathered.finish().map(|places| places.count()).collect();
        assert_eq!(counts, [100, 100]);
    }
}
