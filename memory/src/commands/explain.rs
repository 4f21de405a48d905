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
    let executed = tracker.executed(earlier, later);
    let available = w.write.is_empty() || tracker.unavailable(earlier, later, bytes).is_empty();
    // Of a read-modify-write the half that fails first names the finding.
    let second_writes = !y.write.is_empty() && (y.read.is_empty() || w.write.is_empty());
    let racing = earlier.queue != later.queue && !executed;
    let id = match (racing, second_writes, w.write.is_empty()) {
        (true, true, true) => FindingId::HazardWriteRacingRead,
        (true, true, false) => FindingId::HazardWriteRacingWrite,
        (true, false, _) => FindingId::HazardReadRacingWrite,
        (false, true, true) => FindingId::HazardWriteAfterRead,
        (false, true, false) => FindingId::HazardWriteAfterWrite,
        (false, false, _) => FindingId::HazardReadAfterWrite,
    };
    let fix = if racing {
        Fix::Semaphore { from: earlier.queue, to: later.queue, stage: later.stage }
    } else {
        smallest(tracker, earlier, later, bytes, executed, available, second_writes)
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

fn smallest(
    tracker: &Tracker,
    earlier: &Record,
    later: &Record,
    bytes: Range,
    executed: bool,
    available: bool,
    second_writes: bool,
) -> Fix {
    let needs_visibility = !second_writes;
    let mut best: Option<BarrierGap> = None;
    if let Some(queue) = tracker.queue(later.queue) {
        for barrier in &queue.barriers {
            if earlier.queue == later.queue && !barrier.is_after(earlier) {
                continue;
            }
            let gap = gap(barrier, earlier, later, bytes, executed, available, needs_visibility);
            if gap.missing() > 0 && best.as_ref().is_none_or(|b| gap.missing() < b.missing()) {
                best = Some(gap);
            }
        }
    }
    match best {
        Some(gap) if gap.missing() < 3 => Fix::Extend(gap),
        _ => Fix::Insert {
            source: earlier.stage,
            available: earlier.operand.write,
            destination: later.stage,
            visible: if needs_visibility {
                later.operand.read
            } else if earlier.operand.write.is_empty() {
                Accesses::empty()
            } else {
                later.operand.write
            },
        },
    }
}

fn gap(
    barrier: &PastBarrier,
    earlier: &Record,
    later: &Record,
    bytes: Range,
    executed: bool,
    available: bool,
    needs_visibility: bool,
) -> BarrierGap {
    let d = &barrier.dependency;
    let mut gap = BarrierGap { tag: barrier.tag, ..BarrierGap::default() };
    let same_queue = earlier.queue == later.queue;
    if same_queue && !executed && !d.source.with_earlier().contains(earlier.stage) {
        gap.source = earlier.stage;
    }
    if !earlier.operand.write.is_empty() && same_queue {
        let stream = Stream { queue: earlier.queue, stage: earlier.stage, access: earlier.operand.write };
        let already = if needs_visibility {
            barrier.frozen.missing(stream, earlier.number, bytes).is_empty()
        } else {
            available
        };
        if !already {
            match covers(&d.available, earlier.stage, earlier.operand.write, bytes) {
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
    if !d.destination.with_later().contains(later.stage) {
        gap.destination = later.stage;
    }
    if needs_visibility {
        match covers(&d.visible, later.stage, later.operand.read, bytes) {
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
