//! What ends a dispatch early, in either executor: the watchdog, the host, and another thread's trap.

use pellucid_memory::system::Trap;
use std::sync::atomic::{AtomicBool, Ordering};

/// What ends a dispatch early.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits<'a> {
    /// Loop back-edges that one subgroup may take.
    pub watchdog: Option<u64>,
    /// The host wants it to stop.
    pub stop: Option<&'a AtomicBool>,
    /// Another thread of the dispatch has trapped.
    pub abandoned: Option<&'a AtomicBool>,
}

impl Limits<'_> {
    /// After `back_edges` of a subgroup.
    ///
    /// # Errors
    /// What ends the dispatch.
    pub fn check(&self, back_edges: u64) -> Result<(), Trap> {
        if self.watchdog.is_some_and(|most| back_edges >= most) {
            return Err(Trap::Watchdog);
        }
        self.check_stop()?;
        if self.abandoned.is_some_and(|abandoned| abandoned.load(Ordering::Relaxed)) {
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
