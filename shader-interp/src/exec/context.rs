//! What all strands of a launch share: the program, its resources, and the launch's shape.

use super::launch::Launch;
use super::prints::PrintLog;
use crate::code::Program;
use crate::interface::{Grid, PUSH_UNSET, Resources};
use crate::ops::image::raster::Raster;
use crate::tier::{Progress, Tier};
use pellucid_memory::plain::PlainMemory;
use pellucid_memory::system::{MemorySystem, MemoryView};

/// One launch of a program.
pub(crate) struct Context<'a> {
    pub program: &'a Program,
    pub resources: &'a Resources,
    /// Memory of [`Code::views`](crate::code::Code).
    pub views: Vec<MemoryView<'a>>,
    /// Texels of [`Code::images`](crate::code::Code), as [`Raster::all`] says.
    pub rasters: Vec<Raster<'a>>,
    pub launch: Launch,
    /// Where DebugPrintf goes.
    pub prints: Option<&'a PrintLog>,
    /// Which tier runs it.
    pub tier: Tier,
    /// Plain mode: bytes of a view from which on machine code stores whole lines past the caches.
    pub streams: u64,
    /// Plain mode: what it writes may be without memory, which only the interpreter looks at.
    pub partly_bound: bool,
    /// What the program has executed, and its machine code.
    pub progress: &'a Progress,
}

impl<'a> Context<'a> {
    #[inline(always)]
    pub fn new(program: &'a Program, grid: &Grid, resources: &'a Resources) -> Context<'a> {
        // Offsets have 32 bits.
        let views = program.views.iter().map(|(binding, k)| resources.view(*binding, *k).part(0, 1 << 32));
        Context {
            program,
            resources,
            views: views.collect(),
            rasters: Raster::all(program, resources),
            launch: Launch::new(program, grid),
            prints: None,
            tier: Tier::Interpreter,
            streams: u64::MAX,
            partly_bound: false,
            progress: Progress::of(program),
        }
    }

    /// Plain mode: memory for a workgroup.
    #[inline(always)]
    pub fn plain_memory(&self) -> PlainMemory<'a> {
        PlainMemory::new(&self.resources.addresses).partly_bound(self.partly_bound)
    }

    #[inline(always)]
    pub fn begin_workgroup<M: MemorySystem>(&self, memory: &mut M, workgroup: u32) {
        let shader = &self.program.shader;
        if M::MODELLED || shader.workgroup_bytes > 0 {
            let zeroed = shader.workgroup.iter().any(|object| object.zeroed);
            memory.workgroup_begin(workgroup, shader.workgroup_bytes, zeroed);
        }
    }

    /// A workgroup has ended.
    #[inline(always)]
    pub fn end_workgroup<M: MemorySystem>(&self, memory: &mut M, workgroup: u32) {
        if M::MODELLED || self.program.shader.workgroup_bytes > 0 {
            memory.workgroup_end(workgroup);
        }
    }

    /// A push constant of 1, 2 or 4 bytes; 0 outside the block.
    pub fn push_constant(&self, offset: u32, size: u32) -> u32 {
        let (of, start) = match offset.checked_sub(PUSH_UNSET) {
            Some(start) => (&self.resources.push_unset, start as usize),
            None => (&self.resources.push_constants, offset as usize),
        };
        let Some(bytes) = of.get(start..start + size as usize) else { return 0 };
        bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
    }
}
