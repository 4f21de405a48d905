//! The workgroups that one host thread of the plain mode has begun.
//!
//! Vulkan guarantees no progress of one workgroup while another waits for it; real devices run as many at a
//! time as they have room for. So a workgroup that has taken very many turns of loops lets others begin, and
//! goes on in turn with those that did the same. Whoever waits for a workgroup that comes later, as long as
//! there are not too many in between, gets what it waits for on any number of threads.

use super::context::Context;
use super::limits::Limits;
use super::shared::WorkgroupQueue;
use super::waiting;
use super::workgroup::{Running, Worker};
use pellucid_memory::plain::PlainMemory;
use pellucid_memory::system::Trap;
use std::collections::VecDeque;

/// Workgroups of a thread that wait for their next turn, at most.
const WAITING: usize = 256;

/// One host thread, its registers and its workgroup memory.
pub(crate) struct HostThread<'a> {
    context: &'a Context<'a>,
    limits: &'a Limits<'a>,
    worker: Worker,
    memory: PlainMemory<'a>,
    /// Workgroups that have had their turn, by number, each with memory of its own.
    waiting: VecDeque<(Running, PlainMemory<'a>)>,
    backwards: bool,
    spare: Vec<PlainMemory<'a>>,
    /// Its number among those of the dispatch.
    number: usize,
    queue: &'a WorkgroupQueue,
}

/// The trap of a workgroup.
pub(crate) type Trapped = (u32, Trap);

impl<'a> HostThread<'a> {
    #[inline(always)]
    pub fn new(
        context: &'a Context<'a>,
        limits: &'a Limits<'a>,
        number: usize,
        queue: &'a WorkgroupQueue,
    ) -> HostThread<'a> {
        HostThread {
            number,
            queue,
            context,
            limits,
            worker: Worker::new(),
            memory: context.plain_memory(),
            waiting: VecDeque::new(),
            backwards: false,
            spare: Vec::new(),
        }
    }

    /// Runs a workgroup to its end, or as long as others may wait for it.
    pub fn begin(&mut self, workgroup: u32) -> Result<(), Trapped> {
        let outcome = self.worker.workgroup(self.context, &mut self.memory, workgroup, self.limits);
        let Some(running) = outcome.map_err(|trap| (workgroup, trap))? else { return Ok(()) };
        self.put_off(running)
    }

    #[cold]
    fn put_off(&mut self, running: Running) -> Result<(), Trapped> {
        let context = self.context;
        let fresh = || context.plain_memory();
        let next = self.spare.pop().unwrap_or_else(fresh);
        self.waiting.push_back((running, std::mem::replace(&mut self.memory, next)));
        while self.waiting.len() >= WAITING {
            self.round()?;
        }
        Ok(())
    }

    /// Runs those that wait to their ends.
    pub fn finish(&mut self) -> Result<(), Trapped> {
        self.worker.tell_executed(self.context);
        while !self.waiting.is_empty() {
            self.round()?;
        }
        Ok(())
    }

    /// Each of those that wait goes on for a turn. Rounds begin at the last one and at the first one in turn:
    /// whichever way they wait for each other, one round does for many.
    fn round(&mut self) -> Result<(), Trapped> {
        self.backwards = !self.backwards;
        for _ in 0..self.waiting.len() {
            let next = if self.backwards { self.waiting.pop_back() } else { self.waiting.pop_front() };
            let Some((mut running, mut memory)) = next else { return Ok(()) };
            let ended = self.worker.go_on(self.context, &mut memory, &mut running, self.limits);
            if ended.map_err(|trap| (running.workgroup, trap))? {
                self.spare.push(memory);
            } else if self.backwards {
                self.waiting.push_front((running, memory));
            } else {
                self.waiting.push_back((running, memory));
            }
        }
        self.check_spinning()
    }

    /// Ends the dispatch if no strand of any thread has done anything but wait in a loop for very long.
    fn check_spinning(&mut self) -> Result<(), Trapped> {
        let (Some(most), Some(crowd)) = (self.limits.spins, self.limits.crowd) else { return Ok(()) };
        let spinning = &mut self.worker.spinning;
        let waits = |(running, _): &(Running, _)| running.waits(self.context, spinning);
        if spinning.executed < most || !self.waiting.iter().all(waits) {
            crowd.goes_on(self.number);
            return Ok(());
        }
        if !spinning.all_wait() {
            return Ok(());
        }
        let waiting = self.waiting.iter().flat_map(|(running, _)| running.waiting(self.context));
        let Some(mut waiting) = crowd.waits(self.number, waiting.collect()) else { return Ok(()) };
        waiting.sort_by_key(|wait| (wait.unit.workgroup, wait.unit.subgroup, wait.unit.strand));
        let first = waiting.first().map_or(0, |wait| wait.unit.workgroup);
        self.waiting.clear();
        Err((first, waiting::watchdog(self.context, &waiting, self.queue.left())))
    }
}
