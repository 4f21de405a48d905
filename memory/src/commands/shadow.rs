//! Which operation touched which bytes last.

use super::dependency::{Accesses, Stages};
use super::tracker::{OperationId, QueueId};
use crate::access::{Reference, Site};
use crate::agent::Invocation;
use crate::scope::Scope;
use serde::{Deserialize, Serialize};
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

/// One access of an operation to a run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Operand {
    /// Access type of the read half, empty if there is none.
    pub read: Accesses,
    /// Access type of the write half, empty if there is none.
    pub write: Accesses,
    /// The shader access that stands for the run: its static instruction and who did it.
    pub shader: Option<(Site, Invocation)>,
    /// Shader accesses: the reference.
    pub reference: Option<Reference>,
    /// Shader accesses: non-private.
    pub non_private: bool,
    /// Shader accesses: the scope of the per-instruction availability operation, or of the atomic.
    pub available: Option<Scope>,
    /// Shader accesses: the scope of the per-instruction visibility operation, or of the atomic.
    pub visible: Option<Scope>,
    /// The scope of an atomic.
    pub atomic: Option<Scope>,
}

impl Operand {
    /// An access of a fixed-function command.
    pub fn fixed(read: Accesses, write: Accesses) -> Operand {
        Operand {
            read,
            write,
            shader: None,
            reference: None,
            non_private: false,
            available: None,
            visible: None,
            atomic: None,
        }
    }
}

/// An access that later operations are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub operation: OperationId,
    pub queue: QueueId,
    pub stage: Stages,
    /// Place in the stream of its queue and stage, counted from 1.
    pub number: u64,
    pub operand: Operand,
}

/// The last write to a run of bytes and the reads since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub write: Option<Record>,
    /// The latest read of each queue, stage and kind of access: prefix clocks make it stand for the earlier
    /// ones.
    pub reads: Vec<Record>,
}

/// Runs of bytes with equal cells, not overlapping, keyed by their start.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow(BTreeMap<u64, (u64, Cell)>);

impl Shadow {
    /// Calls `visit` for each stored run that overlaps `range`, cut to it.
    pub fn for_each(&self, range: Range, mut visit: impl FnMut(Range, &Cell)) {
        let first = self.0.range(..range.start).next_back().filter(|(_, (end, _))| *end > range.start);
        for (&start, (end, cell)) in first.into_iter().chain(self.0.range(range.start..range.end)) {
            visit(Range { start: start.max(range.start), end: (*end).min(range.end) }, cell);
        }
    }

    /// Calls `each` for the operations of all records.
    pub fn operations(&self, mut each: impl FnMut(OperationId)) {
        for (_, cell) in self.0.values() {
            cell.write.iter().chain(&cell.reads).for_each(|record| each(record.operation));
        }
    }

    /// Records an access of `range`.
    pub fn record(&mut self, range: Range, record: Record) {
        self.split(range.start);
        self.split(range.end);
        if record.operand.write.is_empty() {
            let mut at = range.start;
            let keys: Vec<u64> = self.0.range(range.start..range.end).map(|(&k, _)| k).collect();
            let mut gaps = Vec::new();
            for key in keys {
                if key > at {
                    gaps.push((at, key));
                }
                let (end, cell) = self.0.get_mut(&key).expect("key was just listed");
                at = *end;
                cell.reads.retain(|r| {
                    !(r.queue == record.queue
                        && r.stage == record.stage
                        && r.operand.read == record.operand.read
                        && r.operand.reference == record.operand.reference
                        && r.operand.non_private <= record.operand.non_private)
                });
                cell.reads.push(record);
            }
            if at < range.end {
                gaps.push((at, range.end));
            }
            for (start, end) in gaps {
                self.0.insert(start, (end, Cell { write: None, reads: vec![record] }));
            }
        } else {
            let keys: Vec<u64> = self.0.range(range.start..range.end).map(|(&k, _)| k).collect();
            for key in keys {
                self.0.remove(&key);
            }
            self.0.insert(range.start, (range.end, Cell { write: Some(record), reads: Vec::new() }));
        }
        self.merge_around(range);
    }

    /// Forgets everything about `range` (memory was freed).
    pub fn forget(&mut self, range: Range) {
        self.split(range.start);
        self.split(range.end);
        let keys: Vec<u64> = self.0.range(range.start..range.end).map(|(&k, _)| k).collect();
        for key in keys {
            self.0.remove(&key);
        }
    }

    fn split(&mut self, at: u64) {
        if let Some((_, (end, cell))) = self.0.range_mut(..at).next_back()
            && *end > at
        {
            let tail = (*end, cell.clone());
            *end = at;
            self.0.insert(at, tail);
        }
    }

    fn merge_around(&mut self, range: Range) {
        let from = self.0.range(..range.start).next_back().map_or(range.start, |(&k, _)| k);
        let keys: Vec<u64> = self.0.range(from..=range.end).map(|(&k, _)| k).collect();
        for pair in keys.windows(2).rev() {
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
