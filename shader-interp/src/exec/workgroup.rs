//! Workgroups of the plain mode: subgroups one after another, in phases between barriers.

use super::context::Context;
use super::entry::{Ran, run, run_each};
use super::level::Level;
use super::limits::Limits;
use super::run::Control;
use super::strand::{Step, Strand, StrandPool, merge_at_barriers};
use super::turns::{Live, Spinning, Watch};
use super::waiting::{self, Operand, Reason, Waiting, loop_site};
use crate::tier::Tier;
use pellucid_memory::access::Site;
use pellucid_memory::system::{MemorySystem, Trap};

/// Back-edges between looks at the limits.
const FUEL: u32 = 1 << 12;
/// Looks in a row after which another subgroup runs.
const SLICE: usize = 16;
/// Looks after which parked lanes become a strand of their own.
const PATIENCE: u32 = 1 << 8;
/// The same where instructions see which lanes are together.
const LONG_PATIENCE: u32 = PATIENCE << 6;
/// Looks after which another workgroup runs.
const TURN: u32 = 1 << 7;
/// The same for one that has had a turn: most that need several wait for others.
const NEXT_TURN: u32 = 16;

/// Turns of a loop that take as long as a read-modify-write of a subgroup.
const ATOMIC: u64 = 16;
/// Instructions between two times that the program is told of them.
const TELL: u64 = 1 << 14;
/// Looks of a host thread between two watches of each strand.
const WATCH: u64 = 1 << 9;

/// The state of one host thread: register files are used again for every workgroup.
pub(crate) struct Worker {
    level: Level,
    pool: StrandPool,
    live: Vec<Subgroup>,
    workgroup: u32,
    /// Looks left of the workgroup's turn.
    turn: u32,
    /// Looks so far.
    looks: u64,
    live_registers: Option<Live>,
    /// Instructions, about, that the program has not been told of.
    executed: u64,
    /// Turns of loops of all subgroups since one has ended, as the watchdog counts.
    unended: u64,
    pub spinning: Spinning,
}

/// A workgroup that has begun and has not ended.
pub(crate) struct Running {
    pub workgroup: u32,
    live: Vec<Subgroup>,
}

struct Subgroup {
    number: u32,
    members: Vec<Member>,
    /// Turns of loops so far, as the watchdog counts.
    turns: u64,
    looks: u32,
}

struct Member {
    strand: Strand,
    at_barrier: bool,
    watch: Option<Box<Watch>>,
    /// When it was watched last, or started: looks of the host thread, and [`Spinning::looks`].
    watched: (u64, u32),
    /// Read-modify-writes so far, when it was last looked at.
    changes: u64,
    /// The time since which it is known to wait in a loop; see [`Spinning::since`].
    waits: Option<u64>,
    /// What for, as far as it is known.
    read: Option<(Site, Operand)>,
}

impl Running {
    /// Whether all strands wait in loops, or for such at barriers.
    pub fn waits(&self, context: &Context<'_>, spinning: &Spinning) -> bool {
        let parks = context.program.parks as usize;
        self.live.iter().flat_map(|subgroup| &subgroup.members).all(|member| {
            member.at_barrier || (member.waits == Some(spinning.since) && !member.strand.has_parked(parks))
        })
    }

    /// Who waits for what.
    pub fn waiting(&self, context: &Context<'_>) -> impl Iterator<Item = Waiting> {
        self.live.iter().flat_map(move |subgroup| {
            let waits = (0..).zip(&subgroup.members);
            waits.map(move |(k, member)| member.waiting(context, (self.workgroup, subgroup.number, k)))
        })
    }
}

impl Member {
    fn new(strand: Strand) -> Member {
        let changes = strand.changes;
        Member { strand, at_barrier: false, watch: None, watched: (0, 0), changes, waits: None, read: None }
    }

    fn waiting(&self, context: &Context<'_>, who: (u32, u32, u32)) -> Waiting {
        let strand = &self.strand;
        let (next, reason) = match self.read.filter(|_| !self.at_barrier) {
            Some((site, operand)) => (site, Reason::Repeats(Some(operand))),
            None if self.at_barrier => (loop_site(context.program, strand.pc - 1), Reason::Barrier),
            None if self.waits.is_some() => (loop_site(context.program, strand.pc), Reason::Repeats(None)),
            None => (loop_site(context.program, strand.pc), Reason::Turns),
        };
        Waiting::new(strand, who, next, reason)
    }
}

enum Outcome {
    Done,
    AtBarrier,
    Suspended,
}

impl Worker {
    #[inline(always)]
    pub fn new() -> Worker {
        Worker {
            level: Level::detect(),
            pool: StrandPool::default(),
            live: Vec::new(),
            workgroup: 0,
            turn: TURN,
            looks: 0,
            live_registers: None,
            executed: 0,
            unended: 0,
            spinning: Spinning::default(),
        }
    }

    /// Tells the program what was executed of it.
    #[inline(always)]
    pub fn tell_executed(&mut self, context: &Context<'_>) {
        if context.tier == Tier::Auto && self.executed > 0 {
            let executed = std::mem::take(&mut self.executed);
            context.progress.add(context, executed);
        }
    }

    /// Runs one workgroup to its end, or for a turn; what is left of it then.
    pub fn workgroup<M: MemorySystem>(
        &mut self,
        context: &Context<'_>,
        memory: &mut M,
        workgroup: u32,
        limits: &Limits<'_>,
    ) -> Result<Option<Running>, Trap> {
        (self.workgroup, self.turn) = (workgroup, TURN);
        if self.executed > TELL {
            self.tell_executed(context);
        }
        self.live.clear();
        context.begin_workgroup(memory, workgroup);
        let which = context.launch.workgroup(workgroup);
        let subgroups = context.launch.subgroups();
        let control = Control { alone: subgroups == 1, every: false };
        let mut next = 0;
        while next < subgroups {
            let (first, strand) = (next, self.pool.ready(context));
            let Ran { last: subgroup, turns, step } =
                run_each(self.level, context, strand, memory, &control, (which, first..subgroups, FUEL));
            next = subgroup + 1;
            if !M::MODELLED {
                self.executed += context.progress.estimate(u64::from(next - first), turns);
            }
            match step {
                // It stays where the next one starts.
                Ok(Step::Done) => {}
                Err(trap) => {
                    // Its lanes may be parked.
                    self.pool.take();
                    return Err(*trap);
                }
                Ok(step) => {
                    let strand = self.pool.take();
                    let at_barrier = matches!(step, Step::AtBarrier(_));
                    let watched = (self.looks / WATCH, self.spinning.looks);
                    let member = Member { at_barrier, watched, ..Member::new(strand) };
                    let mut subgroup =
                        Subgroup { number: subgroup, members: vec![member], turns: 0, looks: 0 };
                    let outcome = if at_barrier {
                        Outcome::AtBarrier
                    } else {
                        self.resume(context, memory, &mut subgroup, limits)?
                    };
                    if !matches!(outcome, Outcome::Done) {
                        self.live.push(subgroup);
                    }
                }
            }
        }
        if self.phases(context, memory, workgroup, limits)? {
            return Ok(None);
        }
        Ok(Some(Running { workgroup, live: std::mem::take(&mut self.live) }))
    }

    /// Runs what is left of a workgroup for another turn. Whether it has ended.
    pub fn go_on<M: MemorySystem>(
        &mut self,
        context: &Context<'_>,
        memory: &mut M,
        running: &mut Running,
        limits: &Limits<'_>,
    ) -> Result<bool, Trap> {
        (self.workgroup, self.turn) = (running.workgroup, NEXT_TURN);
        std::mem::swap(&mut self.live, &mut running.live);
        let ended = self.phases(context, memory, running.workgroup, limits);
        std::mem::swap(&mut self.live, &mut running.live);
        ended
    }

    /// Runs the live subgroups, from barrier to barrier, to the workgroup's end (true) or that of its turn.
    fn phases<M: MemorySystem>(
        &mut self,
        context: &Context<'_>,
        memory: &mut M,
        workgroup: u32,
        limits: &Limits<'_>,
    ) -> Result<bool, Trap> {
        while !self.live.is_empty() {
            if self.turn == 0 {
                return Ok(false);
            }
            if self.live.iter().all(|s| s.members.iter().all(|member| member.at_barrier)) {
                memory.barrier_complete(workgroup);
                self.live
                    .iter_mut()
                    .for_each(|s| s.members.iter_mut().for_each(|member| member.at_barrier = false));
            }
            let mut live = std::mem::take(&mut self.live);
            let mut k = 0;
            while k < live.len() {
                match self.resume(context, memory, &mut live[k], limits)? {
                    Outcome::Done => {
                        live.remove(k);
                    }
                    Outcome::AtBarrier | Outcome::Suspended => k += 1,
                }
            }
            self.live = live;
        }
        context.end_workgroup(memory, workgroup);
        Ok(true)
    }

    /// Runs the strands of a subgroup in turn until all stand at a barrier or have ended, or others should
    /// run.
    fn resume<M: MemorySystem>(
        &mut self,
        context: &Context<'_>,
        memory: &mut M,
        subgroup: &mut Subgroup,
        limits: &Limits<'_>,
    ) -> Result<Outcome, Trap> {
        let control =
            Control { alone: context.launch.subgroups() == 1 && subgroup.members.len() == 1, every: false };
        for look in 0.. {
            let count = subgroup.members.len();
            let first = if count > 1 { look % count } else { 0 };
            let Some(k) = (first..count).chain(0..first).find(|k| !subgroup.members[*k].at_barrier) else {
                break;
            };
            if look >= SLICE {
                return Ok(Outcome::Suspended);
            }
            let member = &mut subgroup.members[k];
            // Only what has run out is filled up: a loop with a barrier in it uses up its fuel, too.
            if member.strand.fuel == 0 {
                member.strand.fuel = FUEL;
            }
            let fuel = member.strand.fuel;
            let step = match &mut member.watch {
                None => run(self.level, context, &mut member.strand, memory, &control)?,
                Some(watch) => {
                    let live = self.live_registers.get_or_insert_with(|| Live::new(context.program));
                    watch.follow(context, live, &mut member.strand, memory, &control)?
                }
            };
            if !M::MODELLED {
                // A strand comes from barrier to barrier without running out of fuel.
                let turns = fuel.saturating_sub(member.strand.fuel);
                self.executed += context.progress.estimate(0, u64::from(turns) + 1);
            }
            match step {
                Step::Done => {
                    let member = subgroup.members.remove(k);
                    self.pool.put_back(member.strand);
                    self.spinning.progress();
                    self.unended = 0;
                }
                Step::AtBarrier(_) => {
                    member.at_barrier = true;
                    if count == 1 {
                        return Ok(Outcome::AtBarrier);
                    }
                }
                Step::Yielded => {}
                Step::OutOfFuel if member.watch.is_some() => {
                    let watch = member.watch.take().filter(|watch| watch.waits());
                    if watch.is_none() {
                        self.spinning.progress();
                    }
                    member.waits = watch.is_some().then_some(self.spinning.since);
                    member.read = watch.and_then(|watch| watch.read());
                }
                Step::OutOfFuel => {
                    if !M::MODELLED {
                        self.tell_executed(context);
                    }
                    let changes =
                        member.strand.changes - std::mem::replace(&mut member.changes, member.strand.changes);
                    let turns = limits.turns(FUEL, changes);
                    subgroup.turns += turns;
                    self.unended += turns;
                    subgroup.looks += 1;
                    self.turn = self.turn.saturating_sub(1);
                    limits.check(self.workgroup, subgroup.turns, self.unended).map_err(
                        |trap| match trap {
                            Trap::Watchdog(_) => {
                                let who = (self.workgroup, subgroup.number, k as u32);
                                waiting::watchdog(context, &[member.waiting(context, who)], 0)
                            }
                            other => other,
                        },
                    )?;
                    self.looks += 1;
                    self.spinning.executed += u64::from(FUEL) + ATOMIC * changes;
                    let now = (self.looks / WATCH, self.spinning.looks);
                    if now.0 > 0 && now != member.watched {
                        member.watched = now;
                        member.watch = Some(Box::default());
                    }
                    let waits = member.waits.is_some();
                    let patience = context.program.shader.convergence.patience(PATIENCE, LONG_PATIENCE);
                    let impatient = subgroup.looks.is_multiple_of(patience);
                    if (waits || impatient)
                        && let Some(strand) = member.strand.split(context.program)
                    {
                        let other = Member::new(strand);
                        subgroup.members.push(other);
                        // Not alone any more: barriers must be waited for.
                        return Ok(Outcome::Suspended);
                    }
                    if waits {
                        // Others have more to do.
                        self.turn = self.turn.saturating_sub(4);
                    }
                }
            }
        }
        if subgroup.members.is_empty() {
            return Ok(Outcome::Done);
        }
        merge_at_barriers(&mut subgroup.members, context.program, |member| &mut member.strand);
        Ok(Outcome::AtBarrier)
    }
}
