//! What the host threads of a dispatch in run mode share: the workgroups that are left, the traps of those
//! that ran, and which threads do nothing but wait.

use super::sync::{AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};
use pellucid_memory::system::Trap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::PoisonError;

/// The workgroups of a dispatch, which its host threads begin in order.
#[derive(Debug)]
pub(crate) struct WorkgroupQueue {
    total: u64,
    chunk: u64,
    next: AtomicU64,
}

impl WorkgroupQueue {
    /// All of `total` workgroups, to be taken `chunk` at a time.
    pub fn new(total: u64, chunk: u64) -> WorkgroupQueue {
        WorkgroupQueue { total, chunk, next: AtomicU64::new(0) }
    }

    /// Workgroups that no thread has begun.
    pub fn left(&self) -> u64 {
        self.total.saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// The next ones, for the calling thread alone.
    pub fn take(&self) -> Option<Range<u32>> {
        let start = self.next.fetch_add(self.chunk, Ordering::Relaxed);
        (start < self.total).then(|| start as u32..(start + self.chunk).min(self.total) as u32)
    }
}

/// Back-edges of a subgroup after which it is stopped though its workgroup comes before one that has trapped:
/// it may wait for that one.
const AFTER_TRAP: u64 = 1 << 22;

/// The traps of a dispatch. One is told: of the least rank, that of the workgroup with the lowest number,
/// whichever threads run them, and in whatever order.
#[derive(Debug)]
pub(crate) struct Traps {
    /// The lowest number of a workgroup that has trapped, and of one that the watchdog has ended: later ones
    /// stop, earlier ones may trap, too.
    lowest: [AtomicU32; 2],
    told: Mutex<Option<(u32, Trap)>>,
}

/// A workgroup that waits for one that has trapped may be stopped, or run into the watchdog.
fn rank(trap: &Trap) -> usize {
    match trap {
        Trap::Stopped(_) => 2,
        Trap::Watchdog(_) => 1,
        _ => 0,
    }
}

impl Traps {
    /// Of a dispatch in which nothing has trapped.
    pub fn new() -> Traps {
        Traps { lowest: [AtomicU32::new(u32::MAX), AtomicU32::new(u32::MAX)], told: Mutex::new(None) }
    }

    /// A workgroup has trapped.
    pub fn tell(&self, (workgroup, trap): (u32, Trap)) {
        if let Some(lowest) = self.lowest.get(rank(&trap)) {
            lowest.fetch_min(workgroup, Ordering::Relaxed);
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.as_ref().is_none_or(|(other, known)| (rank(&trap), workgroup) < (rank(known), *other)) {
            *told = Some((workgroup, trap));
        }
    }

    /// Whether a workgroup need not begin.
    pub fn precede(&self, workgroup: u32) -> bool {
        self.lowest.iter().any(|lowest| lowest.load(Ordering::Relaxed) < workgroup)
    }

    /// Whether a subgroup of a workgroup is to stop after so many turns of loops.
    pub fn stop(&self, workgroup: u32, turns: u64) -> bool {
        let trapped = self.lowest[0].load(Ordering::Relaxed);
        self.precede(workgroup) || (trapped != u32::MAX && turns >= AFTER_TRAP)
    }

    /// The trap that the dispatch ends with.
    pub fn into_told(self) -> Option<Trap> {
        self.told.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(_, trap)| trap)
    }
}

/// The host threads that run workgroups of a dispatch in run mode, and which of them have found that nothing
/// but waiting is left to do.
#[derive(Debug)]
pub(crate) struct Crowd<W>(Mutex<Members<W>>);

#[derive(Debug)]
struct Members<W> {
    running: usize,
    /// Changes whenever a thread begins, ends, finds that all its strands wait, or that they do not any more.
    state: u64,
    waiting: BTreeMap<usize, Told<W>>,
}

/// What a thread whose strands all wait has told.
#[derive(Debug)]
struct Told<W> {
    /// The state since which it looks at its strands again, and the one in which it has.
    asked: u64,
    seen: Option<u64>,
    waiting: Vec<W>,
}

impl<W: Copy> Crowd<W> {
    /// Of this many host threads.
    pub fn new(running: usize) -> Crowd<W> {
        Crowd(Mutex::new(Members { running, state: 0, waiting: BTreeMap::new() }))
    }

    fn members(&self) -> MutexGuard<'_, Members<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All strands of `thread` wait, as they were seen since the last call. What all threads wait for, if
    /// they all do, and each has looked at its strands again since the last one said so, thread by thread;
    /// else it is to look again.
    pub fn waits(&self, thread: usize, waiting: Vec<W>) -> Option<Vec<W>> {
        let mut members = self.members();
        if !members.waiting.contains_key(&thread) {
            members.state += 1;
            let told = Told { asked: members.state, seen: None, waiting };
            members.waiting.insert(thread, told);
            return None;
        }
        let state = members.state;
        let told = members.waiting.get_mut(&thread)?;
        told.waiting = waiting;
        if told.asked == state {
            told.seen = Some(state);
        }
        told.asked = state;
        let all = members.waiting.len() == members.running
            && members.waiting.values().all(|told| told.seen == Some(state));
        all.then(|| members.waiting.values().flat_map(|told| told.waiting.iter().copied()).collect())
    }

    /// A strand of `thread` does something else.
    pub fn goes_on(&self, thread: usize) {
        let mut members = self.members();
        if members.waiting.remove(&thread).is_some() {
            members.state += 1;
        }
    }

    /// `thread` has nothing left to do.
    pub fn ends(&self, thread: usize) {
        let mut members = self.members();
        members.waiting.remove(&thread);
        members.running -= 1;
        members.state += 1;
    }
}
