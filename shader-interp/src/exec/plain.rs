//! Dispatches over flat memory: workgroups in chunks on host threads.

use super::context::{Context, workgroups};
use super::host_thread::{HostThread, Trapped};
use super::limits::Limits;
use crate::code::Program;
use crate::interface::{Grid, Resources};
use pellucid_memory::system::Trap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How a dispatch runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainOptions<'a> {
    /// Where workgroups run; `None`: all on the calling thread. Small dispatches run on the calling thread
    /// anyway.
    pub threads: Option<&'a rayon::ThreadPool>,
    /// Loop back-edges that one subgroup may take before [`Trap::Watchdog`]; `None`: no limit.
    pub watchdog: Option<u64>,
    /// Ends the dispatch with [`Trap::Stopped`] soon after it becomes true.
    pub stop: Option<&'a AtomicBool>,
}

/// Instructions (estimated) below which a dispatch runs on the calling thread.
const THRESHOLD: u64 = 30_000;

/// Runs all workgroups of `grid` and returns when they have ended.
///
/// # Errors
/// The trap of the workgroup with the lowest number that trapped before the dispatch was abandoned; its
/// writes so far are in memory.
pub fn dispatch(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    options: &PlainOptions<'_>,
) -> Result<(), Trap> {
    if program.modelled {
        return Err(Trap::NotImplemented("modelled code in plain mode".into()));
    }
    let total = workgroups(grid)?;
    if total == 0 {
        return Ok(());
    }
    let context = Context::new(program, grid, resources);
    let abandoned = AtomicBool::new(false);
    let limits = Limits { watchdog: options.watchdog, stop: options.stop, abandoned: Some(&abandoned) };
    let loops = program.back_edges.len() as u64;
    let work = total * u64::from(context.subgroups) * program.code.len() as u64 * (1 + 16 * loops.min(4));
    let Some(pool) =
        options.threads.filter(|pool| pool.current_num_threads() > 1 && total > 1 && work > THRESHOLD)
    else {
        let mut thread = HostThread::new(&context, &limits);
        let begun = (0..total).try_for_each(|workgroup| {
            if workgroup % 256 == 255 {
                limits.check_stop().map_err(|trap| (workgroup as u32, trap))?;
            }
            thread.begin(workgroup as u32)
        });
        return begun.and_then(|()| thread.finish()).map_err(|(_, trap)| trap);
    };
    let threads = (pool.current_num_threads() as u64).min(total);
    let chunk = (total / (threads * 16)).clamp(1, 256);
    let next = AtomicU64::new(0);
    let trapped: Mutex<Option<Trapped>> = Mutex::new(None);
    let trap = |(workgroup, trap): Trapped| {
        abandoned.store(true, Ordering::Relaxed);
        let mut first = trapped.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if first.as_ref().is_none_or(|(w, t)| workgroup < *w || matches!(t, Trap::Stopped(_))) {
            *first = Some((workgroup, trap));
        }
    };
    let work = || {
        let mut thread = HostThread::new(&context, &limits);
        loop {
            let start = next.fetch_add(chunk, Ordering::Relaxed);
            if abandoned.load(Ordering::Relaxed) {
                return;
            }
            if start >= total {
                return thread.finish().unwrap_or_else(trap);
            }
            for workgroup in start..(start + chunk).min(total) {
                let workgroup = workgroup as u32;
                let stop = limits.check_stop().map_err(|trap| (workgroup, trap));
                if let Err(trapped) = stop.and_then(|()| thread.begin(workgroup)) {
                    return trap(trapped);
                }
            }
        }
    };
    pool.scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|_| work());
        }
    });
    match trapped.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some((_, trap)) => Err(trap),
        None => Ok(()),
    }
}
