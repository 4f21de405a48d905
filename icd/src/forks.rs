//! Whether this process is a fork of the one that made an object.
//!
//! A forked child has a copy of the driver's memory, but none of its threads: work that is handed to them
//! there would never end.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);
static WATCH: Once = Once::new();

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Forks between the first call in the line of processes and this one.
pub fn count() -> u32 {
    // SAFETY: the handler does nothing but an atomic addition, which a child may do at any time.
    WATCH.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(forked));
    });
    FORKS.load(Ordering::Relaxed)
}
