//! Who runs next in a modelled dispatch: units, and the schedulers that pick among them.

use super::divergence::BarrierDivergence;
use super::waiting::{Turn, Waiting};
use pellucid_memory::access::Site;
use pellucid_memory::finding::Finding;
use pellucid_memory::random::mix;
use pellucid_memory::system::{Mask, Trap};
use std::any::Any;
use std::sync::Arc;

/// A schedulable unit: the lanes of one strand of a subgroup, stopped before a visible operation (or at their
/// start).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Linear workgroup number.
    pub workgroup: u32,
    /// `SubgroupId`.
    pub subgroup: u32,
    /// Strand of the subgroup, 0 unless it diverged for good.
    pub strand: u32,
    /// Visible operations that the unit has executed.
    pub step: u64,
    /// What [`Scheduler::priority`] said of it at this step.
    pub priority: u64,
    /// The visible operation that it executes next; `Site(0)` at its start.
    pub next: Site,
    /// Its running lanes.
    pub mask: Mask,
    /// [`Granularity::Accesses`] and finer: its next step accesses no memory that others see.
    pub silent: bool,
    /// [`Granularity::Accesses`] and finer: lanes of it are parked, for the running ones to leave a loop or a
    /// branch.
    pub parked: bool,
    /// [`Granularity::Accesses`] and finer: a digest of what its further execution depends on, memory
    /// excepted.
    pub local: u64,
}

/// Who runs next.
pub trait Scheduler {
    /// An index into `runnable`, which is never empty and sorted by workgroup, subgroup, strand. (Larger
    /// values count modulo its length.)
    fn pick(&mut self, runnable: &[Unit]) -> usize;

    /// A number to choose by. It is asked for once at each step of a unit, all other fields of which are
    /// known by then.
    fn priority(&self, unit: &Unit) -> u64 {
        let _ = unit;
        0
    }

    /// A dispatch begins.
    fn begin(&mut self) {}

    /// The same as `pick` for a scheduler that may end the dispatch.
    ///
    /// # Errors
    /// What ends it.
    fn next(&mut self, runnable: &[Unit]) -> Result<usize, Trap> {
        Ok(self.pick(runnable))
    }

    /// A workgroup barrier was not reached by all invocations of a workgroup.
    fn barrier_divergence(&mut self, divergence: &BarrierDivergence) {
        let _ = divergence;
    }

    /// What memory has judged, as soon as it has where [`super::modelled::ModelledOptions::tell_after`] says
    /// so. The scheduler may have something to tell, too.
    ///
    /// # Errors
    /// What ends the dispatch.
    fn findings(&mut self, findings: Vec<Finding>) -> Result<(), Trap> {
        let _ = findings;
        Ok(())
    }

    /// What it would choose by from here on, for [`Scheduler::restore`]; `None`: that cannot be kept.
    fn state(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// From now on it chooses as where this was its state.
    fn restore(&mut self, state: &dyn Any) {
        let _ = state;
    }

    /// Whether anybody is told of a livelock's last turns: then [`Scheduler::livelock`] has some.
    fn tells_livelocks(&self) -> bool {
        false
    }

    /// No unit makes progress any more, for the reasons that `waiting` tells; `outside` workgroups are not
    /// resident. `turns` are some more that were taken then, in this order. [`Trap::Livelock`] follows.
    fn livelock(&mut self, waiting: &[Waiting], outside: u64, turns: &[Turn]) {
        let _ = (waiting, outside, turns);
    }
}

/// The default scheduler: a function of the seed and of what the units have done, and fair: no unit waits for
/// ever. By the seed, units change after each step or run for a while.
#[derive(Clone, Debug)]
pub struct SeededScheduler {
    seed: u64,
    turn: u64,
    /// For how many steps a unit keeps its priority: a power of two, as its logarithm.
    stretch: u32,
}

/// What [`SeededScheduler`] chooses among for its stretches.
const STRETCHES: [u32; 8] = [0, 0, 0, 0, 0, 0, 1, 4];

impl SeededScheduler {
    /// The schedule of `seed`.
    pub fn new(seed: u64) -> SeededScheduler {
        SeededScheduler { seed, turn: 0, stretch: STRETCHES[(mix(!seed) % STRETCHES.len() as u64) as usize] }
    }

    /// The schedule of `seed` in which units keep their priorities for ever: whoever has the highest runs on.
    pub fn steady(seed: u64) -> SeededScheduler {
        SeededScheduler { stretch: u64::BITS - 1, ..SeededScheduler::new(seed) }
    }
}

impl Scheduler for SeededScheduler {
    fn pick(&mut self, runnable: &[Unit]) -> usize {
        self.turn += 1;
        if self.turn.is_multiple_of(8) {
            // Every eighth turn goes round: fairness.
            return (self.turn / 8 % runnable.len() as u64) as usize;
        }
        (0..runnable.len()).max_by_key(|k| runnable[*k].priority).unwrap_or(0)
    }

    fn priority(&self, unit: &Unit) -> u64 {
        let who = u64::from(unit.workgroup) << 32 | u64::from(unit.subgroup) << 8 | u64::from(unit.strand);
        mix(self.seed ^ mix(who ^ mix(unit.step >> self.stretch)))
    }
}
