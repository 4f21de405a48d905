//! What is handed to a worker and not begun: who runs which submission when.
//!
//! `tests/threads.rs` runs this file under many interleavings of a few threads; what synchronises comes from
//! `super::sync` for that.

use super::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::PoisonError;

/// A submission, as far as its turn depends on it.
pub trait Job: Clone {
    /// The number of its queue, below 64.
    fn queue(&self) -> u32;

    /// True if it does not have to wait.
    fn is_ready(&self) -> bool;
}

/// What a worker does next.
pub enum Next<J> {
    /// It runs this, and then calls [`Inbox::ended`].
    Run(J),
    /// It ends.
    Stop,
}

struct State<J> {
    pending: VecDeque<J>,
    running: Option<J>,
    stop: bool,
}

impl<J: Job> State<J> {
    /// The place of the first pending job that is ready and has no other of its queue before it.
    fn first_ready(&self, lost: bool) -> Option<usize> {
        let mut blocked = 0u64;
        self.pending.iter().position(|job| {
            let bit = 1u64 << job.queue();
            let ready = blocked & bit == 0 && (lost || job.is_ready());
            blocked |= bit;
            ready
        })
    }
}

/// The jobs of one worker. One at a time runs, on the worker's thread or on one that waits for it.
pub struct Inbox<J>(Mutex<State<J>>);

impl<J> Default for Inbox<J> {
    fn default() -> Inbox<J> {
        Inbox(Mutex::new(State { pending: VecDeque::new(), running: None, stop: false }))
    }
}

impl<J: Job> Inbox<J> {
    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a job.
    pub fn push(&self, job: J) {
        self.state().pending.push_back(job);
    }

    /// Takes the job back that was appended last.
    pub fn take_back(&self) -> Option<J> {
        self.state().pending.pop_back()
    }

    /// The worker is to end once what runs has ended.
    pub fn stop(&self) {
        self.state().stop = true;
    }

    /// What the worker does next: the first job that is ready and has no other of its queue before it. On a
    /// lost device all are ready. `None` while there is none, or a waiting thread runs one.
    pub fn next(&self, lost: bool) -> Option<Next<J>> {
        let mut state = self.state();
        if state.stop {
            return Some(Next::Stop);
        }
        if state.running.is_some() {
            return None;
        }
        let found = state.first_ready(lost)?;
        let job = state.pending.remove(found)?;
        state.running = Some(job.clone());
        Some(Next::Run(job))
    }

    /// The only job that there is, for a thread that is about to wait for it and runs it instead, if it is
    /// `ours`, ready, and nobody has begun.
    pub fn take_only(&self, ours: impl Fn(&J) -> bool) -> Option<J> {
        let mut state = self.state();
        let alone = state.pending.len() == 1 && state.running.is_none() && !state.stop;
        if !alone || !state.pending.front().is_some_and(|job| ours(job) && job.is_ready()) {
            return None;
        }
        state.running = state.pending.pop_front();
        state.running.clone()
    }

    /// What ran has ended. True if the worker has something to do now.
    pub fn ended(&self) -> bool {
        let mut state = self.state();
        // What it alone holds ends outside the lock.
        let ended = state.running.take();
        let more = !state.pending.is_empty() || state.stop;
        drop(state);
        drop(ended);
        more
    }

    /// True if nothing can go on by itself: what runs is `blocked`, or nothing runs and nothing is ready.
    pub fn rests(&self, blocked: impl Fn(&J) -> bool) -> bool {
        let state = self.state();
        state.running.as_ref().map_or_else(|| state.first_ready(false).is_none(), blocked)
    }

    /// True if jobs wait for something else than the end of what runs.
    pub fn waits(&self) -> bool {
        let state = self.state();
        state.running.is_none() && !state.pending.is_empty()
    }

    /// The jobs that have not ended, and whether each has begun.
    pub fn all(&self) -> Vec<(J, bool)> {
        let state = self.state();
        let pending = state.pending.iter().map(|job| (job.clone(), false));
        state.running.iter().map(|job| (job.clone(), true)).chain(pending).collect()
    }
}
