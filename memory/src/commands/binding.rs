//! Sparse binding operations: vkQueueBindSparse changes which memory the bytes of sparse resources have
//! (Vulkan 1.3, *Binding Resource Memory*, *Sparse Memory Binding Functions*).
//!
//! They are queue operations without a place in submission order: "not automatically ordered against command
//! buffer execution, even within a single queue", and batches "may complete out of order". So a batch
//! follows what its semaphores waited for and what the host knew when it submitted the batch, and who uses
//! the bytes follows a batch by its signals, or by what the host waited for. What either needs is an
//! execution dependency: a binding accesses no memory. A fence counts as following all batches of its queue,
//! which by the letter it need not: no mistake is invented where somebody waits.

use super::clock::{Knowledge, Stream};
use super::comb::Runs;
use super::dependency::{Accesses, Stages};
use super::explain::{Fix, Hazard, gaps, lacking};
use super::id::{OperationId, QueueId};
use super::range::{Range, RangeMap};
use super::runs::together;
use super::shadow::{Operand, Record};
use super::tracker::{Payload, Tracker};
use crate::finding::FindingId;
use std::collections::BTreeMap;

/// The binding that bytes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    batch: u64,
    by: Record,
    /// The distance from the bytes to those of the memory, modulo 2^64; `None`: they were unbound.
    to: Option<u64>,
    /// Queues, a bit for each, of which a use was told that does not follow it: what mends that mends others.
    told: u64,
}

/// What happened to bytes of a sparse resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cell {
    bound: Option<Bound>,
    /// The latest use by each queue and stage since.
    uses: Vec<Record>,
}

/// The batches of a queue.
#[derive(Default)]
struct OfQueue {
    /// What happens before that which executes, or executed last; with itself once it has begun.
    known: Knowledge,
    /// The number of that on the device, and its operation, once it has begun.
    begun: Option<(u64, OperationId)>,
    /// What happens before some of them, and they themselves.
    all: Knowledge,
    /// The same of those that signaled a semaphore.
    signaled: Knowledge,
}

/// The sparse resources of a device, and the batches of bindings of its queues.
#[derive(Default)]
pub(super) struct Bindings {
    /// All bytes of sparse resources.
    cells: RangeMap<Cell>,
    count: u64,
    queues: BTreeMap<QueueId, OfQueue>,
}

impl Bindings {
    /// Drops what is known of these bytes alone.
    pub(super) fn forget(&mut self, range: Range) {
        let known = self.queues.values_mut().flat_map(|of| [&mut of.known, &mut of.all, &mut of.signaled]);
        known.for_each(|known| known.forget(range));
    }
}

/// Pairs of operations that nothing orders: the bytes, the earlier one, the later one.
#[derive(Default)]
struct Unordered(Vec<(Range, Record, Record)>);

impl Tracker {
    /// These are the addresses of a sparse resource from now on.
    pub fn sparse(&mut self, range: Range) {
        self.end_sparse(range);
        self.bindings.cells.insert(range, Cell::default());
    }

    /// The resource has ended.
    pub fn end_sparse(&mut self, range: Range) {
        self.bindings.cells.take(range);
    }

    /// A batch of vkQueueBindSparse: what the host knew at the call.
    pub fn submit_bindings(&mut self, queue: QueueId, host: &Payload) {
        let batches = self.bindings.queues.entry(queue).or_default();
        batches.known = host.0.clone();
        batches.begun = None;
    }

    /// The batch waited for a semaphore.
    pub fn wait_to_bind(&mut self, queue: QueueId, payload: &Payload) {
        let batches = self.bindings.queues.entry(queue).or_default();
        batches.known.join(&payload.0);
        batches.all.join(&payload.0);
    }

    /// The batch begins to bind. `tag` names it.
    pub fn begin_bindings(&mut self, queue: QueueId, tag: u64) {
        let operation = self.begin(queue, Stages::SPARSE_BINDING, tag, None);
        self.bindings.count += 1;
        let number = self.bindings.count;
        let batches = self.bindings.queues.entry(queue).or_default();
        batches.begun = Some((number, operation));
    }

    /// The batch binds memory to bytes of a sparse resource, from these addresses on, or unbinds what is
    /// there: the hazards with earlier uses; where there are none, with other bindings, which uses follow.
    pub fn bind(&mut self, queue: QueueId, parts: &[(Range, Option<u64>)]) -> Vec<Hazard> {
        let Some((batch, operation)) = self.bindings.queues.get(&queue).and_then(|batches| batches.begun)
        else {
            return Vec::new();
        };
        let operand = Operand::fixed(Accesses::empty(), Accesses::SPARSE_BINDING);
        let Some(by) = self.operation(operation).map(|op| op.record(operation, operand)) else {
            return Vec::new();
        };
        let Bindings { cells, queues, .. } = &mut self.bindings;
        let Some(OfQueue { known, .. }) = queues.get(&queue) else { return Vec::new() };
        let (mut unordered, mut others) = (Unordered::default(), Unordered::default());
        for &(range, memory) in parts {
            let to = memory.map(|memory| memory.wrapping_sub(range.start));
            for (part, cell) in cells.split(range) {
                let is_there = cell.bound.is_some_and(|bound| bound.to.is_some());
                for earlier in &cell.uses {
                    // What is done to bytes without memory by a transition is nothing.
                    let accesses = is_there || earlier.stage != Stages::TRANSITION;
                    if accesses && !executed(earlier, known, part) {
                        unordered.add(part, earlier, &by);
                    }
                }
                // The order of two that bind the same does not matter.
                let other = cell.bound.filter(|bound| bound.to != to && bound.batch != batch);
                if let Some(bound) = other.filter(|bound| !known.bindings.holds(bound.batch)) {
                    others.add(part, &bound.by, &by);
                }
                *cell = Cell { bound: Some(Bound { batch, by, to, told: 0 }), uses: Vec::new() };
            }
            cells.join(range);
        }
        if unordered.0.is_empty() { others.hazards(self) } else { unordered.hazards(self) }
    }

    /// A semaphore signal of the batch: what it carries.
    pub fn signal_bindings(&mut self, queue: QueueId) -> Payload {
        let batches = self.bindings.queues.entry(queue).or_default();
        let mut known = batches.known.clone();
        if let Some((number, _)) = batches.begun {
            known.bindings.add(number);
        }
        batches.signaled.join(&known);
        Payload(known)
    }

    /// The batch has ended.
    pub fn end_bindings(&mut self, queue: QueueId) {
        let batches = self.bindings.queues.entry(queue).or_default();
        batches.all.join(&batches.known);
        if let Some((number, _)) = batches.begun {
            batches.all.bindings.add(number);
        }
    }

    /// What a semaphore signal of other submissions to the queue carries of its batches, which follows their
    /// signals, or that of a fence, which follows all.
    pub(super) fn of_bindings(&self, queue: QueueId, fence: bool) -> Option<&Knowledge> {
        let batches = self.bindings.queues.get(&queue)?;
        Some(if fence { &batches.all } else { &batches.signaled })
    }

    /// The accesses of an operation, which has just begun, by the addresses of resources: the hazards with
    /// the bindings of sparse ones.
    pub fn uses(&mut self, operation: OperationId, runs: &Runs) -> Vec<Hazard> {
        if self.bindings.cells.is_empty() {
            return Vec::new();
        }
        let Some(op) = self.operation(operation).cloned() else { return Vec::new() };
        let nothing = Knowledge::default();
        let mut unordered = Unordered::default();
        let bit = 1u64.checked_shl(op.queue.0).unwrap_or(0);
        let Tracker { queues, bindings, .. } = self;
        let known = queues.get(&op.queue).and_then(|q| q.start(op.stage)).unwrap_or(&nothing);
        let all = together(runs);
        let accesses = all.iter().flat_map(|alike| alike.bytes.ranges().map(|range| (range, alike.operand)));
        for (range, operand) in accesses {
            let record = op.record(operation, operand);
            for (part, cell) in bindings.cells.split(range) {
                let bound = cell.bound.as_mut().filter(|bound| !known.bindings.holds(bound.batch));
                if let Some(bound) = bound.filter(|bound| bound.told & bit == 0) {
                    unordered.add(part, &bound.by, &record);
                    bound.told |= bit;
                }
                cell.uses.retain(|other| (other.queue, other.stage) != (record.queue, record.stage));
                cell.uses.push(record);
            }
            bindings.cells.join(range);
        }
        unordered.hazards(self)
    }

    /// What orders a binding and another operation.
    fn order_binding(&self, earlier: &Record, later: &Record) -> Fix {
        let gap = || {
            let theirs = &self.queue(earlier.queue)?.submissions;
            let signals = theirs.iter().rev().find(|submission| submission.is_before(earlier))?;
            let waits = &self.queue(later.queue)?.submissions.back()?.waits;
            let mut pairs = waits.iter().flat_map(|wait| gaps(wait, signals));
            pairs.find_map(|pair| lacking(pair, earlier, later))
        };
        match gap() {
            Some(gap) => Fix::ExtendSemaphore(gap),
            None => Fix::Semaphore { from: earlier.queue, to: later.queue, stage: later.stage },
        }
    }
}

/// Whether an operation happens before who knows this.
fn executed(earlier: &Record, known: &Knowledge, bytes: Range) -> bool {
    let Record { queue, stage, number, .. } = *earlier;
    if stage == Stages::TRANSITION {
        return known.available.missing(Stream::of_transitions(queue), number, bytes).is_empty();
    }
    known.executed.get(Stream { queue, stage, access: Accesses::empty() }) >= number
}

impl Unordered {
    fn add(&mut self, bytes: Range, earlier: &Record, later: &Record) {
        self.0.push((bytes, *earlier, *later));
    }

    /// One for each pair of operations and accesses.
    fn hazards(self, tracker: &Tracker) -> Vec<Hazard> {
        let mut hazards: Vec<Hazard> = Vec::new();
        for (bytes, earlier, later) in self.0 {
            match hazards.iter_mut().find(|hazard| hazard.is_pair(&earlier, &later)) {
                Some(known) => known.add_bytes(bytes),
                None => hazards.push(Hazard {
                    id: FindingId::HazardSparseBinding,
                    first: earlier.operation,
                    first_operand: earlier.operand,
                    first_at: (earlier.queue, earlier.stage),
                    second: later.operation,
                    second_operand: later.operand,
                    second_at: (later.queue, later.stage),
                    bytes: vec![bytes],
                    executed: false,
                    fix: tracker.order_binding(&earlier, &later),
                    barriers: Vec::new(),
                }),
            }
        }
        hazards
    }
}
