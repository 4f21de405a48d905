//! What ends a dispatch early, in either executor: the watchdog, the host, and another thread's trap.

use super::shared::{Crowd, Traps};
use super::waiting::Waiting;
use pellucid_memory::system::Trap;
use std::sync::atomic::{AtomicBool, Ordering};

/// As how many turns of loops an access counts that other invocations may see (in run mode: a
/// read-modify-write that changes something). It takes as long as fifty or more of a small loop.
const ACCESS: u64 = 64;

/// How often the turns that one subgroup may take all of them may take without any that ends.
const TOGETHER: u64 = 16;

/// What ends a dispatch early.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits<'a> {
    /// Turns of loops that one subgroup may take, with [`ACCESS`]; and a multiple of that is what the
    /// subgroups of a host thread may take in a row without any that ends.
    pub watchdog: Option<u64>,
    /// Of one subgroup the loops' own turns alone are counted.
    pub own_turns: bool,
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
    /// As how many turns so many of a loop with so many such accesses count.
    pub fn turns(&self, taken: u32, accesses: u64) -> u64 {
        u64::from(taken) + if self.own_turns { 0 } else { ACCESS * accesses }
    }

    /// After so many turns of a subgroup of `workgroup`, and of all subgroups of the host thread since one
    /// has ended.
    ///
    /// # Errors
    /// What ends the dispatch.
    pub fn check(&self, workgroup: u32, turns: u64, together: u64) -> Result<(), Trap> {
        let all = if self.own_turns { 0 } else { together / TOGETHER };
        if self.watchdog.is_some_and(|most| turns.max(all) >= most) {
            return Err(Trap::Watchdog(Vec::new()));
        }
        self.check_stop()?;
        if self.traps.is_some_and(|traps| traps.stop(workgroup, turns)) {
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
