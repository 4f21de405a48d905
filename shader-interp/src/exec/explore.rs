//! Exploration of one dispatch: every execution that the memory model allows (load buffering excepted), one
//! after the other.
//!
//! Invocations take turns before every access to memory that others may see; [`pellucid_memory::explore`]
//! decides whose turn it is and what each access does, and leaves out what repeats itself. Device memory is
//! put back after each execution. Where the shader has operations that a subgroup executes together, a
//! subgroup takes its turns as one, and the exploration says so.

use super::modelled::{self, BarrierDivergence, Granularity, ModelledOptions, Scheduler, Unit};
use super::prints::PrintLog;
use super::waiting::{Turn, Waiting};
use crate::code::{Opcode, Program};
use crate::interface::{Grid, Resources};
use crate::tier::Tier;
use pellucid_memory::checked::{CheckedMemory, DispatchInfo};
use pellucid_memory::explore::{Actor, Bounds, Choices, End, Limit, Ready, Search, Shared, Totals};
use pellucid_memory::finding::Finding;
use pellucid_memory::scope::Scope;
use pellucid_memory::system::Trap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Invocations of a dispatch that can be explored.
pub const MOST_INVOCATIONS: u64 = 1024;

/// Which executions of a dispatch are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which<'a> {
    /// Every one, within the limits.
    #[default]
    All,
    /// The first that runs to its end.
    First,
    /// The one that makes these choices.
    Only(&'a Choices),
}

/// How far an exploration goes, and which of its executions are run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExploreOptions<'a> {
    /// How far.
    pub bounds: Bounds,
    /// Which executions.
    pub which: Which<'a>,
    /// Loop back-edges that one subgroup may take in one execution before [`Trap::Watchdog`]; `None`: no
    /// limit.
    pub watchdog: Option<u64>,
    /// Ends the exploration with [`Trap::Stopped`] soon after it becomes true.
    pub stop: Option<&'a AtomicBool>,
    /// No execution begins after it, but the first.
    pub until: Option<Instant>,
    /// No execution begins, but the first, once the exploration cannot be complete any more.
    pub complete: bool,
    /// Where DebugPrintf goes in the execution whose memory stays; `None`: nowhere.
    pub prints: Option<&'a PrintLog>,
}

/// One execution. Memory is as it left it.
#[derive(Clone, Debug)]
pub struct Execution {
    /// What makes it happen again.
    pub choices: Choices,
    /// The trap that ended it, if one did.
    pub outcome: Result<(), Trap>,
    /// What was found in it.
    pub findings: Vec<Finding>,
}

struct Turns<'a, W> {
    search: Shared<Search>,
    ready: Vec<Ready>,
    watch: &'a mut W,
    /// This execution was made before: nobody is told that it begins.
    again: bool,
}

impl<W: Scheduler> Scheduler for Turns<'_, W> {
    fn pick(&mut self, _: &[Unit]) -> usize {
        0
    }

    fn begin(&mut self) {
        if !self.again {
            self.watch.begin();
        }
    }

    fn next(&mut self, runnable: &[Unit]) -> Result<usize, Trap> {
        self.ready.clear();
        self.ready.extend(runnable.iter().map(|unit| Ready {
            actor: Actor { workgroup: unit.workgroup, subgroup: unit.subgroup, part: unit.strand },
            local: unit.local,
            silent: unit.silent,
            parked: unit.parked,
        }));
        let ready = &self.ready;
        match self.search.with(|search| search.next(ready).ok_or(search.ending())) {
            Ok(unit) => Ok(unit),
            Err(End::Livelock) => Err(Trap::Livelock),
            Err(_) => Err(Trap::Stopped("this execution need not be followed further".into())),
        }
    }

    fn barrier_divergence(&mut self, divergence: &BarrierDivergence) {
        self.watch.barrier_divergence(divergence);
    }

    fn livelock(&mut self, waiting: &[Waiting], outside: u64, turns: &[Turn]) {
        self.watch.livelock(waiting, outside, turns);
    }
}

/// Whether a subgroup executes something together.
fn converges(program: &Program) -> bool {
    let together = |op: Opcode| {
        matches!(
            op,
            Opcode::Elect
                | Opcode::VoteAll
                | Opcode::VoteAny
                | Opcode::VoteEqualMask
                | Opcode::VoteEqual
                | Opcode::VoteEqualFloat
                | Opcode::VoteEqual64
                | Opcode::Ballot
                | Opcode::Shuffle
                | Opcode::BroadcastFirst
                | Opcode::QuadSwap
                | Opcode::Group
                | Opcode::Group64
                | Opcode::GroupMask
                | Opcode::MatrixMulAdd
        )
    };
    program.subgroup_size > 1
        && (program.code.iter().any(|inst| together(inst.op))
            || program.barriers.iter().any(|barrier| barrier.execution == Some(Scope::Subgroup)))
}

/// Explores a dispatch and calls `each` for every execution that ran to its end, with `watch`, which is told
/// of diverged barriers and livelocks as they happen, and of every execution that begins, once. A `Break`
/// from `each` ends the exploration.
///
/// Afterwards memory is that of the first execution that ended without a trap (or as before, if none did),
/// which is still the present dispatch of `memory`: call [`CheckedMemory::end_dispatch`]. `info` is what
/// [`CheckedMemory::begin_dispatch`] takes.
///
/// # Errors
/// A dispatch that cannot be explored ([`Trap::NotImplemented`]); [`Trap::Stopped`]. Traps of executions are
/// told to `each` only.
pub fn explore<W: Scheduler>(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    memory: &mut CheckedMemory,
    info: &DispatchInfo,
    watch: &mut W,
    options: &ExploreOptions<'_>,
    each: &mut dyn FnMut(Execution, &mut W) -> ControlFlow<()>,
) -> Result<Totals, Trap> {
    let per_group: u64 = program.shader.local_size.iter().map(|n| u64::from(*n)).product();
    let groups: u64 = grid.groups.iter().map(|n| u64::from(*n)).product();
    let invocations = groups.saturating_mul(per_group);
    if invocations > MOST_INVOCATIONS {
        let gap =
            format!("explore mode: a dispatch of {invocations} invocations (at most {MOST_INVOCATIONS})");
        return Err(Trap::NotImplemented(gap));
    }
    let together = converges(program);
    let modelled = ModelledOptions {
        window: groups as usize,
        watchdog: options.watchdog,
        stop: options.stop,
        granularity: if together { Granularity::Accesses } else { Granularity::Invocations },
        tier: Tier::Interpreter,
        ..ModelledOptions::default()
    };
    let search = Shared::new(match options.which {
        Which::Only(choices) => Search::replay(choices, options.bounds),
        Which::All | Which::First => Search::new(options.bounds),
    });
    if together && per_group > 1 {
        search.with(|search| search.limit(Limit::Subgroups));
    }
    let mut kept: Option<Choices> = None;
    let mut begun = false;
    while search.with(Search::begin) {
        if begun && options.until.is_some_and(|until| Instant::now() >= until) {
            search.with(|search| search.limit(Limit::Time));
            break;
        }
        if begun && options.complete && search.with(|search| !search.totals().complete()) {
            break;
        }
        begun = true;
        let mut turns = Turns { search: search.clone(), ready: Vec::new(), watch: &mut *watch, again: false };
        let outcome = run(program, grid, resources, memory, info, &mut turns, &modelled);
        if let Err(gap @ Trap::NotImplemented(_)) = outcome {
            end(memory, false);
            return Err(gap);
        }
        let stopped = options.stop.is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed));
        let (ending, choices) = search.with(|search| (search.end(outcome.is_err()), search.choices()));
        let counts = matches!(ending, End::Ran | End::Livelock) && !stopped;
        let findings = memory.end_execution(counts);
        let mut flow = ControlFlow::Continue(());
        if counts {
            if outcome.is_ok() {
                kept.get_or_insert_with(|| choices.clone());
            }
            flow = each(Execution { choices, outcome, findings }, watch);
        }
        memory.rewind();
        if stopped {
            memory.explore_with(None);
            return Err(Trap::Stopped("the host asked for it".into()));
        }
        if flow.is_break() || (counts && options.which == Which::First) {
            break;
        }
    }
    let totals = search.with(|search| search.totals().clone());
    let Some(choices) = kept else {
        memory.explore_with(None);
        memory.begin_dispatch(info.clone());
        return Ok(totals);
    };
    // Once more, to leave its memory.
    let again = Shared::new(Search::replay(&choices, options.bounds));
    again.with(Search::begin);
    let modelled = ModelledOptions { prints: options.prints, ..modelled };
    let mut turns = Turns { search: again, ready: Vec::new(), watch, again: true };
    let outcome = run(program, grid, resources, memory, info, &mut turns, &modelled);
    memory.explore_with(None);
    outcome.map(|()| totals)
}

fn end(memory: &mut CheckedMemory, counts: bool) {
    memory.end_execution(counts);
    memory.rewind();
    memory.explore_with(None);
}

fn run<W: Scheduler>(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    memory: &mut CheckedMemory,
    info: &DispatchInfo,
    turns: &mut Turns<'_, W>,
    options: &ModelledOptions<'_>,
) -> Result<(), Trap> {
    memory.begin_dispatch(info.clone());
    memory.explore_with(Some(Box::new(turns.search.clone())));
    modelled::dispatch(program, grid, resources, memory, turns, options)
}
