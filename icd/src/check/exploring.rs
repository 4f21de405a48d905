//! What is said while a dispatch is explored: on a terminal how far it has come, and once, that there may be
//! no end.

use crate::config::Config;
use crate::report::session::{progress, say};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Executions times invocations after which an exploration is called large: a few seconds of work.
const LARGE: u64 = 50_000;
/// Between two lines of progress.
const PERIOD: Duration = Duration::from_millis(250);

/// How far the exploration of a dispatch has come.
pub struct Exploring<'a> {
    config: &'a Config,
    /// Of the dispatch.
    number: u32,
    invocations: u64,
    begun: Cell<u64>,
    large: Cell<bool>,
    since: Instant,
    shown: Cell<Instant>,
}

impl<'a> Exploring<'a> {
    /// Of a dispatch of so many invocations.
    pub fn new(config: &'a Config, number: u32, invocations: u64) -> Exploring<'a> {
        let now = Instant::now();
        Exploring {
            config,
            number,
            invocations,
            begun: Cell::new(0),
            large: Cell::new(false),
            since: now,
            shown: Cell::new(now),
        }
    }

    /// When no further execution begins.
    pub fn until(&self) -> Option<Instant> {
        self.config.explore_time.and_then(|seconds| self.since.checked_add(Duration::from_secs(seconds)))
    }

    /// One more execution begins.
    pub fn execution(&self) {
        let begun = self.begun.get() + 1;
        self.begun.set(begun);
        let (Exploring { number, invocations, .. }, most) = (self, self.config.executions);
        if begun.saturating_mul(*invocations) >= LARGE && begun < most && !self.large.replace(true) {
            say(&format!(
                "dispatch {number} is large: {invocations} invocations, and {begun} executions have begun, of \
                 at most {most} (--executions); the result says whether there are more"
            ));
        }
        if self.shown.get().elapsed() >= PERIOD {
            self.shown.set(Instant::now());
            let seconds = self.since.elapsed().as_secs();
            progress(&format!(
                "exploring dispatch {number}: execution {begun} of at most {most}, {seconds} s"
            ));
        }
    }
}
