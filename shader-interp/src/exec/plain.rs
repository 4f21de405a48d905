//! Dispatches over flat memory: workgroups in chunks on host threads.

use super::context::Context;
use super::host_thread::HostThread;
use super::limits::Limits;
use super::prints::PrintLog;
use super::shared::{Crowd, Traps, WorkgroupQueue};
use crate::code::Program;
use crate::interface::{Grid, Resources};
use crate::native;
use crate::tier::Tier;
use pellucid_memory::system::Trap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How a dispatch runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainOptions<'a> {
    /// Where workgroups run; `None`: all on the calling thread. Small dispatches run on the calling thread
    /// anyway.
    pub threads: Option<&'a rayon_core::ThreadPool>,
    /// Turns of loops that one subgroup may take before [`Trap::Watchdog`]; `None`: no limit. A
    /// read-modify-write that changes something counts as 64, and all subgroups of a host thread together may
    /// take 16 times as many without any that ends.
    pub watchdog: Option<u64>,
    /// Turns of loops of the subgroups of a host thread, 16 more for each read-modify-write, in which all
    /// subgroups of all threads do nothing but wait, before [`Trap::Watchdog`]; `None`: no limit.
    pub spins: Option<u64>,
    /// Ends the dispatch with [`Trap::Stopped`] soon after it becomes true.
    pub stop: Option<&'a AtomicBool>,
    /// Where DebugPrintf goes; `None`: nowhere.
    pub prints: Option<&'a PrintLog>,
    /// Which tier runs the program.
    pub tier: Tier,
}

/// Instructions (estimated) below which a dispatch runs on the calling thread.
const THRESHOLD: u64 = 30_000;

/// Instructions (estimated) that a thread begins at once where there are read-modify-writes. Those of
/// neighbouring workgroups go to different cache lines more often than those of workgroups that are a power
/// of two apart, whose threads take the same lines from each other all the time, in step.
const MODIFYING: u64 = 2_000;

/// Bytes from which on what a dispatch stores, a word an invocation, goes past the caches, if the view has as
/// many: they would not hold it until it is read.
const STREAMS: u64 = 32 << 20;

/// Runs all workgroups of `grid` and returns when they have ended.
///
/// # Errors
/// The trap of the workgroup with the lowest number that traps, on any number of threads; what was written
/// until then is in memory.
pub fn dispatch(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    options: &PlainOptions<'_>,
) -> Result<(), Trap> {
    if program.modelled {
        return Err(Trap::NotImplemented("modelled code in plain mode".into()));
    }
    let mut context = Context::new(program, grid, resources);
    (context.prints, context.partly_bound) = (options.prints, resources.is_partly_bound(program));
    context.tier = if context.partly_bound { Tier::Interpreter } else { options.tier };
    if context.tier == Tier::Compiled {
        context.progress.add(&context, 0);
    }
    let total = context.launch.workgroups()?;
    if total == 0 {
        return Ok(());
    }
    let invocations = total * u64::from(context.launch.subgroups() * program.subgroup_size);
    if 4 * invocations >= STREAMS && program.streams() {
        context.streams = STREAMS;
    }
    let loops = program.back_edges.len() as u64;
    let each = u64::from(context.launch.subgroups()) * program.code.len() as u64 * (1 + 16 * loops.min(4));
    let work = total * each;
    let pool = options.threads.filter(|pool| pool.current_num_threads() > 1 && total > 1 && work > THRESHOLD);
    let threads = pool.map_or(1, |pool| (pool.current_num_threads() as u64).min(total));
    let modifies = threads > 1 && program.memory.iter().any(|entry| entry.atomic.is_some());
    let most = if modifies { MODIFYING / each.max(1) } else { 256 };
    let chunk = (total / (threads * 16)).min(most).max(1);
    let (traps, crowd) = (Traps::new(), Crowd::new(threads as usize));
    let &PlainOptions { watchdog, spins, stop, .. } = options;
    let (traps_so_far, others) = (Some(&traps), Some(&crowd));
    let limits = Limits { watchdog, spins, stop, traps: traps_so_far, crowd: others, ..Limits::default() };
    let queue = WorkgroupQueue::new(total, chunk);
    let numbers = AtomicUsize::new(0);
    let work = || {
        // One thread alone has nobody to tell: small dispatches do without locked instructions.
        let number = if threads > 1 { numbers.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let mut thread = HostThread::new(&context, &limits, number, &queue);
        while let Some(workgroups) = queue.take() {
            if let Err(stop) = limits.check_stop() {
                traps.tell((workgroups.start, stop));
                break;
            }
            for workgroup in workgroups {
                if traps.precede(workgroup) {
                    break;
                }
                thread.begin(workgroup).unwrap_or_else(|trapped| traps.tell(trapped));
            }
        }
        // Those that had their turn, each to its end or trap.
        while let Err(trapped) = thread.finish() {
            traps.tell(trapped);
        }
        if context.streams != u64::MAX {
            native::fence();
        }
        if threads > 1 {
            crowd.ends(number);
        }
    };
    match pool {
        None => work(),
        Some(pool) => pool.scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| work()))),
    }
    traps.into_told().map_or(Ok(()), Err)
}
