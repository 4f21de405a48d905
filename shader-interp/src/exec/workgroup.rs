//! Workgroups of the plain mode: subgroups one after another, in phases between barriers.

use super::context::Context;
use super::limits::Limits;
use super::run::{Control, run};
use super::strand::{Step, Strand, StrandPool, merge_at_barriers};
use super::target::Level;
use pellucid_memory::system::{MemorySystem, Trap};

/// Back-edges between looks at the limits.
const FUEL: u32 = 1 << 12;
/// Looks in a row after which another subgroup runs.
const SLICE: usize = 16;
/// Looks after which parked lanes become a strand of their own.
const PATIENCE: u32 = 1 << 8;
/// Looks after which another workgroup runs.
const TURN: u32 = 1 << 7;
/// The same for one that has had a turn: most that need several wait for others.
const NEXT_TURN: u32 = 16;

/// The state of one host thread: register files are used again for every workgroup.
pub(crate) struct Worker {
    level: Level,
    pool: StrandPool,
    live: Vec<Subgroup>,
    workgroup: u32,
    /// Looks left of the workgroup's turn.
    turn: u32,
}

/// A workgroup that has begun and has not ended.
pub(crate) struct Running {
    pub workgroup: u32,
    live: Vec<Subgroup>,
}

struct Subgroup {
    strands: Vec<(Strand, bool)>,
    back_edges: u64,
    looks: u32,
}

enum Outcome {
    Done,
    AtBarrier,
    Suspended,
}

impl Worker {
    pub fn new() -> Worker {
        let (pool, live) = (StrandPool::default(), Vec::new());
        Worker { level: Level::detect(), pool, live, workgroup: 0, turn: TURN }
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
        self.live.clear();
        context.begin_workgroup(memory, workgroup);
        let workgroup_id = context.launch.workgroup_id(workgroup);
        let control = Control { alone: context.launch.subgroups() == 1, every: false };
        for subgroup in 0..context.launch.subgroups() {
            let identity = context.launch.identity(workgroup, workgroup_id, subgroup);
            let strand = self.pool.start(context, &identity);
            strand.fuel = FUEL;
            match run(self.level, context, strand, memory, &control) {
                // It stays where the next one starts.
                Ok(Step::Done) => {}
                Err(trap) => {
                    // Its lanes may be parked.
                    self.pool.take();
                    return Err(trap);
                }
                Ok(step) => {
                    let strand = self.pool.take();
                    let at_barrier = matches!(step, Step::AtBarrier(_));
                    let mut subgroup =
                        Subgroup { strands: vec![(strand, at_barrier)], back_edges: 0, looks: 0 };
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
            if self.live.iter().all(|s| s.strands.iter().all(|(_, at_barrier)| *at_barrier)) {
                memory.barrier_complete(workgroup);
                self.live.iter_mut().for_each(|s| s.strands.iter_mut().for_each(|s| s.1 = false));
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
            Control { alone: context.launch.subgroups() == 1 && subgroup.strands.len() == 1, every: false };
        for look in 0.. {
            let count = subgroup.strands.len();
            let first = if count > 1 { look % count } else { 0 };
            let Some(k) = (first..count).chain(0..first).find(|k| !subgroup.strands[*k].1) else { break };
            if look >= SLICE {
                return Ok(Outcome::Suspended);
            }
            let (strand, at_barrier) = &mut subgroup.strands[k];
            // Only what has run out is filled up: a loop with a barrier in it uses up its fuel, too.
            if strand.fuel == 0 {
                strand.fuel = FUEL;
            }
            match run(self.level, context, strand, memory, &control)? {
                Step::Done => {
                    let (strand, _) = subgroup.strands.remove(k);
                    self.pool.put_back(strand);
                }
                Step::AtBarrier(_) => {
                    *at_barrier = true;
                    if count == 1 {
                        return Ok(Outcome::AtBarrier);
                    }
                }
                Step::Yielded => {}
                Step::OutOfFuel => {
                    subgroup.back_edges += u64::from(FUEL);
                    subgroup.looks += 1;
                    self.turn = self.turn.saturating_sub(1);
                    limits.check(self.workgroup, subgroup.back_edges)?;
                    if subgroup.looks.is_multiple_of(PATIENCE)
                        && let Some(other) = strand.split(context.program)
                    {
                        subgroup.strands.push((other, false));
                        // Not alone any more: barriers must be waited for.
                        return Ok(Outcome::Suspended);
                    }
                }
            }
        }
        if subgroup.strands.is_empty() {
            return Ok(Outcome::Done);
        }
        merge_at_barriers(&mut subgroup.strands, context.program, |(strand, _)| strand);
        Ok(Outcome::AtBarrier)
    }
}
