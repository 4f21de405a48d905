//! Which operation touched which bytes last.

use super::dependency::{Accesses, Stages};
use super::range::{Range, RangeMap};
use super::tracker::{OperationId, QueueId};
use crate::access::{Reference, Site};
use crate::agent::Invocation;
use crate::scope::Scope;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

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

/// What touched which bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow(RangeMap<Cell>);

impl Cell {
    /// Another access of all these bytes.
    fn record(&mut self, record: Record) {
        if !record.operand.write.is_empty() {
            self.write = Some(record);
            self.reads.clear();
            return;
        }
        self.reads.retain(|r| {
            !(r.queue == record.queue
                && r.stage == record.stage
                && r.operand.read == record.operand.read
                && r.operand.reference == record.operand.reference
                && r.operand.non_private <= record.operand.non_private)
        });
        self.reads.push(record);
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
        if let Some(cell) = self.0.exact(range) {
            // The same bytes again.
            cell.record(record);
        } else if record.operand.write.is_empty() {
            let mut at = range.start;
            let mut gaps: SmallVec<[Range; 4]> = SmallVec::new();
            for (run, cell) in self.0.split(range) {
                gaps.push(Range { start: at, end: run.start });
                at = run.end;
                cell.record(record);
            }
            gaps.push(Range { start: at, end: range.end });
            for gap in gaps.into_iter().filter(|gap| gap.start < gap.end) {
                self.0.insert(gap, Cell { write: None, reads: vec![record] });
            }
        } else {
            self.forget(range);
            self.0.insert(range, Cell { write: Some(record), reads: Vec::new() });
        }
        self.0.join(range);
    }

    /// Forgets everything about `range` (memory was freed).
    pub fn forget(&mut self, range: Range) {
        self.0.take(range);
    }
}
