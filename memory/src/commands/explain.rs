//! Which element is missing between two operations, and the smallest change that supplies it.

use super::clock::Stream;
use super::dependency::{AccessScope, Accesses, Stages};
use super::shadow::{Operand, Range, Record};
use super::tracker::{OperationId, PastBarrier, QueueId, Tracker};
use crate::finding::FindingId;
use serde::{Deserialize, Serialize};

/// Two accesses that the commands between them do not order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hazard {
    /// The first missing element, in the order execution, availability, visibility.
    pub id: FindingId,
    /// The operation whose access is earlier.
    pub first: OperationId,
    /// Its access.
    pub first_operand: Operand,
    /// Queue and stage of the first operation.
    pub first_at: (QueueId, Stages),
    /// The later operation.
    pub second: OperationId,
    /// Its access.
    pub second_operand: Operand,
    /// Queue and stage of the second operation.
    pub second_at: (QueueId, Stages),
    /// The bytes concerned, ascending, adjacent ones merged.
    pub bytes: Vec<Range>,
    /// The first happens before the second (what is missing is availability or visibility).
    pub executed: bool,
    /// The smallest change.
    pub fix: Fix,
}

/// A change to the program that orders the pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fix {
    /// Add these bits to a barrier that is there.
    Extend(BarrierGap),
    /// Insert a barrier between the two commands.
    Insert {
        /// srcStageMask.
        source: Stages,
        /// srcAccessMask; empty where an execution dependency is enough.
        available: Accesses,
        /// dstStageMask.
        destination: Stages,
        /// dstAccessMask.
        visible: Accesses,
    },
    /// Signal a semaphore on one queue and wait for it on the other.
    Semaphore {
        /// Signals.
        from: QueueId,
        /// Waits.
        to: QueueId,
        /// At this stage.
        stage: Stages,
    },
}

/// What one barrier lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierGap {
    /// The caller's name for the barrier command.
    pub tag: u64,
    /// To add to srcStageMask.
    pub source: Stages,
    /// To add to srcAccessMask.
    pub available: Accesses,
    /// To add to dstStageMask.
    pub destination: Stages,
    /// To add to dstAccessMask.
    pub visible: Accesses,
    /// The masks are right, but the buffer range or image subresource does not hold the bytes.
    pub range: bool,
}

impl BarrierGap {
    fn missing(&self) -> usize {
        [
            !self.source.is_empty(),
            !self.available.is_empty(),
            !self.destination.is_empty(),
            !self.visible.is_empty(),
            self.range,
        ]
        .into_iter()
        .filter(|&b| b)
        .count()
    }
}

impl Hazard {
    pub(super) fn is_pair(&self, earlier: &Record, later: &Record) -> bool {
        self.first == earlier.operation
            && self.second == later.operation
            && self.first_operand == earlier.operand
            && self.second_operand == later.operand
    }

    pub(super) fn is_same_pair(&self, other: &Hazard) -> bool {
        (self.first, self.second) == (other.first, other.second)
            && self.first_operand == other.first_operand
            && self.second_operand == other.second_operand
    }

    pub(super) fn add_bytes(&mut self, bytes: Range) {
        match self.bytes.last_mut() {
            Some(last) if last.end >= bytes.start && last.start <= bytes.start => {
                last.end = last.end.max(bytes.end)
            }
            _ => self.bytes.push(bytes),
        }
    }
}

pub(super) fn hazard(tracker: &Tracker, earlier: &Record, later: &Record, bytes: Range) -> Hazard {
    let (w, y) = (&earlier.operand, &later.operand);
    let executed = tracker.executed(earlier, later, bytes);
    let available = w.write.is_empty() || tracker.unavailable(earlier, later, bytes).is_empty();
    // Of a read-modify-write the half that fails first names the finding.
    let second_writes = !y.write.is_empty() && (y.read.is_empty() || w.write.is_empty());
    let racing = earlier.queue != later.queue && !executed;
    let id = match (racing, second_writes, w.write.is_empty()) {
        _ if [earlier.stage, later.stage].contains(&Stages::TRANSITION) => FindingId::HazardLayoutTransition,
        (true, true, true) => FindingId::HazardWriteRacingRead,
        (true, true, false) => FindingId::HazardWriteRacingWrite,
        (true, false, _) => FindingId::HazardReadRacingWrite,
        (false, true, true) => FindingId::HazardWriteAfterRead,
        (false, true, false) => FindingId::HazardWriteAfterWrite,
        (false, false, _) => FindingId::HazardReadAfterWrite,
    };
    let pair = Pair { tracker, earlier, later, bytes, executed, available, needs_visibility: !second_writes };
    let fix = match pair.chained() {
        Some(gap) => Fix::Extend(gap),
        None if racing => Fix::Semaphore { from: earlier.queue, to: later.queue, stage: later.stage },
        None => pair.smallest(),
    };
    Hazard {
        id,
        first: earlier.operation,
        first_operand: *w,
        first_at: (earlier.queue, earlier.stage),
        second: later.operation,
        second_operand: *y,
        second_at: (later.queue, later.stage),
        bytes: vec![bytes],
        executed,
        fix,
    }
}

/// Two accesses that are not ordered, and what is known of them.
struct Pair<'a> {
    tracker: &'a Tracker,
    earlier: &'a Record,
    later: &'a Record,
    bytes: Range,
    executed: bool,
    available: bool,
    needs_visibility: bool,
}

impl Pair<'_> {
    fn stream(&self) -> Stream {
        let Record { queue, stage, .. } = *self.earlier;
        Stream { queue, stage, access: self.earlier.operand.write }
    }

    fn same_queue(&self) -> bool {
        self.earlier.queue == self.later.queue
    }

    /// The barrier that performs the later access, if that is a transition.
    fn performing(&self) -> Option<&PastBarrier> {
        let queue = self.tracker.queue(self.later.queue)?;
        queue.performing.as_ref().map(|p| &p.barrier).filter(|_| self.later.stage == Stages::TRANSITION)
    }

    /// A transition's source stages lack one that follows the earlier access.
    fn chained(&self) -> Option<BarrierGap> {
        let barrier = self.performing()?;
        let queue = self.tracker.queue(self.later.queue)?;
        let follows = |stage: &Stages| {
            queue.inherit.get(stage).is_some_and(|known| match self.earlier.operand.write.is_empty() {
                true => {
                    let stream = self.stream();
                    known.executed.get(stream) >= self.earlier.number
                }
                false => known.available.missing(self.stream(), self.earlier.number, self.bytes).is_empty(),
            })
        };
        let stages = Stages::DEVICE - Stages::TRANSITION - Stages::GRAPHICS;
        let source = stages.iter().find(follows)?;
        Some(BarrierGap { tag: barrier.tag, source, ..BarrierGap::default() })
    }

    fn smallest(&self) -> Fix {
        let performing = self.performing();
        // What comes before the barrier that performs a transition has to reach its first scope.
        let reaches = |b: &PastBarrier| {
            performing.is_none_or(|p| {
                let wanted = p.dependency.source.with_earlier() | Stages::TRANSITION;
                b.dependency.destination.with_later().intersects(wanted)
            })
        };
        let past = self.tracker.queue(self.later.queue).map(|q| q.barriers.as_slice()).unwrap_or_default();
        let mut best: Option<BarrierGap> = None;
        for barrier in past.iter().filter(|b| reaches(b)).chain(performing) {
            if self.same_queue() && !barrier.is_after(self.earlier) {
                continue;
            }
            let gap = self.gap(barrier);
            if gap.missing() > 0 && best.as_ref().is_none_or(|b| gap.missing() < b.missing()) {
                best = Some(gap);
            }
        }
        match best {
            Some(gap) if gap.missing() < 3 => Fix::Extend(gap),
            _ => Fix::Insert {
                source: self.earlier.stage,
                available: self.earlier.operand.write,
                destination: self.later.stage,
                visible: if self.needs_visibility {
                    self.later.operand.read
                } else if self.earlier.operand.write.is_empty() {
                    Accesses::empty()
                } else {
                    self.later.operand.write
                },
            },
        }
    }

    /// What a barrier lacks to order the pair.
    fn gap(&self, barrier: &PastBarrier) -> BarrierGap {
        let (earlier, later, d) = (self.earlier, self.later, &barrier.dependency);
        let mut gap = BarrierGap { tag: barrier.tag, ..BarrierGap::default() };
        let already =
            |b: &PastBarrier| b.frozen.missing(self.stream(), earlier.number, self.bytes).is_empty();
        if earlier.stage == Stages::TRANSITION {
            // Its writes are available; the barrier has to follow it.
            if self.same_queue() && !barrier.performs(earlier) && !already(barrier) {
                gap.source = self.after_transition();
            }
        } else {
            if self.same_queue() && !self.executed && !d.source.with_earlier().contains(earlier.stage) {
                gap.source = earlier.stage;
            }
            let available = if self.needs_visibility { already(barrier) } else { self.available };
            if !earlier.operand.write.is_empty() && self.same_queue() && !available {
                match covers(&d.available, earlier.stage, earlier.operand.write, self.bytes) {
                    Cover::Yes => {}
                    Cover::OtherBytes => gap.range = true,
                    Cover::No => {
                        gap.available = earlier.operand.write;
                        if !d.source.contains(earlier.stage) {
                            gap.source = earlier.stage;
                        }
                    }
                }
            }
        }
        if later.stage != Stages::TRANSITION && !d.destination.with_later().contains(later.stage) {
            gap.destination = later.stage;
        }
        if self.needs_visibility {
            match covers(&d.visible, later.stage, later.operand.read, self.bytes) {
                Cover::Yes => {}
                Cover::OtherBytes => gap.range = true,
                Cover::No => {
                    gap.visible = later.operand.read;
                    if !d.destination.contains(later.stage) {
                        gap.destination = later.stage;
                    }
                }
            }
        }
        gap
    }

    /// A stage whose presence in a first scope makes it follow the earlier transition.
    fn after_transition(&self) -> Stages {
        let queue = self.tracker.queue(self.earlier.queue);
        let barrier = queue.and_then(|q| q.barriers.iter().find(|b| b.performs(self.earlier)));
        barrier.and_then(|b| b.dependency.destination.iter().next()).unwrap_or(Stages::TRANSITION)
    }
}

enum Cover {
    Yes,
    OtherBytes,
    No,
}

fn covers(scopes: &[AccessScope], stage: Stages, access: Accesses, bytes: Range) -> Cover {
    let mut found = Cover::No;
    for s in scopes {
        if s.stages.contains(stage) && s.accesses.contains(access) {
            let holds = s
                .ranges
                .as_ref()
                .is_none_or(|rs| rs.iter().any(|r| r.start <= bytes.start && r.end >= bytes.end));
            if holds {
                return Cover::Yes;
            }
            found = Cover::OtherBytes;
        }
    }
    found
}
