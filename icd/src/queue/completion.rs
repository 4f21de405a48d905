//! Which submissions the host knows to have completed.

use super::Submission;
use super::submission::{Use, Work};
use super::told::Completed;
use crate::caps::queues::QUEUE_COUNT;
use parking_lot::Mutex;
use pellucid_memory::commands::Range;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many submissions that the host has not seen complete are remembered. A program that never waits for
/// more is not warned about the older ones.
const REMEMBERED: usize = 256;

/// Says that a submission has used what ended before the host had seen it complete.
pub type Late = Box<dyn FnOnce(Use, &Submission) + Send>;

/// Bytes that ended while submissions were unseen which may have used them by address. Whether they have is
/// known once they have run, so it is judged when the host sees them complete: always at the same call.
struct Ended {
    bytes: Range,
    submissions: Vec<(Arc<Submission>, Arc<dyn Work>)>,
    late: Late,
}

#[derive(Default)]
struct State {
    ended: Vec<Ended>,
    host: Completed,
    /// So many submissions have been handed in.
    submitted: u64,
    /// So many have ended.
    order: u64,
    /// What each queue knows: its submissions that ended, and what it waited for.
    queues: [Completed; QUEUE_COUNT as usize],
    /// The submission that a queue runs.
    running: [u64; QUEUE_COUNT as usize],
    unseen: VecDeque<Arc<Submission>>,
    /// The last submissions that are not remembered any more.
    dropped: Completed,
}

/// The completion of a device's submissions, as the host knows it.
#[derive(Default)]
pub struct Completion(Mutex<State>);

impl Completion {
    /// A submission was handed in: so many have been.
    pub fn submitted(&self, submission: &Arc<Submission>) -> u64 {
        let mut state = self.0.lock();
        state.submitted += 1;
        let number = state.submitted;
        state.unseen.push_back(submission.clone());
        let oldest = if state.unseen.len() > REMEMBERED { state.unseen.pop_front() } else { None };
        if let Some((queue, serial)) = oldest.as_ref().and_then(|s| Some((s.queue.as_ref()?.index, s.serial)))
        {
            state.dropped.reach(queue, serial);
        }
        drop(state);
        if let Some(oldest) = oldest {
            oldest.forget();
        }
        number
    }

    /// So many submissions have been handed in.
    pub fn handed_in(&self) -> u64 {
        self.0.lock().submitted
    }

    /// A submission begins, its waits satisfied: they told this.
    pub fn begin(&self, queue: u32, serial: u64, told: Completed) {
        let mut state = self.0.lock();
        if let Some(running) = state.running.get_mut(queue as usize) {
            *running = serial;
        }
        if let Some(known) = state.queues.get_mut(queue as usize) {
            known.join(told);
        }
    }

    /// A submission has ended: what its signals tell, and how many of the device have.
    pub fn end(&self, queue: u32, serial: u64) -> (Completed, u64) {
        let mut state = self.0.lock();
        state.order += 1;
        let order = state.order;
        let Some(known) = state.queues.get_mut(queue as usize) else { return (Completed::default(), order) };
        known.reach(queue, serial);
        (*known, order)
    }

    /// All submissions that have ended.
    pub fn everything(&self) -> Completed {
        let mut all = Completed::default();
        self.0.lock().queues.iter().for_each(|queue| all.join(*queue));
        all
    }

    /// What a queue knows whose submission runs, all of that submission with it.
    pub fn now(&self, queue: u32) -> Completed {
        let state = self.0.lock();
        let mut known = state.queues.get(queue as usize).copied().unwrap_or_default();
        known.reach(queue, state.running.get(queue as usize).copied().unwrap_or(0));
        known
    }

    /// The host was told.
    pub fn host_saw(&self, told: Completed) {
        let mut state = self.0.lock();
        state.host.join(told);
        let host = state.host;
        let covered = |s: &Submission| s.queue.as_ref().is_none_or(|q| host.covers(q.index, s.serial));
        let mut seen: SmallVec<[Arc<Submission>; 4]> = SmallVec::new();
        while let Some(first) = state.unseen.pop_front_if(|s| covered(s)) {
            seen.push(first);
        }
        // Of several queues, or with signals before the end.
        state.unseen.retain(|s| {
            let covered = covered(s);
            if covered {
                seen.push(s.clone());
            }
            !covered
        });
        let (mut late, mut judged) = (Vec::new(), Vec::new());
        for mut ended in std::mem::take(&mut state.ended) {
            let (run, rest): (Vec<_>, Vec<_>) = ended.submissions.into_iter().partition(|(s, _)| covered(s));
            match run.iter().find_map(|(s, work)| Some((work.access_of(ended.bytes)?, s.clone()))) {
                Some((used, submission)) => {
                    late.push((ended.late, used, submission));
                    judged.push(rest);
                }
                None if rest.is_empty() => {}
                None => {
                    ended.submissions = rest;
                    state.ended.push(ended);
                }
            }
            judged.push(run);
        }
        drop(state);
        late.into_iter().for_each(|(late, used, submission)| late(used, &submission));
        // What they alone hold ends here, outside the lock.
        drop(judged);
        seen.iter().for_each(|submission| submission.forget());
    }

    /// Bytes have ended that a submission may use by address which the host has not seen complete.
    pub fn ended(&self, bytes: Range, late: Late) {
        let mut state = self.0.lock();
        let submissions: Vec<_> =
            state.unseen.iter().filter_map(|s| Some((s.clone(), s.work.get()?))).collect();
        if !submissions.is_empty() {
            state.ended.push(Ended { bytes, submissions, late });
        }
    }

    /// The host saw a queue idle up to a submission.
    pub fn host_saw_idle(&self, queue: u32, serial: u64) {
        let mut told = self.0.lock().queues.get(queue as usize).copied().unwrap_or_default();
        told.reach(queue, serial);
        self.host_saw(told);
    }

    /// What the host knows: what a semaphore that it signals tells.
    pub fn host(&self) -> Completed {
        self.0.lock().host
    }

    /// The first use of the object at `object` by a submission that the host has not seen complete.
    pub fn use_of(&self, object: *const ()) -> Option<(Use, Arc<Submission>)> {
        let state = self.0.lock();
        state.unseen.iter().find_map(|s| s.use_of(object).map(|u| (u, s.clone())))
    }

    /// Calls `each` with bytes of the memory at `object` that submissions may use which the host has not seen
    /// complete; `all` are its addresses.
    pub fn bytes_used(&self, object: *const (), all: Range, each: &mut dyn FnMut(Range)) {
        let state = self.0.lock();
        if !state.host.knows(state.dropped) {
            each(all);
        }
        state.unseen.iter().for_each(|s| s.bytes_used(object, all, each));
    }

    /// The first submission with commands that the host has not seen complete.
    pub fn unseen(&self) -> Option<Arc<Submission>> {
        self.0.lock().unseen.iter().find(|s| s.work.get().is_some()).cloned()
    }
}
