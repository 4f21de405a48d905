//! Dispatches over a modelled memory system: one host thread, every visible operation a scheduling point.
//!
//! Some workgroups are resident at a time. Their strands are *units*; a [`Scheduler`] picks the unit that
//! runs, up to and without its next visible operation (atomics, barriers, availability and visibility
//! operations). Everything is a function of the arguments: the order of units, the choice of the default
//! scheduler and the memory system's answers depend on no host thread, address or hash order.

pub mod debugged;
mod livelock;
mod resident;

use self::debugged::{Follower, Snapshot};
use self::livelock::Told;
use self::resident::{Member, Resident, Slot, Subgroup};
use super::context::Context;
pub use super::divergence::{Absent, BarrierDivergence, Went};
use super::divergence::{on_arrival, on_completion};
use super::entry::run;
pub use super::granularity::Granularity;
use super::granularity::stop_at;
use super::level::{Level, has_one_loop};
use super::limits::Limits;
use super::prints::PrintLog;
use super::run::Control;
pub use super::scheduler::{Scheduler, SeededScheduler, Unit};
use super::spin::{Did, SpinWatch, WatchResult};
use super::strand::{Step, StrandPool, merge_at_barriers};
use super::turns::{Live, Spinning};
use super::waiting::{self, Reason, Waiting, loop_site, operand, site_at};
use crate::code::Program;
use crate::interface::{Grid, Resources};
use crate::tier::Tier;
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::system::{MemorySystem, Observed, Trap};

/// How a modelled dispatch runs.
#[derive(Clone, Copy, Debug)]
pub struct ModelledOptions<'a> {
    /// Workgroups that are resident at once, at least 1.
    pub window: usize,
    /// Where those make no progress, others become resident: no workgroup waits for one that cannot start.
    pub widen: bool,
    /// Visible operations in a row of each unit that change nothing, after which it is watched: when all
    /// units that run repeat themselves exactly, [`Trap::Livelock`] follows. More than the staleness budget,
    /// so that readers have seen the newest values by then.
    pub spin: u64,
    /// Visible operations in a row that may change nothing, whatever units count meanwhile, before
    /// [`Trap::Livelock`].
    pub patience: u64,
    /// Visible operations in a row that may change memory, while all units do nothing but wait in loops,
    /// before [`Trap::Livelock`]; `None`: no limit.
    pub spins: Option<u64>,
    /// Turns of loops that one subgroup may take before [`Trap::Watchdog`]; `None`: no limit. A visible
    /// operation counts as 64, and all subgroups together may take 16 times as many without any that ends.
    pub watchdog: Option<u64>,
    /// The watchdog counts the turns of one subgroup's loops alone.
    pub own_turns: bool,
    /// Ends the dispatch with [`Trap::Stopped`] soon after it becomes true.
    pub stop: Option<&'a std::sync::atomic::AtomicBool>,
    /// What a step is.
    pub granularity: Granularity,
    /// Steps after which [`Scheduler::judged`] is told what memory judges at once, and not when the dispatch
    /// has ended.
    pub tell_after: Option<u64>,
    /// Where DebugPrintf goes; `None`: nowhere.
    pub prints: Option<&'a PrintLog>,
    /// Which tier runs what lies between accesses. No result depends on it.
    pub tier: Tier,
}

impl Default for ModelledOptions<'_> {
    fn default() -> Self {
        ModelledOptions {
            window: 8,
            widen: true,
            spin: 1 << 10,
            patience: 1 << 24,
            spins: Some(1 << 23),
            watchdog: None,
            own_turns: false,
            stop: None,
            granularity: Granularity::Visible,
            tell_after: None,
            prints: None,
            tier: Tier::Auto,
        }
    }
}

/// Back-edges between looks at the limits.
const FUEL: u32 = 64;
/// Steps of all units between two watches of each, if it is alone; so many more for each unit; at most so
/// many.
const WATCH: u64 = 1 << 17;
const SHARE: u64 = 1 << 15;
const LONGEST: u64 = 1 << 22;
/// Looks, with visible operations in between, after which parked lanes become a unit of their own.
const PATIENCE: u32 = 16;
/// The same where instructions see which lanes are together.
const LONG_PATIENCE: u32 = PATIENCE << 12;

/// What of the list of units a step has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changed {
    Nothing,
    /// The unit that ran cannot run on.
    Gone,
    /// Units of this resident.
    Resident(usize),
    /// This resident has ended; those behind it have moved up.
    Ended(usize),
    All,
}

struct Run<'a, M: MemorySystem> {
    context: &'a Context<'a>,
    level: Level,
    memory: &'a mut M,
    scheduler: &'a mut dyn Scheduler,
    options: &'a ModelledOptions<'a>,
    limits: Limits<'a>,
    residents: Vec<Resident>,
    units: Vec<Unit>,
    slots: Vec<Slot>,
    pool: StrandPool,
    /// The lists of workgroups that have ended: those of strands are empty.
    spare: Vec<Vec<Subgroup>>,
    next_workgroup: u64,
    total: u64,
    window: usize,
    watch: SpinWatch,
    /// Memory tells what happens to it.
    observing: bool,
    /// Units may do nothing else any more.
    stuck: bool,
    steps: u64,
    /// Turns of loops of all subgroups since one has ended, as the watchdog counts.
    unended: u64,
    live_registers: Option<Live>,
    spinning: Spinning,
    /// Of the turns that are taken to be told.
    telling: Option<Told>,
    debugger: Option<&'a mut dyn Follower<M>>,
}

/// Runs all workgroups of `grid` over `memory` in the order that `scheduler` chooses. Deterministic: depends
/// on its arguments alone. Compiled here, once for all who execute under the memory model.
///
/// # Errors
/// The first trap.
pub fn dispatch(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    memory: &mut CheckedMemory,
    scheduler: &mut dyn Scheduler,
    options: &ModelledOptions<'_>,
) -> Result<(), Trap> {
    dispatch_over(program, grid, resources, memory, scheduler, options)
}

/// [`dispatch`] over another memory system: the executor is compiled for it where this is called.
///
/// # Errors
/// The first trap.
pub fn dispatch_over<M: MemorySystem>(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    memory: &mut M,
    scheduler: &mut dyn Scheduler,
    options: &ModelledOptions<'_>,
) -> Result<(), Trap> {
    start(program, grid, resources, memory, scheduler, options, None, None)
}

#[allow(clippy::too_many_arguments)]
fn start<M: MemorySystem>(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    memory: &mut M,
    scheduler: &mut dyn Scheduler,
    options: &ModelledOptions<'_>,
    debugger: Option<&mut dyn Follower<M>>,
    from: Option<&Snapshot>,
) -> Result<(), Trap> {
    if program.modelled != M::MODELLED {
        return Err(Trap::NotImplemented("code of one mode over a memory system of the other".into()));
    }
    let mut context = Context::new(program, grid, resources);
    context.prints = options.prints;
    // Both tiers have to compute with the same instruction set: a NaN's bits tell it.
    if !has_one_loop::<M>() && debugger.is_none() {
        context.tier = options.tier;
        context.progress.add(&context, 0);
    }
    let total = context.launch.workgroups()?;
    let size: u32 = program.shader.local_size.iter().product();
    if M::MODELLED && total.saturating_mul(u64::from(size)) > u64::from(u32::MAX) {
        let gap = format!("a checked dispatch of {total} workgroups of {size} invocations");
        return Err(Trap::NotImplemented(gap));
    }
    let mut run = Run {
        context: &context,
        level: Level::detect(),
        memory,
        scheduler,
        options,
        limits: Limits {
            watchdog: options.watchdog,
            own_turns: options.own_turns,
            stop: options.stop,
            ..Limits::default()
        },
        residents: Vec::new(),
        units: Vec::new(),
        slots: Vec::new(),
        pool: StrandPool::default(),
        spare: Vec::new(),
        next_workgroup: 0,
        total,
        window: options.window.max(1),
        watch: SpinWatch::default(),
        observing: false,
        stuck: false,
        steps: 0,
        unended: 0,
        live_registers: None,
        spinning: Spinning::default(),
        telling: None,
        debugger: match debugger {
            Some(debugger) => Some(debugger),
            None => None,
        },
    };
    match from {
        Some(execution) => run.restore(execution),
        None => run.begin(),
    }
    run.all()
}

impl<M: MemorySystem> Run<'_, M> {
    fn begin(&mut self) {
        self.scheduler.begin();
        self.admit();
        self.list();
    }

    fn all(&mut self) -> Result<(), Trap> {
        let mut before_telling = self.options.tell_after.unwrap_or(u64::MAX);
        while !self.residents.is_empty() {
            if self.debugger.is_some() {
                self.between_turns()?;
            }
            if before_telling > 0 {
                before_telling -= 1;
            } else {
                self.scheduler.findings(self.memory.new_findings())?;
            }
            if self.units.is_empty() {
                // All strands wait at barriers that cannot complete: complete() is called whenever one
                // arrives.
                return Err(self.livelock());
            }
            let k = match self.pick() {
                Ok(k) => k,
                Err(Trap::Livelock) => return Err(self.livelock()),
                Err(end) => return Err(end),
            };
            let changed = self.step(k)?;
            self.relist(k, changed);
            if self.stuck || self.watch.idle() > self.options.patience || self.spins() {
                if self.part() {
                    // Lanes that the running ones may wait for become units at the next back-edge.
                } else if self.options.widen && self.next_workgroup < self.total {
                    self.window *= 2;
                    self.admit();
                    self.list();
                } else {
                    return Err(self.livelock());
                }
                self.watch.changed();
                self.spinning.progress();
                self.stuck = false;
            }
        }
        Ok(())
    }

    /// The unit that runs next.
    #[inline(always)]
    fn pick(&mut self) -> Result<usize, Trap> {
        let forced = self.units.len() == 1 && !self.options.granularity.fine();
        let k = if forced { 0 } else { self.scheduler.next(&self.units)? };
        Ok(k % self.units.len())
    }

    /// Brings the list of units up to date with what the step of unit `k` has changed.
    #[inline(always)]
    fn relist(&mut self, k: usize, changed: Changed) {
        match changed {
            Changed::Nothing => {}
            Changed::Gone => {
                self.units.remove(k);
                self.slots.remove(k);
            }
            Changed::Resident(r) => self.list_again(r),
            Changed::Ended(r) => {
                self.unlist(r);
                let listed = self.residents.len();
                self.admit();
                (listed..self.residents.len()).for_each(|r| self.list_resident(r));
            }
            Changed::All => {
                self.admit();
                self.list();
            }
        }
    }

    /// Runs unit `k` to its next visible operation.
    fn step(&mut self, k: usize) -> Result<Changed, Trap> {
        let (r, s, n) = self.slots[k];
        let followed = self.is_followed(k);
        let resident = &mut self.residents[r];
        let workgroup = resident.workgroup;
        let (identity, members, _) = &mut resident.subgroups[s];
        self.memory.enter_subgroup(identity);
        let program = self.context.program;
        let fine = self.options.granularity.fine();
        let watched = self.watch.watches() || self.telling.is_some();
        if watched != self.observing {
            self.memory.observe(watched);
            self.observing = watched;
        }
        let member = &mut members[n];
        let (changes, stores) = (member.strand.changes, member.strand.stores);
        if !member.started {
            member.started = true;
            member.watched = (self.steps, self.spinning.looks);
        }
        // A strand that starts passes its first operation, except where every step counts.
        member.strand.granted = !fine || stop_at(program, member.strand.pc).is_some();
        let control = Control { alone: false, every: fine };
        let step = match &mut member.watch {
            _ if followed => self.followed((r, s, n))?,
            None => run(self.level, self.context, &mut member.strand, self.memory, &control)?,
            Some(watch) => {
                let live = self.live_registers.get_or_insert_with(|| Live::new(program));
                watch.follow(self.context, live, &mut member.strand, self.memory, &control)?
            }
        };
        let resident = &mut self.residents[r];
        let (identity, members, turns) = &mut resident.subgroups[s];
        let member = &mut members[n];
        self.steps += 1;
        self.spinning.executed += 1;
        if step == Step::Done {
            self.spinning.progress();
        } else if self.steps >= WATCH && !fine {
            let (last, looks) = member.watched;
            // What all units are slowed down by does not depend on how many they are.
            let period = (WATCH + self.units.len() as u64 * SHARE).min(LONGEST);
            if self.steps - last >= period || looks != self.spinning.looks {
                member.watched = (self.steps, self.spinning.looks);
                member.watch = Some(Box::default());
            }
        }
        if fine {
            // The scheduler sees by itself who repeats what.
        } else {
            let did = Did {
                changed: member.strand.changes != changes || step == Step::Done,
                stored: member.strand.stores != stores,
                arrived: matches!(step, Step::AtBarrier(_)),
            };
            let seen = if watched { self.memory.observed() } else { Observed::default() };
            if let Some(told) = &mut self.telling {
                told.read = seen.read;
            }
            let span = (self.options.spin + 1).saturating_mul(self.units.len() as u64 + 3);
            let who = (workgroup, identity.subgroup, n as u32);
            match self.watch.step(who, &member.strand, did, &seen, span) {
                WatchResult::Goes => {}
                // Where all get their turns, all must come back.
                WatchResult::Begins if self.options.widen => {
                    let units = self.units.iter();
                    units.for_each(|unit| self.watch.expect((unit.workgroup, unit.subgroup, unit.strand)));
                }
                WatchResult::Begins => {}
                WatchResult::Stuck => self.stuck = true,
            }
        }
        // Exploration looks at more of each unit.
        let running = if fine { Changed::All } else { Changed::Nothing };
        match step {
            Step::Yielded => {
                member.next = site_at(self.context.program, member.strand.pc);
                self.units[k].next = member.next;
                self.units[k].step = member.strand.step;
                self.units[k].mask = member.strand.mask;
                self.units[k].priority = self.scheduler.priority(&self.units[k]);
                Ok(running)
            }
            Step::OutOfFuel => {
                if let Some(watch) = member.watch.take_if(|watch| watch.is_over()) {
                    if !watch.waits() {
                        self.spinning.progress();
                    }
                    member.waits = watch.waits().then_some(self.spinning.since);
                    member.read = watch.read().filter(|_| watch.waits());
                    return Ok(running);
                }
                member.strand.fuel = FUEL;
                self.context.progress.add(self.context, self.context.progress.estimate(0, FUEL.into()));
                let accesses =
                    member.strand.step - std::mem::replace(&mut member.steps_at_look, member.strand.step);
                let took = self.limits.turns(FUEL, accesses);
                *turns += took;
                self.unended += took;
                self.limits.check(workgroup, *turns, self.unended).map_err(|trap| match trap {
                    Trap::Watchdog(_) => {
                        let who = (workgroup, identity.subgroup, n as u32);
                        let site = loop_site(program, member.strand.pc);
                        let reason = match operand(self.context, &member.strand) {
                            None if member.waits.is_none() => Reason::Turns,
                            operand => Reason::Repeats(operand),
                        };
                        let waiting = Waiting::new(&member.strand, who, site, reason);
                        waiting::watchdog(self.context, &[waiting], 0)
                    }
                    other => other,
                })?;
                // Only loops that look at shared memory can be waiting for a parked lane.
                member.looks = if accesses > 0 { member.looks + 1 } else { 0 };
                self.units[k].step = member.strand.step;
                self.units[k].mask = member.strand.mask;
                self.units[k].priority = self.scheduler.priority(&self.units[k]);
                let patience = program.shader.convergence.patience(PATIENCE, LONG_PATIENCE);
                if member.looks >= patience || member.part {
                    member.looks = 0;
                    member.part = false;
                    if let Some(other) = member.strand.split(program) {
                        let number = 1 + members.iter().map(|member| member.number).max().unwrap_or(0);
                        members.push(Member { started: true, ..Member::new(other, number) });
                        self.watch.changed();
                        self.stuck = false;
                        return Ok(Changed::Resident(r));
                    }
                }
                Ok(running)
            }
            Step::AtBarrier(barrier) => {
                member.at_barrier = Some(barrier);
                let program = self.context.program;
                member.next = program.barriers[barrier as usize].site;
                if let Some(told) = &mut self.telling {
                    told.barrier = Some(member.next);
                }
                if let Some(found) =
                    on_arrival(program, workgroup, identity.subgroup, barrier, &member.strand)
                {
                    self.scheduler.barrier_divergence(&found);
                }
                Ok(if self.complete(r) { Changed::Resident(r) } else { Changed::Gone })
            }
            Step::Done => {
                self.unended = 0;
                let turns = FUEL - member.strand.fuel.min(FUEL);
                self.context.progress.add(self.context, self.context.progress.estimate(1, turns.into()));
                let member = members.remove(n);
                self.pool.put_back(member.strand);
                let (last, none_left) = (n == members.len(), members.is_empty());
                if none_left && resident.subgroups.iter().all(|(_, members, _)| members.is_empty()) {
                    self.context.end_workgroup(self.memory, workgroup);
                    self.spare.push(self.residents.remove(r).subgroups);
                    Ok(Changed::Ended(r))
                } else if self.complete(r) || !last {
                    Ok(Changed::Resident(r))
                } else {
                    Ok(Changed::Gone)
                }
            }
        }
    }

    /// Completes the barrier of a workgroup if all its strands have arrived (or ended).
    fn complete(&mut self, r: usize) -> bool {
        let resident = &mut self.residents[r];
        let waits = |member: &Member| member.at_barrier.is_some();
        if !resident.subgroups.iter().all(|(_, members, _)| members.iter().all(waits)) {
            return false;
        }
        let subgroups = resident.subgroups.iter().map(|(identity, members, _)| {
            (identity, members.iter().filter_map(|member| Some((&member.strand, member.at_barrier?))))
        });
        if let Some(found) = on_completion(self.context.program, resident.workgroup, subgroups) {
            self.scheduler.barrier_divergence(&found);
        }
        self.memory.barrier_complete(resident.workgroup);
        let merge = self.options.granularity != Granularity::Invocations;
        for (identity, members, _) in &mut resident.subgroups {
            if merge && merge_at_barriers(members, self.context.program, |member| &mut member.strand) {
                self.watch.changed();
            }
            for (k, member) in members.iter_mut().enumerate() {
                member.at_barrier = None;
                self.watch.expect((resident.workgroup, identity.subgroup, k as u32));
            }
        }
        true
    }
}
