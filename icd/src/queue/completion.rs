//! Which submissions the host knows to have completed.
//!
//! An object that submitted work uses may be destroyed once that work has completed, which the application
//! learns from a fence, a timeline semaphore, an idle queue, an event or a query. Whether the work has in
//! truth ended by then depends on threads; what the host was told depends on the application's calls alone,
//! so that is what is kept here: for each queue, up to which submission all have completed, as far as a
//! fence, a semaphore's value, an event, a queue or the host knows.

use super::Submission;
use super::submission::SemaphoreOperation;
use crate::caps::QUEUE_COUNT;
use crate::command::uses::Use;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// For each queue, the serial number up to which all submissions have completed, as far as somebody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed([u64; QUEUE_COUNT as usize]);

impl Completed {
    /// Also knows what `other` knows.
    pub fn join(&mut self, other: Completed) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    fn reach(&mut self, queue: u32, serial: u64) {
        if let Some(mine) = self.0.get_mut(queue as usize) {
            *mine = (*mine).max(serial);
        }
    }

    fn covers(&self, submission: &Submission) -> bool {
        let queue = submission.queue.as_ref().map_or(0, |q| q.index) as usize;
        self.0.get(queue).is_none_or(|serial| *serial >= submission.serial)
    }
}

/// What something that is signaled tells whoever sees it.
#[derive(Default)]
pub struct Told(Mutex<Completed>);

impl Told {
    /// Tells this from now on, and what it told before.
    pub fn put(&self, completed: Completed) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join(completed);
    }

    /// What it tells.
    pub fn get(&self) -> Completed {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many values of a timeline semaphore are told apart.
const VALUES: usize = 64;

/// What each value of a semaphore tells (a binary one has the value 0 only).
#[derive(Default)]
pub struct ToldByValue(Mutex<BTreeMap<u64, Completed>>);

impl ToldByValue {
    fn values(&self) -> MutexGuard<'_, BTreeMap<u64, Completed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A signal of this value tells this.
    pub fn put(&self, value: u64, completed: Completed) {
        let mut values = self.values();
        values.entry(value).or_default().join(completed);
        while values.len() > VALUES {
            // What the oldest told is told by the next: whoever sees a value has seen the lower ones.
            let Some((_, oldest)) = values.pop_first() else { break };
            if let Some(mut next) = values.first_entry() {
                next.get_mut().join(oldest);
            }
        }
    }

    /// What a semaphore that has reached `value` tells.
    pub fn get(&self, value: u64) -> Completed {
        let mut known = Completed::default();
        self.values().range(..=value).for_each(|(_, completed)| known.join(*completed));
        known
    }
}

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
        if state.unseen.len() > REMEMBERED {
            state.unseen.pop_front();
        }
    }

    /// A submission begins, its waits satisfied.
    pub fn begin(&self, queue: u32, serial: u64, waits: &[SemaphoreOperation]) {
        let mut state = self.state();
        if let Some(running) = state.running.get_mut(queue as usize) {
            *running = serial;
        }
        if let Some(known) = state.queues.get_mut(queue as usize) {
            waits.iter().for_each(|w| known.join(w.semaphore.told(w.value)));
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
        state.unseen.retain(|s| !host.covers(s));
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
}
