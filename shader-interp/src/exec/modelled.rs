//! Dispatches over a modelled memory system: one host thread, every visible operation a scheduling point.

use crate::code::Program;
use crate::interface::{Grid, Resources};
use pellucid_memory::access::Site;
use pellucid_memory::system::{Mask, MemorySystem, Trap};

/// A schedulable unit: the lanes of one strand of a subgroup, stopped before a visible operation (or at their start).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Linear workgroup number.
    pub workgroup: u32,
    /// `SubgroupId`.
    pub subgroup: u32,
    /// Strand of the subgroup, 0 unless it diverged for good.
    pub strand: u32,
    /// Visible operations that the unit has executed.
    pub step: u64,
    /// The visible operation that it executes next; `Site(0)` at its start.
    pub next: Site,
    /// Its lanes.
    pub mask: Mask,
}

/// Who runs next.
pub trait Scheduler {
    /// An index into `runnable`, which is never empty and sorted by workgroup, subgroup, strand.
    fn pick(&mut self, runnable: &[Unit]) -> usize;

    /// Lanes `mask` of a subgroup reached the workgroup barrier at `site` while its lanes `missing`, alive, did not.
    fn barrier_divergence(&mut self, site: Site, workgroup: u32, subgroup: u32, mask: Mask, missing: Mask) {
        let _ = (site, workgroup, subgroup, mask, missing);
    }

    /// No unit can make progress: all of `waiting` repeat the same reads. [`Trap::Livelock`] follows.
    fn livelock(&mut self, waiting: &[Unit]) {
        let _ = waiting;
    }
}

/// The default scheduler: fair, and a function of the seed alone.
#[derive(Clone, Copy, Debug)]
pub struct SeededScheduler {
    seed: u64,
    turn: u64,
}

impl SeededScheduler {
    /// The schedule of `seed`.
    pub fn new(seed: u64) -> SeededScheduler {
        SeededScheduler { seed, turn: 0 }
    }
}

impl Scheduler for SeededScheduler {
    fn pick(&mut self, runnable: &[Unit]) -> usize {
        self.turn += 1;
        ((self.seed ^ self.turn) % runnable.len() as u64) as usize
    }
}

/// How a modelled dispatch runs.
#[derive(Clone, Copy, Debug)]
pub struct ModelledOptions<'a> {
    /// Workgroups that are resident at once, at least 1.
    pub window: usize,
    /// Visible operations in a row that may change nothing before [`Trap::Livelock`].
    pub patience: u64,
    /// Loop back-edges that one subgroup may take before [`Trap::Watchdog`]; `None`: no limit.
    pub watchdog: Option<u64>,
    /// Ends the dispatch with [`Trap::Stopped`] soon after it becomes true.
    pub stop: Option<&'a std::sync::atomic::AtomicBool>,
}

impl Default for ModelledOptions<'_> {
    fn default() -> Self {
        ModelledOptions { window: 8, patience: 1 << 20, watchdog: None, stop: None }
    }
}

/// Runs all workgroups of `grid` over `memory` in the order that `scheduler` chooses. Deterministic: depends on its arguments alone.
///
/// # Errors
/// The first trap.
pub fn dispatch<M: MemorySystem>(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    memory: &mut M,
    scheduler: &mut dyn Scheduler,
    options: &ModelledOptions<'_>,
) -> Result<(), Trap> {
    let _ = (program, grid, resources, memory, scheduler, options);
    Err(Trap::NotImplemented("modelled dispatch".into()))
}
