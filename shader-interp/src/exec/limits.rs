//! What ends a dispatch early, in either executor: the watchdog, the host, and another thread's trap.

use super::shared::{Crowd, Traps};
use super::waiting::Waiting;
use pellucid_memory::system::Trap;
use std::sync::atomic::{AtomicBool, Ordering};

/// What ends a dispatch early.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits<'a> {
    /// Loop back-edges that one subgroup may take.
    pub watchdog: Option<u64>,
    /// Turns of loops, of all strands of a host thread, in which they do nothing but wait.
    pub spins: Option<u64>,
    /// The host wants it to stop.
    pub stop: Option<&'a AtomicBool>,
    /// What has trapped so far.
    pub traps: Option<&'a Traps>,
    /// The host threads whose strands all wait.
    pub crowd: Option<&'a Crowd<Waiting>>,
}

impl Limits<'_> {
    /// After `back_edges` of a subgroup of `workgroup`.
    ///
    /// # Errors
    /// What ends the dispatch.
    pub fn check(&self, workgroup: u32, back_edges: u64) -> Result<(), Trap> {
        if self.watchdog.is_some_and(|most| back_edges >= most) {
            return Err(Trap::Watchdog(Vec::new()));
        }
        self.check_stop()?;
        if self.traps.is_some_and(|traps| traps.stop(workgroup, back_edges)) {
            return Err(Trap::Stopped("another workgroup has trapped".into()));
        }
        Ok(())
    }

    /// Whether the host lets the dispatch go on.
    ///
    /// # Errors
    /// It does not.
    pub fn check_stop(&self) -> Result<(), Trap> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Trap::Stopped("the host asked for it".into()));
        }
        Ok(())
    }
}
