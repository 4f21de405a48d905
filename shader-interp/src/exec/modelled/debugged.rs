//! A dispatch that a debugger follows: the same execution, with a stop before each instruction of the turns
//! that the debugger wants to see. All other turns run as without it.
//!
//! A *turn* is what the scheduler lets one unit do at once. Turns are counted from 0, and so are the
//! instructions of a turn: a turn and an instruction are a position to which a later run of the same dispatch
//! comes again.

use super::super::granularity::visible;
use super::super::run::{Control, run_next};
use super::super::spin::SpinWatch;
use super::super::strand::{Step, Strand, StrandPool};
use super::super::turns::Live;
use super::super::turns::Spinning;
use super::super::waiting::{Operand, memory_entry, operand_of};
use super::{ModelledOptions, Resident, Run, Scheduler, Slot, Unit, start};
use crate::code::{Opcode, Program};
use crate::interface::{Grid, Resources};
pub use crate::ops::image::sampled::SampledTexel;
use pellucid_memory::access::{Access, Site};
use pellucid_memory::agent::SubgroupIdentity;
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::finding::AccessKind;
use pellucid_memory::system::{MemorySystem, Trap};
use std::any::Any;
use std::sync::Arc;

/// Who follows a dispatch.
pub trait Follower<M: MemorySystem> {
    /// Whether the instructions of this turn, which is `unit`'s, are shown.
    fn follows(&mut self, turn: u64, unit: &Unit) -> bool;

    /// An instruction is about to run.
    ///
    /// # Errors
    /// What ends the dispatch.
    fn before(&mut self, moment: &mut Moment<'_, '_, M>) -> Result<(), Trap>;

    /// A turn is about to be chosen: whether a copy of the execution is wanted. `ended` says whether a
    /// workgroup has ended.
    ///
    /// # Errors
    /// What ends the dispatch.
    fn wants_copy(&mut self, turn: u64, ended: &dyn Fn(u32) -> bool) -> Result<bool, Trap> {
        let _ = (turn, ended);
        Ok(false)
    }

    /// The copy that was wanted, but for memory.
    fn keep(&mut self, execution: Snapshot, memory: &M) {
        let _ = (execution, memory);
    }
}

/// A dispatch between two turns: all that its further execution depends on, but for memory.
pub struct Snapshot {
    residents: Vec<Resident>,
    units: Vec<Unit>,
    slots: Vec<Slot>,
    /// What workgroups that start find in registers that nothing sets.
    pool: StrandPool,
    next_workgroup: u64,
    window: usize,
    watch: SpinWatch,
    observing: bool,
    stuck: bool,
    steps: u64,
    spinning: Spinning,
    scheduler: Arc<dyn Any + Send + Sync>,
}

fn has_ended(residents: &[Resident], next_workgroup: u64, workgroup: u32) -> bool {
    u64::from(workgroup) < next_workgroup && !residents.iter().any(|of| of.workgroup == workgroup)
}

impl Snapshot {
    /// How many turns were taken.
    pub fn turn(&self) -> u64 {
        self.steps
    }

    /// Whether a workgroup has started.
    pub fn has_started(&self, workgroup: u32) -> bool {
        u64::from(workgroup) < self.next_workgroup
    }

    /// Whether a workgroup has ended.
    pub fn has_ended(&self, workgroup: u32) -> bool {
        has_ended(&self.residents, self.next_workgroup, workgroup)
    }
}

/// A dispatch between two instructions.
pub struct Moment<'m, 'a, M> {
    context: &'m super::Context<'a>,
    residents: &'m mut [Resident],
    slot: Slot,
    /// The memory system that it accesses.
    pub memory: &'m mut M,
    /// How many turns were taken before this one.
    pub turn: u64,
    /// Instructions that the unit has executed in this turn.
    pub index: u64,
}

/// A strand of a workgroup that runs.
pub struct Standing<'m> {
    /// Its subgroup.
    pub identity: &'m SubgroupIdentity,
    /// Its number in the subgroup.
    pub number: u32,
    /// Registers and position.
    pub strand: &'m Strand,
    /// It waits at a workgroup barrier, which is the instruction before the one it stands at.
    pub at_barrier: bool,
}

impl<M: MemorySystem> Moment<'_, '_, M> {
    /// The strand whose turn it is.
    pub fn current(&self) -> Standing<'_> {
        let (r, s, n) = self.slot;
        self.standing(r, s, n)
    }

    /// Where a strand stands.
    fn standing(&self, r: usize, s: usize, n: usize) -> Standing<'_> {
        let (identity, members, _) = &self.residents[r].subgroups[s];
        let member = &members[n];
        Standing {
            identity,
            number: n as u32,
            strand: &member.strand,
            at_barrier: member.at_barrier.is_some(),
        }
    }

    /// All strands of the workgroups that run, by workgroup, subgroup and number.
    pub fn strands(&self) -> impl Iterator<Item = Standing<'_>> {
        self.residents.iter().enumerate().flat_map(move |(r, resident)| {
            resident
                .subgroups
                .iter()
                .enumerate()
                .flat_map(move |(s, (_, members, _))| (0..members.len()).map(move |n| self.standing(r, s, n)))
        })
    }

    /// The registers of a strand, to be changed.
    pub fn strand_mut(&mut self, workgroup: u32, subgroup: u32, number: u32) -> Option<&mut Strand> {
        let resident = self.residents.iter_mut().find(|resident| resident.workgroup == workgroup)?;
        let (_, members, _) =
            resident.subgroups.iter_mut().find(|(identity, ..)| identity.subgroup == subgroup)?;
        Some(&mut members.get_mut(number as usize)?.strand)
    }

    /// What the instruction that a strand stands at does to memory that others may see, for one of its lanes:
    /// nothing, where it samples ([`Moment::sampled_texels`]), or names a texel that does not exist.
    pub fn access(&self, strand: &Strand, lane: usize) -> Option<Accessed> {
        let program = self.context.program;
        let inst = program.code.get(strand.pc as usize)?;
        if inst.op == Opcode::Image {
            let entry = program.images.get(inst.imm as usize)?;
            let (operand, access) = entry.operand(self.context.resources, &strand.vectors, lane)?;
            return Some(Accessed { operand, site: entry.site, access });
        }
        let mut operand = operand_of(self.context, strand, lane)?;
        if inst.op == Opcode::Store {
            operand.kind = AccessKind::Write;
        }
        let (entry, _) = memory_entry(program, inst)?;
        Some(Accessed { operand, site: entry.site, access: entry.access })
    }

    /// The texels that the instruction that a strand stands at reads by sampling, lane by lane; none for
    /// other instructions.
    pub fn sampled_texels(&self, strand: &Strand) -> Vec<SampledTexel> {
        let program = self.context.program;
        let inst = program.code.get(strand.pc as usize).filter(|inst| inst.op == Opcode::Image);
        let entry = inst.and_then(|inst| program.images.get(inst.imm as usize));
        entry
            .map(|entry| entry.sampled_texels(self.context, &strand.vectors, strand.mask))
            .unwrap_or_default()
    }
}

/// What an instruction does to memory for one lane.
#[derive(Clone, Copy, Debug)]
pub struct Accessed {
    /// The memory that it accesses, with the value there.
    pub operand: Operand,
    /// The static instruction.
    pub site: Site,
    /// Its width, and its memory operands.
    pub access: Access,
}

/// Runs a dispatch as [`super::dispatch`] does, followed by a debugger.
///
/// # Errors
/// The first trap, or what the debugger ends it with.
pub fn debug(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    memory: &mut CheckedMemory,
    scheduler: &mut dyn Scheduler,
    options: &ModelledOptions<'_>,
    debugger: &mut dyn Follower<CheckedMemory>,
) -> Result<(), Trap> {
    start(program, grid, resources, memory, scheduler, options, Some(debugger), None)
}

/// The same from where a copy of the same dispatch was made, over memory as it was then.
///
/// # Errors
/// As for [`debug`].
#[allow(clippy::too_many_arguments)]
pub fn debug_from(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    memory: &mut CheckedMemory,
    scheduler: &mut dyn Scheduler,
    options: &ModelledOptions<'_>,
    debugger: &mut dyn Follower<CheckedMemory>,
    from: &Snapshot,
) -> Result<(), Trap> {
    start(program, grid, resources, memory, scheduler, options, Some(debugger), Some(from))
}

impl<M: MemorySystem> Run<'_, M> {
    /// Goes on where a copy was made.
    pub(super) fn restore(&mut self, from: &Snapshot) {
        self.residents.clone_from(&from.residents);
        self.units.clone_from(&from.units);
        self.slots.clone_from(&from.slots);
        self.pool.clone_from(&from.pool);
        self.next_workgroup = from.next_workgroup;
        self.window = from.window;
        self.watch.clone_from(&from.watch);
        self.observing = from.observing;
        self.stuck = from.stuck;
        self.steps = from.steps;
        self.spinning = from.spinning.clone();
        self.scheduler.restore(&*from.scheduler);
    }

    /// Gives the debugger a copy if it wants one.
    pub(super) fn between_turns(&mut self) -> Result<(), Trap> {
        let Some(debugger) = &mut self.debugger else { return Ok(()) };
        let (residents, next) = (&self.residents, self.next_workgroup);
        let ended = |workgroup| has_ended(residents, next, workgroup);
        if !debugger.wants_copy(self.steps, &ended)? {
            return Ok(());
        }
        let Some(scheduler) = self.scheduler.state() else { return Ok(()) };
        let execution = Snapshot {
            residents: self.residents.clone(),
            units: self.units.clone(),
            slots: self.slots.clone(),
            pool: self.pool.clone(),
            next_workgroup: self.next_workgroup,
            window: self.window,
            watch: self.watch.clone(),
            observing: self.observing,
            stuck: self.stuck,
            steps: self.steps,
            spinning: self.spinning.clone(),
            scheduler,
        };
        debugger.keep(execution, self.memory);
        Ok(())
    }

    /// Whether the debugger wants to see the next turn of unit `k`.
    pub(super) fn is_followed(&mut self, k: usize) -> bool {
        let (turn, unit) = (self.steps, &self.units[k]);
        self.debugger.as_mut().is_some_and(|debugger| debugger.follows(turn, unit))
    }

    /// Runs a unit as far as [`super::super::entry::run`] would, one instruction after the other.
    pub(super) fn followed(&mut self, (r, s, n): Slot) -> Result<Step, Trap> {
        let (context, turn) = (self.context, self.steps);
        let program = context.program;
        let control = Control { alone: false, every: false };
        let strand = &mut self.residents[r].subgroups[s].1[n].strand;
        let (fuel, mut granted) = (strand.fuel, strand.granted);
        let mut index = 0;
        let step = loop {
            let member = &self.residents[r].subgroups[s].1[n];
            if member.watch.as_ref().is_some_and(|watch| watch.is_over()) {
                break Step::OutOfFuel;
            }
            if visible(program, member.strand.pc) && !std::mem::take(&mut granted) {
                break Step::Yielded;
            }
            if let Some(debugger) = &mut self.debugger {
                let residents = &mut self.residents[..];
                let memory = &mut *self.memory;
                let mut moment = Moment { context, residents, slot: (r, s, n), memory, turn, index };
                debugger.before(&mut moment)?;
            }
            index += 1;
            let member = &mut self.residents[r].subgroups[s].1[n];
            if let Some(watch) = &mut member.watch {
                let live = self.live_registers.get_or_insert_with(|| Live::new(program));
                watch.before(context, live, &member.strand);
                member.strand.fuel = u32::MAX;
            }
            match run_next(context, &mut member.strand, self.memory, &control)? {
                Step::Yielded => {}
                step => break step,
            }
        };
        let member = &mut self.residents[r].subgroups[s].1[n];
        member.strand.granted = false;
        if member.watch.is_some() {
            member.strand.fuel = fuel;
        }
        Ok(step)
    }
}
