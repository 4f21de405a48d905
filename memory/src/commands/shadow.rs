//! Which operation touched which bytes last.

use super::byte_map::ByteMap;
use super::byte_set::ByteSet;
use super::dependency::{Accesses, Stages};
use super::id::{OperationId, QueueId};
use super::range::Range;
use crate::access::{Reference, Site};
use crate::agent::Invocation;
use crate::scope::Scope;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::sync::Arc;

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
    pub reads: SmallVec<[Record; 1]>,
}

/// What touched which bytes. Runs of bytes with one history share their cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow(ByteMap<Arc<Cell>>);

impl Cell {
    /// The accesses that one has to be ordered with.
    pub fn conflicts(&self, record: &Record) -> impl Iterator<Item = &Record> {
        let reads = if record.operand.write.is_empty() { &[][..] } else { &self.reads[..] };
        self.write.iter().chain(reads)
    }

    /// After one more read of all these bytes.
    fn and_read(&self, record: Record) -> Cell {
        let kept = self.reads.iter().filter(|r| {
            !(r.queue == record.queue
                && r.stage == record.stage
                && r.operand.read == record.operand.read
                && r.operand.reference == record.operand.reference
                && r.operand.non_private <= record.operand.non_private)
        });
        Cell { write: self.write, reads: kept.copied().chain([record]).collect() }
    }
}

/// What cells become by one access. Those that were asked for last are remembered, so that cells that were
/// shared stay so.
struct After {
    record: Record,
    /// Of bytes that nobody has accessed, or that are written.
    alone: Arc<Cell>,
    known: SmallVec<[(Arc<Cell>, Arc<Cell>); 4]>,
    oldest: usize,
}

impl After {
    fn new(record: Record) -> After {
        let alone = match record.operand.write.is_empty() {
            true => Cell::default().and_read(record),
            false => Cell { write: Some(record), reads: SmallVec::new() },
        };
        After { record, alone: Arc::new(alone), known: SmallVec::new(), oldest: 0 }
    }

    fn of(&mut self, cell: Option<&Arc<Cell>>) -> Arc<Cell> {
        let cell = match cell {
            Some(cell) if self.record.operand.write.is_empty() => cell,
            _ => return self.alone.clone(),
        };
        if let Some((_, after)) = self.known.iter().find(|(before, _)| Arc::ptr_eq(before, cell)) {
            return after.clone();
        }
        let after = Arc::new(cell.and_read(self.record));
        let pair = (cell.clone(), after.clone());
        if self.known.len() < self.known.inline_size() {
            self.known.push(pair);
        } else {
            self.known[self.oldest] = pair;
            self.oldest = (self.oldest + 1) % self.known.len();
        }
        after
    }
}

impl Shadow {
    /// Calls `visit` for each run with bytes of `range`, cut to it.
    pub fn for_each(&self, range: Range, mut visit: impl FnMut(Range, &Cell)) {
        self.0.within(range).for_each(|(run, cell)| visit(run, cell));
    }

    /// Calls `each` for the operations of all records.
    pub fn operations(&self, mut each: impl FnMut(OperationId)) {
        for cell in self.0.values() {
            cell.write.iter().chain(&cell.reads).for_each(|record| each(record.operation));
        }
    }

    /// Records an access of `range`.
    pub fn record(&mut self, range: Range, record: Record) {
        self.record_all(&ByteSet::from_iter([range]), record);
    }

    /// Records an access of all these bytes.
    pub fn record_all(&mut self, bytes: &ByteSet, record: Record) {
        let mut after = After::new(record);
        self.0.update(bytes, |cell| Some(after.of(cell)));
    }

    /// Calls `each` with the cells of these bytes, with each once at least.
    pub fn each_cell(&self, bytes: &ByteSet, each: impl FnMut(&Arc<Cell>)) {
        self.0.each_value(bytes, each);
    }

    /// Forgets everything about `range` (memory was freed).
    pub fn forget(&mut self, range: Range) {
        self.0.remove(&ByteSet::from_iter([range]));
    }
}
