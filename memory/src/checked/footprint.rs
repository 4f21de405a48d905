//! What a dispatch touched of device memory, for the checks between commands.

use super::CheckedMemory;
use crate::commands::{Accesses, Footprint, Operand, Range, Runs};
use crate::race::{NOBODY, Record, StaticAccess};
use crate::scope::{Scope, StorageClasses};

fn scope(kind: &StaticAccess) -> Option<Scope> {
    Some(match kind.level? {
        0 => Scope::Subgroup,
        1 => Scope::Workgroup,
        2 => Scope::QueueFamily,
        _ => Scope::Device,
    })
}

impl CheckedMemory {
    /// The runs of bytes that the present dispatch accessed, each with the access that stands for it: first
    /// what it read and wrote over later, then of every word the last write and the remembered reads, both by
    /// address. To be asked before [`CheckedMemory::end_dispatch`].
    pub fn footprint(&mut self) -> Runs {
        let shown = &self.core.report.shown;
        // What is in memory that resources share is told by its place in the resource.
        let numbering = self.core.report.numbering;
        let mut early = Footprint::of(numbering);
        let mut early_slots: Vec<Option<usize>> = vec![None; self.core.kinds.list().len()];
        self.shadow.early_reads(|bytes, reader| {
            let kind = self.core.kinds.get(reader.kind);
            // The halves of a read-modify-write are one access, which is among the writes.
            if !kind.write {
                let slot = &mut early_slots[reader.kind as usize];
                let operand = || self.operand(&reader, true);
                let agent = reader.agent;
                shown.ranges(kind, bytes, |range| early.add_to(slot, (range, agent), operand));
            }
        });
        let mut runs = Footprint::of(numbering);
        // The runs of each kind: of its reads, and of what else it does.
        let mut slots: Vec<[Option<usize>; 2]> = vec![[None; 2]; self.core.kinds.list().len()];
        self.read_only.runs(|kind, start, end, agent| {
            let record = Record { agent, time: 0, kind };
            let slot = &mut slots[kind as usize][1];
            let operand = || self.operand(&record, true);
            let kind = self.core.kinds.get(kind);
            shown.ranges(kind, Range { start, end }, |range| runs.add_to(slot, (range, agent), operand));
        });
        self.shadow.touched(|start, end, cell| {
            let mut add = |record: &Record, bytes: u8, read: bool| {
                if *record == NOBODY || bytes == 0 {
                    return;
                }
                let kind = self.core.kinds.get(record.kind);
                if kind.class == StorageClasses::WORKGROUP {
                    return;
                }
                let (skipped, left) = (bytes.trailing_zeros(), bytes.leading_zeros() - 4);
                let slot = &mut slots[record.kind as usize][usize::from(read || kind.read)];
                let range = Range { start: start + u64::from(skipped), end: end - u64::from(left) };
                let operand = || self.operand(record, read);
                shown.ranges(kind, range, |range| runs.add_to(slot, (range, record.agent), operand));
            };
            if let Some(history) = self.core.histories.peek(cell.history) {
                for entry in history.entries() {
                    add(&entry.record, entry.bytes, false);
                }
                for read in history.reads() {
                    add(&read.record, read.bytes, true);
                }
            } else {
                add(&cell.write, 15, false);
                // Writes stay among the readers where atomics took their place.
                for (reader, bytes) in cell.readers.iter().zip(cell.reader_bytes) {
                    add(reader, bytes, !self.core.kinds.get(reader.kind).write);
                }
            }
        });
        let mut all = early.runs();
        all.append(runs.runs());
        all
    }

    /// What a recorded access is to other commands; `read`: no write of its instruction is recorded.
    fn operand(&self, record: &Record, read: bool) -> Operand {
        let kind = self.core.kinds.get(record.kind);
        // A failed compare-exchange writes nothing; the halves of a read-modify-write are one access.
        let read = read || kind.read;
        let write = !read || kind.write;
        Operand {
            read: if read { kind.read_as.into() } else { Accesses::empty() },
            write: if write { Accesses::SHADER_STORAGE_WRITE } else { Accesses::empty() },
            shader: Some((kind.site, self.core.report.numbering.invocation(record.agent))),
            reference: Some(crate::access::Reference(kind.reference)),
            non_private: kind.non_private,
            available: if kind.available { scope(kind) } else { None },
            visible: if kind.visible { scope(kind) } else { None },
            atomic: if kind.atomic { scope(kind) } else { None },
        }
    }
}
