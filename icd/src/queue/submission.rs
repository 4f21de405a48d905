//! One submission: what it waits for, what runs, what it signals.

use super::Queue;
use crate::boundary::contain;
use crate::command::Recorded;
use crate::command::replay;
use crate::entry::device::Device;
use crate::entry::fence::Fence;
use crate::entry::semaphore::Semaphore;
use std::sync::Arc;

/// A semaphore operation: the semaphore and, for a timeline, the value.
#[derive(Clone)]
pub struct SemaphoreOperation {
    /// The semaphore.
    pub semaphore: Arc<Semaphore>,
    /// The value to wait for or to set.
    pub value: u64,
}

/// One VkSubmitInfo, or the fence of a submission.
#[derive(Default)]
pub struct Submission {
    /// Where it was submitted.
    pub queue: Option<Arc<Queue>>,
    /// Its number on the queue, from 1.
    pub serial: u64,
    /// Semaphores to wait for.
    pub waits: Vec<SemaphoreOperation>,
    /// Command buffers, in order.
    pub commands: Vec<Arc<Recorded>>,
    /// Semaphores to signal.
    pub signals: Vec<SemaphoreOperation>,
    /// The fence to signal.
    pub fence: Option<Arc<Fence>>,
    /// Debug labels of the queue that were open.
    pub labels: Vec<String>,
}

impl Submission {
    /// True if it does not have to wait.
    pub fn is_ready(&self) -> bool {
        self.waits.iter().all(|w| w.semaphore.is_reached(w.value))
    }

    /// Runs it to the end. A lost device runs nothing, but still signals, so that nobody waits for ever.
    pub fn run(&self, device: &Arc<Device>) {
        for wait in &self.waits {
            wait.semaphore.consume();
        }
        if let Some(queue) = &self.queue {
            for recorded in &self.commands {
                if !device.is_lost() {
                    match contain(|| replay::run(device, queue, &self.labels, recorded)) {
                        Ok(Ok(())) => {}
                        Ok(Err(text)) => device.lose(&text),
                        Err(text) => device.lose(&format!("internal error: {text}")),
                    }
                }
                recorded.retire();
            }
        }
        for signal in &self.signals {
            signal.semaphore.signal(signal.value);
        }
        if let Some(fence) = &self.fence {
            fence.signal();
        }
        if let Some(queue) = &self.queue {
            queue.retire(self.serial);
        }
        device.progress.notify();
    }
}
