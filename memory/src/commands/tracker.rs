//! Queues, operations and what each knows.

use super::binding::Bindings;
use super::byte_set::ByteSet;
use super::clock::{Knowledge, Ranged, Stream};
use super::comb::Runs;
use super::dependency::{AccessScope, Accesses, Dependency, Stages};
use super::explain::{self, Hazard, SemaphoreUse, Suggested};
use super::host::{Host, HostHazard};
use super::id::{OperationId, QueueId};
use super::past::{PastBarrier, PastSubmission, REMEMBERED_BARRIERS, REMEMBERED_SUBMISSIONS};
use super::range::Range;
use super::runs::{Alike, Joined, together};
use super::shadow::{Cell, Operand, Record, Shadow};
use crate::scope::Scope;
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What a semaphore or fence signal carries to whoever waits for it.
#[derive(Clone, Debug, Default)]
pub struct Payload(pub(super) Knowledge);

impl Payload {
    /// Carries what `other` does as well.
    pub fn join(&mut self, other: &Payload) {
        self.0.join(&other.0);
    }
}

/// How many operations of a device [`Tracker::tag`] looks back at.
const REMEMBERED_OPERATIONS: usize = 1 << 14;

/// A dependency between its availability and its visibility operation.
#[derive(Clone, Debug)]
pub(super) struct Performing {
    /// What its transitions know.
    pub start: Knowledge,
    /// As explanations see it.
    pub barrier: PastBarrier,
}

#[derive(Default)]
pub(super) struct Queue {
    /// Operations so far, per stage.
    pub(super) counts: BTreeMap<Stages, u64>,
    /// What operations of a stage know when they begin: joined from the dependencies whose second scope holds
    /// the stage.
    pub(super) inherit: BTreeMap<Stages, Knowledge>,
    /// Joined knowledge of the operations of a stage, without themselves.
    ends: BTreeMap<Stages, Knowledge>,
    /// From submissions: part of every scope.
    pub(super) always: Knowledge,
    /// From all dependencies, also those with an empty second scope.
    pub(super) everything: Knowledge,
    /// Writes that are visible to accesses of this kind in this stage.
    visible: BTreeMap<(Stages, Accesses), Ranged>,
    pub(super) barriers: Vec<PastBarrier>,
    pub(super) submissions: VecDeque<PastSubmission>,
    /// Barriers that fixes have asked for.
    pub(super) suggested: VecDeque<Suggested>,
    /// The dependency whose transitions are being judged.
    pub(super) performing: Option<Performing>,
    /// Queue family of the queue that performs this dependency.
    family: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub queue: QueueId,
    pub stage: Stages,
    pub number: u64,
    pub tag: u64,
    /// The first operation of the same command (the parameter read of an indirect dispatch) or of the same
    /// render pass instance. What follows it on the queue is ordered up to this operation.
    first: OperationId,
}

/// Tracks which accesses of queue operations are ordered. See the module page.
#[derive(Default)]
pub struct Tracker {
    pub(super) queues: BTreeMap<QueueId, Queue>,
    /// The latest operations.
    operations: VecDeque<Operation>,
    /// Operations that are older than those.
    forgotten: u64,
    pub(super) shadow: Shadow,
    joined: Joined,
    pub(super) host: Knowledge,
    pub(super) host_side: Host,
    pub(super) bindings: Bindings,
    /// Ask for visibility between two writes as well (stricter than the appendix).
    pub strict_write_after_write: bool,
}

impl Operation {
    pub(super) fn record(&self, operation: OperationId, operand: Operand) -> Record {
        Record { operation, queue: self.queue, stage: self.stage, number: self.number, operand }
    }
}

impl Queue {
    /// Joined knowledge of a first synchronization scope; `None` takes in everything. The stage HOST holds
    /// what the host did before any submission, event or semaphore that the queue has waited for.
    pub(super) fn first_scope(&self, id: QueueId, stages: Option<Stages>) -> Knowledge {
        let mut known = self.always.clone();
        if stages.is_none() {
            known.join(&self.everything);
        }
        if stages.is_some_and(|stages| stages.contains(Stages::HOST)) {
            known.join_host(&self.everything);
        }
        let all = Stages::DEVICE | Stages::HOST;
        for stage in stages.unwrap_or(all).iter() {
            if let Some(k) = self.inherit.get(&stage) {
                known.join(k);
            }
            if let Some(k) = self.ends.get(&stage) {
                known.join(k);
            }
            let executed = self.counts.get(&stage).copied().unwrap_or(0);
            known.executed.raise(Stream { queue: id, stage, access: Accesses::empty() }, executed);
            if stage == Stages::TRANSITION {
                known.available.raise(Stream::of_transitions(id), executed, None);
            }
        }
        known
    }

    /// What an operation of this stage knows that begins now.
    pub(super) fn start(&self, stage: Stages) -> Option<&Knowledge> {
        match &self.performing {
            Some(performing) if stage == Stages::TRANSITION => Some(&performing.start),
            _ => self.inherit.get(&stage),
        }
    }

    /// Availability operation: writes of `scope` that `known` says were executed, at most `counts` of each
    /// stage.
    pub(super) fn make_available(
        &self,
        id: QueueId,
        known: &mut Knowledge,
        scopes: &[AccessScope],
        counts: &BTreeMap<Stages, u64>,
    ) {
        for scope in scopes {
            if scope.is_from_host() {
                known.available.raise(Stream::of_host(), known.host, scope.ranges.as_deref());
            }
            for stage in scope.stages.iter() {
                let executed = known
                    .executed
                    .get(Stream { queue: id, stage, access: Accesses::empty() })
                    .min(counts.get(&stage).copied().unwrap_or(0));
                let writes = scope.accesses & stage.supported() & Accesses::MEMORY_WRITE;
                for access in writes.iter() {
                    known.available.raise(
                        Stream { queue: id, stage, access },
                        executed,
                        scope.ranges.as_deref(),
                    );
                }
            }
        }
    }

    /// Visibility operation: everything that is available becomes visible to the accesses of `scopes`.
    fn make_visible(&mut self, available: &Ranged, scopes: &[AccessScope]) {
        for scope in scopes {
            for stage in scope.stages.iter() {
                for access in (scope.accesses & stage.supported()).iter() {
                    self.visible.entry((stage, access)).or_default().join(available, scope.ranges.as_deref());
                }
            }
        }
    }

    /// Drops what is known of these bytes alone.
    fn forget(&mut self, range: Range) {
        let stages = self.inherit.values_mut().chain(self.ends.values_mut());
        stages.chain([&mut self.always, &mut self.everything]).for_each(|known| known.forget(range));
        self.visible.values_mut().for_each(|visible| visible.forget(range));
        self.barriers.iter_mut().for_each(|barrier| barrier.frozen.forget(range));
    }

    /// The dependency's knowledge reaches the stages of its second scope.
    fn second_scope(&mut self, known: &Knowledge, stages: Stages) {
        for stage in stages.iter() {
            self.inherit.entry(stage).or_default().join(known);
        }
        self.everything.join(known);
    }
}

impl Tracker {
    /// The family of a queue, which is 0 otherwise: shaders on queues of two families are not in each other's
    /// queue family scope.
    pub fn family(&mut self, queue: QueueId, family: u32) {
        self.queues.entry(queue).or_default().family = family;
    }

    /// The narrowest scope that holds shaders on both queues.
    fn common(&self, a: QueueId, b: QueueId) -> Scope {
        let family = |queue| self.queues.get(&queue).map_or(0, |queue| queue.family);
        if family(a) == family(b) { Scope::QueueFamily } else { Scope::Device }
    }

    /// vkQueueSubmit: what the host knew at the call ([`Tracker::host_knowledge`]) happens before everything
    /// that follows on the queue, and everything available becomes visible.
    pub fn submit(&mut self, queue: QueueId, host: &Payload) {
        let mut known = host.0.clone();
        known.available.raise(Stream::of_host(), known.host, None);
        let state = self.queues.entry(queue).or_default();
        known.join(&state.first_scope(queue, Some(Stages::empty())));
        let available = known.available.clone();
        known.visible.join(&available, None);
        state.always.join(&known);
        state.second_scope(&known, Stages::DEVICE);
    }

    /// What the submission that begins waits for and is going to signal: explanations point at it.
    pub fn semaphores(&mut self, queue: QueueId, waits: Vec<SemaphoreUse>, signals: Vec<SemaphoreUse>) {
        let state = self.queues.entry(queue).or_default();
        let counts = state.counts.clone();
        state.submissions.push_back(PastSubmission { counts, waits, signals });
        if state.submissions.len() > REMEMBERED_SUBMISSIONS {
            state.submissions.pop_front();
        }
    }

    /// The wait of a submission for a semaphore, at these stages.
    pub fn wait_semaphore(&mut self, queue: QueueId, payload: &Payload, stages: Stages) {
        let state = self.queues.entry(queue).or_default();
        let mut known = state.always.clone();
        known.join(&payload.0);
        let scope = [AccessScope::global(stages, Accesses::MEMORY_READ | Accesses::MEMORY_WRITE)];
        state.make_visible(&known.available, &scope);
        state.second_scope(&known, stages.with_later());
    }

    /// A semaphore signal of a submission. `None` is vkQueueSubmit's, whose first scope is everything;
    /// vkQueueSubmit2 names stages.
    pub fn signal_semaphore(&mut self, queue: QueueId, stages: Option<Stages>) -> Payload {
        self.signal(queue, stages, false)
    }

    fn signal(&mut self, queue: QueueId, stages: Option<Stages>, fence: bool) -> Payload {
        let bindings = self.of_bindings(queue, fence).cloned();
        let state = self.queues.entry(queue).or_default();
        let mut known = state.first_scope(queue, stages.map(Stages::with_earlier));
        if let Some(bindings) = bindings {
            known.join(&bindings);
        }
        if let Some(before) = state.inherit.get(&Stages::HOST) {
            // No stage that a signal names holds HOST, ALL_COMMANDS neither, and the host has no other way to
            // follow a barrier to it.
            known.join(before);
        }
        let scope = [AccessScope::global(stages.unwrap_or(Stages::DEVICE), Accesses::MEMORY_WRITE)];
        let counts = state.counts.clone();
        state.make_available(queue, &mut known, &scope, &counts);
        state.everything.join(&known);
        Payload(known)
    }

    /// A fence signal, or vkQueueWaitIdle's.
    pub fn signal_fence(&mut self, queue: QueueId) -> Payload {
        self.signal(queue, None, true)
    }

    /// The host has seen the signal: a fence or timeline wait that succeeded, or a status that says
    /// signalled.
    pub fn host_wait(&mut self, payload: &Payload) {
        self.host.join(&payload.0);
    }

    /// The dependencies of a pipeline barrier, which do not chain with one another: the hazards of their
    /// transitions. `tag` names the command to explanations.
    pub fn barriers(&mut self, queue: QueueId, dependencies: &[Dependency], tag: u64) -> Vec<Hazard> {
        let state = self.queues.entry(queue).or_default();
        let counts = state.counts.clone();
        let begun = dependencies
            .iter()
            .map(|d| {
                let mut known = state.first_scope(queue, Some(d.source.with_earlier()));
                state.make_available(queue, &mut known, &d.available, &counts);
                (d, known, counts.clone())
            })
            .collect();
        self.finish(queue, begun, tag)
    }

    /// The second halves of the dependencies of one command, given with what is available and what precedes
    /// them.
    pub(super) fn finish(
        &mut self,
        queue: QueueId,
        begun: Vec<(&Dependency, Knowledge, BTreeMap<Stages, u64>)>,
        tag: u64,
    ) -> Vec<Hazard> {
        let mut hazards = Vec::new();
        let mut barriers = Vec::new();
        for (dependency, mut known, counts) in begun {
            let frozen = Ranged::default();
            let mut barrier =
                PastBarrier { tag, counts, dependency: dependency.clone(), frozen, transitions: 0..0 };
            if !dependency.transitions.is_empty() {
                hazards.extend(self.transitions(queue, &mut known, &mut barrier));
            }
            barriers.push((known, barrier));
        }
        let state = self.queues.entry(queue).or_default();
        for (known, barrier) in barriers {
            state.finish(known, barrier);
        }
        hazards
    }

    /// A queue operation begins; `first` is the first one of the same command or render pass instance, if
    /// there is one before it. All its accesses must be given before the next command of the queue.
    pub fn begin(
        &mut self,
        queue: QueueId,
        stage: Stages,
        tag: u64,
        first: Option<OperationId>,
    ) -> OperationId {
        let state = self.queues.entry(queue).or_default();
        let count = state.counts.entry(stage).or_default();
        *count += 1;
        let number = *count;
        let start = state.start(stage).cloned().unwrap_or_default();
        state.ends.entry(stage).or_default().join(&start);
        let id = OperationId(self.forgotten + self.operations.len() as u64);
        self.operations.push_back(Operation { queue, stage, number, tag, first: first.unwrap_or(id) });
        if self.operations.len() > REMEMBERED_OPERATIONS {
            self.operations.pop_front();
            self.forgotten += 1;
        }
        id
    }

    pub(super) fn operation(&self, id: OperationId) -> Option<&Operation> {
        self.operations.get(usize::try_from(id.0.checked_sub(self.forgotten)?).ok()?)
    }

    /// The caller's name for the command of an operation; `None` if that is too long ago.
    pub fn tag(&self, operation: OperationId) -> Option<u64> {
        self.operation(operation).map(|o| o.tag)
    }

    /// The accesses of `operation`, which has just begun, as [`super::Footprint::runs`] lists them: the
    /// hazards with earlier accesses, and with those of the host.
    pub fn accesses(&mut self, operation: OperationId, runs: &Runs) -> (Vec<Hazard>, Vec<HostHazard>) {
        let (mut hazards, mut of_host) = (Vec::new(), Vec::new());
        let Some(op) = self.operation(operation).cloned() else { return (hazards, of_host) };
        let all = together(runs);
        if all.iter().all(|alike| self.is_ordered(&op.record(operation, alike.operand), alike)) {
            for alike in &all {
                self.shadow.record_all(&alike.bytes, op.record(operation, alike.operand));
                self.forget_host_before(&alike.bytes, &alike.operand);
            }
            self.joined.add(operation, (runs, &all), &self.shadow);
            return (hazards, of_host);
        }
        // Findings name each run. What one run reads must not take the place of earlier reads before another
        // one's writes are compared with these.
        for (range, operand) in runs.iter() {
            hazards.extend(self.hazards(&op.record(operation, operand), range));
        }
        for (range, operand) in runs.iter() {
            self.shadow.record(range, op.record(operation, operand));
            of_host.extend(self.access_after_host(operation, range, operand));
        }
        (hazards, of_host)
    }

    /// Whether these accesses are ordered after all that is recorded of their bytes, and after the host.
    fn is_ordered(&self, record: &Record, alike: &Alike) -> bool {
        // Mostly they would be if the others had been to all bytes from the first to the last one.
        let (span, mut known) = (alike.span, SmallVec::<[*const Cell; 16]>::new());
        let mut ordered = true;
        self.shadow.each_cell(&alike.bytes, |cell| {
            if ordered && !known.contains(&Arc::as_ptr(cell)) {
                known.truncate(15);
                known.insert(0, Arc::as_ptr(cell));
                let mut conflicts = cell.conflicts(record);
                ordered = conflicts.all(|earlier| self.unordered(earlier, record, span).is_empty());
            }
        });
        ordered && self.follows_host(record, span, &alike.bytes)
            || alike.bytes.ranges().all(|range| {
                let mut conflicts = self.conflicts(range, record).into_iter();
                conflicts.all(|(part, earlier)| self.unordered(&earlier, record, part).is_empty())
                    && self.conflicts_with_host(range, record).is_empty()
            })
    }

    /// The recorded accesses of these bytes that one has to be ordered with.
    fn conflicts(&self, range: Range, record: &Record) -> SmallVec<[(Range, Record); 2]> {
        let mut conflicts = SmallVec::new();
        self.shadow.for_each(range, |part, cell| {
            conflicts.extend(cell.conflicts(record).map(|earlier| (part, *earlier)));
        });
        conflicts
    }

    /// Who made the recorded access to these bytes.
    pub(super) fn who(&self, record: &Record, bytes: Range) -> Vec<(Range, Record)> {
        self.joined.who(record, bytes)
    }

    /// An access of `operation`, which has just begun, to `range`: the hazards with earlier accesses, in
    /// address order, one for each pair of records.
    pub fn access(&mut self, operation: OperationId, range: Range, operand: Operand) -> Vec<Hazard> {
        let Some(op) = self.operation(operation) else { return Vec::new() };
        let record = op.record(operation, operand);
        let hazards = self.hazards(&record, range);
        self.shadow.record(range, record);
        hazards
    }

    /// The hazards of an access with earlier ones.
    fn hazards(&self, record: &Record, range: Range) -> Vec<Hazard> {
        let mut hazards: Vec<Hazard> = Vec::new();
        let conflicts = self.conflicts(range, record);
        let ordered = |(part, earlier): &(Range, Record)| self.unordered(earlier, record, *part).is_empty();
        if !conflicts.iter().all(ordered) {
            for (part, earlier) in self.joined.apart(&conflicts) {
                for bytes in self.unordered(&earlier, record, part) {
                    let known = hazards.iter_mut().find(|h| h.is_pair(&earlier, record));
                    match known {
                        Some(h) => h.add_bytes(bytes),
                        None => hazards.push(explain::hazard(self, &earlier, record, bytes)),
                    }
                }
            }
        }
        hazards
    }

    /// Memory was freed or given a new content that no earlier access conflicts with.
    pub fn forget(&mut self, range: Range) {
        self.shadow.forget(range);
        self.host.forget(range);
        self.host_side.forget(&ByteSet::from_iter([range]));
        self.bindings.forget(range);
        self.queues.values_mut().for_each(|queue| queue.forget(range));
    }

    pub(super) fn queue(&self, id: QueueId) -> Option<&Queue> {
        self.queues.get(&id)
    }

    pub(super) fn executed(&self, earlier: &Record, later: &Record, range: Range) -> bool {
        if earlier.stage == Stages::TRANSITION {
            // Its writes are available where it has executed.
            return self.unavailable(earlier, later, range).is_empty();
        }
        self.start(later).is_some_and(|k| {
            let stream = Stream { queue: earlier.queue, stage: earlier.stage, access: Accesses::empty() };
            k.executed.get(stream) >= earlier.number
        })
    }

    fn start(&self, later: &Record) -> Option<&Knowledge> {
        self.queues.get(&later.queue).and_then(|q| q.start(later.stage))
    }

    pub(super) fn unavailable(&self, earlier: &Record, later: &Record, range: Range) -> Vec<Range> {
        let stream = Stream { queue: earlier.queue, stage: earlier.stage, access: earlier.operand.write };
        match self.start(later) {
            Some(k) => k.available.missing(stream, earlier.number, range),
            None => vec![range],
        }
    }

    pub(super) fn invisible(&self, earlier: &Record, later: &Record, range: Range) -> Vec<Range> {
        let stream = Stream { queue: earlier.queue, stage: earlier.stage, access: earlier.operand.write };
        self.invisible_of(stream, earlier.number, later, range)
    }

    /// The bytes of `range` to which operation `number` of a stream of writes is not visible for the read
    /// `later`.
    pub(super) fn invisible_of(
        &self,
        stream: Stream,
        number: u64,
        later: &Record,
        range: Range,
    ) -> Vec<Range> {
        let queue = self.queues.get(&later.queue);
        let seen = queue.and_then(|q| q.visible.get(&(later.stage, later.operand.read)));
        let left = match seen {
            Some(v) => v.missing(stream, number, range),
            None => vec![range],
        };
        match self.start(later) {
            Some(k) => left.into_iter().flat_map(|r| k.visible.missing(stream, number, r)).collect(),
            None => left,
        }
    }

    /// The bytes of `range` on which the two accesses are not location-ordered.
    fn unordered(&self, earlier: &Record, later: &Record, range: Range) -> Vec<Range> {
        let (w, y) = (&earlier.operand, &later.operand);
        let first = self.operation(later.operation).map_or(later.operation, |operation| operation.first);
        if earlier.queue == later.queue && earlier.operation >= first {
            return Vec::new();
        }
        let transitions = [earlier.stage, later.stage] == [Stages::TRANSITION; 2];
        if transitions && earlier.queue == later.queue {
            // Transitions of one queue execute in submission order.
            return Vec::new();
        }
        let same_reference = w.reference.is_some() && w.reference == y.reference;
        let common = self.common(earlier.queue, later.queue);
        let wide = |s: Option<Scope>| s.is_some_and(|s| s >= common);
        if same_reference && wide(w.atomic) && wide(y.atomic) {
            return Vec::new();
        }
        let executed = self.executed(earlier, later, range);
        if w.write.is_empty() {
            return if executed { Vec::new() } else { vec![range] };
        }
        let shader_available =
            executed && same_reference && w.non_private && y.non_private && wide(w.available);
        let mut left: Vec<Range> = Vec::new();
        if !y.write.is_empty() && !shader_available {
            left.extend(self.unavailable(earlier, later, range));
            if self.strict_write_after_write && left.is_empty() && later.stage != Stages::TRANSITION {
                left.extend(self.invisible(earlier, later, range));
            }
        }
        let shader_visible = shader_available && wide(y.visible);
        if !y.read.is_empty() && !shader_visible {
            left.extend(self.invisible(earlier, later, range));
        }
        left.sort_unstable();
        left.dedup();
        left
    }
}

impl Queue {
    fn finish(&mut self, mut known: Knowledge, barrier: PastBarrier) {
        let d = &barrier.dependency;
        for scope in d.visible.iter().filter(|scope| scope.is_of_host()) {
            known.to_host.join(&known.available, scope.ranges.as_deref());
        }
        self.make_visible(&known.available, &d.visible);
        self.second_scope(&known, d.destination.with_later());
        if self.barriers.len() == REMEMBERED_BARRIERS {
            self.barriers.remove(0);
        }
        self.barriers.push(PastBarrier { frozen: known.available, ..barrier });
    }
}
