//! Queues: submissions, and the threads that work them off.
//!
//! Guarantees: the work of one queue runs in submission order; submission never waits for it; waits and
//! timeouts are real. In run mode every queue has a thread of its own, started at its first submission. In
//! check mode one thread works off all queues, in the order of submission as far as semaphores let it, so
//! that a run depends on the application's calls and the seed alone.

pub mod completion;
pub mod fence;
mod float;
mod inbox;
pub mod progress;
pub mod semaphore;
pub mod shared;
pub mod status;
pub mod submission;
#[cfg(test)]
mod tests;
pub mod told;
pub mod worker;

pub use progress::Progress;
use submission::SemaphoreOperation;
pub use submission::Submission;
pub use worker::Worker;

use crate::caps::queues;
use crate::check::hazards::Hazards;
use crate::handle::{DeviceNumber, dispatchable_object};
use ash::vk;
use completion::Completion;
use parking_lot::Mutex;
use status::Standing;
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use told::Told;

/// What [`progress`] synchronises by.
mod sync {
    pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    pub use std::sync::{Condvar, Mutex, MutexGuard};

    /// How long a waiter spins before it sleeps: a small dispatch ends sooner than a sleeping thread wakes.
    pub const SPIN: std::time::Duration = std::time::Duration::from_micros(40);
}

/// A device, as its queues see it.
pub trait Host: Send + Sync {
    /// Wakes whoever waits.
    fn progress(&self) -> &Progress;

    /// Which submissions the host knows to have completed.
    fn completion(&self) -> &Completion;

    /// Hazards between commands; there in check mode.
    fn hazards(&self) -> Option<&Hazards>;

    /// Loses the device, and says why.
    fn lose(&self, text: &str);

    /// True once the device is lost.
    fn is_lost(&self) -> bool;

    /// True if the device can do nothing more by itself: all that was submitted has ended, or waits for the
    /// application.
    fn rests(&self) -> bool;

    /// In check mode: status queries tell of a signal as soon as they can.
    fn tells_at_once(&self) -> bool;

    /// What anybody else may have seen of the device: all that has ended. Whoever sees a payload that is
    /// shared may have it from work that followed all of that, elsewhere.
    fn outside(&self) -> Told {
        let payload = self.hazards().map(|hazards| Arc::new(hazards.everything()));
        Told { completed: self.completion().everything(), order: 0, payload }
    }

    /// Takes note of what submitted work waits for in vain, or that it does no longer.
    fn note_stuck(&self);

    /// The device itself, for those who know it.
    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

pub struct Queue {
    host: Weak<dyn Host>,
    device: DeviceNumber,
    /// Its number on the device ([`crate::caps::queues`]).
    pub index: u32,
    worker: Arc<Worker>,
    submitted: AtomicU64,
    retired: AtomicU64,
    /// Open debug labels, outermost first.
    pub labels: Mutex<Vec<String>>,
    /// The events that a command waits for, if one does.
    pub blocked: Mutex<Option<String>>,
    pub handle: OnceLock<vk::Queue>,
}

dispatchable_object!(Queue, vk::Queue, |queue| queue.device);

impl Queue {
    /// Its queue family.
    pub fn family(&self) -> u32 {
        queues::place(self.index).0
    }

    /// Its device, while that lives.
    pub fn host(&self) -> Option<Arc<dyn Host>> {
        self.host.upgrade()
    }

    /// How many submissions were handed in.
    pub fn handed_in(&self) -> u64 {
        self.submitted.load(Ordering::SeqCst)
    }

    /// Hands in work.
    pub fn submit(self: &Arc<Self>, host: &Arc<dyn Host>, mut submission: Submission) {
        submission.serial = self.submitted.fetch_add(1, Ordering::SeqCst) + 1;
        submission.queue = Some(self.clone());
        if let Some(work) = submission.work.get() {
            work.submit(self.index, submission.serial);
        }
        submission.host = host.hazards().map(|hazards| Box::new(hazards.hands_in()));
        let submission = Arc::new(submission);
        let number = host.completion().submitted(&submission);
        if host.hazards().is_some() {
            submission.stand(Standing { queue: self.index, serial: submission.serial, number });
        }
        self.worker.push(host, submission);
    }

    /// The submission with this serial number has ended.
    pub fn retire(&self, serial: u64) {
        self.retired.fetch_max(serial, Ordering::SeqCst);
    }

    /// Waits for all that was submitted before the call, or until the device is lost; then `synchronize`
    /// looks at the host, and then the host has seen it.
    pub fn wait_idle(&self, host: &dyn Host, synchronize: impl FnOnce()) {
        let target = self.submitted.load(Ordering::SeqCst);
        host.progress().wait(None, || host.is_lost() || self.retired.load(Ordering::SeqCst) >= target);
        synchronize();
        host.completion().host_saw_idle(self.index, target);
        if let Some(hazards) = host.hazards() {
            hazards.host_saw_idle(self.index);
        }
    }
}

/// Of submissions that have not ended, with whether each has begun: those that nothing among them will ever
/// let begin.
pub fn stuck(all: &[(Arc<Submission>, bool)]) -> Vec<Arc<Submission>> {
    let queue = |s: &Submission| s.queue.as_ref().map(|q| q.index);
    let blocked = |s: &Submission| s.queue.as_ref().is_some_and(|q| q.blocked.lock().is_some());
    let mut ends: Vec<bool> = all.iter().map(|(s, begun)| *begun && !blocked(s)).collect();
    let will_end = |ends: &[bool], (this, begun): &(Arc<Submission>, bool)| {
        let mut others = all.iter().zip(ends);
        let in_order =
            others.all(|((s, _), ends)| *ends || queue(s) != queue(this) || s.serial >= this.serial);
        let signals = || all.iter().zip(ends).filter(|(_, ends)| **ends).flat_map(|((s, _), _)| &s.signals);
        let met = |wait: &SemaphoreOperation| {
            wait.semaphore.is_shared() || signals().any(|signal| signal.meets(wait))
        };
        !begun && in_order && this.unmet().all(met)
    };
    while let Some(next) = (0..all.len()).find(|at| !ends[*at] && will_end(&ends, &all[*at])) {
        ends[next] = true;
    }
    all.iter().zip(ends).filter(|((_, begun), ends)| !begun && !ends).map(|((s, _), _)| s.clone()).collect()
}

/// The queues of a new device and their workers: one that they share, or one for each.
pub fn create(
    host: &Arc<dyn Host>,
    device: DeviceNumber,
    shared: bool,
    numbers: &[u32],
) -> (Vec<Arc<Worker>>, Vec<Arc<Queue>>) {
    let mut workers = Vec::new();
    let mut queues = Vec::new();
    for &index in numbers {
        if !shared || workers.is_empty() {
            workers.push(Arc::new(Worker::new(index)));
        }
        let worker = workers[workers.len() - 1].clone();
        queues.push(Arc::new(Queue {
            host: Arc::downgrade(host),
            device,
            index,
            worker,
            submitted: AtomicU64::new(0),
            retired: AtomicU64::new(0),
            labels: Mutex::default(),
            blocked: Mutex::default(),
            handle: OnceLock::new(),
        }));
    }
    (workers, queues)
}
