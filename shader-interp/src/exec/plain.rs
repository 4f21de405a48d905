//! Dispatches over flat memory: workgroups in chunks on host threads.

use super::context::Context;
use super::crew::{Crew, Trapped};
use super::workgroup::Limits;
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
    let total: u64 = grid.groups.iter().map(|n| u64::from(*n)).product();
    if total == 0 {
        return Ok(());
    }
    if total > u64::from(u32::MAX) {
        return Err(Trap::NotImplemented(format!("a dispatch of {total} workgroups")));
    }
    let context = Context::new(program, grid, resources);
    let abandoned = AtomicBool::new(false);
    let limits = Limits { watchdog: options.watchdog, stop: options.stop, abandoned: &abandoned };
    let loops = program.back_edges.len() as u64;
    let work = total * u64::from(context.subgroups) * program.code.len() as u64 * (1 + 16 * loops.min(4));
    let Some(pool) =
        options.threads.filter(|pool| pool.current_num_threads() > 1 && total > 1 && work > THRESHOLD)
    else {
        let mut crew = Crew::new(&context, &limits);
        let begun = (0..total).try_for_each(|workgroup| {
            if workgroup % 256 == 255 && options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err((workgroup as u32, Trap::Stopped("the host asked for it".into())));
            }
            crew.begin(workgroup as u32)
        });
        return begun.and_then(|()| crew.finish()).map_err(|(_, trap)| trap);
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
        let mut crew = Crew::new(&context, &limits);
        loop {
            let start = next.fetch_add(chunk, Ordering::Relaxed);
            if abandoned.load(Ordering::Relaxed) {
                return;
            }
            if start >= total {
                return crew.finish().unwrap_or_else(trap);
            }
            for workgroup in start..(start + chunk).min(total) {
                let stopped = options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
                let result = if stopped {
                    Err((workgroup as u32, Trap::Stopped("the host asked for it".into())))
                } else {
                    crew.begin(workgroup as u32)
                };
                if let Err(trapped) = result {
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
