//! Which element is missing between two operations, and the smallest change that supplies it.

use super::clock::Stream;
use super::dependency::{AccessScope, Accesses, Stages};
use super::id::{OperationId, QueueId};
use super::lack::lack;
use super::past::{PastBarrier, PastSubmission};
use super::range::Range;
use super::shadow::{Operand, Record};
use super::tracker::Tracker;
use crate::finding::FindingId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Two accesses that the commands between them do not order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hazard {
    /// The first missing element, in the order execution, availability, visibility.
    pub id: FindingId,
    /// The operation whose access is earlier.
    pub first: OperationId,
    /// The memory that the first operation accesses, and how.
    pub first_operand: Operand,
    /// Queue and stage of the first operation.
    pub first_at: (QueueId, Stages),
    /// The later operation.
    pub second: OperationId,
    /// The memory that the second operation accesses, and how.
    pub second_operand: Operand,
    /// Queue and stage of the second operation.
    pub second_at: (QueueId, Stages),
    /// The bytes concerned, ascending, adjacent ones merged.
    pub bytes: Vec<Range>,
    /// The first happens before the second (what is missing is availability or visibility).
    pub executed: bool,
    /// The smallest change.
    pub fix: Fix,
    /// The barriers on the queues of both, behind the first operation, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub barriers: Vec<Between>,
}

/// A barrier that was executed between two accesses and does not order them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    /// The caller's name for the barrier command.
    pub tag: u64,
    /// The queue whose command buffer has the barrier.
    pub queue: QueueId,
    /// srcStageMask.
    pub source: Stages,
    /// srcAccessMask of its memory barriers together.
    pub available: Accesses,
    /// dstStageMask.
    pub destination: Stages,
    /// dstAccessMask of its memory barriers together.
    pub visible: Accesses,
    /// Whether it is for the memory of the accesses: `Some(false)`: for no byte of it; `Some(true)`: for all
    /// memory or for these bytes at least in part; `None`: it is for no memory at all, an execution
    /// dependency alone.
    pub covers: Option<bool>,
    /// What it lacks to order the pair by itself, where both are on its queue and it could.
    pub lacks: Option<BarrierGap>,
}

/// Barriers between two accesses that a hazard tells of: the last ones.
const TOLD_BARRIERS: usize = 12;

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
    /// Change the wait for a semaphore that orders the queues already, or its signal.
    ExtendSemaphore(SemaphoreGap),
    /// Signal a semaphore on one queue and wait for it on the other.
    Semaphore {
        /// Signals.
        from: QueueId,
        /// Waits.
        to: QueueId,
        /// The stages of the wait: VkSemaphoreSubmitInfo::stageMask.
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

/// An operation on a semaphore, as a submission names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SemaphoreUse {
    /// The caller's name for the semaphore.
    pub semaphore: u64,
    /// What a timeline semaphore waits for or gets; `None` for a binary one.
    pub value: Option<u64>,
    /// The stages that wait, or those that the signal follows; `None`: all.
    pub stages: Option<Stages>,
}

impl SemaphoreUse {
    /// Whether its scope holds the stage, widened by `logically` the earlier or the later ones.
    fn holds(&self, stage: Stages, logically: fn(Stages) -> Stages) -> bool {
        self.stages.is_none_or(|stages| logically(stages).contains(stage))
    }
}

/// What a semaphore that is there lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SemaphoreGap {
    /// The caller's name for the semaphore.
    pub semaphore: u64,
    /// The queue whose submission waits.
    pub waits: QueueId,
    /// The queue whose submission signals.
    pub signals: QueueId,
    /// The value waited for, and the one to wait for instead.
    pub value: Option<(u64, u64)>,
    /// To add to the stages that wait.
    pub wait_stages: Stages,
    /// To add to the stages that the signal follows.
    pub signal_stages: Stages,
}

/// A barrier that a fix has asked for. What it would order needs no second one.
#[derive(Clone, Debug)]
pub(super) struct Suggested {
    /// Operations of the queue before it, per stage.
    counts: BTreeMap<Stages, u64>,
    masks: InsertedMasks,
}

/// The masks of [`Fix::Insert`], in its order.
type InsertedMasks = (Stages, Accesses, Stages, Accesses);

/// How many barriers that fixes have asked for are remembered for each queue.
const REMEMBERED_FIXES: usize = 64;

impl BarrierGap {
    fn join(&mut self, other: &BarrierGap) {
        self.source |= other.source;
        self.available |= other.available;
        self.destination |= other.destination;
        self.visible |= other.visible;
        self.range |= other.range;
    }

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

impl Tracker {
    /// The hazards of one command: where one barrier mends several of them, they ask for that one.
    pub fn join_fixes(&mut self, hazards: &mut [Hazard]) {
        let mut extended: BTreeMap<u64, BarrierGap> = BTreeMap::new();
        for hazard in hazards.iter() {
            if let Fix::Extend(gap) = &hazard.fix {
                let joined = extended.entry(gap.tag).and_modify(|known| known.join(gap));
                joined.or_insert_with(|| gap.clone());
            }
        }
        for hazard in hazards.iter_mut() {
            match &hazard.fix {
                Fix::Insert { source, available, destination, visible } => {
                    let masks = (*source, *available, *destination, *visible);
                    hazard.fix = self.suggest(hazard, masks);
                }
                Fix::Extend(gap) => {
                    let joined = extended.get(&gap.tag).cloned();
                    hazard.fix = joined.map_or_else(|| hazard.fix.clone(), Fix::Extend);
                }
                Fix::ExtendSemaphore(_) | Fix::Semaphore { .. } => {}
            }
        }
        // A later one may have asked for more of the barrier that an earlier one asks for.
        for index in (0..hazards.len().saturating_sub(1)).rev() {
            if let Fix::Insert { source, available, destination, visible } = hazards[index].fix {
                let masks = (source, available, destination, visible);
                hazards[index].fix = self.suggest(&hazards[index], masks);
            }
        }
    }

    /// A barrier with these masks between two operations of a queue: one that was asked for before, where
    /// that is between them, with what it lacks.
    fn suggest(&mut self, hazard: &Hazard, masks: InsertedMasks) -> Fix {
        let (queue, (first_queue, stage)) = (hazard.second_at.0, hazard.first_at);
        let number = self.operation(hazard.first).filter(|_| queue == first_queue).map(|first| first.number);
        let state = self.queues.entry(queue).or_default();
        let between = |known: &&mut Suggested| {
            number.is_some_and(|n| known.counts.get(&stage).copied().unwrap_or(0) >= n)
        };
        let joined = match state.suggested.iter_mut().rev().find(between) {
            Some(known) => {
                let (s, a, d, v) = known.masks;
                known.masks = (s | masks.0, a | masks.1, d | masks.2, v | masks.3);
                known.masks
            }
            None => {
                let mut counts = state.counts.clone();
                let before = counts.entry(hazard.second_at.1).or_default();
                *before = before.saturating_sub(1);
                state.suggested.push_back(Suggested { counts, masks });
                if state.suggested.len() > REMEMBERED_FIXES {
                    state.suggested.pop_front();
                }
                masks
            }
        };
        let (source, available, destination, visible) = joined;
        Fix::Insert { source, available, destination, visible }
    }
}

/// Barriers whose masks order the host with the device, and whose ranges alone leave bytes out: of a buffer
/// or image that holds these bytes.
impl Tracker {
    /// One behind a write of the device, to the host.
    pub(super) fn barrier_to_host(&self, record: &Record, bytes: Range) -> Option<u64> {
        let Record { queue, stage, operand, .. } = record;
        self.last_barrier(*queue, |b| {
            let d = &b.dependency;
            b.is_after(record)
                && d.source.with_earlier().contains(*stage)
                && lack(&d.available, d.source, (*stage, operand.write), bytes)
                    .is_some_and(|lack| lack.holds())
                && d.visible.iter().any(|scope| scope.is_of_host() && scope.holds(bytes).1)
        })
    }

    /// One from the host, before a read of the device.
    pub(super) fn barrier_from_host(&self, record: &Record, bytes: Range) -> Option<u64> {
        let Record { queue, stage, operand, .. } = record;
        self.last_barrier(*queue, |b| {
            let d = &b.dependency;
            !b.is_after(record)
                && d.destination.with_later().contains(*stage)
                && d.available.iter().any(|scope| scope.is_from_host() && scope.holds(bytes).1)
                && lack(&d.visible, d.destination, (*stage, operand.read), bytes)
                    .is_some_and(|lack| lack.holds())
        })
    }

    /// The last barrier of a queue that is right.
    fn last_barrier(&self, queue: QueueId, is: impl Fn(&PastBarrier) -> bool) -> Option<u64> {
        self.queue(queue)?.barriers.iter().rev().find(|barrier| is(barrier)).map(|barrier| barrier.tag)
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
        None if racing => match pair.semaphore() {
            Some(gap) => Fix::ExtendSemaphore(gap),
            None => Fix::Semaphore { from: earlier.queue, to: later.queue, stage: later.stage },
        },
        None => pair.smallest(),
    };
    let barriers = pair.between();
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
        barriers,
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

    /// A transition's source stages lack one that follows the earlier access. Those of an acquire operation
    /// do not count: what it follows has to hold ALL_COMMANDS.
    fn chained(&self) -> Option<BarrierGap> {
        let barrier = self.performing()?;
        if barrier.dependency.transitions.iter().any(|transition| transition.acquires) {
            return None;
        }
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

    /// What a semaphore that both queues use lacks to order the pair: the later operation waits for too small
    /// a value or in other stages, or the signal does not follow the earlier one. Or the earlier operation
    /// came too soon: it waits for less than what the later one's submission signals.
    fn semaphore(&self) -> Option<SemaphoreGap> {
        let submissions = |queue| self.tracker.queue(queue).map(|queue| &queue.submissions);
        let (theirs, ours) = (submissions(self.earlier.queue)?, submissions(self.later.queue)?);
        let from = theirs.iter().rposition(|s| s.is_before(self.earlier))?;
        let waits = ours.iter().rev().flat_map(|s| &s.waits);
        let late = waits.flat_map(|wait| theirs.range(from..).flat_map(move |s| gaps(wait, s)));
        let late = late.filter_map(|pair| lacking(pair, self.earlier, self.later));
        let early = theirs.range(..=from).rev().flat_map(|s| &s.waits);
        let early = early.flat_map(|wait| ours.back().into_iter().flat_map(move |s| gaps(wait, s)));
        let early = early.filter_map(|(wait, signal)| {
            let value = wait.value.zip(signal.value).filter(|(waited, signaled)| waited < signaled);
            value.map(|value| SemaphoreGap {
                semaphore: wait.semaphore,
                waits: self.earlier.queue,
                signals: self.later.queue,
                value: Some(value),
                wait_stages: Stages::empty(),
                signal_stages: Stages::empty(),
            })
        });
        late.chain(early).next()
    }

    /// The barriers behind the earlier access on its queue, and the last ones on the other one's.
    fn between(&self) -> Vec<Between> {
        let mut queues = vec![self.earlier.queue];
        if !self.same_queue() {
            queues.push(self.later.queue);
        }
        let mut all: Vec<Between> = Vec::new();
        for id in queues {
            let past = self.tracker.queue(id).map(|q| q.barriers.as_slice()).unwrap_or_default();
            let behind = |b: &&PastBarrier| id != self.earlier.queue || b.is_after(self.earlier);
            let told: Vec<&PastBarrier> = past.iter().filter(behind).collect();
            let told = &told[told.len().saturating_sub(TOLD_BARRIERS)..];
            all.extend(told.iter().map(|barrier| self.passed(id, barrier)));
        }
        // Names of commands ascend in the order of their execution.
        all.sort_by_key(|barrier| barrier.tag);
        all.split_off(all.len().saturating_sub(TOLD_BARRIERS))
    }

    fn passed(&self, queue: QueueId, barrier: &PastBarrier) -> Between {
        let d = &barrier.dependency;
        let accesses =
            |scopes: &[AccessScope]| scopes.iter().fold(Accesses::empty(), |all, scope| all | scope.accesses);
        let scopes = || d.available.iter().chain(&d.visible);
        let touches = |scope: &AccessScope| {
            scope.ranges.as_ref().is_none_or(|ranges| ranges.iter().any(|r| r.meets(self.bytes)))
        };
        Between {
            tag: barrier.tag,
            queue,
            source: d.source,
            available: accesses(&d.available),
            destination: d.destination,
            visible: accesses(&d.visible),
            covers: scopes().next().map(|_| scopes().any(touches)),
            lacks: self.same_queue().then(|| self.gap(barrier)).flatten(),
        }
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
            let Some(gap) = self.gap(barrier) else { continue };
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

    /// What a barrier lacks to order the pair; `None` if it is for other memory.
    fn gap(&self, barrier: &PastBarrier) -> Option<BarrierGap> {
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
                let wanted = (earlier.stage, earlier.operand.write);
                let lack = lack(&d.available, d.source, wanted, self.bytes)?;
                (gap.range, gap.available) = (lack.range, lack.accesses);
                if lack.stage {
                    gap.source = earlier.stage;
                }
            }
        }
        if later.stage != Stages::TRANSITION && !d.destination.with_later().contains(later.stage) {
            gap.destination = later.stage;
        }
        if self.needs_visibility {
            let wanted = (later.stage, later.operand.read);
            let lack = lack(&d.visible, d.destination, wanted, self.bytes)?;
            gap.range |= lack.range;
            gap.visible = lack.accesses;
            if lack.stage {
                gap.destination = later.stage;
            }
        }
        Some(gap)
    }

    /// A stage whose presence in a first scope makes it follow the earlier transition.
    fn after_transition(&self) -> Stages {
        let queue = self.tracker.queue(self.earlier.queue);
        let barrier = queue.and_then(|q| q.barriers.iter().find(|b| b.performs(self.earlier)));
        barrier.and_then(|b| b.dependency.destination.iter().next()).unwrap_or(Stages::TRANSITION)
    }
}

/// What a wait and a signal of one semaphore lack to order two operations of their submissions.
pub(super) fn lacking(
    (wait, signal): (&SemaphoreUse, &SemaphoreUse),
    earlier: &Record,
    later: &Record,
) -> Option<SemaphoreGap> {
    let lacks = |lacks: bool, stage: Stages| if lacks { stage } else { Stages::empty() };
    let gap = SemaphoreGap {
        semaphore: wait.semaphore,
        waits: later.queue,
        signals: earlier.queue,
        value: wait.value.zip(signal.value).filter(|(waited, signaled)| waited < signaled),
        wait_stages: lacks(!wait.holds(later.stage, Stages::with_later), later.stage),
        signal_stages: lacks(!signal.holds(earlier.stage, Stages::with_earlier), earlier.stage),
    };
    let enough = gap.value.is_none() && (gap.wait_stages | gap.signal_stages).is_empty();
    (!enough).then_some(gap)
}

/// The signals of a submission that a wait is for, or could be for with a higher value.
pub(super) fn gaps<'a>(
    wait: &'a SemaphoreUse,
    submission: &'a PastSubmission,
) -> impl Iterator<Item = (&'a SemaphoreUse, &'a SemaphoreUse)> {
    let same = |signal: &&SemaphoreUse| signal.semaphore == wait.semaphore && signal.value >= wait.value;
    submission.signals.iter().filter(same).map(move |signal| (wait, signal))
}
