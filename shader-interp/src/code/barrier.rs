//! Barriers. A memory barrier directly before or behind a control barrier of the workgroup is noted to be
//! there: a memory system may execute it along with that one, as the lanes do nothing in between.

use super::isa::Opcode;
use super::lower::{Generator, Immediate, Name, Result, not_implemented};
use super::{BarrierEntry, Beside};
use pellucid_memory::access::Site;
use pellucid_memory::scope::{Scope, Semantics};
use smallvec::SmallVec;

impl Generator<'_> {
    pub(super) fn memory_barrier(&mut self, site: Site, memory: Scope, semantics: &Semantics) -> Result<()> {
        let mut entry = entry(site, None, memory, semantics);
        if let Some(control) = self.directly_behind() {
            entry.beside = Beside::Behind;
            let number = self.out.barriers.len() as u32;
            self.out.barriers[control].behind.push(number);
        }
        self.barrier(Opcode::MemoryBarrier, entry)
    }

    pub(super) fn control_barrier(
        &mut self,
        site: Site,
        execution: Scope,
        memory: Scope,
        semantics: &Semantics,
    ) -> Result<()> {
        match execution {
            Scope::Workgroup => self.out.workgroup_barriers = true,
            Scope::Subgroup | Scope::Invocation => {}
            wider => return not_implemented(format!("OpControlBarrier with execution scope {wider:?}")),
        }
        let entry = entry(site, Some(execution), memory, semantics);
        if entry.is_workgroup() {
            self.note_before(&entry);
        }
        self.barrier(Opcode::ControlBarrier, entry)
    }

    /// The control barrier of the workgroup that has just been emitted, other memory barriers aside, if
    /// nothing jumps in between.
    fn directly_behind(&self) -> Option<usize> {
        let line = self.out.lines.last().filter(|_| self.last_label != self.here())?;
        let Immediate::Number(last) = line.imm else { return None };
        let barriers = &self.out.barriers;
        match line.op {
            Opcode::ControlBarrier => Some(last as usize).filter(|&k| barriers[k].is_workgroup()),
            Opcode::MemoryBarrier => barriers.iter().rposition(|control| control.behind.contains(&last)),
            _ => None,
        }
    }

    /// Notes that the memory barriers that have just been emitted are directly before this control barrier.
    fn note_before(&mut self, control: &BarrierEntry) {
        let last = self.out.lines.iter().rev();
        for line in last.take_while(|line| line.op == Opcode::MemoryBarrier) {
            let Immediate::Number(k) = line.imm else { continue };
            let fence = &mut self.out.barriers[k as usize];
            match (control.covers(fence), fence.beside) {
                (true, _) => {
                    fence.beside = Beside::Covered;
                    self.out.barriers.iter_mut().for_each(|other| other.behind.retain(|fence| *fence != k));
                }
                (false, Beside::Apart) => fence.beside = Beside::Before,
                (false, _) => {}
            }
        }
    }

    fn barrier(&mut self, opcode: Opcode, entry: BarrierEntry) -> Result<()> {
        self.out.barriers.push(entry);
        let k = self.out.barriers.len() as u32 - 1;
        self.out.open_at_barrier.extend(self.open_blocks.iter().map(|(park, end)| (k, *park, *end)));
        self.emit_with(opcode, Name::None, &[], Immediate::Number(k))
    }
}

fn entry(site: Site, execution: Option<Scope>, memory: Scope, semantics: &Semantics) -> BarrierEntry {
    BarrierEntry {
        site,
        execution,
        memory,
        semantics: *semantics,
        returned: SmallVec::new(),
        beside: Beside::Apart,
        behind: SmallVec::new(),
    }
}
