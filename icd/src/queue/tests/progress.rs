//! Waiting with real threads and real time.

use crate::queue::progress::{Progress, deadline};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn a_timeout_is_real() {
    let progress = Progress::default();
    let start = Instant::now();
    assert!(!progress.wait(deadline(2_000_000), || false));
    assert!(start.elapsed() >= Duration::from_millis(2));
}

#[test]
fn a_sleeper_wakes() {
    let (progress, flag) = (Progress::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(5));
            flag.store(true, Ordering::SeqCst);
            progress.notify();
        });
        assert!(progress.wait(None, || flag.load(Ordering::SeqCst)));
    });
}
