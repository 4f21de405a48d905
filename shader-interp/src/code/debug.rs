//! What a debugger and a compiled tier have to know of code: where each instruction comes from, where values
//! are, and where a strand may be taken over.
//!
//! With [`CompileOptions::debug`](crate::interface::CompileOptions::debug) a program carries a [`DebugInfo`].
//! Its code is the same as without, so a program that runs may be compiled again for its debug information
//! when somebody asks for it: what nobody asks for costs nothing.

use super::{Code, Opcode};
use crate::ir::Scalar;
use pellucid_memory::access::Site;
use std::ops::Range;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// Everywhere: a constant of these bits.
    Constant(u64),
    /// In this vector register; values of 64 bits in the next one, too, which holds the high words.
    Vector(u32),
    /// In this mask register, a bit for each lane.
    Mask(u32),
}

/// A component of a SPIR-V result, and where it is for some of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The `Result <id>`. A function that is called more than once has its results once for each call.
    pub id: u32,
    /// The call, as in [`ValueName`](crate::ir::ValueName).
    pub call: Option<u32>,
    /// Scalar of the result, counted through its vectors, matrices, arrays and structures.
    pub component: u32,
    /// Type of the scalar.
    pub scalar: Scalar,
    /// The register that holds it, or the constant that it is.
    pub register: Register,
    /// Before which instructions it is there, for the lanes that run them. What nothing reads any more may
    /// have been overwritten: it is nowhere then.
    pub pcs: Range<u32>,
}

/// Debug information of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugInfo {
    /// The first instruction of each run that has one site, ascending.
    pub(super) sites: Vec<(u32, Site)>,
    pub(super) locations: Vec<Location>,
}

impl DebugInfo {
    /// The SPIR-V instruction that the instruction at `pc` is a part of, an index into `Shader::sites`: its
    /// text, source line, function, and the variable that it accesses. `Site(0)` if it belongs to none.
    pub fn site(&self, pc: u32) -> Site {
        let after = self.sites.partition_point(|(first, _)| *first <= pc);
        after.checked_sub(1).map_or(Site(0), |k| self.sites[k].1)
    }

    /// The values that can be read before the instruction at `pc`.
    pub fn locations_at(&self, pc: u32) -> impl Iterator<Item = &Location> {
        self.locations.iter().filter(move |location| location.pcs.contains(&pc))
    }
}

/// Why a strand stops somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Before the first instruction of the program.
    Start,
    /// Behind the workgroup barrier of this number, when all have arrived.
    Barrier(u32),
    /// Before a visible operation: a scheduling point of the modelled mode.
    Visible,
    /// At a back-edge, when its fuel is spent.
    BackEdge {
        /// Where parked lanes go on that become a strand of their own.
        join: u32,
    },
}

impl Code {
    /// Where a strand may stop and be resumed, in ascending order: with the registers, masks and private
    /// memory that it has there, nothing else is needed to go on.
    pub fn resume_points(&self) -> Vec<(u32, Resume)> {
        let mut points = vec![(0, Resume::Start)];
        for (inst, pc) in self.code.iter().zip(0..) {
            let entry = inst.imm as usize;
            let visible = match inst.op {
                Opcode::Load | Opcode::Store | Opcode::Atomic => self.memory[entry].visible,
                Opcode::Image => self.images[entry].visible,
                Opcode::MemoryBarrier | Opcode::ControlBarrier => true,
                _ => false,
            };
            if visible && self.modelled {
                points.push((pc, Resume::Visible));
            }
            if inst.op == Opcode::ControlBarrier && self.barriers[entry].is_workgroup() {
                points.push((pc + 1, Resume::Barrier(inst.imm)));
            }
        }
        points.extend(self.back_edges.iter().map(|&(pc, join)| (pc, Resume::BackEdge { join })));
        points.sort_by_key(|(pc, _)| *pc);
        points
    }
}
