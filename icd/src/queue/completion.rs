//! Which submissions the host knows to have completed.

use super::Submission;
use super::submission::Use;
use super::told::Completed;
use crate::caps::QUEUE_COUNT;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many submissions that the host has not seen complete are remembered. A program that never waits for
/// more is not warned about the older ones.
const REMEMBERED: usize = 256;

#[derive(Default)]
struct State {
    host: Completed,
    /// What each queue knows: its submissions that ended, and what it waited for.
    queues: [Completed; QUEUE_COUNT as usize],
    /// The submission that a queue runs.
    running: [u64; QUEUE_COUNT as usize],
    unseen: VecDeque<Arc<Submission>>,
}

/// The completion of a device's submissions, as the host knows it.
#[derive(Default)]
pub struct Completion(Mutex<State>);

impl Completion {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A submission was handed in.
    pub fn submitted(&self, submission: &Arc<Submission>) {
        let mut state = self.state();
        state.unseen.push_back(submission.clone());
        let oldest = if state.unseen.len() > REMEMBERED { state.unseen.pop_front() } else { None };
        drop(state);
        // What it alone holds ends here, outside the lock.
        drop(oldest);
    }

    /// A submission begins, its waits satisfied: they told this.
    pub fn begin(&self, queue: u32, serial: u64, told: Completed) {
        let mut state = self.state();
        if let Some(running) = state.running.get_mut(queue as usize) {
            *running = serial;
        }
        if let Some(known) = state.queues.get_mut(queue as usize) {
            known.join(told);
        }
    }

    /// A submission has ended: what its signals tell.
    pub fn end(&self, queue: u32, serial: u64) -> Completed {
        let mut state = self.state();
        let Some(known) = state.queues.get_mut(queue as usize) else { return Completed::default() };
        known.reach(queue, serial);
        *known
    }

    /// What a command of the submission that a queue runs tells when it sets an event or makes a query
    /// available. All of the submission counts as completed, which can only hide a mistake.
    pub fn now(&self, queue: u32) -> Completed {
        let state = self.state();
        let mut known = state.queues.get(queue as usize).copied().unwrap_or_default();
        known.reach(queue, state.running.get(queue as usize).copied().unwrap_or(0));
        known
    }

    /// The host was told.
    pub fn host_saw(&self, told: Completed) {
        let mut state = self.state();
        state.host.join(told);
        let host = state.host;
        let mut seen = Vec::new();
        state.unseen.retain(|s| {
            let covered = s.queue.as_ref().is_none_or(|q| host.covers(q.index, s.serial));
            if covered {
                seen.push(s.clone());
            }
            !covered
        });
        drop(state);
        // What they alone hold ends here, outside the lock.
        drop(seen);
    }

    /// The host saw a queue idle up to a submission.
    pub fn host_saw_idle(&self, queue: u32, serial: u64) {
        let mut told = self.state().queues.get(queue as usize).copied().unwrap_or_default();
        told.reach(queue, serial);
        self.host_saw(told);
    }

    /// What the host knows: what a semaphore that it signals tells.
    pub fn host(&self) -> Completed {
        self.state().host
    }

    /// The first use of the object at `object` by a submission that the host has not seen complete.
    pub fn use_of(&self, object: *const ()) -> Option<(Use, Arc<Submission>)> {
        let state = self.state();
        state.unseen.iter().find_map(|s| s.use_of(object).map(|u| (u, s.clone())))
    }

    /// The first submission with commands that the host has not seen complete.
    pub fn unseen(&self) -> Option<Arc<Submission>> {
        self.state().unseen.iter().find(|s| s.work.is_some()).cloned()
    }
}
