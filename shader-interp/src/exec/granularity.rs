//! How far a unit of a modelled dispatch goes in one step, and what a unit is.

use crate::code::{MemoryEntry, Opcode, Program, Space};

/// How far a unit goes in one step, and what a unit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Granularity {
    /// Strands of subgroups, to the next visible operation.
    #[default]
    Visible,
    /// Strands of subgroups, to the next access to memory that others may see.
    Accesses,
    /// Single invocations, to the next access to memory that others may see. For programs without operations
    /// that a subgroup executes together.
    Invocations,
}

impl Granularity {
    /// Whether a step is a single access.
    pub(crate) fn fine(self) -> bool {
        self >= Granularity::Accesses
    }
}

/// Whether the instruction at `pc` is a scheduling point of the modelled mode.
pub(crate) fn visible(program: &Program, pc: u32) -> bool {
    let inst = &program.code[pc as usize];
    match inst.op {
        Opcode::Load | Opcode::Store | Opcode::Atomic => program.memory[inst.imm as usize].visible,
        Opcode::Image => program.images[inst.imm as usize].visible,
        Opcode::MemoryBarrier | Opcode::ControlBarrier => true,
        _ => false,
    }
}

/// What a strand that accesses memory step by step stops before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Access,
    Barrier,
}

/// Whether others may see the memory of an access.
pub(crate) fn shared(entry: &MemoryEntry) -> bool {
    !matches!(entry.space, Space::Push | Space::Private { .. })
}

/// Whether a strand stops before the instruction at `pc`.
pub(crate) fn stop_at(program: &Program, pc: u32) -> Option<Stop> {
    let inst = program.code.get(pc as usize)?;
    match inst.op {
        Opcode::Load | Opcode::Store | Opcode::Atomic => {
            let entry = program.memory.get(inst.imm as usize)?;
            (entry.visible || shared(entry)).then_some(Stop::Access)
        }
        Opcode::Image => Some(Stop::Access),
        Opcode::MemoryBarrier | Opcode::ControlBarrier => Some(Stop::Barrier),
        _ => None,
    }
}
