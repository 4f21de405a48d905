//! The host as an agent: what it does to mapped memory, among the operations of the queues.
//!
//! The host's accesses are numbered. What it wrote before a submission (and flushed, where the memory is not
//! coherent) happens before the submission's operations and is visible to them. What it wrote later happens
//! before operations that wait for an event or a timeline semaphore that the host signaled after the write,
//! and is available to them only through a dependency whose first scope names writes of the host. In
//! the other direction the host knows what a fence, a semaphore, an event or an idle queue told it, and a
//! write of the device is available to it only through a dependency whose second scope names an access of
//! the host.

use super::byte_map::ByteMap;
use super::byte_set::ByteSet;
use super::clock::Stream;
use super::dependency::{Accesses, Stages};
use super::event::EventToken;
use super::id::{OperationId, QueueId};
use super::range::Range;
use super::shadow::{Operand, Record};
use super::tracker::{Payload, Tracker};
use crate::finding::FindingId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An access of the host and one of the device that are not ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostHazard {
    /// One of the four of the host.
    pub id: FindingId,
    /// The operation of the device.
    pub operation: OperationId,
    /// Its access.
    pub operand: Operand,
    /// Its queue and stage.
    pub at: (QueueId, Stages),
    /// The host writes; else it reads.
    pub writes: bool,
    /// The caller's name for the host's access.
    pub tag: u64,
    /// The host wrote or flushed the bytes later than the submission.
    pub late: bool,
    /// An invalidate came between the host's write and any flush: the bytes are undefined.
    pub discarded: bool,
    /// The caller's name for a barrier that lacks nothing but these bytes in its range.
    pub extend: Option<u64>,
    /// The bytes concerned.
    pub bytes: Vec<Range>,
}

/// The last write of the host to some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostWrite {
    number: u64,
    /// When it became available to the host domain.
    available: Option<u64>,
    /// It was invalidated before it was flushed: no flush makes it available any more.
    discarded: bool,
    tag: u64,
}

/// Writes, reads and flushes of the host, as far as hazards with commands need them.
#[derive(Default)]
pub(super) struct Host {
    /// Its accesses and flushes so far.
    now: u64,
    /// Who wrote which bytes last.
    writes: ByteMap<HostWrite>,
    /// Runs of bytes by their start, of each of which it read some: their end, and the number and name of the
    /// last read.
    reads: BTreeMap<u64, (u64, u64, u64)>,
}

impl Host {
    /// The reads of runs that are all in a range: their numbers and tags.
    fn reads_within(&self, range: Range) -> impl Iterator<Item = (Range, u64, u64)> {
        let all = self.reads.range(range.start..range.end);
        let all = all.map(|(start, (end, number, tag))| (Range { start: *start, end: *end }, *number, *tag));
        all.filter(move |(run, ..)| run.end <= range.end)
    }

    /// Memory ended, or has other contents.
    pub fn forget(&mut self, bytes: &ByteSet) {
        self.writes.remove(bytes);
        if !self.reads.is_empty() {
            bytes.ranges().for_each(|range| self.forget_reads(range));
        }
    }

    fn forget_reads(&mut self, range: Range) {
        let reads: Vec<u64> = self.reads_within(range).map(|(run, ..)| run.start).collect();
        for start in reads {
            self.reads.remove(&start);
        }
    }
}

impl Tracker {
    /// The host wrote these bytes before it made the call that is being made. `tag` names the write.
    pub fn host_wrote(&mut self, ranges: &[Range], coherent: bool, tag: u64) -> Vec<HostHazard> {
        self.host_side.now += 1;
        let number = self.host_side.now;
        let write = HostWrite { number, available: coherent.then_some(number), discarded: false, tag };
        let mut found = Vec::new();
        for &range in ranges {
            for (part, record) in self.records(range) {
                if let Some((id, bytes)) = self.unordered_with_host(&record, part) {
                    add(&mut found, self.after_device(id, &record, true, tag, bytes));
                }
            }
            self.host_side.writes.set(range, write);
        }
        found
    }

    /// The host accessed each of these runs somewhere, without a change: it read. `unseen` says of a run that
    /// all of it is non-coherent and was not invalidated since the device wrote it. Only where any read of
    /// the run is wrong, it is told.
    pub fn host_read(&mut self, runs: &[(Range, bool)], tag: u64) -> Vec<HostHazard> {
        self.host_side.now += 1;
        let mut found = Vec::new();
        for &(range, unseen) in runs {
            self.host_side.reads.insert(range.start, (range.end, self.host_side.now, tag));
            let mut bad: Vec<HostHazard> = Vec::new();
            for (part, record) in self.records(range).into_iter().filter(|(_, r)| !r.operand.write.is_empty())
            {
                let judged = match self.unordered_with_host(&record, part) {
                    Some((FindingId::HostNoBarrier, _)) if unseen => None,
                    judged => judged,
                };
                let judged = judged.or_else(|| unseen.then(|| (FindingId::HostNotInvalidated, vec![part])));
                let Some((id, bytes)) = judged else { continue };
                add(&mut bad, self.after_device(id, &record, false, tag, bytes));
            }
            let covered: u64 = bad.iter().flat_map(|h| &h.bytes).map(|b| b.end - b.start).sum();
            if covered == range.end - range.start {
                bad.into_iter().for_each(|h| add(&mut found, h));
            }
        }
        found
    }

    /// The host read some of each of these runs, of which all that anybody ever wrote is non-coherent and was
    /// not invalidated since the device wrote it. Of writes of which the host does not know that they have
    /// completed nothing is told.
    pub fn host_read_unseen(&mut self, runs: &[Range], tag: u64) -> Vec<HostHazard> {
        self.host_side.now += 1;
        let mut found = Vec::new();
        for (part, record) in runs.iter().flat_map(|range| self.records(*range)) {
            let write = !record.operand.write.is_empty() && record.stage != Stages::TRANSITION;
            if write && self.host_knows(&record) {
                let id = FindingId::HostNotInvalidated;
                add(&mut found, self.after_device(id, &record, false, tag, vec![part]));
            }
        }
        found
    }

    /// The host flushed these bytes.
    pub fn host_flushed(&mut self, ranges: &[Range]) {
        self.host_side.now += 1;
        let now = self.host_side.now;
        for &range in ranges {
            self.host_side.writes.update(&ByteSet::from_iter([range]), |write| {
                let write = *write?;
                let available = write.available.or((!write.discarded).then_some(now));
                Some(HostWrite { available, ..write })
            });
        }
    }

    /// What the host has seen and done: to be taken at vkQueueSubmit, and the payload of vkSignalSemaphore
    /// and vkSetEvent.
    pub fn host_knowledge(&self) -> Payload {
        let mut known = self.host.clone();
        known.by_host = None;
        known.host = self.host_side.now;
        known.by_host = Some(Arc::new(known.clone()));
        Payload(known)
    }

    /// vkSetEvent: what the event carries to its waits.
    pub fn host_event(&self) -> EventToken {
        let Payload(knowledge) = self.host_knowledge();
        EventToken { queue: None, stages: Stages::HOST, knowledge, counts: BTreeMap::new() }
    }

    /// The parts of a range that the device wrote last in an operation of which the host does not know that
    /// it has completed.
    pub fn in_flight(&self, range: Range) -> Vec<Range> {
        let mut found: Vec<Range> = Vec::new();
        self.shadow.for_each(range, |part, cell| {
            let write = cell.write.filter(|write| write.stage != Stages::TRANSITION);
            if write.is_some_and(|write| !self.host_knows(&write)) {
                match found.last_mut() {
                    Some(last) if last.end == part.start => last.end = part.end,
                    _ => found.push(part),
                }
            }
        });
        found
    }

    /// The host invalidated these bytes, which the device wrote: it is about to read them.
    pub fn host_invalidated(&mut self, ranges: &[Range], tag: u64) -> Vec<HostHazard> {
        let mut found = Vec::new();
        for (part, record) in ranges.iter().flat_map(|range| self.records(*range)) {
            if let Some((id @ FindingId::HostNoBarrier, bytes)) = self.unordered_with_host(&record, part) {
                add(&mut found, self.after_device(id, &record, false, tag, bytes));
            }
        }
        found
    }

    /// Calls `each` with the bytes of a range to which the host may not do what it likes: what the device did
    /// to them is not ordered before it, or not available to it. To others it may, until an operation that is
    /// not recorded yet accesses them.
    pub fn kept_from_host(&self, range: Range, mut each: impl FnMut(Range)) {
        self.shadow.for_each(range, |part, cell| {
            let mut records = cell.write.iter().chain(&cell.reads);
            if records.any(|record| self.unordered_with_host(record, part).is_some()) {
                each(part);
            }
        });
    }

    /// A flush of the host wrote back other bytes of the atoms, and may have lost what the device wrote here.
    pub fn host_lost(&mut self, ranges: &[Range], tag: u64) -> Vec<HostHazard> {
        let mut found = Vec::new();
        for (part, record) in ranges.iter().flat_map(|range| self.records(*range)) {
            if !record.operand.write.is_empty() {
                let id = FindingId::HostNotInvalidated;
                add(&mut found, self.after_device(id, &record, true, tag, vec![part]));
            }
        }
        found
    }

    /// The host invalidated these bytes, which it had written and not flushed: they are undefined until
    /// somebody writes them again. That is no mistake before somebody reads them.
    pub fn host_discarded(&mut self, ranges: &[Range]) {
        for &range in ranges {
            self.host_side.writes.update(&ByteSet::from_iter([range]), |write| {
                let write = *write?;
                Some(HostWrite { discarded: write.available.is_none(), ..write })
            });
        }
    }

    /// An access of an operation: the hazards with what the host wrote, and read where the operation writes.
    pub fn access_after_host(
        &mut self,
        operation: OperationId,
        range: Range,
        operand: Operand,
    ) -> Vec<HostHazard> {
        let Some(op) = self.operation(operation) else { return Vec::new() };
        let found = self.conflicts_with_host(range, &op.record(operation, operand));
        self.forget_host_before(&ByteSet::from_iter([range]), &operand);
        found
    }

    /// What the host did to bytes that the device writes now is past.
    pub(super) fn forget_host_before(&mut self, bytes: &ByteSet, operand: &Operand) {
        if !operand.write.is_empty() {
            self.host_side.forget(bytes);
        }
    }

    /// How much of what the host did precedes an operation.
    fn host_known(&self, record: &Record) -> u64 {
        let queue = self.queues.get(&record.queue);
        queue.and_then(|q| q.start(record.stage)).map_or(0, |known| known.host)
    }

    /// Whether a write of the host to these bytes and an access of a device that knows so much of the host
    /// are not ordered: what is missing, whether something was late, and for which of the bytes.
    fn after_host(
        &self,
        write: &HostWrite,
        known: u64,
        record: &Record,
        part: Range,
    ) -> (FindingId, bool, Vec<Range>) {
        let late = write.available.is_some_and(|available| available > known);
        if write.number > known {
            (FindingId::HostInFlight, late, vec![part])
        } else if record.operand.read.is_empty() {
            (FindingId::HostNotFlushed, late, Vec::new())
        } else if late || write.available.is_none() {
            (FindingId::HostNotFlushed, late, vec![part])
        } else {
            let number = write.available.unwrap_or(write.number);
            (FindingId::HostNoBarrier, true, self.invisible_of(Stream::of_host(), number, record, part))
        }
    }

    /// Whether all that the host did to these bytes, which are in `span`, is ordered before an access of the
    /// device even if it did it to all of `span`.
    pub(super) fn follows_host(&self, record: &Record, span: Range, bytes: &ByteSet) -> bool {
        let known = self.host_known(record);
        let mut reads = self.host_side.reads.range(span.start..span.end);
        if !record.operand.write.is_empty() && reads.any(|(_, (_, number, _))| *number > known) {
            return false;
        }
        let (mut follows, mut last) = (true, None);
        self.host_side.writes.each_value(bytes, |write| {
            if last.replace(*write) != Some(*write) {
                follows &= self.after_host(write, known, record, span).2.is_empty();
            }
        });
        follows
    }

    /// What the host did to these bytes and an access of the device that are not ordered.
    pub(super) fn conflicts_with_host(&self, range: Range, record: &Record) -> Vec<HostHazard> {
        let known = self.host_known(record);
        let mut found = Vec::new();
        for (part, write) in self.host_side.writes.within(range) {
            let (id, late, bytes) = self.after_host(write, known, record, part);
            if let Some(first) = bytes.first() {
                let missing = id == FindingId::HostNoBarrier;
                let extend = missing.then(|| self.barrier_from_host(record, *first)).flatten();
                let discarded = write.discarded && id == FindingId::HostNotFlushed;
                let hazard = hazard(id, record, true, write.tag, bytes);
                add(&mut found, HostHazard { late, discarded, extend, ..hazard });
            }
        }
        if !record.operand.write.is_empty() {
            for (run, number, tag) in self.host_side.reads_within(range) {
                if number > known {
                    add(&mut found, hazard(FindingId::HostInFlight, record, false, tag, vec![run]));
                }
            }
        }
        found
    }

    /// An access of the host that is not ordered with an earlier one of the device.
    fn after_device(
        &self,
        id: FindingId,
        record: &Record,
        writes: bool,
        tag: u64,
        bytes: Vec<Range>,
    ) -> HostHazard {
        let first = bytes.first().filter(|_| id == FindingId::HostNoBarrier);
        let extend = first.and_then(|first| self.barrier_to_host(record, *first));
        HostHazard { extend, ..hazard(id, &self.named(record, &bytes), writes, tag, bytes) }
    }

    /// The same access by who made it to the first of these bytes.
    fn named(&self, record: &Record, bytes: &[Range]) -> Record {
        let first = bytes.first().and_then(|bytes| self.who(record, *bytes).into_iter().next());
        first.map_or(*record, |(_, record)| record)
    }

    fn records(&self, range: Range) -> Vec<(Range, Record)> {
        let mut records = Vec::new();
        self.shadow.for_each(range, |part, cell| {
            records.extend(cell.write.iter().chain(&cell.reads).map(|record| (part, *record)));
        });
        records
    }

    /// Whether the host was told that the operation has completed.
    fn host_knows(&self, record: &Record) -> bool {
        let Record { queue, stage, number, .. } = *record;
        self.host.executed.get(Stream { queue, stage, access: Accesses::empty() }) >= number
    }

    /// What is missing between an access of the device and one that the host makes now.
    fn unordered_with_host(&self, record: &Record, part: Range) -> Option<(FindingId, Vec<Range>)> {
        let Record { queue, stage, number, .. } = *record;
        if stage == Stages::TRANSITION {
            return None;
        }
        if !self.host_knows(record) {
            return Some((FindingId::HostInFlight, vec![part]));
        }
        let access = record.operand.write;
        if access.is_empty() {
            return None;
        }
        let missing = self.host.to_host.missing(Stream { queue, stage, access }, number, part);
        (!missing.is_empty()).then_some((FindingId::HostNoBarrier, missing))
    }
}

fn hazard(id: FindingId, record: &Record, writes: bool, tag: u64, bytes: Vec<Range>) -> HostHazard {
    let at = (record.queue, record.stage);
    let (operation, operand) = (record.operation, record.operand);
    HostHazard { id, operation, operand, at, writes, tag, late: false, discarded: false, extend: None, bytes }
}

/// Adds a hazard, or its bytes to one that differs in nothing else.
impl HostHazard {
    /// Whether it is of the same two, on whatever bytes. Of an access while work is pending it does not count
    /// who was looked at first.
    pub fn is_like(&self, other: &HostHazard) -> bool {
        (self.id, self.operation, self.writes, self.tag, self.discarded)
            == (other.id, other.operation, other.writes, other.tag, other.discarded)
            && (self.late == other.late || self.id == FindingId::HostInFlight)
    }

    /// Has the bytes of `other`, which is like it, as well.
    pub fn join(&mut self, other: HostHazard) {
        self.late |= other.late;
        self.extend = self.extend.or(other.extend);
        let mut all = std::mem::take(&mut self.bytes);
        all.extend(other.bytes);
        all.sort_unstable();
        for bytes in all {
            match self.bytes.last_mut() {
                Some(last) if last.end >= bytes.start => last.end = last.end.max(bytes.end),
                _ => self.bytes.push(bytes),
            }
        }
    }
}

fn add(found: &mut Vec<HostHazard>, hazard: HostHazard) {
    let Some(known) = found.iter_mut().find(|known| known.is_like(&hazard)) else {
        return found.push(hazard);
    };
    known.late |= hazard.late;
    known.extend = known.extend.or(hazard.extend);
    for bytes in hazard.bytes {
        match known.bytes.last_mut() {
            Some(last) if last.end >= bytes.start && last.start <= bytes.start => {
                last.end = last.end.max(bytes.end)
            }
            _ => known.bytes.push(bytes),
        }
    }
}
