//! Waiting for a device, under interleavings of a few threads: nobody sleeps on.

use shuttle::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use shuttle::thread;
use std::sync::Arc;

mod sync {
    pub use shuttle::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    pub use shuttle::sync::{Condvar, Mutex};

    /// Every wait goes to sleep.
    pub const SPIN: std::time::Duration = std::time::Duration::ZERO;
}

#[path = "../src/queue/progress.rs"]
mod progress;
use progress::{Progress, deadline};

#[test]
fn whoever_waits_for_a_change_wakes() {
    shuttle::check_dfs(
        || {
            let shared = Arc::new((Progress::default(), AtomicBool::new(false)));
            let waiter = shared.clone();
            let waiter = thread::spawn(move || waiter.0.wait(None, || waiter.1.load(Ordering::SeqCst)));
            shared.1.store(true, Ordering::SeqCst);
            shared.0.notify();
            assert!(waiter.join().expect("a thread that ends"));
        },
        None,
    );
}

#[test]
fn two_that_wait_for_each_other_wake() {
    let each = |shared: &(Progress, AtomicU32), mine: u32| {
        let (progress, turn) = shared;
        progress.wait(None, || turn.load(Ordering::SeqCst) == mine);
        turn.fetch_add(1, Ordering::SeqCst);
        progress.notify();
    };
    shuttle::check_random(
        move || {
            let shared = Arc::new((Progress::default(), AtomicU32::new(0)));
            let other = shared.clone();
            let other = thread::spawn(move || [0, 2].into_iter().for_each(|mine| each(&other, mine)));
            [1, 3].into_iter().for_each(|mine| each(&shared, mine));
            other.join().expect("a thread that ends");
            assert!(!shared.0.wait(deadline(0), || false));
        },
        1000,
    );
}
