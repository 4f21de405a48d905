//! What ends a dispatch early, in either executor: the watchdog, the host, and another thread's trap.

use super::turns::Crowd;
use pellucid_memory::system::Trap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Back-edges of a subgroup after which it is stopped though its workgroup comes before one that has trapped:
/// it may wait for that one.
const AFTER_TRAP: u64 = 1 << 22;

/// What ends a dispatch early.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits<'a> {
    /// Loop back-edges that one subgroup may take.
    pub watchdog: Option<u64>,
    /// Turns of loops, of all strands of a host thread, in which they do nothing but wait.
    pub spins: Option<u64>,
    /// The host wants it to stop.
    pub stop: Option<&'a AtomicBool>,
    /// The lowest number of a workgroup that has trapped, and of one that the watchdog has ended: later ones
    /// stop, earlier ones may trap, too.
    pub trapped: Option<&'a [AtomicU32; 2]>,
    /// The host threads whose strands all wait.
    pub crowd: Option<&'a Crowd>,
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
        let Some(trapped) = self.trapped else { return Ok(()) };
        let [trapped, ended] = trapped.each_ref().map(|lowest| lowest.load(Ordering::Relaxed));
        if trapped.min(ended) < workgroup || (trapped != u32::MAX && back_edges >= AFTER_TRAP) {
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
