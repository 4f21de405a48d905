//! Dispatches over flat memory: workgroups in chunks on host threads.

use super::context::Context;
use super::host_thread::{HostThread, Trapped};
use super::limits::Limits;
use super::prints::PrintLog;
use super::turns::Crowd;
use crate::code::Program;
use crate::interface::{Grid, Resources};
use crate::tier::Tier;
use pellucid_memory::system::Trap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// How a dispatch runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainOptions<'a> {
    /// Where workgroups run; `None`: all on the calling thread. Small dispatches run on the calling thread
    /// anyway.
    pub threads: Option<&'a rayon_core::ThreadPool>,
    /// Loop back-edges that one subgroup may take before [`Trap::Watchdog`]; `None`: no limit.
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

/// The workgroups of a dispatch, which its host threads begin in order.
pub(crate) struct WorkgroupQueue {
    total: u64,
    next: AtomicU64,
}

impl WorkgroupQueue {
    /// Workgroups that no thread has begun.
    pub fn left(&self) -> u64 {
        self.total.saturating_sub(self.next.load(Ordering::Relaxed))
    }
}

/// Instructions (estimated) below which a dispatch runs on the calling thread.
const THRESHOLD: u64 = 30_000;

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
    (context.prints, context.tier) = (options.prints, options.tier);
    if options.tier == Tier::Compiled {
        context.progress.add(program, 0, options.tier);
    }
    let total = context.launch.workgroups()?;
    if total == 0 {
        return Ok(());
    }
    let trapped = [AtomicU32::new(u32::MAX), AtomicU32::new(u32::MAX)];
    let loops = program.back_edges.len() as u64;
    let work =
        total * u64::from(context.launch.subgroups()) * program.code.len() as u64 * (1 + 16 * loops.min(4));
    let pool = options.threads.filter(|pool| pool.current_num_threads() > 1 && total > 1 && work > THRESHOLD);
    let threads = pool.map_or(1, |pool| (pool.current_num_threads() as u64).min(total));
    let chunk = (total / (threads * 16)).clamp(1, 256);
    let crowd = Crowd::new(threads as usize);
    let &PlainOptions { watchdog, spins, stop, .. } = options;
    let limits = Limits { watchdog, spins, stop, trapped: Some(&trapped), crowd: Some(&crowd) };
    let queue = WorkgroupQueue { total, next: AtomicU64::new(0) };
    let numbers = AtomicUsize::new(0);
    let told: Mutex<Option<Trapped>> = Mutex::new(None);
    let tell = |(workgroup, trap): Trapped| {
        if let Some(lowest) = trapped.get(rank(&trap)) {
            lowest.fetch_min(workgroup, Ordering::Relaxed);
        }
        let mut told = told.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if told.as_ref().is_none_or(|(other, known)| (rank(&trap), workgroup) < (rank(known), *other)) {
            *told = Some((workgroup, trap));
        }
    };
    let work = || {
        // One thread alone has nobody to tell: small dispatches do without locked instructions.
        let number = if threads > 1 { numbers.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let mut thread = HostThread::new(&context, &limits, number, &queue);
        loop {
            let start = queue.next.fetch_add(chunk, Ordering::Relaxed);
            if start >= total {
                break;
            }
            if let Err(stop) = limits.check_stop() {
                tell((start as u32, stop));
                break;
            }
            for workgroup in start as u32..(start + chunk).min(total) as u32 {
                if trapped.iter().any(|lowest| lowest.load(Ordering::Relaxed) < workgroup) {
                    break;
                }
                thread.begin(workgroup).unwrap_or_else(&tell);
            }
        }
        // Those that had their turn, each to its end or trap.
        while let Err(trapped) = thread.finish() {
            tell(trapped);
        }
        if threads > 1 {
            crowd.ends(number);
        }
    };
    match pool {
        None => work(),
        Some(pool) => pool.scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| work()))),
    }
    match told.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some((_, trap)) => Err(trap),
        None => Ok(()),
    }
}

/// The least of several traps is told: a workgroup that waits for one that has trapped may be stopped, or run
/// into the watchdog.
fn rank(trap: &Trap) -> usize {
    match trap {
        Trap::Stopped(_) => 2,
        Trap::Watchdog(_) => 1,
        _ => 0,
    }
}
