//! Waiting for something to happen on a device, with real timeouts.
//!
//! `tests/threads.rs` runs this file under many interleavings of a few threads; what synchronises comes from
//! `super::sync` for that.

use super::sync::{AtomicU32, AtomicU64, Condvar, Mutex, Ordering, SPIN};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Whoever changes something that others may wait for calls [`Progress::notify`] after the change.
#[derive(Debug, Default)]
pub struct Progress {
    version: AtomicU64,
    sleepers: AtomicU32,
    lock: Mutex<()>,
    condition: Condvar,
}

/// The end of a wait of `timeout` nanoseconds; `None` if it has none.
pub fn deadline(timeout: u64) -> Option<Instant> {
    if timeout == u64::MAX { None } else { Instant::now().checked_add(Duration::from_nanos(timeout)) }
}

impl Progress {
    /// Something happened.
    pub fn notify(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.condition.notify_all();
        }
    }

    /// Waits until `done` says so or the deadline passes; what `done` said last.
    pub fn wait(&self, deadline: Option<Instant>, mut done: impl FnMut() -> bool) -> bool {
        let mut seen = self.version.load(Ordering::SeqCst);
        if done() {
            return true;
        }
        let start = Instant::now();
        if deadline.is_some_and(|d| d <= start) {
            return false;
        }
        loop {
            for _ in 0..32 {
                std::hint::spin_loop();
            }
            let version = self.version.load(Ordering::SeqCst);
            if version != seen {
                seen = version;
                if done() {
                    return true;
                }
            }
            if start.elapsed() >= SPIN {
                break;
            }
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let answer = self.sleep(deadline, done);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    fn sleep(&self, deadline: Option<Instant>, mut done: impl FnMut() -> bool) -> bool {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if done() {
                return true;
            }
            let now = Instant::now();
            guard = match deadline {
                Some(end) if end <= now => return false,
                Some(end) => {
                    self.condition.wait_timeout(guard, end - now).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.condition.wait(guard).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
