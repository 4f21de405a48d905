//! One instruction at a time, for whoever drives a dispatch by hand: a debugger, or a compiled tier that
//! hands a strand to the interpreter and takes it back. The executors' loop is the same code, compiled
//! without the stop behind each instruction.
//!
//! ```text
//! let mut stepper = Stepper::new(program, &grid, &resources, &mut memory)?;
//! stepper.begin_workgroup(0);
//! let identity = stepper.identity(0, 0);
//! let mut strand = stepper.start(&identity);
//! while stepper.step(&identity, &mut strand)? != Stepped::Ended {}
//! stepper.end_workgroup(0);
//! ```
//!
//! **Guarantees.** A step executes the instruction at [`Strand::pc`] for the lanes in [`Strand::mask`],
//! whole: its accesses to memory are made when it returns. Nothing else of the strand or of memory changes. A
//! strand is plain data: it may be cloned, kept, and stepped again from there. Steps of different strands in
//! any order are an execution of the dispatch, as long as the order of barriers is kept: a strand that
//! arrived at a workgroup barrier is not stepped before all others of the workgroup have arrived or ended and
//! [`Stepper::complete_barrier`] was called.

use super::context::Context;
use super::run::{Control, run_one};
use super::strand::Step;
pub use super::strand::Strand;
use crate::code::Program;
use crate::interface::{Grid, Resources};
use pellucid_memory::agent::SubgroupIdentity;
use pellucid_memory::system::{MemorySystem, Trap};

/// What an instruction did to its strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// The strand stands at another instruction. Where no lane runs ([`Strand::mask`] is 0), that is on the
    /// way to the next join.
    On,
    /// The running lanes have arrived at the workgroup barrier of this number in
    /// [`Code::barriers`](crate::code::Code); the strand stands behind it.
    AtBarrier(u32),
    /// All lanes have ended.
    Ended,
}

/// A dispatch whose strands are stepped.
pub struct Stepper<'a, M> {
    context: Context<'a>,
    memory: &'a mut M,
}

impl<'a, M: MemorySystem> Stepper<'a, M> {
    /// A dispatch of `program`, none of whose workgroups has begun.
    ///
    /// # Errors
    /// [`Trap::NotImplemented`]: the program was generated for the other mode, or there are too many
    /// workgroups.
    pub fn new(
        program: &'a Program,
        grid: &Grid,
        resources: &'a Resources,
        memory: &'a mut M,
    ) -> Result<Stepper<'a, M>, Trap> {
        if program.modelled != M::MODELLED {
            return Err(Trap::NotImplemented("code of one mode over a memory system of the other".into()));
        }
        let context = Context::new(program, grid, resources);
        context.launch.workgroups()?;
        Ok(Stepper { context, memory })
    }

    /// Subgroups of each workgroup.
    pub fn subgroups(&self) -> u32 {
        self.context.launch.subgroups()
    }

    /// A workgroup begins: its memory is there.
    pub fn begin_workgroup(&mut self, workgroup: u32) {
        self.context.begin_workgroup(self.memory, workgroup);
    }

    /// All strands of a workgroup have ended.
    pub fn end_workgroup(&mut self, workgroup: u32) {
        self.context.end_workgroup(self.memory, workgroup);
    }

    /// Who a subgroup is.
    pub fn identity(&self, workgroup: u32, subgroup: u32) -> SubgroupIdentity {
        let launch = &self.context.launch;
        launch.identity(launch.workgroup(workgroup), subgroup)
    }

    /// All lanes of a subgroup at the first instruction.
    pub fn start(&self, identity: &SubgroupIdentity) -> Strand {
        let mut strand = Strand::default();
        strand.prepare(&self.context);
        strand.start(&self.context, identity);
        strand
    }

    /// Runs the instruction that `strand`, of the subgroup `identity`, stands at.
    ///
    /// # Errors
    /// The trap of a memory operation; the strand stands at the instruction still.
    pub fn step(&mut self, identity: &SubgroupIdentity, strand: &mut Strand) -> Result<Stepped, Trap> {
        if strand.live == 0 {
            return Ok(Stepped::Ended);
        }
        self.memory.enter_subgroup(identity);
        let control = Control { alone: false, every: false };
        Ok(match run_one(&self.context, strand, self.memory, &control)? {
            Step::Yielded | Step::OutOfFuel => Stepped::On,
            Step::AtBarrier(barrier) => Stepped::AtBarrier(barrier),
            Step::Done => Stepped::Ended,
        })
    }

    /// The parked lanes of a strand that stands at a back-edge ([`Code::back_edges`](crate::code::Code))
    /// become a strand of their own: lanes that a divergent spin waits for go on beside it. `None` elsewhere,
    /// and where no lane is parked.
    pub fn split(&self, strand: &mut Strand) -> Option<Strand> {
        let program = self.context.program;
        let at_edge = program.back_edges.binary_search_by_key(&strand.pc, |edge| edge.0).is_ok();
        at_edge.then(|| strand.split(program)).flatten()
    }

    /// All strands of a workgroup that have not ended have arrived at a barrier.
    pub fn complete_barrier(&mut self, workgroup: u32) {
        self.memory.barrier_complete(workgroup);
    }
}
