//! What status queries tell in check mode, where it must not depend on how fast the device is.
//!
//! A program asks whether a fence is signaled or how far a timeline semaphore has come, and what it does then
//! hangs on the answer; so does what is found, because who has seen a signal is ordered after the work before
//! it. In check mode the device is therefore always equally slow: the application is told of a submission by
//! such a query only if it has asked before and submitted nothing since, if [`BEHIND`] others have been
//! submitted after it, or if it knows in another way that it has completed; and then the query waits for it.
//! So a program that asks in a loop is told, and one that looks in passing is not. Under an odd seed the
//! device is fast instead: each query waits for all that was submitted. Events and results of queries are
//! told as they are when the device has come as far as it can.

use super::Host;
use super::progress::deadline;
use super::told::{Completed, Told};
use std::time::{Duration, Instant};

/// How long a query waits for work that has not ended, and so how much longer than it says a wait with a
/// timeout: a shader that waits for what its host does between two queries has to be let go on.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until `done`, the device can do nothing more by itself, or [`PATIENCE`] is over; what `done` says
/// then.
pub fn settle(host: &dyn Host, mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now().checked_add(PATIENCE);
    host.progress().wait(end, || done() || host.is_lost() || host.rests());
    done()
}

/// In check mode, before the application is told of an event or of results of queries: waits until the device
/// has come as far as it can.
pub fn settle_all(host: &dyn Host) {
    if host.hazards().is_some() {
        settle(host, || false);
    }
}

/// Waits until `done` says so, or for `timeout` nanoseconds; what `done` said last. In check mode work that
/// is under way then may still end.
pub fn wait(host: &dyn Host, timeout: u64, mut done: impl FnMut() -> bool) -> bool {
    host.progress().wait(deadline(timeout), &mut done) || (host.hazards().is_some() && settle(host, done))
}

/// Of the signals that a wait for any of several has seen, what the application is told: all, or in check
/// mode the first of them.
pub fn tell_of_any(host: &dyn Host, seen: &mut [Option<Told>]) {
    if host.hazards().is_some()
        && let Some(first) = seen.iter().flatten().map(|told| told.order).min()
    {
        let later = |told: &Option<Told>| told.as_ref().is_some_and(|told| told.order > first);
        seen.iter_mut().filter(|told| later(told)).for_each(|told| *told = None);
    }
}

/// How many submissions the device is behind the application at most.
const BEHIND: u64 = 16;

/// Where a submission stands that is to signal something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The index of its queue.
    pub queue: u32,
    /// Its number on the queue, from 1.
    pub serial: u64,
    /// Its number on the device, from 1.
    pub number: u64,
}

/// One query of the application for the status of an object.
pub struct StatusQuery {
    host: Completed,
    handed_in: u64,
    at_once: bool,
}

impl StatusQuery {
    /// `asked`: how many submissions there were when the application last asked for the object's status.
    pub fn new(host: &dyn Host, asked: &mut u64) -> StatusQuery {
        let handed_in = host.completion().handed_in();
        let before = std::mem::replace(asked, handed_in);
        let at_once = host.tells_at_once() || before == handed_in;
        StatusQuery { host: host.completion().host(), handed_in, at_once }
    }

    /// Whether the application is told of what this submission signals.
    pub fn tells_of(&self, by: Standing) -> bool {
        self.at_once || self.host.covers(by.queue, by.serial) || self.handed_in - by.number >= BEHIND
    }
}
