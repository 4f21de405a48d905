//! Prefix clocks: what of each queue and stage has executed, is available, is visible.

use super::dependency::{Accesses, Stages};
use super::id::QueueId;
use super::range::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One stream of operations: a queue and a stage; for writes also the access that wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Stream {
    pub queue: QueueId,
    pub stage: Stages,
    pub access: Accesses,
}

impl Stream {
    /// The transitions of a queue, as writes.
    pub fn of_transitions(queue: QueueId) -> Stream {
        Stream { queue, stage: Stages::TRANSITION, access: Accesses::TRANSITION }
    }

    /// The host's writes and flushes.
    pub fn of_host() -> Stream {
        Stream { queue: QueueId(u32::MAX), stage: Stages::HOST, access: Accesses::HOST_WRITE }
    }
}

/// For each stream the number of operations, counted from 1 in submission order, that are included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(BTreeMap<Stream, u64>);

impl Clock {
    pub fn get(&self, stream: Stream) -> u64 {
        self.0.get(&stream).copied().unwrap_or(0)
    }

    pub fn raise(&mut self, stream: Stream, to: u64) {
        if to > 0 {
            let entry = self.0.entry(stream).or_default();
            *entry = (*entry).max(to);
        }
    }

    pub fn join(&mut self, other: &Clock) {
        for (&stream, &to) in &other.0 {
            self.raise(stream, to);
        }
    }

    pub fn covers(&self, other: &Clock) -> bool {
        other.0.iter().all(|(&stream, &to)| self.get(stream) >= to)
    }
}

/// A clock for all memory with exceptions that hold for some bytes only.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranged {
    pub everywhere: Clock,
    parts: BTreeMap<(u64, u64), Clock>,
}

impl Ranged {
    /// Raises `stream` on these bytes.
    pub fn raise(&mut self, stream: Stream, to: u64, ranges: Option<&[Range]>) {
        match ranges {
            None => {
                self.everywhere.raise(stream, to);
                self.prune();
            }
            Some(ranges) => {
                if self.everywhere.get(stream) < to {
                    for r in ranges {
                        self.parts.entry((r.start, r.end)).or_default().raise(stream, to);
                    }
                }
            }
        }
    }

    /// Joins `other`, on these bytes only.
    pub fn join(&mut self, other: &Ranged, ranges: Option<&[Range]>) {
        match ranges {
            None => {
                self.everywhere.join(&other.everywhere);
                for (&key, clock) in &other.parts {
                    self.parts.entry(key).or_default().join(clock);
                }
                self.prune();
            }
            Some(ranges) => {
                for r in ranges {
                    if !self.everywhere.covers(&other.everywhere) {
                        self.parts.entry((r.start, r.end)).or_default().join(&other.everywhere);
                    }
                    for (&(start, end), clock) in &other.parts {
                        let (start, end) = (start.max(r.start), end.min(r.end));
                        if start < end {
                            self.parts.entry((start, end)).or_default().join(clock);
                        }
                    }
                }
            }
        }
    }

    /// Drops exceptions that say nothing more than the whole: a full barrier retires everything older.
    fn prune(&mut self) {
        let everywhere = &self.everywhere;
        self.parts.retain(|_, clock| !everywhere.covers(clock));
    }

    /// Drops exceptions for nothing but bytes of `range`, which nobody will ask for.
    pub fn forget(&mut self, range: Range) {
        self.parts.retain(|&(start, end), _| start < range.start || end > range.end);
    }

    /// The parts of `range` where fewer than `at_least` operations of `stream` are included.
    pub fn missing(&self, stream: Stream, at_least: u64, range: Range) -> Vec<Range> {
        if self.everywhere.get(stream) >= at_least {
            return Vec::new();
        }
        let mut left = vec![range];
        for (&(start, end), clock) in self.parts.range(..(range.end, 0)) {
            if end > range.start && clock.get(stream) >= at_least {
                left = left.into_iter().flat_map(|r| r.without(Range { start, end })).collect();
                if left.is_empty() {
                    break;
                }
            }
        }
        left
    }
}

/// Batches of sparse bindings, by their numbers on the device, from 1. They complete in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct Batches {
    /// All up to this number.
    up_to: u64,
    beyond: BTreeSet<u64>,
}

/// How many batches that are known without those before them are remembered; then those count as known.
const BEYOND: usize = 256;

impl Batches {
    pub fn holds(&self, number: u64) -> bool {
        number <= self.up_to || self.beyond.contains(&number)
    }

    pub fn add(&mut self, number: u64) {
        if !self.holds(number) {
            self.beyond.insert(number);
            self.settle();
        }
    }

    pub fn join(&mut self, other: &Batches) {
        self.up_to = self.up_to.max(other.up_to);
        self.beyond.extend(&other.beyond);
        self.settle();
    }

    fn settle(&mut self) {
        while let Some(first) = self.beyond.first().copied()
            && (first <= self.up_to + 1 || self.beyond.len() > BEYOND)
        {
            self.beyond.pop_first();
            self.up_to = self.up_to.max(first);
        }
    }
}

/// What is known at a point: `executed` counts operations that are system-synchronized-before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    /// Operations (streams without access) that happen before.
    pub executed: Clock,
    /// Writes that are available in the device domain.
    pub available: Ranged,
    /// Writes that a submission made visible to every device access.
    pub visible: Ranged,
    /// Writes that are available in the host domain.
    pub to_host: Ranged,
    /// Batches of sparse bindings that happen before.
    pub bindings: Batches,
    /// So many of the host's accesses and flushes happen before.
    pub host: u64,
    /// What the host knew after as many.
    pub by_host: Option<Arc<Knowledge>>,
}

impl Knowledge {
    pub fn join(&mut self, other: &Knowledge) {
        self.executed.join(&other.executed);
        self.available.join(&other.available, None);
        self.visible.join(&other.visible, None);
        self.to_host.join(&other.to_host, None);
        self.bindings.join(&other.bindings);
        // The host is one agent: what it knew later holds what it knew before.
        if other.host >= self.host && other.by_host.is_some() {
            self.by_host.clone_from(&other.by_host);
        }
        self.host = self.host.max(other.host);
    }

    /// Knows what the host did that `other` knows of, and so what the host knew.
    pub fn join_host(&mut self, other: &Knowledge) {
        if let Some(known) = &other.by_host {
            self.join(known);
        }
        self.host = self.host.max(other.host);
    }

    /// Drops what is known of bytes of `range` alone.
    pub fn forget(&mut self, range: Range) {
        self.available.forget(range);
        self.visible.forget(range);
        self.to_host.forget(range);
    }
}
