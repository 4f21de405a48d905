//! Dispatches over flat memory: workgroups in chunks on host threads.

use crate::code::Program;
use crate::interface::{Grid, Resources};
use pellucid_memory::system::Trap;
use std::sync::atomic::AtomicBool;

/// How a dispatch runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainOptions<'a> {
    /// Where workgroups run; `None`: all on the calling thread. Small dispatches run on the calling thread anyway.
    pub threads: Option<&'a rayon::ThreadPool>,
    /// Loop back-edges that one subgroup may take before [`Trap::Watchdog`]; `None`: no limit.
    pub watchdog: Option<u64>,
    /// Ends the dispatch with [`Trap::Stopped`] soon after it becomes true.
    pub stop: Option<&'a AtomicBool>,
}

/// Runs all workgroups of `grid` and returns when they have ended.
///
/// # Errors
/// The first trap; the dispatch is abandoned then, with its writes so far in memory.
pub fn dispatch(
    program: &Program,
    grid: &Grid,
    resources: &Resources,
    options: &PlainOptions<'_>,
) -> Result<(), Trap> {
    let _ = (program, grid, resources, options);
    Err(Trap::NotImplemented("plain dispatch".into()))
}
