//! Queues: submissions, and the threads that work them off.
//!
//! Guarantees: the work of one queue runs in submission order; submission never waits for it; waits and
//! timeouts are real. In run mode every queue has a thread of its own, started at its first submission. In
//! check mode one thread works off all queues, in the order of submission as far as semaphores let it, so
//! that a run depends on the application's calls and the seed alone.

pub mod checked;
pub mod completion;
mod explored;
mod float;
pub mod hazards;
pub mod host;
pub mod masks;
pub mod progress;
#[cfg(test)]
mod progress_tests;
pub mod submission;
pub mod told;
pub mod worker;

pub use progress::Progress;
pub use submission::Submission;
pub use worker::Worker;

use crate::boundary::Outcome;
use crate::entry::device::Device;
use crate::handle::dispatchable_object;
use ash::vk;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// What [`progress`] synchronises by.
mod sync {
    pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    pub use std::sync::{Condvar, Mutex};

    /// How long a waiter spins before it sleeps: a small dispatch ends sooner than a sleeping thread wakes.
    pub const SPIN: std::time::Duration = std::time::Duration::from_micros(40);
}

/// A queue.
pub struct Queue {
    device: Weak<Device>,
    /// Its index in the family.
    pub index: u32,
    worker: Arc<Worker>,
    submitted: AtomicU64,
    retired: AtomicU64,
    labels: Mutex<Vec<String>>,
    /// Its handle.
    pub handle: OnceLock<vk::Queue>,
}

dispatchable_object!(Queue, vk::Queue);

impl Queue {
    /// Its device, while that lives.
    pub fn device(&self) -> Option<Arc<Device>> {
        self.device.upgrade()
    }

    /// Its debug name, or "".
    pub fn name(&self, device: &Device) -> String {
        device.name(vk::ObjectType::QUEUE, self.handle.get().map_or(0, |h| vk::Handle::as_raw(*h)))
    }

    /// Open debug labels, outermost first.
    pub fn labels(&self) -> MutexGuard<'_, Vec<String>> {
        self.labels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands in work.
    pub fn submit(self: &Arc<Self>, device: &Arc<Device>, mut submission: Submission) {
        submission.serial = self.submitted.fetch_add(1, Ordering::SeqCst) + 1;
        submission.queue = Some(self.clone());
        submission.host = device.hazards.as_ref().map(|h| h.host());
        let submission = Arc::new(submission);
        device.completion.submitted(&submission);
        self.worker.push(device, submission);
    }

    /// The submission with this serial number has ended.
    pub fn retire(&self, serial: u64) {
        self.retired.fetch_max(serial, Ordering::SeqCst);
    }

    /// Waits for all that was submitted before the call.
    ///
    /// # Errors
    /// The device is lost.
    pub fn wait_idle(&self, device: &Device) -> Outcome<()> {
        let target = self.submitted.load(Ordering::SeqCst);
        device.progress.wait(None, || device.is_lost() || self.retired.load(Ordering::SeqCst) >= target);
        host::synchronize(device, "vkQueueWaitIdle");
        device.completion.host_saw_idle(self.index, target);
        if let Some(hazards) = &device.hazards {
            hazards.host_saw_idle(self.index);
        }
        device.alive()
    }
}

/// The queues of a new device and their workers.
pub fn create(device: &Arc<Device>, count: u32) -> (Vec<Arc<Worker>>, Vec<Arc<Queue>>) {
    let shared = device.instance.config.mode.modelled();
    let mut workers = Vec::new();
    let mut queues = Vec::new();
    for index in 0..count {
        if !shared || workers.is_empty() {
            workers.push(Arc::new(Worker::new(index)));
        }
        let worker = workers[workers.len() - 1].clone();
        queues.push(Arc::new(Queue {
            device: Arc::downgrade(device),
            index,
            worker,
            submitted: AtomicU64::new(0),
            retired: AtomicU64::new(0),
            labels: Mutex::default(),
            handle: OnceLock::new(),
        }));
    }
    (workers, queues)
}
